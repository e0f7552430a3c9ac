"""Random schemas as servers write them: sound ones, and ones with everything that has gone wrong in the field."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

NAMES = st.sampled_from(
    [
        "a",
        "b",
        "path",
        "type",
        "filter[id]",
        "$top",
        "9lives",
        "with space",
        "x" * 70,
        "naïve",
        "a.b",
        "",
        "é\x00",
        "_",
    ]
)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "object", "array", "null"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from(["", "a", "b", "5", "true", "\ud800", "x\x00y"]),
    st.sampled_from([0.5, 1.0, float("nan")]),
)
REFERENCES = st.sampled_from(
    [
        "#/$defs/a",
        "#/$defs/b",
        "#/definitions/c~1d",
        "#",
        "#/properties/a",
        "#there",
        "node",
        "https://e.org/x",
        "#/no",
    ]
)
BAD = st.one_of(SCALARS, st.just([]), st.just({}), st.just([1]), st.just({"x": 1}), st.just("object"))


def _maybe(draw: st.DrawFn, out: Json, key: str, strategy: st.SearchStrategy[Any], odds: int = 5) -> None:
    """Now and then this keyword; rarely with nonsense."""
    if draw(st.integers(0, odds)) == 0:
        out[key] = draw(BAD) if draw(st.integers(0, 19)) == 0 else draw(strategy)


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> Any:
    """A schema, at most `depth` deep."""
    if draw(st.integers(0, 14)) == 0:
        return draw(st.sampled_from([True, False, {}]))
    out: Json = {}
    inner = schemas(depth=depth - 1) if depth > 0 else st.just({"type": "string"})
    _maybe(draw, out, "$ref", REFERENCES, 7)
    _maybe(
        draw, out, "type", st.one_of(TYPES, st.lists(TYPES, max_size=3), st.sampled_from(["int", "any"])), 1
    )
    _maybe(draw, out, "description", st.sampled_from(["What it is.", "d" * 3000, "", "\x00"]))
    _maybe(draw, out, "title", st.just("Title"), 9)
    _maybe(draw, out, "enum", st.lists(SCALARS, max_size=4), 8)
    _maybe(draw, out, "const", SCALARS, 15)
    _maybe(draw, out, "default", SCALARS, 9)
    _maybe(draw, out, "nullable", st.booleans(), 12)
    for key in ("minimum", "exclusiveMinimum", "maximum"):
        _maybe(draw, out, key, st.one_of(st.integers(-3, 3), st.booleans()), 12)
    for key in ("minLength", "maxLength", "minItems", "maxItems"):
        _maybe(draw, out, key, st.sampled_from([0, 3, 100_000, -1, 2.0]), 12)
    _maybe(draw, out, "pattern", st.sampled_from([r"^\d+$", "a", "^(?!x)", "["]), 12)
    _maybe(draw, out, "format", st.sampled_from(["uri", "date-time", "int32", "made-up"]), 9)
    _maybe(draw, out, "examples", st.lists(SCALARS, max_size=2), 15)
    for key in ("anyOf", "oneOf", "allOf"):
        _maybe(draw, out, key, st.lists(inner, min_size=1, max_size=3), 9)
    for key in ("not", "if", "then", "contains", "propertyNames"):
        _maybe(draw, out, key, inner, 24)
    _maybe(draw, out, "properties", st.dictionaries(NAMES, inner, max_size=3), 3)
    _maybe(draw, out, "required", st.one_of(st.lists(NAMES, max_size=2), st.just(True)), 4)
    _maybe(draw, out, "additionalProperties", st.one_of(st.booleans(), inner), 6)
    _maybe(draw, out, "patternProperties", st.dictionaries(st.just("^x"), inner, max_size=1), 20)
    _maybe(draw, out, "items", st.one_of(inner, st.lists(inner, max_size=2), st.booleans()), 5)
    _maybe(draw, out, "prefixItems", st.lists(inner, min_size=1, max_size=2), 20)
    _maybe(draw, out, "$schema", st.just("http://json-schema.org/draft-07/schema#"), 15)
    _maybe(draw, out, "$anchor", st.just("there"), 20)
    _maybe(draw, out, "$id", st.just("node"), 20)
    _maybe(draw, out, "x-extra", SCALARS, 15)
    return out


@st.composite
def tops(draw: st.DrawFn) -> Json:
    """The parameters of a tool."""
    out = draw(schemas().filter(lambda value: isinstance(value, dict)))
    assert isinstance(out, dict)
    if draw(st.integers(0, 3)):
        out["type"] = "object"
    if draw(st.booleans()):
        out["$defs"] = {"a": draw(schemas(depth=2)), "b": draw(schemas(depth=1))}
    if draw(st.booleans()):
        out["definitions"] = {"c/d": draw(schemas(depth=1))}
    return out
