"""Greetings and tool lists of odd servers, through the whole host."""

from __future__ import annotations

from typing import Any

import pytest

from hel_tui.core.protocol import ListChanged
from hel_tui.core.vocabulary import Invocation
from tests.core.mcp.conftest import until


async def test_an_older_version_is_spoken(bench: Any) -> None:
    await bench.start("lists:old-version")
    assert (bench.status().phase, bench.status().protocol) == ("ready", "2024-11-05")


async def test_a_version_hel_does_not_speak_is_refused_with_both_named(bench: Any) -> None:
    await bench.start("lists:new-version")
    assert bench.status().phase == "failed"
    assert "2099-01-01" in bench.status().reason and "2025-11-25" in bench.status().reason
    assert "tools/list" not in bench.methods()


async def test_an_incomplete_greeting_is_refused_with_what_is_missing(bench: Any) -> None:
    await bench.start("lists:broken-hello")
    assert bench.status().phase == "failed"
    failure = bench.host.failure("fix")
    assert failure.stage == "handshake"
    assert "protocolVersion is a number" in failure.sentence and "serverInfo is missing" in failure.sentence
    assert bench.host.catalogue.rows() == ()


async def test_a_server_without_tools_is_ready_with_none_and_not_asked_for_any(bench: Any) -> None:
    await bench.start("lists:no-tools", "lists:empty-tools", "lists:no-list")
    assert [(one.phase, one.tools) for one in bench.host.statuses()] == [("ready", 0)] * 3
    assert "tools/list" not in bench.methods("a")


async def test_cursors_that_do_not_end_are_cut_and_said(bench: Any) -> None:
    await bench.start("lists:cursor-loop", "lists:cursor-endless", "lists:cursor-empty")
    loop, endless, empty = bench.host.statuses()
    assert (loop.tools, loop.reason) == (8, "list cut: the server repeats a page cursor")
    assert (endless.tools, endless.reason) == (50, "list cut: more than 50 pages")
    assert (empty.tools, empty.reason) == (1, "")
    assert len([row for row in bench.host.catalogue.rows() if row.server == "a"]) == 8


async def test_a_malformed_tool_does_not_hide_the_others(bench: Any) -> None:
    await bench.start("lists:one-bad-tool")
    assert [name for name, _ in bench.host.catalogue.inventory()] == ["mcp__fix__also_good", "mcp__fix__good"]
    reasons = [row.reason for row in bench.host.catalogue.rows() if row.reason]
    assert sorted(reasons) == [
        "it has no name",
        "it is a number, not an object",
        "its inputSchema is an array, not an object",
    ]


async def test_names_are_the_same_whatever_the_order_and_the_wire_has_the_raw_one(bench: Any) -> None:
    await bench.start("lists:weird-names")
    names = bench.host.catalogue.inventory()
    assert len(names) == 5
    assert {"mcp__fix__a_b", "mcp__fix__bare", "mcp__fix__second_page"} < {name for name, _ in names}
    assert (await bench.call("a.b")).full == "a.b"
    assert (await bench.call("n" * 70)).full == "n" * 70
    reasons = {row.raw: row.reason for row in bench.host.catalogue.rows() if row.reason}
    assert reasons == {"": "it has no name", "array": "its inputSchema describes 'array', not an object"}
    bench.host.start([bench.entry("lists:weird-names", "other", env={"REVERSED": "1"})])
    await bench.host.settled()
    others = [name for name, _ in bench.host.catalogue.inventory() if name.startswith("mcp__other__")]
    assert len(others) == 5
    bench.host.restart("fix")
    await until(lambda: bench.status().restarts == 1 and bench.status().phase == "ready")
    assert [pair for pair in bench.host.catalogue.inventory() if "__fix__" in pair[0]] == list(names)


async def test_results_of_every_kind_become_text(bench: Any) -> None:
    await bench.start("lists:weird-results")
    said = {row.raw: await bench.call(row.raw) for row in bench.host.catalogue.rows()}
    assert said["is_error"].failed and "disk full" in said["is_error"].text
    assert (
        said["rpc_error"].failed and "an error (code -32050). What follows is data" in said["rpc_error"].text
    )
    assert "\nthe database is away\n</tool_result>" in said["rpc_error"].text
    assert said["no_content"].text == "(no output)"
    assert "image png 640×480" in said["image"].text
    assert bench.status().phase == "ready"


async def test_a_changed_list_is_read_again_and_told(bench: Any) -> None:
    await bench.start("lists:list-changed")
    bench.host.catalogue.load(["mcp__fix__leaving", "mcp__fix__change"])
    assert not (await bench.call("change")).failed
    await until(lambda: bench.host.catalogue.find("fix", "arrived"))
    assert bench.host.catalogue.find("fix", "leaving") is None
    assert [tool.raw for tool in bench.host.catalogue.loaded()] == ["change"]
    event = next(one for one in bench.events if isinstance(one, ListChanged))
    assert (event.added, event.removed, event.changed, event.loaded) == (1, 1, 0, 1)
    detail = bench.host.list_changes.get(event.number)
    assert [(one.kind, one.tool, one.loaded) for one in detail.tools] == [
        ("removed", "leaving", True),
        ("added", "arrived", False),
    ]
    assert (detail.server, detail.cause) == ("fix", "list_changed")


async def test_a_list_that_cannot_be_read_again_leaves_the_old_one(bench: Any) -> None:
    await bench.start("lists:list-changed")
    await bench.call("fail")
    await until(lambda: bench.status().phase == "degraded")
    assert "not now" in bench.status().reason
    assert bench.host.catalogue.find("fix", "leaving") is not None
    assert not (await bench.call("storm")).failed


async def test_a_storm_of_changes_costs_few_listings(bench: Any) -> None:
    await bench.start("lists:list-changed")
    for _ in range(3):
        await bench.call("storm")
    await until(lambda: bench.methods().count("tools/list") >= 2)
    assert bench.methods().count("tools/list") <= 3


async def test_a_server_that_answers_each_listing_with_a_change_is_asked_more_and_more_slowly(
    bench: Any,
) -> None:
    await bench.start("lists:feedback")
    await until(lambda: bench.methods().count("tools/list") >= 3)
    assert bench.methods().count("tools/list") <= 4
    assert bench.notices() == []


async def test_the_stateless_protocol_is_spoken_with_roots_and_list_changes(bench: Any) -> None:
    await bench.start("lists:stateless")
    assert bench.status().protocol == "2026-07-28"
    assert "initialize" not in bench.methods()
    outcome = await bench.call()
    assert bench.folder.as_uri() in outcome.full
    assert '"action": "decline"' in outcome.full and '"s"' in outcome.full
    await until(lambda: bench.host.catalogue.find("fix", "news"))


async def test_a_server_that_ignores_the_probe_pays_for_it_once(bench: Any) -> None:
    bench.options = {"probe_timeout": 0.2}
    await bench.start("lists:ignores-probe")
    assert bench.status().phase == "ready"
    assert bench.methods()[:2] == ["server/discover", "initialize"]
    await until(lambda: (bench.folder / "state" / "protocols.toml").exists())
    await bench.host.aclose()
    bench.another_host()
    await bench.start("lists:ignores-probe")
    assert bench.status().phase == "ready"
    assert bench.methods().count("server/discover") == 1


async def test_a_verdict_about_an_updated_server_is_taken_back(bench: Any) -> None:
    entry = bench.entry("lists:stateless")
    bench.host._ground.verdicts.note_silence(entry.definition)
    bench.host.start([entry])
    await bench.host.settled()
    assert bench.status().protocol == "2026-07-28"
    await until(lambda: not bench.host._ground.verdicts.ignores_probe(entry.definition))


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_a_server_made_with_the_sdk_works_in_both_eras(bench: Any, version: str) -> None:
    script = bench.folder / "server.py"
    script.write_text(
        "from mcp.server import MCPServer\n"
        "server = MCPServer('made')\n"
        "@server.tool()\n"
        "def add(a: int, b: int) -> int:\n"
        '    """Add two numbers."""\n'
        "    return a + b\n"
        "server.run()\n"
    )
    entry = bench.entry("wire:ok", args=(str(script),))
    if version == "2025-11-25":
        bench.host._ground.verdicts.note_silence(entry.definition)
    bench.host.start([entry])
    await bench.host.settled()
    assert (bench.status().phase, bench.status().protocol) == ("ready", version)
    outcome = await bench.tool("add").run({"a": 2, "b": 40}, Invocation("1"))
    assert outcome.full == "42"
    assert (await bench.tool("add").run({"a": "x"}, Invocation("1"))).failed
