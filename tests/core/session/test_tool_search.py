"""Searching tools in a session: the model's tool where they are many, the person's search, record and traces."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.rig import Driver, results

Open = Callable[..., Driver]
MANY = {"desk": {"mode": "many:described", "env": {"COUNT": "300"}}}


def names(body: dict[str, Any]) -> list[str]:
    return [each["function"]["name"] for each in body.get("tools", [])]


def test_many_tools_are_searched_loaded_and_called_and_the_search_is_on_record(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    found = "mcp__desk__merge_invoice_9"
    replies = (
        call("search_mcp_tools", {"query": "merge invoice", "limit": 3}),
        call("load_mcp_tool", {"names": [found]}),
        say("done"),
    )
    with play(*replies, servers=MANY) as driver:
        driver.phase("desk", "ready")
        assert driver.ask("merge the invoices").reason == "done"
        (trace,) = driver.core.searches()
        driver.send(p.SearchTools("송장 병합"))
        driver.wait(lambda events: p.Searched(2) in events, "the person's search")
        assert [one.by for one in driver.core.searches()] == ["model", "person"]
    assert "search_mcp_tools" in names(model.requests[0])
    assert f"- {found}: " in results(model.requests[1])[0]
    assert found in names(model.requests[2])
    assert (trace.query, trace.searched, len(trace.hits)) == ("merge invoice", 300, 3)
    lines = [
        json.loads(line) for path in tmp_path.rglob("record.jsonl") for line in path.read_text().splitlines()
    ]
    searches = [line for line in lines if line["kind"] == "search"]
    assert [(one["query"], one["by"]) for one in searches] == [
        ("merge invoice", "model"),
        ("송장 병합", "person"),
    ]


def test_few_tools_are_listed_and_no_search_is_offered(play: Open, model: ScriptedModel) -> None:
    with play(say("hello")) as driver:
        driver.phase("fix", "ready")
        assert driver.ask("hi").reason == "done"
    assert "load_mcp_tool" in names(model.requests[0])
    assert "search_mcp_tools" not in names(model.requests[0])
