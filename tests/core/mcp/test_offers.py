"""Resources, templates, prompts, completion and subscriptions of real servers, in both eras."""

from __future__ import annotations

from typing import Any

import pytest

from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.protocol import ResourceUpdated
from hel_tui.core.store.redact import Redactor
from tests.core.mcp.conftest import until

ERAS = ("offers:offers", "offers:stateless")


async def listed(bench: Any) -> None:
    """Read the resource lists now."""
    await bench.host.server("fix").through(lambda connection: connection.list_resources())


def uris(bench: Any) -> list[str]:
    """The URIs of all rows."""
    return [row.uri for row in bench.host.shelf.resources()]


@pytest.mark.parametrize("mode", ERAS)
async def test_resources_are_listed_when_somebody_asks_and_not_before(bench: Any, mode: str) -> None:
    await bench.start(mode)
    await until(bench.host.shelf.prompts)
    assert bench.host.shelf.resources() == ()
    assert "resources/list" not in bench.methods()
    await listed(bench)
    rows = bench.host.shelf.resources()
    assert [row.uri for row in rows][:2] == ["mem://guide.md", "mem://schema.json"]
    assert (rows[1].mime, rows[1].size, rows[1].template) == ("application/json", 11, False)
    assert (rows[3].uri, rows[3].template, rows[3].variables) == (
        "mem://users/{id}{?lang}",
        True,
        ("id", "lang"),
    )


@pytest.mark.parametrize("mode", ERAS)
async def test_prompts_have_a_command_and_a_form(bench: Any, mode: str) -> None:
    await bench.start(mode)
    rows = await until(bench.host.shelf.prompts)
    assert [row.command for row in rows] == ["mcp__fix__data-analyst", "mcp__fix__needs"]
    (topic,) = rows[0].fields
    assert (topic.name, topic.required, topic.completes) == ("topic", False, True)
    assert rows[1].fields[0].required


@pytest.mark.parametrize("mode", ERAS)
async def test_lists_that_changed_are_swapped_whole(bench: Any, mode: str) -> None:
    await bench.start(mode)
    await until(bench.host.shelf.prompts)
    await listed(bench)
    if mode.endswith("stateless"):
        await until(lambda: bench.noted("listen"))
    await bench.call("grow")
    await until(lambda: "mem://new-3" in uris(bench))
    await until(lambda: any(row.name == "new-3" for row in bench.host.shelf.prompts()))


@pytest.mark.parametrize("mode", ERAS)
async def test_updates_of_a_watched_resource_are_told(bench: Any, mode: str) -> None:
    await bench.start(mode)
    bench.host.shelf.watch("fix", "mem://guide.md", True)
    await bench.host.server("fix").through(lambda connection: connection.watch("mem://guide.md", True))
    told = ResourceUpdated("fix", "mem://guide.md")
    await until(lambda: told in bench.events)
    if mode.endswith("stateless"):
        assert bench.noted("listen")["resourceSubscriptions"] == ["mem://guide.md"]


async def test_updates_of_what_nobody_watches_are_not_told(bench: Any) -> None:
    await bench.start("asks:logs")
    await bench.call("updates")
    assert not any(isinstance(event, ResourceUpdated) for event in bench.events)


async def test_a_subscription_outlives_a_restart(bench: Any) -> None:
    await bench.start("offers:offers")
    bench.host.shelf.watch("fix", "mem://guide.md", True)
    await bench.host.server("fix").through(lambda connection: connection.watch("mem://guide.md", True))
    first = bench.status().pid
    bench.host.restart("fix")
    await until(lambda: bench.status().phase == "ready" and bench.status().pid != first)
    await until(lambda: sum("subscribe" in one for one in bench.received()) == 2)


async def test_the_long_request_is_made_again_with_what_is_watched_now(bench: Any) -> None:
    await bench.start("offers:stateless")
    await until(lambda: bench.noted("listen"))
    await bench.host.server("fix").through(lambda connection: connection.watch("mem://a", True))
    await until(lambda: bench.noted("listen").get("resourceSubscriptions") == ["mem://a"])
    await until(lambda: bench.noted("cancelled") == "listen-1")


async def test_after_the_server_ended_the_long_request_lists_are_read_again(bench: Any) -> None:
    await bench.start("offers:hangs-up")
    await until(lambda: bench.noted("listen"))
    await until(bench.host.shelf.prompts)
    await bench.call("hang-up")
    await until(lambda: sum("listen" in one for one in bench.received()) == 2)
    await until(lambda: any(row.name == "new-3" for row in bench.host.shelf.prompts()))


@pytest.mark.parametrize("mode", ERAS)
async def test_an_argument_is_completed_by_its_server(bench: Any, mode: str) -> None:
    await bench.start(mode)
    ref = {"type": "ref/prompt", "name": "data-analyst"}
    result = await bench.host.server("fix").through(
        lambda connection: connection.complete(ref, "topic", "sal", {"other": "x"})
    )
    assert result["completion"]["values"] == ["sales", "salaries"]
    asked = next(
        one["message"]["params"]
        for one in bench.received()
        if one.get("message", {}).get("method") == "completion/complete"
    )
    assert asked["context"] == {"arguments": {"other": "x"}}


async def test_a_server_that_does_not_complete_is_not_asked(bench: Any) -> None:
    await bench.start("wire:ok")
    ref = {"type": "ref/prompt", "name": "x"}
    assert await bench.host.server("fix").through(lambda one: one.complete(ref, "a", "b", {})) == {}
    assert "completion/complete" not in bench.methods()


async def test_bad_entries_are_left_out_and_counted(bench: Any) -> None:
    await bench.start("offers:odd")
    await listed(bench)
    assert uris(bench) == ["mem://good", "x://{a,b*}/{+c:3}"]
    assert bench.host.shelf.resources()[1].variables == ("a", "b", "c")
    prompts = await until(bench.host.shelf.prompts)
    assert [(row.name, [one.name for one in row.fields]) for row in prompts] == [("good", ["a"])]
    await until(lambda: "5 of its resources could not be read" in bench.log())
    assert "repeats a page cursor" in bench.log()


async def test_a_server_without_them_gets_no_such_request(bench: Any) -> None:
    await bench.start("wire:ok")
    await listed(bench)
    await bench.call()
    assert not any(method.startswith(("resources/", "prompts/")) for method in bench.methods())


async def test_declared_but_unknown_lists_are_told_once_and_harm_nothing(bench: Any) -> None:
    await bench.start("offers:silent")
    await until(lambda: any("could not be read" in one.text for one in bench.notices()))
    with pytest.raises(CallFault, match="could not be listed"):
        await listed(bench)
    assert bench.status().phase == "ready"
    assert not (await bench.call()).failed


async def test_what_a_server_offered_leaves_with_it(bench: Any) -> None:
    await bench.start("offers:offers")
    await until(bench.host.shelf.prompts)
    await listed(bench)
    bench.host.switch("fix", False)
    await until(lambda: not bench.host.shelf.prompts())
    assert bench.host.shelf.resources() == ()


async def test_what_it_offers_is_told_with_its_state(bench: Any) -> None:
    await bench.start("offers:offers")
    assert bench.status().offers == ("tools", "resources", "prompts", "completions", "subscriptions")


async def test_utility_tools_let_a_model_list_and_read_where_the_entry_says_so(bench: Any) -> None:
    await bench.start("offers:offers", utility_tools=True)
    assert "mem://guide.md" in (await bench.call("list_resources")).full
    assert "# Guide" in (await bench.call("read_resource", uri="mem://guide.md")).full
    assert "data-analyst" in (await bench.call("list_prompts")).full
    got = await bench.call("get_prompt", name="data-analyst", arguments={"topic": "birds"})
    assert "Analyse birds." in got.full
    assert "tools/call" not in bench.methods()
    missing = await bench.call("read_resource", uri="mem://none")
    assert missing.failed and "Resource not found" in missing.text


async def test_without_the_switch_there_are_no_utility_tools(bench: Any) -> None:
    await bench.start("offers:offers")
    assert [row.raw for row in bench.host.catalogue.rows()] == ["echo", "grow"]


async def test_a_secret_that_a_server_repeats_in_its_definitions_does_not_reach_the_model(bench: Any) -> None:
    bench.options = {"known": Redactor(["tool echo"]).known}
    await bench.start("wire:ok")
    assert "tool echo" not in bench.tool().definition.description
    assert "‹redacted›" in bench.tool().definition.description
