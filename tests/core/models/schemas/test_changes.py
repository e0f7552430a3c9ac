"""Nothing is lost without a word: every difference between what a server sent and what a model gets is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from hel_tui.core.models.schemas.adapt import Adapted, adapt
from hel_tui.core.models.schemas.profile import GEMINI, GENERIC, LLAMACPP, OPENAI, PROFILES
from hel_tui.core.vocabulary import ToolDefinition
from tests.core.models.schemas.drawing import tops

Json = dict[str, Any]
QUICK = settings(
    max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def adapted_to(profile: Any, parameters: Json, description: str = "Does it.") -> Adapted:
    return adapt(ToolDefinition("mcp__fix__tool", description, parameters), profile)


def differences(before: Any, after: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Places where two JSON values are not the same; the outermost ones."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            if key in before and key in after:
                yield from differences(before[key], after[key], (*at, key))
            else:
                yield (*at, key)
    elif json.dumps(before) != json.dumps(after):
        yield at


@pytest.mark.parametrize("name", PROFILES)
@QUICK
@given(schema=tops())
def test_every_difference_is_told_at_its_place_or_around_it(name: str, schema: Json) -> None:
    adapted = adapted_to(PROFILES[name], schema)
    new = adapted.names or {}
    told = {
        path
        for change in adapted.changes
        for path in (change.path, tuple(new.get(s, s) for s in change.path))
    }
    for place in differences(schema, adapted.definition.parameters):
        assert any(place[: len(path)] == path for path in told), (place, told)


@pytest.mark.parametrize("name", PROFILES)
@QUICK
@given(schema=tops())
def test_where_nothing_is_told_nothing_is_different(name: str, schema: Json) -> None:
    adapted = adapted_to(PROFILES[name], schema)
    if not adapted.changes:
        assert adapted.definition.parameters == schema
        assert adapted.definition.description == "Does it."


def test_a_plain_schema_goes_to_everybody_but_the_strictest_as_it_is() -> None:
    plain = {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Where."}, "n": {"type": "integer"}},
        "required": ["path"],
    }
    for profile in PROFILES.values():
        if not profile.closed:
            adapted = adapted_to(profile, plain)
            assert not adapted.changes and adapted.definition is adapted.source


def test_alternatives_at_the_top_are_one_object_and_the_rule_is_in_the_description() -> None:
    one = {"properties": {"a": {"type": "string"}, "c": {"type": "string"}}, "required": ["a", "c"]}
    other = {"properties": {"b": {"type": "integer"}, "c": {"type": "string"}}, "required": ["b", "c"]}
    adapted = adapted_to(OPENAI, {"type": "object", "oneOf": [one, other]})
    assert set(adapted.definition.parameters["properties"]) == {"a", "b", "c"}
    assert adapted.definition.parameters["required"] == ["c"]
    assert "oneOf" not in adapted.definition.parameters
    assert (
        adapted.definition.description.startswith("Does it. ") and "a" in adapted.definition.description[9:]
    )


def test_what_all_of_the_parts_require_is_required() -> None:
    parts = [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}]
    adapted = adapted_to(OPENAI, {"type": "object", "properties": {"b": {}}, "allOf": parts})
    assert set(adapted.definition.parameters["required"]) == {"a", "b"}


@pytest.mark.parametrize("reference", ["#/$defs/x~1y", "#/definitions/p%20q", "#here", "inner"])
def test_references_of_every_style_are_written_out(reference: str) -> None:
    schema = {
        "type": "object",
        "properties": {"v": {"$ref": reference}},
        "$defs": {"x/y": {"type": "integer"}, "h": {"$anchor": "here", "type": "integer"}},
        "definitions": {"p q": {"type": "integer"}, "i": {"$id": "inner", "type": "integer"}},
    }
    adapted = adapted_to(GENERIC, schema)
    assert adapted.definition.parameters["properties"]["v"] == {"type": "integer"}
    assert "$defs" not in adapted.definition.parameters


def test_a_reference_that_leads_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}
    schema = {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}}
    for profile in PROFILES.values():
        adapted = adapted_to(profile, schema)
        assert "$ref" not in json.dumps(adapted.definition.parameters)
        assert any(change.rule == "reference" for change in adapted.changes)


def test_references_to_references_do_not_grow_without_end() -> None:
    definitions: Json = {
        f"n{level}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/n{level + 1}"} for side in ("left", "right")},
        }
        for level in range(30)
    }
    definitions["n30"] = {"type": "string"}
    schema = {"type": "object", "properties": {"n": {"$ref": "#/$defs/n0"}}, "$defs": definitions}
    for profile in PROFILES.values():
        assert len(json.dumps(adapted_to(profile, schema).definition.parameters)) < 1_000_000


def test_nothing_is_fetched_from_elsewhere_and_what_leads_nowhere_is_any_value() -> None:
    for reference in ("https://example.org/schema.json", "#/$defs/none", "file:///etc/passwd"):
        adapted = adapted_to(OPENAI, {"type": "object", "properties": {"v": {"$ref": reference}}})
        assert "$ref" not in adapted.definition.parameters["properties"]["v"]
        assert any("leads nowhere" in change.sentence for change in adapted.changes)


@pytest.mark.parametrize(
    ("schema", "form"),
    [
        (
            {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            {"type": "integer", "exclusiveMinimum": 0},
        ),
        ({"const": 5}, {"type": "integer", "enum": [5]}),
        ({"type": "array"}, {"type": "array", "items": None}),
        ({"type": ["string", "null"]}, {"anyOf": None}),
        ({"type": "str"}, {"type": "string"}),
        ({"enum": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
    ],
)
def test_older_and_other_forms_are_rewritten(schema: Json, form: Json) -> None:
    got = adapted_to(GENERIC, {"type": "object", "properties": {"v": schema}}).definition.parameters
    made = got["properties"]["v"]
    for key, value in form.items():
        assert key in made
        assert value is None or made[key] == value


def test_empty_lists_where_maps_belong_are_maps() -> None:
    adapted = adapted_to(OPENAI, {"type": "object", "properties": [], "required": {}})
    assert adapted.definition.parameters == {"type": "object", "properties": {}}


def test_gemini_says_null_and_texts_in_its_own_way() -> None:
    properties = {
        "maybe": {"type": ["string", "null"], "format": "uri"},
        "level": {"enum": [1, 2, None]},
        "9lives": {"type": "string"},
    }
    listed = adapted_to(GEMINI, {"type": "object", "properties": properties}).definition.parameters[
        "properties"
    ]
    assert listed["maybe"]["type"] == "string" and listed["maybe"]["nullable"] is True
    assert "uri" in listed["maybe"]["description"]
    assert listed["level"]["enum"] == ["1", "2"] and listed["level"]["nullable"] is True
    assert "9lives" not in listed


def test_llamacpp_gets_no_pattern_and_no_long_bound() -> None:
    properties = {"q": {"type": "string", "maxLength": 10_000, "pattern": r"^\d+$"}}
    listed = adapted_to(LLAMACPP, {"type": "object", "properties": properties}).definition.parameters[
        "properties"
    ]
    assert "maxLength" not in listed["q"] and "pattern" not in listed["q"]
    assert "10,000" in listed["q"]["description"] or "10000" in listed["q"]["description"]


def test_a_long_description_is_cut_and_that_is_told() -> None:
    adapted = adapted_to(OPENAI, {"type": "object", "properties": {}}, "word " * 1_000)
    assert len(adapted.definition.description) <= 1_024
    assert [change.rule for change in adapted.changes] == ["description"]
