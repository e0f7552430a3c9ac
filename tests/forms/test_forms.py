"""Forms of servers: what can be one, what a person may type, and that nothing a server says breaks it."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.protocol import FormField
from hel_tui.forms import Problem, check_form, fields_from_schema, read_field, start
from hel_tui.forms.patterns import matches


def fields(schema: dict[str, Any], *required: str) -> tuple[FormField, ...]:
    found = fields_from_schema({"type": "object", "properties": schema, "required": list(required)})
    assert not isinstance(found, str), found
    return found


def field(schema: dict[str, Any], required: bool = False) -> FormField:
    return fields({"x": schema}, *(["x"] if required else []))[0]


def kind_of_problem(one: FormField, typed: str | bool | tuple[str, ...]) -> str:
    found = read_field(one, typed)
    assert isinstance(found, Problem), found
    assert found.sentence
    return found.kind


# ------------------------------------------------------------ schema to fields


def test_every_kind_of_the_specification_becomes_a_field() -> None:
    made = fields(
        {
            "name": {
                "type": "string",
                "title": "Name",
                "description": "Yours",
                "minLength": 2,
                "maxLength": 9,
            },
            "mail": {"type": "string", "format": "email"},
            "page": {"type": "string", "format": "uri"},
            "day": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "share": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
            "count": {"type": "integer", "default": 3},
            "sure": {"type": "boolean", "default": True},
            "old": {"type": "string", "enum": ["a", "b"], "enumNames": ["A!", "B!"], "default": "b"},
            "new": {"type": "string", "oneOf": [{"const": "a", "title": "A!"}, {"const": "b"}]},
            "some": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1},
            "more": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A!"}]}, "default": ["a"]},
        },
        "name",
    )
    assert [one.kind for one in made] == [
        "text", "email", "uri", "date", "date-time", "number", "integer", "boolean",
        "choice", "choice", "choices", "choices",
    ]  # fmt: skip
    name, *_, old, new, some, more = made
    assert (name.label, name.description, name.required) == ("Name", "Yours", True)
    assert (name.minimum, name.maximum) == (2, 9)
    assert [one.default for one in made[5:8]] == [0.5, 3, True]
    assert old.options == (("a", "A!"), ("b", "B!")) and old.default == "b"
    assert new.options == (("a", "A!"), ("b", "b")) and new.label == "new" and not new.required
    assert some.options == (("a", "a"), ("b", "b")) and some.minimum == 1
    assert more.default == ("a",)


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({}, "text"),
        ({"type": ["integer", "null"]}, "integer"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}], "default": None}, "number"),
        ({"$ref": "#/$defs/Colour"}, "choice"),
        ({"allOf": [{"$ref": "#/$defs/Colour"}], "default": "red"}, "choice"),
        ({"enum": ["a"]}, "choice"),
        ({"type": "integer", "enum": [1, 2]}, "integer"),
        ({"type": "string", "format": "hostname"}, "text"),
        ({"type": "string", "minLength": "two", "default": 7, "title": 3}, "text"),
    ],
)
def test_small_departures_are_taken(schema: dict[str, Any], kind: str) -> None:
    made = fields_from_schema({"properties": {"x": schema}, "$defs": {"Colour": {"enum": ["red"]}}})
    assert not isinstance(made, str) and made[0].kind == kind


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        (None, "not an object"),
        ({"type": "array"}, "does not describe an object"),
        ({"properties": []}, "no properties"),
        ({"properties": {"x": {"type": "object", "properties": {}}}}, '"x"'),
        ({"properties": {"x": {"properties": {}}}}, "flat"),
        ({"properties": {"x": {"type": "array", "items": {"type": "string"}}}}, "without options"),
        ({"properties": {"x": {"type": "array", "items": True}}}, "without options"),
        ({"properties": {"x": {"type": "colour"}}}, "colour"),
        ({"properties": {"x": {"type": ["string", "integer"]}}}, "mixture"),
        ({"properties": {"x": {"enum": [str(n) for n in range(600)]}}}, "options"),
        ({"properties": {str(n): {"type": "string"} for n in range(51)}}, "51 fields"),
    ],
)
def test_what_cannot_be_a_form_says_why(schema: object, word: str) -> None:
    found = fields_from_schema(schema)
    assert isinstance(found, str) and word in found and found.endswith(".")


def test_no_fields_are_a_form_that_only_asks_for_a_yes() -> None:
    assert fields_from_schema({"type": "object", "properties": {}}) == ()
    assert check_form((), {}) == ((), ())


def test_a_required_name_nobody_described_is_asked_for_as_text() -> None:
    made = fields_from_schema({"properties": {}, "required": ["x", 3]})
    assert not isinstance(made, str) and [(one.name, one.kind, one.required) for one in made] == [
        ("x", "text", True)
    ]


def test_references_in_a_circle_end() -> None:
    made = fields_from_schema(
        {"properties": {"x": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
    )
    assert not isinstance(made, str)


# ------------------------------------------------------------ typed to values


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "string"}, " kept ", " kept "),
        ({"type": "integer"}, " 42 ", 42),
        ({"type": "integer"}, "-7", -7),
        ({"type": "integer"}, "3.0", 3),
        ({"type": "integer"}, "9007199254740993", 9007199254740993),
        ({"type": "integer"}, "9" * 300, int("9" * 300)),
        ({"type": "integer", "enum": [1, 2]}, "2", 2),
        ({"type": "number"}, "3", 3),
        ({"type": "number"}, "3.50", 3.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "boolean"}, False, False),
        ({"type": "boolean"}, "True", True),
        ({"type": "string", "format": "email"}, "ana@example.com", "ana@example.com"),
        ({"type": "string", "format": "uri"}, "https://example.com/a?b#c", "https://example.com/a?b#c"),
        ({"type": "string", "format": "uri"}, "mailto:ana@example.com", "mailto:ana@example.com"),
        ({"type": "string", "format": "date"}, "2024-02-29", "2024-02-29"),
        ({"type": "string", "format": "date-time"}, "2026-01-31T14:05:00Z", "2026-01-31T14:05:00Z"),
        (
            {"type": "string", "format": "date-time"},
            "2026-01-31 14:05:00.5+09:00",
            "2026-01-31 14:05:00.5+09:00",
        ),
        ({"enum": ["a", "b"]}, "b", "b"),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, ("c", "a"), ("a", "c")),
    ],
)
def test_what_is_typed_becomes_a_value_of_its_type(schema: dict[str, Any], typed: Any, value: Any) -> None:
    found = read_field(field(schema), typed)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "typed", "kind"),
    [
        ({"type": "string", "minLength": 3}, "ab", "short"),
        ({"type": "string", "maxLength": 3}, "abcd", "long"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A1", "pattern"),
        ({"type": "integer"}, "4.5", "integer"),
        ({"type": "integer"}, "1_000", "integer"),
        ({"type": "integer"}, "٣", "integer"),
        ({"type": "integer"}, "9" * 5000, "integer"),
        ({"type": "integer", "minimum": 1}, "0", "small"),
        ({"type": "integer", "maximum": 5}, "6", "large"),
        ({"type": "number"}, "NaN", "number"),
        ({"type": "number"}, "Infinity", "number"),
        ({"type": "number"}, "1e999", "number"),
        ({"type": "number"}, "3,5", "number"),
        ({"type": "boolean"}, "maybe", "boolean"),
        ({"type": "string", "format": "email"}, "ana", "email"),
        ({"type": "string", "format": "uri"}, "example.com", "uri"),
        ({"type": "string", "format": "uri"}, "http://[::1", "uri"),
        ({"type": "string", "format": "date"}, "2023-02-29", "date"),
        ({"type": "string", "format": "date"}, "20240101", "date"),
        ({"type": "string", "format": "date-time"}, "2026-01-31T14:05:00", "date-time"),
        ({"type": "string", "format": "date-time"}, "2026-01-31T25:05:00Z", "date-time"),
        ({"enum": ["a"]}, "z", "choice"),
        ({"type": "array", "items": {"enum": ["a"]}}, ("z",), "choice"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, ("a", "b"), "many"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2}, ("a",), "few"),
    ],
)
def test_what_is_no_value_says_what_would_be(schema: dict[str, Any], typed: Any, kind: str) -> None:
    assert kind_of_problem(field(schema), typed) == kind


@pytest.mark.parametrize("type_", ["string", "integer", "number"])
def test_an_optional_field_left_empty_is_left_out_and_a_required_one_is_asked_for(type_: str) -> None:
    assert read_field(field({"type": type_}), "") is None
    assert kind_of_problem(field({"type": type_}, required=True), "") == "required"


def test_a_form_nobody_touched_sends_its_defaults() -> None:
    form = fields(
        {
            "a": {"type": "string", "default": "x"},
            "b": {"type": "integer", "default": 3},
            "c": {"type": "boolean", "default": True},
            "d": {"enum": ["r", "g"], "default": "g"},
            "e": {"type": "array", "items": {"enum": ["r", "g"]}, "default": ["r"]},
            "f": {"type": "number", "default": 0.1},
            "g": {"type": "string"},
        }
    )
    content, problems = check_form(form, {})
    assert not problems
    assert dict(content) == {"a": "x", "b": 3, "c": True, "d": "g", "e": ("r",), "f": 0.1}


def test_each_field_with_a_problem_is_named() -> None:
    form = fields({"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "string"}}, "a")
    content, problems = check_form(form, {"b": "no", "c": "fine"})
    assert [(one.field, one.kind) for one in problems] == [("a", "required"), ("b", "integer")]
    assert content == (("c", "fine"),)


# ------------------------------------------------------------ patterns


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*$", "^(([a-z])+.)+[A-Z]$", "a*a*a*a*a*a*a*b", "a?" * 60 + "a" * 60, "("]
)
def test_a_pattern_made_to_hold_up_the_screen_is_left_to_the_server(pattern: str) -> None:
    before = time.process_time()
    assert matches(pattern, "a" * 5_000 + "!")
    assert time.process_time() - before < 20  # the harmful ones take hours


def test_common_patterns_are_checked() -> None:
    assert matches(r"^[a-z][a-z0-9_-]{2,31}$", "good-name") and not matches(r"^[a-z][a-z0-9_-]{2,31}$", "Bad")
    assert not matches(r"^(?:v)?\d+\.\d+\.\d+$", "1.2") and matches(r"^(?:v)?\d+\.\d+\.\d+$", "v1.2.3")


# ------------------------------------------------------------ properties

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["string", "integer", "array", "object", "number", "boolean", "#/$defs/A", "date"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "properties", "required", "enum", "oneOf", "anyOf", "allOf", "items", "const", "title",
             "$ref", "$defs", "default", "minimum", "maxLength", "format", "pattern", "enumNames", "A"]
        ),
        inner, max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(schema=_json, typed=st.text(max_size=20))
def test_whatever_a_server_sends_is_a_form_or_a_sentence(schema: Any, typed: str) -> None:
    made = fields_from_schema({"properties": {"x": schema}})
    if isinstance(made, str):
        assert made.endswith(".")
        return
    check_form(made, {})
    check_form(made, {"x": typed})


@given(typed=st.text(max_size=40), type_=st.sampled_from(["integer", "number"]))
def test_a_number_read_is_one_that_json_carries_unchanged(typed: str, type_: str) -> None:
    value = read_field(field({"type": type_}), typed)
    if isinstance(value, int | float):
        assert math.isfinite(value)
        assert json.loads(json.dumps(value, allow_nan=False)) == value


@given(value=st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_default_that_is_shown_is_read_back_as_it_was(value: float) -> None:
    one = field({"type": "number", "default": value})
    assert read_field(one, start(one)) == value


@given(chosen=st.sets(st.sampled_from("abcdef")))
def test_choices_come_in_the_order_of_the_options(chosen: set[str]) -> None:
    one = field({"type": "array", "items": {"enum": list("abcdef")}}, required=True)
    assert read_field(one, tuple(chosen)) == tuple(sorted(chosen))


# ------------------------------------------------------------------ how much it may say


@pytest.mark.parametrize(
    "schema",
    [
        {"x": {"type": "string", "default": "a" * 2_000_000}},
        {"x": {"type": "string", "enum": [f"{n:06}" for n in range(20_000)]}},
        {"x" * 100_000: {"type": "string"}},
        {"x": {"type": "string", "x-more": [[[]]] * 100_000}},
        {f"f{n}": {"$ref": "#/$defs/all"} for n in range(50)},
    ],
    ids=["default", "options", "name", "unread", "many times the same"],
)
def test_a_form_that_says_too_much_is_refused(schema: dict[str, Any]) -> None:
    everything = {"all": {"type": "string", "enum": [f"{n:0100}" for n in range(300)]}}
    found = fields_from_schema({"type": "object", "properties": schema, "$defs": everything})
    assert found == "The form is too large: it says more than 64 KiB."


def test_what_is_only_read_is_cut_and_what_would_be_sent_back_is_not() -> None:
    one = field(
        {"title": "t" * 1_000, "description": "d" * 1_000, "oneOf": [{"const": "a", "title": "o" * 900}]}
    )
    assert (len(one.label), len(one.description), len(one.options[0][1])) == (200, 500, 200)
    assert one.label.endswith("t…") and one.description.endswith("d…") and one.options[0][1].endswith("o…")
    assert field({"type": "string", "default": "d" * 5_000}).default is None
    assert field({"type": "string", "pattern": "a" * 501}).pattern == ""
    long_name = fields_from_schema({"properties": {"n" * 201: {"type": "string"}}})
    assert long_name == "The name of a field is longer than 200 characters."
    long_option = fields_from_schema({"properties": {"x": {"enum": ["o" * 201]}}})
    assert (
        long_option == 'The field "x" cannot be asked for: one of its options is longer than 200 characters.'
    )


def test_all_countries_can_be_chosen_from() -> None:
    countries = [{"const": f"C{n}", "title": f"The Republic of Number {n}"} for n in range(249)]
    assert len(field({"type": "string", "oneOf": countries}).options) == 249


@pytest.mark.parametrize("pattern", ["(?x)(a+) +$", "(?x)(a+)#\n+$", "(?x:(a+) +$)", "(?i)(a|aa) *$"])
def test_a_pattern_that_sets_flags_is_left_to_the_server(pattern: str) -> None:
    assert matches(pattern, "a" * 40 + "!")
