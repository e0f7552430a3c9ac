"""Over fifty turns with all that happens in them, each request begins with all of the one before."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.context.prompt import NEWS_HEADING
from hel_tui.core.context.summary import PREAMBLE
from tests.core.session.test_compaction import is_request_for_summary, summarising, window
from tests.fixtures.models.endpoint import Reply, ScriptedModel, call, say
from tests.fixtures.servers.stdio_server import tool
from tests.rig import Driver

Open = Callable[..., Driver]
Json = dict[str, Any]
A_LOT = "\n".join(map(str, range(20_000)))
"""Too much for a request: it is saved, and the model reads its head and tail."""


def spelled(body: Json) -> bytes:
    """A request as it goes over the wire, without the brackets that end it."""
    tools, messages = json.dumps(body.get("tools", []))[:-1], json.dumps(body["messages"])[:-1]
    return f"{tools}\n{messages}".encode()


def parted(body: Json) -> tuple[bytes, bytes]:
    tools, messages = spelled(body).split(b"\n", 1)
    return tools, messages


def breaks(bodies: Sequence[Json]) -> list[int]:
    """The requests that do not begin with all of the one before, tools and messages each."""
    out = []
    for at, (before, after) in enumerate(itertools.pairwise(bodies), 1):
        if not all(new.startswith(old) for old, new in zip(parted(before), parted(after), strict=True)):
            out.append(at)
    return out


def load(*names: str) -> Json:
    return call("load_mcp_tool", {"names": list(names)})


def script(held: Path, project: Path) -> list[Reply]:
    """Fifty turns' replies: calls, tools that are loaded, change, come and go, images, a large result."""

    def changing(reply: Json) -> Callable[[Json], Json]:
        def play(_body: Json) -> Json:
            held.write_text(json.dumps([tool("a"), tool("b", description="Says more."), tool("d")]))
            return reply

        return play

    look = call("read_file", {"path": "config.ini"})
    special: dict[int, list[Reply]] = {
        3: [load("mcp__turning__a"), call("mcp__turning__a", {"text": "x"}), say("loaded a")],
        7: [load("mcp__fix__image"), call("mcp__fix__image"), say("seen")],
        11: [changing(call("mcp__turning__a", {"text": "y"})), say("changed")],
        16: [call("mcp__fix__image"), call("mcp__fix__image"), say("seen again")],
        21: [call("mcp__turning__a", {"text": A_LOT}), say("a lot")],
        27: [load("mcp__turning__d"), call("mcp__turning__d", {"text": "z"}), say("loaded d")],
        33: [call("mcp__nowhere__x"), say("there is none")],
        38: [call("search_replace", {"path": "config.ini", "search": "port", "replace": "p"}), say("done")],
    }
    replies: list[Reply] = []
    for turn in range(1, 51):
        replies += special.get(turn, [look, say(f"turn {turn}")] if turn % 3 else [say(f"turn {turn}")])
    return replies


def test_requests_only_grow_over_fifty_turns(
    play: Open, model: ScriptedModel, tmp_path: Path, project: Path
) -> None:
    settings = tmp_path / "hel" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("vision = true\n")
    held = tmp_path / "tools.json"
    held.write_text(json.dumps([tool("a"), tool("b"), tool("c")]))
    servers = {
        "turning": {"mode": "many:turning", "env": {"TOOLS": str(held)}},
        "fix": "lists:weird-results",
    }
    with play(*script(held, project), servers=servers, access="auto") as driver:
        for server in servers:
            driver.phase(server, "ready")
        for turn in range(1, 51):
            assert driver.ask(f"turn {turn}, please").reason == "done"
            if turn == 11:
                driver.wait(lambda _: any(event.added for event in driver.of(p.ListChanged)), "other tools")
        assert not driver.of(p.Compacted)
    assert len(model.requests) > 80
    assert breaks(model.requests) == []
    text = json.dumps(model.requests[-1])
    assert NEWS_HEADING in text and "[Cut here." in text and "image_url" in text


def test_a_resumed_conversation_goes_on_with_the_same_bytes(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    settings = tmp_path / "hel" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("vision = true\n")
    load_and_look: list[Reply] = [load("mcp__fix__image"), call("mcp__fix__image"), say("seen")]
    spill: list[Reply] = [load("mcp__wire__echo"), call("mcp__wire__echo", {"text": A_LOT}), say("a lot")]
    servers = {"fix": "lists:weird-results", "wire": "wire:ok"}
    with play(*load_and_look, *spill, servers=servers, access="auto") as driver:
        for server in servers:
            driver.phase(server, "ready")
        driver.ask("look")
        driver.ask("count")
        session = driver.of(p.SessionStarted)[0].session_id
    with play(say("here I am"), servers=servers, access="auto", resume=session) as driver:
        for server in servers:
            driver.phase(server, "ready")
        driver.wait(lambda _: driver.of(p.SessionRestored), "the session")
        driver.wait(lambda _: driver.of(p.ToolsChanged)[-1].loaded == 2, "the tools it used")
        assert driver.ask("and now?").reason == "done"
    assert breaks(model.requests) == []
    assert "[Cut here." in json.dumps(model.requests[-1]) and "image_url" in json.dumps(model.requests[-1])


def test_the_prefix_breaks_at_a_summary_and_nowhere_else(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    window(tmp_path, 8192)
    answer = summarising()
    words = "word " * 400
    with play(*[answer] * 80, servers={}, tools=("read_file",)) as driver:
        for turn in range(30):
            assert driver.ask(f"{turn} {words}").reason == "done"
        summaries = [event for event in driver.of(p.Compacted) if event.summarised]
    assert len(summaries) > 1
    asked = [at for at, body in enumerate(model.requests) if is_request_for_summary(body)]
    for at in asked:
        before, wish = model.requests[at - 1], model.requests[at]
        assert wish["tools"] == before["tools"]
        assert wish["messages"][:-1] == before["messages"][: len(wish["messages"]) - 1]
    others = [body for body in model.requests if not is_request_for_summary(body)]
    broken = breaks(others)
    assert len(broken) == len(summaries) == len(asked)
    for at in broken:
        assert others[at]["messages"][1]["content"].startswith(PREAMBLE)
        assert others[at]["tools"] == others[at - 1]["tools"]
        assert others[at]["messages"][0] == others[at - 1]["messages"][0]


def test_images_are_let_go_in_steps(play: Open, model: ScriptedModel, tmp_path: Path) -> None:
    settings = tmp_path / "hel" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("vision = true\n")
    replies: list[Reply] = [load("mcp__fix__image"), *[call("mcp__fix__image")] * 17, say("seen")]
    servers = {"fix": "lists:weird-results"}
    with play(*replies, servers=servers, access="auto", max_steps=40) as driver:
        driver.phase("fix", "ready")
        assert driver.ask("look often").reason == "done"
    counts = [json.dumps(body).count("data:image/png") for body in model.requests]
    assert max(counts) == 10 and counts[-1] == 7
    assert len(breaks(model.requests)) == 2, "twice in seventeen images"
