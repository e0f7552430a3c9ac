"""Arguments that fit a server's schema come back from any provider's form of it as they were."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hel_tui.core.models.schemas.adapt import adapt
from hel_tui.core.models.schemas.profile import ANTHROPIC, GEMINI, OPENAI, PROFILES
from hel_tui.core.models.schemas.restore import restore
from hel_tui.core.vocabulary import ToolDefinition

NAMES = st.sampled_from(["a", "filter[id]", "$top", "9lives", "filter_id", "x" * 70, "p_9lives", "naïve"])


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> tuple[Any, Any]:
    """(schema of an object, arguments that fit it)."""
    properties: dict[str, Any] = {}
    arguments: dict[str, Any] = {}
    for name in draw(st.lists(NAMES, unique=True, max_size=4)):
        schema, value = draw(_values(depth))
        properties[name] = schema
        if draw(st.booleans()):
            arguments[name] = value
    return {"type": "object", "properties": properties, "required": list(arguments)}, arguments


def _values(depth: int) -> st.SearchStrategy[tuple[Any, Any]]:
    plain = st.one_of(
        st.tuples(st.just({"type": "string"}), st.sampled_from(["", "5", "true", '{"a": 1}', "null", "x"])),
        st.tuples(st.just({"type": "integer"}), st.integers()),
        st.tuples(st.just({"type": "number"}), st.floats(allow_nan=False, allow_infinity=False)),
        st.tuples(st.just({"type": ["integer", "string"]}), st.sampled_from([1, "1"])),
        st.tuples(st.just({"enum": ["a", 1, None]}), st.sampled_from(["a", 1, None])),
        st.tuples(st.just({"type": "array"}), st.lists(st.integers(), max_size=2)),
    )
    if depth == 0:
        return plain
    inner = objects(depth - 1)
    listed = st.lists(st.none(), max_size=2)
    return st.one_of(
        plain,
        inner,
        st.tuples(inner, listed).map(
            lambda pair: ({"type": "array", "items": pair[0][0]}, [pair[0][1] for _ in pair[1]])
        ),
    )


def renamed(value: Any, schema: Any, names: Any) -> Any:
    """What a model would write: the same under the names it was given."""
    if isinstance(value, list):
        return [renamed(inner, schema.get("items", {}), names) for inner in value]
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    return {names.get(key, key): renamed(v, schema["properties"][key], names) for key, v in value.items()}


@pytest.mark.parametrize("name", PROFILES)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(pair=objects())
def test_arguments_that_fit_come_back_as_they_were(name: str, pair: tuple[Any, Any]) -> None:
    schema, arguments = pair
    tool = adapt(ToolDefinition("t", "", schema), PROFILES[name])
    restored = restore(tool, renamed(arguments, schema, tool.names or {}))
    assert restored.arguments == arguments
    assert repr(restored.arguments) == repr(arguments)
    assert not restored.conversions


def test_names_come_back_inside_references_and_alternatives_but_not_in_free_objects() -> None:
    row = {"type": "object", "properties": {"filter[id]": {"type": "integer"}}}
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"$ref": "#/$defs/row"}},
            "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/row"}]},
            "free": {"type": "object"},
        },
        "$defs": {"row": row},
    }
    tool = adapt(ToolDefinition("t", "", schema), ANTHROPIC)
    written = {"filter_id": "4"}
    restored = restore(tool, {"list": [written, {"other": 1}], "either": written, "free": written})
    assert restored.arguments == {
        "list": [{"filter[id]": 4}, {"other": 1}],
        "either": {"filter[id]": 4},
        "free": {"filter_id": "4"},
    }


@pytest.mark.parametrize(
    ("schema", "given_value", "wanted"),
    [
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["a", 1, True]}, "true", True),
        ({"type": "object"}, '{"k": [1]}', {"k": [1]}),
        ({"description": "anything"}, '{"k": 1}', {"k": 1}),
        ({"description": "anything"}, "plain {text", "plain {text"),
    ],
)
def test_what_the_provider_takes_only_as_text_is_the_value_again(
    schema: Any, given_value: Any, wanted: Any
) -> None:
    tool = adapt(ToolDefinition("t", "", {"type": "object", "properties": {"v": schema}}), GEMINI)
    value = restore(tool, {"v": given_value}).arguments["v"]
    assert value == wanted and type(value) is type(wanted)


def test_a_text_stays_a_text_where_the_provider_takes_anything() -> None:
    tool = adapt(ToolDefinition("t", "", {"type": "object", "properties": {"v": {}}}), OPENAI)
    assert restore(tool, {"v": '{"k": 1}'}).arguments == {"v": '{"k": 1}'}
