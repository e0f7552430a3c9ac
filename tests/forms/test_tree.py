"""Forms of any schema: what stands in them at first, from arguments to a form and back, and changes by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hel_tui.forms.checks import check
from hel_tui.forms.node import Node, value_of
from hel_tui.forms.spec import MISSING, spec_of
from hel_tui.forms.tree import Form

LISTS = sorted((Path(__file__).parents[1] / "search" / "lists").glob("*.json"))


def obj(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def at(form: Form, *path: str | int) -> Node:
    node = form.find(path)
    assert node.path == path
    while (branch := node.branch) is not None:
        node = branch
    return node


def write(form: Form, text: str, *path: str | int) -> None:
    form.write(at(form, *path), text)


def value(form: Form) -> Any:
    return value_of(form.root)


# --------------------------------------------------------------------- at first


def test_what_is_required_waits_and_what_is_optional_is_left_out() -> None:
    form = Form(obj({"name": {"type": "string"}, "note": {"type": "string"}}, "name"))
    assert value(form) == {}
    assert [flaw.path for flaw in check(form)[1]] == [("name",)]
    write(form, "Ada", "name")
    assert value(form) == {"name": "Ada"}
    write(form, "", "note")
    assert value(form) == {"name": "Ada", "note": ""}, "empty is not left out"
    form.leave_out(at(form, "note"))
    assert value(form) == {"name": "Ada"}


def test_defaults_fill_what_is_required_and_what_is_put_in() -> None:
    schema = {"type": "integer", "default": 7}
    form = Form(obj({"a": schema, "b": schema}, "a"))
    assert value(form) == {"a": 7}
    form.add(at(form, "b"))
    assert value(form) == {"a": 7, "b": 7}


def test_a_constant_that_is_required_is_there_by_itself() -> None:
    form = Form(obj({"v": {"const": 2}, "one": {"enum": ["only"]}, "of": {"enum": [1, 2]}}, "v", "one", "of"))
    assert value(form) == {"v": 2, "one": "only"}


def test_required_objects_and_lists_unfold_and_a_list_begins_with_its_least_number() -> None:
    inner = obj({"x": {"type": "number"}}, "x")
    form = Form(
        obj({"o": inner, "l": {"type": "array", "items": {"type": "string"}, "minItems": 2}}, "o", "l")
    )
    assert {flaw.path for flaw in check(form)[1]} == {("o", "x"), ("l", 0), ("l", 1)}
    write(form, "2.5", "o", "x")
    write(form, "a", "l", 0)
    write(form, "b", "l", 1)
    assert check(form) == ({"o": {"x": 2.5}, "l": ["a", "b"]}, ())


def test_a_schema_that_contains_itself_unfolds_as_far_as_it_is_used() -> None:
    schema = {
        "$ref": "#/$defs/n",
        "$defs": {"n": obj({"v": {"type": "integer"}, "next": {"$ref": "#/$defs/n"}}, "v")},
    }
    form = Form(schema)
    for depth in range(1, 5):
        form.add(at(form, *["next"] * depth))
    write(form, "3", *["next"] * 4, "v")
    deepest = value(form)
    for _ in range(4):
        deepest = deepest["next"]
    assert deepest == {"v": 3}


def test_a_schema_that_requires_itself_for_ever_ends() -> None:
    forever = obj({f"p{n}": {"$ref": "#"} for n in range(8)}, *(f"p{n}" for n in range(8)))
    form = Form(forever)
    assert sum(1 for _ in form.root) < 20_000


# ------------------------------------------------------------- kinds of schemas


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "text"),
        ({"type": ["string"]}, "text"),
        ({"type": ["string", "null"]}, "union"),
        ({"type": "string", "nullable": True}, "union"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "union"),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, "integer"),
        ({"allOf": [{"$ref": "#/$defs/t"}], "description": "over it"}, "number"),
        ({"$ref": "#/$defs/t"}, "number"),
        ({"$ref": "#anchored"}, "boolean"),
        ({"$ref": "https://elsewhere.example/x.json"}, "any"),
        ({"$ref": "#/$defs/loop"}, "any"),
        ({"enum": [1, "a", None]}, "choice"),
        ({"const": {"a": 1}}, "choice"),
        ({"oneOf": [{"const": "a", "title": "An A"}, {"const": "b"}]}, "choice"),
        ({"properties": {"a": {}}}, "object"),
        ({"items": {"type": "string"}}, "array"),
        ({"minLength": 2}, "text"),
        ({"minimum": 2}, "number"),
        (True, "any"),
        (False, "never"),
        ({}, "any"),
        ({"type": "file"}, "any"),
        (None, "any"),
        ({"type": 7, "properties": 3, "enum": "x", "oneOf": {}, "required": "a"}, "object"),
        ({"type": "object", "properties": {"a": 1}}, "object"),
    ],
)
def test_a_place_knows_its_kind(schema: Any, kind: str) -> None:
    root = {
        "$defs": {
            "t": {"type": "number"},
            "loop": {"$ref": "#/$defs/loop"},
            "a": {"$anchor": "anchored", "type": "boolean"},
        }
    }
    assert spec_of(schema, root).kind == kind


def test_alternatives_are_named_by_what_tells_them_apart() -> None:
    schema = {
        "oneOf": [
            obj({"kind": {"const": "circle"}}),
            {"$ref": "#/$defs/Box"},
            {"title": "By name", "type": "string"},
            {"type": "array", "items": {"type": "number"}},
            {"type": "null"},
        ]
    }
    root = {"$defs": {"Box": {"type": "object"}}}
    labels = [branch.label for branch in spec_of(schema, root).branches]
    assert labels == ["kind=circle", "Box", "By name", "array of number", "null"]


def test_alternatives_share_what_stands_beside_them() -> None:
    schema = obj(
        {"id": {"type": "string"}}, "id", oneOf=[obj({"a": {"type": "integer"}}, "a"), obj({"b": {}}, "b")]
    )
    form = Form(schema, {"id": "x", "b": [1]})
    assert form.root.picked == 1
    assert value(form) == {"id": "x", "b": [1]}


def test_old_and_new_tuples_have_a_schema_for_each_place() -> None:
    for schema in (
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False},
    ):
        form = Form(obj({"t": schema}, "t"), {"t": ["a", 1]})
        assert [child.kind for child in at(form, "t").children] == ["text", "integer"]
        assert form.grow(at(form, "t")) is None
        form.move(at(form, "t", 1), -1)
        assert value(form) == {"t": [1, "a"]}, "what moved keeps its value, fitting or not"


# ---------------------------------------------------------------- changes by hand


def test_items_are_added_moved_and_taken_out() -> None:
    form = Form(obj({"l": {"type": "array", "items": {"type": "string"}}}), {"l": ["a", "b"]})
    added = form.grow(at(form, "l"))
    assert added is not None
    form.write(added, "c")
    assert form.move(added, -1) and form.move(added, -1) and not form.move(added, -1)
    assert value(form) == {"l": ["c", "a", "b"]}
    form.leave_out(at(form, "l", 1))
    assert value(form) == {"l": ["c", "b"]}
    form.leave_out(at(form, "l"))
    assert value(form) == {}


def test_properties_without_a_name_in_the_schema_are_added_renamed_and_typed_by_pattern() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"^n_": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
    }
    form = Form(schema)
    child = form.grow(form.root)
    assert child is not None and child.kind == "text"
    assert form.rename(child, "n_1")
    renamed = at(form, "n_1")
    assert renamed.kind == "integer"
    form.write(renamed, "4")
    assert value(form) == {"n_1": 4}
    assert form.grow(form.root, "n_1") is None, "a name stands but once"


def test_no_property_can_be_added_where_the_schema_takes_none() -> None:
    form = Form({"type": "object", "additionalProperties": False})
    assert form.grow(form.root) is None


def test_another_shape_keeps_what_fits_it() -> None:
    shapes = [
        obj({"a": {"type": "string"}}, "a", title="One"),
        obj({"a": {"type": "string"}, "b": {"type": "integer"}}, "a"),
    ]
    form = Form(obj({"s": {"anyOf": shapes}}, "s"), {"s": {"a": "kept"}})
    form.pick(form.find(("s",)), 1)
    assert value(form) == {"s": {"a": "kept"}}
    marked = [obj({"k": {"const": name}, "a": {"type": "string"}}, "k") for name in ("one", "two")]
    form = Form(obj({"s": {"oneOf": marked}}, "s"), {"s": {"k": "one", "a": "kept"}})
    form.pick(form.find(("s",)), 1)
    assert value(form) == {"s": {"k": "two", "a": "kept"}}, "what tells them apart is the new one's"
    form = Form(obj({"s": {"type": ["string", "integer"]}}, "s"), {"s": "text"})
    form.pick(form.find(("s",)), 1)
    assert value(form) == {}, "a text is no number"


def test_what_a_place_cannot_show_stays_in_it_as_json() -> None:
    given = {"count": {"not": "a number"}, "name": 7, "extra": [1, {"x": None}]}
    form = Form(
        obj({"count": {"type": "integer"}, "name": {"type": "string"}}, additionalProperties=False), given
    )
    assert at(form, "count").raw and at(form, "name").raw
    assert value(form) == given
    assert {flaw.path for flaw in check(form)[1]} == {("count",), ("name",), ("extra",)}
    assert form.as_raw(at(form, "count"), "12")
    assert at(form, "count").kind == "integer" and value(form)["count"] == 12
    assert not form.as_raw(at(form, "count"), "{")


def test_what_cannot_be_read_is_quoted_on_the_way_to_json() -> None:
    form = Form(obj({"n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}}}, "n"))
    write(form, "twelve", "n")
    form.grow(at(form, "l"))
    form.quote_unread()
    assert value(form) == {"n": "twelve", "l": []}


# --------------------------------------------------------------- schemas at large


def test_every_tool_of_published_servers_has_a_form_that_can_be_filled_and_read_back() -> None:
    count = 0
    for file in LISTS:
        for tool in json.loads(file.read_text())["tools"]:
            count += 1
            form = Form(tool["inputSchema"])
            for _ in range(200):
                node = next(
                    (
                        one
                        for one in form.root
                        if one.required and value_of(one) is MISSING and not one.children
                    ),
                    None,
                )
                if node is None:
                    break
                _fill(form, node)
            filled, flaws = check(form)
            assert not [flaw for flaw in flaws if not flaw.soft], (file.stem, tool["name"], flaws)
            assert value(Form(tool["inputSchema"], filled)) == filled, (file.stem, tool["name"])
    assert count > 300


def _fill(form: Form, node: Node) -> None:
    """Put something that fits into a place, as a person would."""
    limits = dict(node.spec.limits)
    match node.kind:
        case "text":
            examples = {
                "uri": "https://example.com",
                "date": "2026-01-31",
                "date-time": "2026-01-31T00:00:00Z",
                "email": "a@b.c",
            }
            form.write(node, examples.get(node.spec.format, "x" * max(int(limits.get("minLength", 1)), 1)))
        case "integer" | "number":
            form.write(node, str(limits.get("minimum", limits.get("exclusiveMinimum", 0) + 1)))
        case "boolean" | "choice":
            form.pick(node, 0)
        case "any":
            form.as_raw(node, "{}")
        case kind:
            raise AssertionError(f"{kind} should be there by itself")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
WORDS = st.sampled_from(
    ["type", "properties", "items", "required", "enum", "const", "oneOf", "anyOf", "allOf", "$ref", "$defs", "default",
     "prefixItems", "additionalProperties", "patternProperties", "minimum", "minItems", "format", "nullable", "not",
     "discriminator", "title", "examples", "pattern", "definitions", "a", "b", "x"]
)  # fmt: skip
SMALL = st.sampled_from(
    [
        True,
        False,
        None,
        "string",
        "integer",
        "object",
        "array",
        "#",
        "#/$defs/a",
        "null",
        3,
        -1,
        2.5,
        "^a+$",
        "date",
    ]
)
SCHEMAS = st.recursive(
    SMALL,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, JSON)
def test_whatever_a_schema_says_a_form_is_made_and_no_argument_is_lost(schema: Any, given_value: Any) -> None:
    form = Form(schema, given_value)
    assert value(form) == given_value
    check(form)
    form.load(MISSING)
    for node in list(form.root)[:40]:
        form.add(node)
    for node in [one for one in form.root if one.kind == "union"][:5]:
        form.pick(node, node.picked + 1)
    for node in list(form.root)[:10]:
        form.grow(node)
    check(form)
    for node in list(form.root)[:20]:
        if node.parent is None or node in node.parent.children:
            form.leave_out(node)
    check(form)


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_a_form_without_a_schema_gives_back_any_json(given_value: Any) -> None:
    assert value(Form({}, given_value)) == given_value


def test_an_alternative_that_is_chosen_says_which_it_is_although_its_mark_is_not_required() -> None:
    def shape(kind: str, **more: Any) -> dict[str, Any]:
        mark = {"const": kind, "default": kind, "type": "string"}
        return {"type": "object", "properties": {"kind": mark, **more}, "required": list(more)}

    schema = {
        "type": "object",
        "properties": {
            "place": {
                "oneOf": [shape("point", x={"type": "number"}), shape("town", name={"type": "string"})],
                "discriminator": {"propertyName": "kind"},
            }
        },
        "required": ["place"],
    }
    form = Form(schema)
    place = form.find(("place",))
    union = place if place.kind == "union" else place.parent
    form.pick(union, 1)
    form.write(form.find(("place", "name")), "Berlin")
    assert value_of(form.root) == {"place": {"kind": "town", "name": "Berlin"}}
