"""Arguments to begin with, from the schema of a tool."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.blank import MOST_CHARACTERS, blank_arguments
from hel_tui.foreign import is_clean


def schema(required: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def test_what_is_required_stands_there_with_an_empty_value_of_its_type() -> None:
    kinds = {kind: {"type": kind} for kind in ("string", "integer", "number", "boolean", "array", "object")}
    text = blank_arguments(
        schema([*kinds, "none"], **kinds, none={"type": "null"}, optional={"type": "string"})
    )
    assert text == (
        '{"string": "", "integer": 0, "number": 0, "boolean": false, "array": [], "object": {}, "none": null}'
    )


@pytest.mark.parametrize(
    ("one", "value"),
    [
        ({"type": ["null", "string"]}, ""),
        ({"enum": ["a", "b"], "type": "string"}, "a"),
        ({"const": 3}, 3),
        ({"type": "string", "default": "eu"}, "eu"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 0),
        ({"$ref": "#/$defs/Name"}, ""),
        ({"$ref": "https://example.com/x"}, None),
        (True, None),
        ({"type": "string", "default": "x" * 5_000}, ""),
    ],
)
def test_a_value_is_found_in_many_forms_of_schema(one: Any, value: Any) -> None:
    whole = schema(["a"], a=one) | {"$defs": {"Name": {"type": "string"}}}
    assert json.loads(blank_arguments(whole)) == {"a": value}


def test_a_schema_that_refers_to_itself_ends() -> None:
    whole = schema(["a"], a={"$ref": "#/$defs/A"}) | {"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}] * 3}}}
    assert json.loads(blank_arguments(whole)) == {"a": None}


def test_names_that_steer_are_escaped_and_too_many_are_none() -> None:
    assert is_clean(blank_arguments(schema(["\x1b[2J\u202e"])))
    assert blank_arguments(schema(["n" * MOST_CHARACTERS])) == "{}"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["type", "required", "properties", "$defs"]), json_values))
def test_no_schema_is_too_odd(odd: dict[str, Any]) -> None:
    assert isinstance(json.loads(blank_arguments(odd)), dict)
