"""The type of one schema, and null, enums and bounds in the form a family of providers takes.

Works on well-formed schemas whose references and alternatives are settled. Not here: schemas inside (walk).
"""

from __future__ import annotations

from typing import Any

from hel_tui.core.models.schemas.hints import brief
from hel_tui.core.models.schemas.repair import TYPES
from hel_tui.core.models.schemas.work import Spot, plain
from hel_tui.core.vocabulary import Json

_OBJECT = (
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "maxProperties",
)
_ARRAY = ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains")
_STRING = ("pattern", "format", "minLength", "maxLength", "contentEncoding", "contentMediaType")
_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
OF_TYPE = {"object": _OBJECT, "array": _ARRAY, "string": _STRING, "number": _NUMBER, "integer": _NUMBER}
_FREE_OBJECT: Json = {"type": "object", "properties": {}, "additionalProperties": True}
SCALARS = ("string", "number", "boolean", "null")


def type_of(value: Any) -> str:
    """The JSON type of a value; whole numbers are integers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def kinds_of(node: Json) -> list[str]:
    """The types a schema names, in order; none when it names none."""
    kinds = node.get("type")
    return list(kinds) if isinstance(kinds, list) else [kinds] if isinstance(kinds, str) else []


def inferred(node: Json) -> list[str]:
    """The types a schema without `type` means: those of its values, or of the keywords it has."""
    values = [node["const"]] if "const" in node else node.get("enum")
    if values is not None:
        kinds = list(dict.fromkeys(map(type_of, values)))
        if "number" in kinds and "integer" in kinds:
            kinds.remove("integer")
        return kinds
    for kind in ("object", "array", "string", "number"):
        if any(key in node for key in OF_TYPE[kind]):
            return [kind]
    return []


def settle_type(node: Json, spot: Spot) -> list[str]:
    """Settle type, values and null of a schema without alternatives. Returns its types, null among them where
    it may be null; none for any value.
    """
    if "const" in node and (not spot.profile.constants or "enum" in node):
        node["enum"] = [node.pop("const")]
        spot.say("const", "const is an enum of one value")
    kinds = kinds_of(node)
    if not kinds:
        kinds = inferred(node)
        if kinds:
            spot.say("type", f"type {' or '.join(kinds)} added: it follows from the rest")
    if "number" in kinds and "integer" in kinds:
        kinds.remove("integer")
        spot.say("type", "integer is among the numbers")
    if "enum" in node:
        _match(node, kinds, spot)
    is_nullable = node.pop("nullable", None)
    if is_nullable is not None:
        if is_nullable and kinds and "null" not in kinds:
            kinds.append("null")
        if not (spot.profile.nullable and is_nullable):
            spot.say("null", "nullable is not of JSON Schema: null is among the types")
    if "enum" in node:
        _formed(node, kinds, spot)
    return kinds


def _match(node: Json, kinds: list[str], spot: Spot) -> None:
    """Leave out values of an enum that its type refuses; a type no value fits is replaced by theirs."""
    values = node["enum"]
    fits = [value for value in values if is_of(value, kinds)]
    if not fits:
        kinds[:] = inferred({"enum": values})
        spot.say("enum", "the type is that of the values: none of them was of the other")
    elif len(fits) < len(values):
        node["enum"] = fits
        spot.say("enum", "values that are not of the type are left out")
    if "null" in kinds and None not in node["enum"]:
        kinds.remove("null")
        spot.say("enum", "null is not among the values, so it is not among the types")


def _formed(node: Json, kinds: list[str], spot: Spot) -> None:
    """An enum as the family takes it; null goes from it where the type says it."""
    form, values = spot.profile.enums, node["enum"]
    if form != "any" and None in values and len(values) > 1:
        node["enum"] = values = [value for value in values if value is not None]
        spot.say("enum", "null is said by the type alone")
    if form != "strings" or kinds == ["null"]:
        return
    words = [value if isinstance(value, str) else brief(value, 1_000) for value in values]
    usable = list(dict.fromkeys(word for word in words if word))
    if usable == values:
        return
    kinds[:] = ["string", *(["null"] if "null" in kinds else [])]
    spot.say("enum", f"{spot.profile.name} takes only texts as values; calls get the values they stand for")
    for key in [key for key in node if key in (*_NUMBER, *_ARRAY, *_OBJECT)]:
        del node[key]
    if "" in words:
        spot.hints.append(f"One of {brief(words)}.")
        del node["enum"]
    else:
        node["enum"] = usable


def is_of(value: Any, kinds: list[str]) -> bool:
    """Whether a value has one of these types."""
    kind = type_of(value)
    return kind in kinds or (kind == "integer" and "number" in kinds)


def bounded(node: Json, spot: Spot) -> None:
    """Formats, patterns and bounds as the family takes them; what goes is said in a hint."""
    profile = spot.profile

    def drop(key: str, why: str) -> None:
        spot.lose(key, node[key])
        del node[key]
        spot.say("bound", f"{key} is left out: {why}")

    if profile.formats is not None and node.get("format", "date-time") not in profile.formats:
        drop("format", f"{profile.name} does not take this one")
    if not profile.patterns and "pattern" in node:
        drop("pattern", f"{profile.name} may not read the expression")
    if profile.most:
        for key in ("minLength", "maxLength", "minItems", "maxItems"):
            if node.get(key, 0) > profile.most:
                drop(key, f"{profile.name} writes it out, and it is too large for that")


def any_value(spot: Spot) -> Json:
    """The form of a schema that takes any value."""
    profile = spot.profile
    if profile.any_form == "empty":
        return {}
    if profile.any_form == "text":
        spot.work.texts.add(plain(spot.path))
        spot.hints.append("Any JSON value; an object or a list is written as JSON text.")
        spot.say("any", f"{profile.name} wants a type: a plain value, or JSON text")
        if profile.type_lists:
            return {"type": list(SCALARS)}
        variants: list[Json] = [{"type": "string", "nullable": True}, {"type": "number"}, {"type": "boolean"}]
        return {"anyOf": variants}
    spot.say("any", "any value is written as a choice of types")
    array: Json = {"type": "array"} | ({"items": {"type": "string"}} if profile.needs_items else {})
    return {"anyOf": [*({"type": kind} for kind in SCALARS), dict(_FREE_OBJECT), array]}


def spread(node: Json, kinds: list[str]) -> list[Json]:
    """One schema for each type, with the keywords that are about it; notes stay behind."""
    out = []
    for kind in [kind for kind in TYPES if kind in kinds]:
        variant: Json = {"type": kind}
        for key in OF_TYPE.get(kind, ()):
            if key in node:
                variant[key] = node[key]
        if "enum" in node:
            values = [value for value in node["enum"] if is_of(value, [kind])]
            if not values:
                continue
            variant |= {"enum": values} if kind != "null" else {}
        out.append(variant)
    return out
