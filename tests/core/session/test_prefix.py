"""What a request repeats of the one before is byte for byte the same, whatever servers do meanwhile."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.context.prompt import INVENTORY_HEADING, NEWS_HEADING
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, say
from tests.fixtures.servers.stdio_server import tool
from tests.rig import Driver, results

Open = Callable[..., Driver]


def load(*names: str) -> Any:
    return call("load_mcp_tool", {"names": list(names)})


def names(body: dict[str, Any]) -> list[str]:
    return [each["function"]["name"] for each in body.get("tools", [])]


def grows_only(bodies: Sequence[dict[str, Any]]) -> bool:
    """Whether each request begins with all of the one before: system prompt, messages, tools in order."""
    for before, after in itertools.pairwise(bodies):
        for key in ("messages", "tools"):
            one, other = ([json.dumps(each) for each in body.get(key, [])] for body in (before, after))
            if other[: len(one)] != one:
                return False
    return True


def test_a_server_that_comes_late_is_news_behind_the_newest_message(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    servers = {"fix": "wire:ok", "slow": {"mode": "many:gated", "env": {"GATE": str(gate)}}}
    replies = (
        load("mcp__fix__echo"),
        load("mcp__slow__late"),
        say("not yet"),
        load("mcp__slow__late"),
        calls(call("mcp__slow__late", {"text": "one"}), call("mcp__fix__echo", {"text": "two"})),
        say("done"),
    )
    with play(*replies, servers=servers, server_wait=0.2, access="auto") as driver:
        driver.phase("fix", "ready")
        assert driver.ask("use late").message == ""
        gate.touch()
        driver.phase("slow", "ready")
        assert driver.ask("again").reason == "done"
    bodies = model.requests
    assert grows_only(bodies)
    assert "Still starting: slow" in results(bodies[2])[0]
    system = bodies[0]["messages"][0]["content"]
    assert INVENTORY_HEADING in system and "mcp__slow__" not in system
    news = bodies[3]["messages"][-1]["content"]
    assert news.startswith("again") and NEWS_HEADING in news and "- mcp__slow__late: The tool late." in news
    assert names(bodies[-1])[-3:] == ["load_mcp_tool", "mcp__fix__echo", "mcp__slow__late"]
    first, second = results(bodies[-1])
    assert "one" in first and "two" in second


def test_the_first_servers_may_come_after_the_first_request(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    servers = {"slow": {"mode": "many:gated", "env": {"GATE": str(gate)}}}
    with play(say("hello"), say("I see"), servers=servers, server_wait=0.2) as driver:
        driver.ask("hi")
        gate.touch()
        driver.phase("slow", "ready")
        driver.ask("and now?")
    first, second = model.requests
    assert "load_mcp_tool" not in json.dumps(first) and "mcp__" not in json.dumps(first)
    assert names(second)[:-1] == names(first) and names(second)[-1] == "load_mcp_tool"
    assert grows_only(model.requests)
    assert "Load a tool with load_mcp_tool" in second["messages"][-1]["content"]


def test_tools_that_come_go_and_change_in_the_middle_of_a_turn_leave_what_was_sent_alone(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    held = tmp_path / "tools.json"
    held.write_text(json.dumps([tool("a"), tool("b"), tool("c")]))

    def change(reply: Any) -> Callable[[dict[str, Any]], Any]:
        def play(_body: dict[str, Any]) -> Any:
            held.write_text(json.dumps([tool("a"), tool("b", description="Now says more."), tool("d")]))
            return reply

        return play

    servers = {"fix": {"mode": "many:turning", "env": {"TOOLS": str(held)}}}
    replies = (
        load("mcp__fix__a", "mcp__fix__c"),
        change(call("mcp__fix__a", {"text": "x"})),
        say("done"),
        say("done again"),
    )
    with play(*replies, servers=servers, access="auto") as driver:
        driver.ask("go")
        driver.wait(lambda _: any(event.added == 1 for event in driver.of(p.ListChanged)), "the new list")
        driver.ask("what is there now?")
    last = model.requests[-1]["messages"]
    assert [json.dumps(one) for one in last[: len(model.requests[1]["messages"])]] == [
        json.dumps(one) for one in model.requests[1]["messages"]
    ]
    told = next(each["content"] for each in last if NEWS_HEADING in str(each["content"]))
    assert "- mcp__fix__b: Now says more." in told and "- mcp__fix__d: The tool d." in told
    assert "No longer there: mcp__fix__c." in told
    assert names(model.requests[-1])[-2:] == ["load_mcp_tool", "mcp__fix__a"]


def test_without_servers_a_request_knows_nothing_of_them(play: Open, model: ScriptedModel) -> None:
    with play(say("a"), servers={}) as driver:
        driver.ask("hi")
    with play(say("b"), servers={}, mcp=False) as driver:
        driver.ask("hi")
    assert model.requests[0]["tools"] == model.requests[1]["tools"]
    assert model.requests[0]["messages"][0] == model.requests[1]["messages"][0]
    assert "mcp" not in json.dumps(model.requests[0]).lower()


@pytest.mark.parametrize("access", ["auto"])
def test_eager_sends_all_definitions_and_needs_no_loader(
    play: Open, model: ScriptedModel, tmp_path: Path, access: str
) -> None:
    settings = tmp_path / "hel" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('loading = "eager"\n')
    servers = {
        "b": {"mode": "many:many", "env": {"COUNT": "3"}},
        "a": {"mode": "many:many", "env": {"COUNT": "2"}},
    }
    with play(
        call("mcp__b__tool_0001", {"text": "x"}), say("done"), servers=servers, access=access
    ) as driver:
        for server in servers:
            driver.phase(server, "ready")
        assert driver.ask("go").reason == "done"
        assert driver.results()[-1].state == "ok"
    listed = names(model.requests[0])
    assert listed[-5:] == [
        "mcp__a__tool_0000",
        "mcp__a__tool_0001",
        "mcp__b__tool_0000",
        "mcp__b__tool_0001",
        "mcp__b__tool_0002",
    ]
    assert (
        "load_mcp_tool" not in listed and INVENTORY_HEADING not in model.requests[0]["messages"][0]["content"]
    )
    assert grows_only(model.requests)


def test_always_load_is_per_server_and_pins_are_for_every_conversation(
    play: Open, model: ScriptedModel
) -> None:
    servers = {
        "always": {"mode": "many:many", "always_load": True, "env": {"COUNT": "2"}},
        "fix": {"mode": "many:many", "env": {"COUNT": "3"}},
    }
    with play(say("a"), say("b"), servers=servers) as driver:
        for server in servers:
            driver.phase(server, "ready")
        driver.send(p.PinTools(("mcp__fix__tool_0001",)))
        driver.wait(lambda _: any(row.pinned for row in driver.core.tools()), "the pin")
        driver.ask("hi")
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Cleared), "the new conversation")
        driver.ask("hi")
    with play(say("c"), servers=servers) as driver:
        for server in servers:
            driver.phase(server, "ready")
        driver.ask("hi")
    expected = ["load_mcp_tool", "mcp__always__tool_0000", "mcp__always__tool_0001", "mcp__fix__tool_0001"]
    assert [names(body)[-4:] for body in model.requests] == [expected] * 3
    system = model.requests[0]["messages"][0]["content"]
    assert "mcp__always__" not in system and "mcp__fix__tool_0001" in system


def test_tools_are_switched_off_live_and_stay_off(play: Open, model: ScriptedModel) -> None:
    servers = {"fix": {"mode": "many:many", "env": {"COUNT": "2"}}}
    off, on = "mcp__fix__tool_0000", "mcp__fix__tool_0001"
    replies = (load(off, on), say("loaded"), call(off, {}), say("done"))
    with play(*replies, servers=servers, access="auto") as driver:
        driver.phase("fix", "ready")
        driver.ask("load")
        driver.send(p.SwitchTool("fix", "tool_0000", on=False))
        driver.wait(lambda _: any(row.off for row in driver.core.tools()), "the switch")
        driver.ask("call it")
    assert names(model.requests[2])[-2:] == ["load_mcp_tool", on]
    assert f"No longer there: {off}." in model.requests[2]["messages"][-1]["content"]
    assert "no tool named" in results(model.requests[3])[0]
    with play(say("later"), servers=servers) as driver:
        driver.phase("fix", "ready")
        assert [row.raw for row in driver.core.tools() if row.off] == ["tool_0000"]
        driver.send(p.SwitchTool("fix", "tool_0000", on=True))
        driver.wait(lambda _: not any(row.off for row in driver.core.tools()), "the switch")


def test_eager_beyond_the_providers_limit_is_said(play: Open, model: ScriptedModel, tmp_path: Path) -> None:
    settings = tmp_path / "hel" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('loading = "eager"\n')
    servers = {"many": {"mode": "many:many", "env": {"COUNT": "140"}}}
    with play(say("hello"), servers=servers, model="openai/gpt-x") as driver:
        driver.phase("many", "ready")
        driver.ask("hi")
        driver.wait(lambda _: any("No room for " in n.text for n in driver.of(p.Notice)), "a word")
    assert 120 < len(model.requests[0]["tools"]) <= 128
