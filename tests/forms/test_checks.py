"""What is wrong with a form: at its own place, several at once, by the rules of the schema's own draft."""

from __future__ import annotations

from typing import Any

import pytest

from hel_tui.forms.checks import check, check_value, is_format
from hel_tui.forms.tree import Form
from hel_tui.forms.validator import errors, is_valid


def kinds(schema: dict[str, Any], value: Any) -> dict[str, str]:
    """{path: kind} of all flaws of a property `x`, or of the whole."""
    form = Form({"type": "object", "properties": {"x": schema}}, {"x": value})
    return {".".join(map(str, flaw.path)): flaw.kind for flaw in check(form)[1]}


@pytest.mark.parametrize(
    ("schema", "value", "found"),
    [
        ({"type": "string", "minLength": 3}, "ab", {"x": "short"}),
        ({"type": "string", "maxLength": 1}, "ab", {"x": "long"}),
        ({"type": "string", "pattern": "^a"}, "b", {"x": "pattern"}),
        ({"type": "string", "format": "email"}, "nobody", {"x": "format"}),
        ({"type": "integer", "minimum": 3}, 2, {"x": "small"}),
        ({"type": "integer", "maximum": 3}, 4, {"x": "large"}),
        ({"type": "number", "exclusiveMinimum": 3}, 3, {"x": "above"}),
        ({"type": "number", "minimum": 3, "exclusiveMinimum": True}, 3, {"x": "above"}),
        ({"type": "number", "multipleOf": 0.5}, 0.7, {"x": "multiple"}),
        ({"type": "integer"}, "seven", {"x": "type"}),
        ({"enum": ["a", "b"]}, "c", {"x": "choice"}),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 1}, [1, 2], {"x": "many"}),
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 1], {"x": "unique"}),
        ({"type": "array", "items": {"type": "integer"}}, [1, "a"], {"x.1": "type"}),
        ({"items": [{"type": "string"}, {"type": "integer"}]}, ["a", "b"], {"x.1": "type"}),
        ({"type": "object", "required": ["a", "b"]}, {}, {"x.a": "required", "x.b": "required"}),
        ({"type": "object", "additionalProperties": False}, {"q": 1}, {"x.q": "extra"}),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": "b"}, {"x.a": "type"}),
        ({"not": {"type": "string"}}, "a", {"x": "other"}),
        ({"type": "string"}, "fits", {}),
    ],
)
def test_each_flaw_is_said_at_its_place(schema: dict[str, Any], value: Any, found: dict[str, str]) -> None:
    assert kinds(schema, value) == found


def test_a_number_that_is_none_and_a_needed_value_are_told_together() -> None:
    form = Form(
        {
            "type": "object",
            "properties": {"n": {"type": "number"}, "s": {"type": "string"}},
            "required": ["s"],
        }
    )
    form.write(form.find(("n",)), "many")
    assert {(flaw.path, flaw.kind) for flaw in check(form)[1]} == {(("n",), "number"), (("s",), "required")}


def test_in_an_alternative_what_is_wrong_is_told_inside_the_one_that_was_chosen() -> None:
    circle = {"type": "object", "title": "Circle", "properties": {"r": {"type": "number"}}, "required": ["r"]}
    box = {"type": "object", "title": "Box", "properties": {"w": {"type": "number"}}, "required": ["w"]}
    form = Form({"type": "object", "properties": {"s": {"oneOf": [circle, box]}}, "required": ["s"]})
    form.pick(form.find(("s",)), 1)
    assert [(flaw.path, flaw.kind) for flaw in check(form)[1]] == [(("s", "w"), "required")]


def test_patterns_and_formats_only_warn() -> None:
    form = Form(
        {"type": "object", "properties": {"s": {"type": "string", "pattern": "^a$", "format": "uuid"}}},
        {"s": "b"},
    )
    assert [(flaw.kind, flaw.soft) for flaw in check(form)[1]] == [("pattern", True), ("format", True)]


def test_a_slow_pattern_and_endless_references_hold_nothing_up() -> None:
    slow = {"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a+)+$"}}}
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}
    assert check(Form(slow, {"s": "a" * 60 + "!"}))[1] == ()
    assert check_value(loop, {}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^(a+)+$": {"type": "string"}}},
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
        {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False},
        {"allOf": [{"patternProperties": {"^(a+)+$": {}}}], "unevaluatedProperties": False},
        {"$ref": "#/$defs/a", "$defs": {"a": {"patternProperties": {"^(a+)+$": {}}}}, "unevaluatedProperties": 0},
        {"propertyNames": {"pattern": "^(a+)+$"}},
    ],
)  # fmt: skip
def test_no_pattern_of_a_foreign_schema_is_ever_tried(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors(schema, {"a": 1}, 5)  # imports
    tried: list[str] = []
    monkeypatch.setattr("re.search", lambda pattern, _text, *_flags: tried.append(str(pattern)))
    assert errors(schema, {"a" * 60 + "!": 1}, 5) == []
    assert tried == []


def test_references_that_multiply_come_to_an_end() -> None:
    twice = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**twice, "d40": {}}}
    assert errors(schema, {}, 1) == []


@pytest.mark.parametrize(
    "schema", [{"type": 7}, {"properties": 3}, {"$ref": "#/nowhere"}, {"$ref": "https://x.example/s"}]
)
def test_a_broken_schema_finds_nothing_wrong(schema: dict[str, Any]) -> None:
    assert errors(schema, {"a": 1}, 5) == []
    assert is_valid(schema, {})


def test_the_draft_is_told_by_its_words() -> None:
    assert not is_valid({"minimum": 3, "exclusiveMinimum": True}, 3)
    assert is_valid({"minimum": 3, "exclusiveMinimum": False}, 3)
    assert not is_valid({"items": [{"type": "string"}]}, [1])
    assert not is_valid({"prefixItems": [{"type": "string"}]}, [1])
    assert is_valid({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{}]}, [1])


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("email", "ana@example.com", "ana"),
        ("uri", "https://example.com/a", "example"),
        ("date", "2026-01-31", "2026-02-31"),
        ("date-time", "2026-01-31T14:05:00Z", "2026-01-31"),
        ("time", "14:05:00Z", "14h"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "2001:db8::1", "2001"),
        ("hostname", "api.example.com", "-api"),
        ("duration", "P3DT4H", "3 days"),
        ("regex", "^a+$", "("),
    ],
)
def test_formats(name: str, good: str, bad: str) -> None:
    assert is_format(name, good)
    assert not is_format(name, bad)


def test_a_format_nobody_knows_takes_anything() -> None:
    assert is_format("x-colour", "what it wants")
