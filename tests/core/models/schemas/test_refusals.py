"""Whom a provider's refusal means: by its words where they name somebody, else by trying."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hel_tui.core.models.schemas.bisect import MOST_PROBES, Found, find_refused
from hel_tui.core.models.schemas.culprit import culprits, too_many, wants_strict
from hel_tui.core.vocabulary import ToolDefinition


def tools(count: int) -> list[ToolDefinition]:
    return [ToolDefinition(f"mcp__s__t{number}", "", {}) for number in range(count)]


@pytest.mark.parametrize(
    ("said", "numbers", "place"),
    [
        ("Invalid schema for function 'mcp__s__t3': array schema missing items.", [3], ""),
        (
            "Invalid schema for function 'mcp__s__t3': In context=('properties', 'data'), 'allOf' is not "
            "permitted.",
            [3],
            "properties.data",
        ),
        ("tools.5.custom.input_schema: input_schema does not support oneOf at the top level", [5], ""),
        ("Invalid 'tools[2].function.description': string too long.", [2], ""),
        ("Invalid schema at functions.3", [3], ""),
        (
            "* GenerateContentRequest.tools[0].function_declarations[4].parameters.properties[url].format: only "
            "'enum' and 'date-time' are supported for STRING type\n* GenerateContentRequest.tools[0]."
            "function_declarations[6].parameters.properties: should be non-empty for OBJECT type",
            [4, 6],
            None,
        ),
        ("Failed to initialize samplers: failed to parse grammar", [], None),
        ("tools[99] is wrong", [], None),
    ],
)
def test_a_refusal_names_its_tools(said: str, numbers: list[int], place: str | None) -> None:
    found = culprits(said, tools(8))
    assert [one.name for one in found] == [f"mcp__s__t{number}" for number in numbers]
    if place is not None:
        assert found[0].place == place


def test_a_name_that_only_begins_like_another_is_not_meant() -> None:
    said = "Invalid schema for function 'mcp__s__t11': no."
    assert [one.name for one in culprits(said, tools(12))] == ["mcp__s__t11"]


def test_a_refusal_that_repeats_the_request_blames_nobody() -> None:
    said = "Bad request: " + ", ".join(f"'{tool.name}'" for tool in tools(8))
    assert not culprits(said, tools(8))


def test_what_a_provider_says_is_made_harmless() -> None:
    (one,) = culprits(
        "Invalid schema for function 'mcp__s__t1': \x1b[31m\x07evil\u202e" + "x" * 9_000, tools(3)
    )
    assert "\x1b" not in one.reason and "\u202e" not in one.reason and len(one.reason) <= 200


@pytest.mark.parametrize(
    ("said", "most"),
    [
        ("Invalid 'tools': array too long. Expected an array with maximum length 128, but got 140.", 128),
        ("Too many tools.", 0),
        ("Invalid schema for function 'a': array schema missing items.", None),
        ("context window exceeded", None),
    ],
)
def test_too_many_tools_is_told_from_wrong_ones(said: str, most: int | None) -> None:
    assert too_many(said) == most


def test_a_demand_for_strict_schemas_is_understood() -> None:
    assert wants_strict("In context=(), 'additionalProperties' is required to be supplied and to be false.")
    assert not wants_strict("array schema missing items")


class Endpoint:
    """Refuses requests with a tool of `bad`, and those with more than `most` tools."""

    def __init__(self, bad: Sequence[str], most: int = 10_000) -> None:
        self.bad = set(bad)
        self.most = most
        self.asked = 0

    async def __call__(self, tools: Sequence[ToolDefinition]) -> bool:
        self.asked += 1
        return len(tools) <= self.most and not self.bad & {tool.name for tool in tools}


async def found_by(endpoint: Endpoint, count: int) -> Found:
    found = await find_refused([ToolDefinition("bash", "", {})], tools(count), endpoint)
    assert found.probes == endpoint.asked <= MOST_PROBES
    return found


@settings(max_examples=60, deadline=None, derandomize=True)
@given(count=st.integers(1, 60), bad=st.sets(st.integers(0, 59), max_size=3))
async def test_the_refused_ones_are_found_and_nobody_else(count: int, bad: set[int]) -> None:
    names = [f"mcp__s__t{number}" for number in sorted(bad) if number < count]
    assert (await found_by(Endpoint(names), count)).certain == tuple(names)


async def test_more_culprits_than_there_is_time_for_are_all_left_out() -> None:
    names = [tool.name for tool in tools(100) if int(tool.name[9:]) % 2]
    found = await found_by(Endpoint(names), 100)
    assert set(names) <= {*found.certain, *found.suspects}


async def test_tools_that_are_only_too_much_together_are_cut_at_the_end() -> None:
    found = await found_by(Endpoint([], most=31), 40)
    assert not found.certain
    assert found.suspects == tuple(tool.name for tool in tools(40)[30:])


async def test_when_hels_own_tools_are_refused_no_server_is_blamed() -> None:
    found = await found_by(Endpoint(["bash"]), 9)
    assert (found.certain, found.suspects, found.probes) == ((), (), 1)
