"""Arguments against foreign schemas: positions for mistakes, no harm from the schema."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hel_tui.core.mcp.arguments import check_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "items": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def test_fitting_arguments_pass() -> None:
    assert check_arguments(SCHEMA, {"name": "x", "items": [{"n": 1}]}) == ""


def test_a_mistake_is_named_with_its_position() -> None:
    problem = check_arguments(SCHEMA, {"name": "x", "items": [{"n": 1}, {"n": "two"}]})
    assert problem.startswith("arguments.items[1].n: 'two' is not of type 'integer'")


def test_what_is_missing_and_what_is_too_much_is_named() -> None:
    problem = check_arguments(SCHEMA, {"nmae": "x"})
    assert "'name' is a required property" in problem
    assert "'nmae' was unexpected" in problem


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}},
        {"type": "object", "properties": {"a": {"minimum": "x"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
        {"$schema": "http://127.0.0.1:9/none", "type": "object", "properties": {"a": 7}},
    ],
)
def test_a_broken_schema_never_blocks(schema: dict[str, Any]) -> None:
    assert check_arguments(schema, {"a": 1}) == ""


def test_neither_patterns_nor_depth_of_a_schema_hold_the_program_up() -> None:
    begin = time.process_time()
    regex = {
        "type": "object",
        "properties": {"a": {"pattern": "^(a+)+$"}},
        "patternProperties": {"(x+x+)+y": {}},
    }
    assert check_arguments(regex, {"a": "a" * 60 + "!", "x" * 60: 1}) == ""
    definitions = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(40)}
    bomb = {"type": "object", "$defs": {**definitions, "40": {}}, "allOf": [{"$ref": "#/$defs/0"}]}
    assert check_arguments(bomb, {"a": 1}) == ""
    assert time.process_time() - begin < 20  # without the bounds: for ever


def test_patterns_beside_additional_properties_do_not_refuse_what_they_allow() -> None:
    schema = {"type": "object", "patternProperties": {"^x-": {}}, "additionalProperties": False}
    assert check_arguments(schema, {"x-a": 1}) == ""
