"""Definitions made to hold things up: refused for that tool alone, or done in time that grows with their size."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hel_tui.core.models.schemas.adapt import LARGEST, Adaptations
from hel_tui.core.models.schemas.profile import PROFILES, SchemaProfile
from hel_tui.core.vocabulary import ToolDefinition

EVERY = list(PROFILES.values())


def adapted(schema: Any, profile: SchemaProfile) -> Any:
    return Adaptations().get(ToolDefinition("mcp__s__t", "Does it.", schema), profile)


@pytest.mark.parametrize("profile", EVERY, ids=lambda profile: profile.name)
def test_an_index_of_thousands_of_digits_is_a_dangling_reference(profile: SchemaProfile) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/allOf/" + "9" * 5000}},
        "allOf": [{"type": "object"}],
    }
    assert adapted(schema, profile).problem == ""


@pytest.mark.parametrize("profile", EVERY, ids=lambda profile: profile.name)
def test_a_definition_without_end_is_refused_for_its_size(profile: SchemaProfile) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [f"value {n}" for n in range(LARGEST // 10)]}}}
    assert "larger than" in adapted(schema, profile).problem


def test_what_cannot_be_read_is_that_tools_problem() -> None:
    deep: dict[str, Any] = {}
    here = deep
    for _ in range(5_000):
        here["properties"] = {"a": {}}
        here = here["properties"]["a"]
    assert "cannot be read" in adapted(deep, EVERY[0]).problem


def _enum(count: int) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"enum": [f"v{n}" for n in range(count)]}}}


def _variants(count: int) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"anyOf": [{"const": n} for n in range(count)]}}}


def _merged(count: int) -> dict[str, Any]:
    values = {"enum": [f"v{n}" for n in range(count)]}
    return {"type": "object", "properties": {"a": {"allOf": [values, values]}}}


def _nowhere(count: int) -> dict[str, Any]:
    inner = {f"d{n}": {"$id": f"urn:{n}"} for n in range(count)}
    properties = {f"p{n}": {"$ref": f"#/nope/{n}"} for n in range(count // 4)}
    return {"type": "object", "properties": properties, "$defs": inner}


@pytest.mark.parametrize("made", [_enum, _variants, _merged, _nowhere])
def test_ten_times_the_size_costs_far_less_than_a_hundred_times(made: Any) -> None:
    def seconds(count: int) -> float:
        best = 9e9
        for _ in range(3):
            schema = made(count)
            began = time.process_time()
            assert adapted(schema, PROFILES["generic"]).problem == ""
            best = min(best, time.process_time() - began)
        return best

    seconds(10)
    assert seconds(3_000) < 50 * seconds(300)
