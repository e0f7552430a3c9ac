"""Tool lists page by page: each tool judged alone, repaired only where that needs no guess."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.listing import ToolSpec, read_listing

SCHEMA = {"type": "object", "properties": {}}


async def one(item: Any) -> ToolSpec:
    async def ask(_params: dict[str, Any]) -> dict[str, Any]:
        return {"tools": [item]}

    (spec,) = (await read_listing(ask)).tools
    return spec


async def test_a_sound_schema_stays_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [True]}}, "x-own": [1]}
    spec = await one({"name": "t", "inputSchema": schema})
    assert (spec.parameters, spec.problem) == (schema, "")


async def test_missing_parts_of_a_schema_are_filled_and_noted() -> None:
    for schema in ({}, {"properties": []}, {"type": ["object", "null"]}):
        spec = await one({"name": "t", "inputSchema": schema})
        assert spec.parameters["type"] == "object"
        assert spec.parameters.get("properties", {}) == {}
        assert not spec.problem
    assert (await one({"name": "t"})).parameters == SCHEMA


async def test_what_cannot_be_used_says_why() -> None:
    assert "properties are an array" in (await one({"name": "t", "inputSchema": {"properties": [1]}})).problem
    assert "describes 'string'" in (await one({"name": "t", "inputSchema": {"type": "string"}})).problem
    deep: Any = {}
    for _ in range(300):
        deep = {"items": deep}
    assert "too deeply" in (await one({"name": "t", "inputSchema": deep})).problem


async def test_a_name_listed_twice_counts_once() -> None:
    async def ask(_params: dict[str, Any]) -> dict[str, Any]:
        return {"tools": [{"name": "t", "inputSchema": SCHEMA}] * 2}

    specs = (await read_listing(ask)).tools
    assert [spec.problem for spec in specs] == ["", "the server lists this name twice"]


async def test_a_page_without_tools_ends_the_list_and_is_said() -> None:
    async def ask(params: dict[str, Any]) -> dict[str, Any]:
        return {} if params else {"tools": [{"name": "t"}], "nextCursor": "2"}

    listing = await read_listing(ask)
    assert (len(listing.tools), listing.cut) == (1, "a page of it has no tools array")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["name", "description", "inputSchema", "annotations"]), json_values))
async def test_no_tool_is_odd_enough_to_raise(item: dict[str, Any]) -> None:
    await one(item)
