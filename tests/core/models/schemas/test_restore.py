"""Arguments on their way back: the server's names, and values converted only where nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest

from hel_tui.core.models.schemas.adapt import adapt
from hel_tui.core.models.schemas.profile import ANTHROPIC, GEMINI, GENERIC, OPENAI, STRICT, SchemaProfile
from hel_tui.core.models.schemas.restore import Restored, restore
from hel_tui.core.vocabulary import ToolDefinition

Json = dict[str, Any]


def back(properties: Json, arguments: Json, profile: SchemaProfile = GENERIC, **more: Any) -> Restored:
    schema = {"type": "object", "properties": properties, **more}
    return restore(adapt(ToolDefinition("mcp__a__b", "", schema), profile), arguments)


@pytest.mark.parametrize(
    ("schema", "given", "meant"),
    [
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, 5.0, 5),
        ({"type": "number"}, "0.5", 0.5),
        ({"type": "boolean"}, "true", True),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "array", "items": {"type": "string"}}, '["a"]', ["a"]),
        ({"type": "array", "items": {"type": "string"}}, "a", ["a"]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"enum": [1, 2]}, "2", 2),
    ],
)
def test_a_value_is_converted_where_there_is_one_way_to_read_it(schema: Json, given: Any, meant: Any) -> None:
    restored = back({"x": schema}, {"x": given})
    assert restored.arguments == {"x": meant}
    assert type(restored.arguments["x"]) is type(meant)
    assert len(restored.conversions) == 1 and restored.conversions[0].startswith("x: ")


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "string"}, "5"),
        ({"type": ["string", "integer"]}, "5"),
        ({}, "5"),
        ({"type": "integer"}, "five"),
        ({"type": "integer"}, "5.5"),
        ({"type": "integer"}, "05"),
        ({"type": "integer"}, 5.5),
        ({"type": "boolean"}, "yes"),
        ({"type": "boolean"}, 1),
        ({"type": "string"}, 5),
        ({"type": "array", "items": {"type": "integer"}}, "[1"),
        ({"type": "array", "items": {"type": "integer"}}, {"a": 1}),
        ({"type": "array"}, "a"),
        ({"type": "object"}, "[1]"),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, '{"a": 1}'),
    ],
)
def test_nothing_is_guessed(schema: Json, given: Any) -> None:
    restored = back({"x": schema}, {"x": given})
    assert restored == Restored({"x": given})
    assert type(restored.arguments["x"]) is type(given)


@pytest.mark.parametrize("profile", [ANTHROPIC, GEMINI, GENERIC], ids=lambda one: one.name)
def test_names_come_back_at_every_depth(profile: SchemaProfile) -> None:
    row = {"type": "object", "properties": {"$top": {"type": "integer"}}}
    schema = {
        "type": "object",
        "properties": {"filter[id]": {"type": "string"}, "rows": {"type": "array", "items": row}},
    }
    adapted = adapt(ToolDefinition("mcp__a__b", "", schema), profile)
    listed = adapted.definition.parameters["properties"]
    assert "filter[id]" not in listed
    (name,) = set(listed) - {"rows"}
    (inner,) = listed["rows"]["items"]["properties"]
    restored = restore(adapted, {name: "a", "rows": [{inner: 3}, {inner: 4}]})
    assert restored.arguments == {"filter[id]": "a", "rows": [{"$top": 3}, {"$top": 4}]}


def test_names_that_would_be_one_stay_two() -> None:
    properties: Json = {"a b": {"type": "string"}, "a_b": {"type": "string"}, "a[b": {"type": "string"}}
    adapted = adapt(ToolDefinition("t", "", {"type": "object", "properties": properties}), ANTHROPIC)
    names = list(adapted.definition.parameters["properties"])
    assert len(set(names)) == 3
    values = {name: str(number) for number, name in enumerate(names)}
    assert restore(adapted, values).arguments == {"a b": "0", "a_b": "1", "a[b": "2"}


def test_null_for_what_may_be_left_out_is_left_out_and_null_that_is_meant_stays() -> None:
    properties: Json = {"a": {"type": "string"}, "b": {"type": ["string", "null"]}, "c": {"type": "string"}}
    restored = back(properties, {"a": None, "b": None, "c": "x"}, STRICT, required=["c"])
    assert restored.arguments == {"b": None, "c": "x"}
    assert [one.split(":")[0] for one in restored.conversions] == ["a"]


def test_what_was_a_text_for_the_model_is_the_object_it_holds() -> None:
    restored = back({"env": {"type": "object"}}, {"env": '{"A": "1"}'}, GEMINI)
    assert restored.arguments == {"env": {"A": "1"}}


def test_the_models_own_arguments_are_not_touched() -> None:
    given = {"x": "5"}
    back({"x": {"type": "integer"}}, given)
    assert given == {"x": "5"}


def test_what_fits_already_comes_back_as_it_is() -> None:
    given: Json = {"x": 5, "y": ["a"], "z": {"deep": [1, None, {"k": "v"}]}, "further": "kept"}
    properties: Json = {"x": {"type": "integer"}, "y": {"type": "array"}, "z": {"type": "object"}}
    assert back(properties, given, OPENAI) == Restored(given)
