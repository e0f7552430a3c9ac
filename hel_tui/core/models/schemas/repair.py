"""A schema's keywords put into the shapes JSON Schema 2020-12 has; what cannot be is left out and told.

Forms of older drafts, PHP's empty lists, types of other languages, text no request can hold; a schema alone.
Not here: what a family of providers refuses (forms), schemas inside (walk).
"""

from __future__ import annotations

import math
from typing import Any

from hel_tui.core.models.schemas.references import REFERENCE_KEYS
from hel_tui.core.models.schemas.work import Spot, canonical, is_schema
from hel_tui.core.vocabulary import Json
from hel_tui.foreign import STAND_IN, whole_characters

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_ALIASES = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number",
    "double": "number", "decimal": "number", "bool": "boolean", "dict": "object", "map": "object",
    "struct": "object", "list": "array", "tuple": "array", "none": "null",
}  # fmt: skip
_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_TEXTS = (
    "title",
    "description",
    "pattern",
    "format",
    "$schema",
    "$comment",
    "contentEncoding",
    "contentMediaType",
)
_GONE = ("$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$defs", "definitions")
NUL = "\0"
LARGEST = 2**53
"""The largest bound that every JSON reader holds exactly."""


def repaired(node: Json, spot: Spot) -> Json:
    """The schema with each keyword well-formed."""
    out: Json = {}
    for key, value in node.items():
        if key in _GONE or (key == "id" and isinstance(value, str) and not spot.path):
            spot.say("definitions", f"{key} is not needed: what refers to it is written out")
            continue
        if key in REFERENCE_KEYS:
            spot.say("malformed", f"{key} is no reference and is left out")
            continue
        kept = _shaped(key, value, spot)
        if kept is not _NOTHING:
            out[key] = kept
    _exclusive(out, spot)
    _lifted_required(out, spot)
    return out


_NOTHING = object()


def _shaped(key: str, value: Any, spot: Spot) -> Any:
    """The value in the shape its keyword has, or _NOTHING; says what it changed."""
    kept = _SHAPES[key](value) if key in _SHAPES else value
    if kept is _NOTHING:
        spot.say("malformed", f"{key} is no such thing in JSON Schema and is left out")
        return _NOTHING
    if kept is not value and kept != value:
        spot.say("malformed", f"{key} is written as JSON Schema has it")
    if key in _MAPS or key in ("required", *_LISTS) or isinstance(kept, bool):
        return kept
    if key in ("items", "not", "if", "then", "else", "additionalProperties", "contains", "propertyNames"):
        return kept
    if (usable := sound(kept)) is not kept:
        if usable is _NOTHING:
            spot.say("text", f"{key} holds a number that JSON does not have and is left out")
        else:
            spot.say("text", f"{key} holds characters that no request can: {STAND_IN} instead")
    return usable


def sound(value: Any) -> Any:
    """A value that can be sent: no NUL, no half characters, no infinite numbers (_NOTHING for these)."""
    if isinstance(value, str):
        return whole_characters(value.replace(NUL, STAND_IN))
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOTHING
    if isinstance(value, list):
        items = [sound(one) for one in value]
        if any(one is _NOTHING for one in items):
            return _NOTHING
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        pairs = [(sound(key), sound(one)) for key, one in value.items()]
        if any(one is _NOTHING for _, one in pairs):
            return _NOTHING
        same = all(a is c and b is d for (a, b), (c, d) in zip(pairs, value.items(), strict=True))
        return value if same else dict(pairs)
    return value


# ------------------------------------------------------------------ keyword shapes


def _type(value: Any) -> Any:
    if isinstance(value, str):
        word = value.strip().lower()
        word = _ALIASES.get(word, word)
        return word if word in TYPES else _NOTHING
    if isinstance(value, list):
        words = [word for one in value if isinstance(one, str) and (word := _type(one)) is not _NOTHING]
        unique = list(dict.fromkeys(words))
        return _NOTHING if not unique else unique[0] if len(unique) == 1 else unique
    return _NOTHING


def type_words(value: Any) -> list[str]:
    """The types a `type` keyword names, however spelled; none when it names none."""
    kept = _type(value)
    return [] if kept is _NOTHING else kept if isinstance(kept, list) else [kept]


def _map(value: Any) -> Any:
    if isinstance(value, list) and not value:
        return {}
    if not isinstance(value, dict):
        return _NOTHING
    return value if all(map(is_schema, value.values())) else {k: v for k, v in value.items() if is_schema(v)}


def _schemas(value: Any) -> Any:
    if isinstance(value, dict):
        return [value]
    kept = [one for one in value if is_schema(one)] if isinstance(value, list) else []
    return _NOTHING if not kept else value if len(kept) == len(value) else kept


def _required(value: Any) -> Any:
    if value is True:  # draft 3: lifted to the object around it
        return True
    if isinstance(value, dict) and not value:
        return []
    if not isinstance(value, list):
        return _NOTHING
    names = list(dict.fromkeys(name for name in value if isinstance(name, str)))
    return value if names == value else names


def _items(value: Any) -> Any:
    if isinstance(value, list):
        return value if all(map(is_schema, value)) else [one for one in value if is_schema(one)]
    return value if is_schema(value) else _NOTHING


def _count(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        return _NOTHING
    return value if isinstance(value, int) else int(value) if value.is_integer() else _NOTHING


def _bound(value: Any) -> Any:
    if isinstance(value, bool):
        return value  # draft 4: `exclusiveMinimum: true`
    return value if isinstance(value, int | float) and abs(value) <= LARGEST else _NOTHING


def _divisor(value: Any) -> Any:
    known = _bound(value)
    return known if known is not _NOTHING and not isinstance(known, bool) and known > 0 else _NOTHING


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else _NOTHING


def _regex(value: Any) -> Any:
    return value if isinstance(value, str) and value else _NOTHING


def _values(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        return _NOTHING
    unique = list({canonical(one): one for one in reversed(value)}.values())[::-1]
    return value if len(unique) == len(value) else unique


def _list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _schema(value: Any) -> Any:
    return value if is_schema(value) else _NOTHING


def _flag(value: Any) -> Any:
    return value if isinstance(value, bool) else _NOTHING


_SHAPES: dict[str, Any] = {
    "type": _type,
    "required": _required,
    "items": _items,
    "prefixItems": lambda value: _items(value) if isinstance(value, list) and value else _NOTHING,
    "enum": _values,
    "examples": _list,
    "pattern": _regex,
    "multipleOf": _divisor,
    "additionalProperties": _schema,
    "nullable": _flag,
    "uniqueItems": _flag,
    **dict.fromkeys(_MAPS, _map),
    **dict.fromkeys(_LISTS, _schemas),
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys([key for key in _BOUNDS if key != "multipleOf"], _bound),
    **dict.fromkeys([key for key in _TEXTS if key != "pattern"], _text),
}


# --------------------------------------------------------------------- older drafts


def _exclusive(node: Json, spot: Spot) -> None:
    """Draft 4: `exclusiveMinimum: true` beside `minimum` becomes the bound itself."""
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        for key in (flag, bound):
            if key == bound and isinstance(node.get(bound), bool):
                del node[bound]
                spot.say("malformed", f"{bound} is no number and is left out")
        if isinstance(is_exclusive := node.get(flag), bool):
            del node[flag]
            limit = node.get(bound)
            if is_exclusive and limit is not None:
                del node[bound]
                node[flag] = limit
            spot.say("draft-4", f"{flag} is a number since draft 6")


def _lifted_required(node: Json, spot: Spot) -> None:
    """Draft 3: `required: true` in a property becomes its name in the list of the object around it."""
    if node.get("required") is True:
        del node["required"]  # said where it is lifted, or here at the top
        if spot.path[-2:-1] != ("properties",):
            spot.say("draft-3", "required names properties: a bare true says nothing here")
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return
    names = [
        name for name, one in properties.items() if isinstance(one, dict) and one.get("required") is True
    ]
    if names:
        known = node.get("required")
        known = known if isinstance(known, list) else []
        node["required"] = [*known, *(name for name in names if name not in known)]
        spot.say("draft-3", f"required lists {', '.join(names)[:200]}, each of which said so itself")
        for name in names:
            spot.part("properties", name).say("draft-3", "required moved to the list of the object")
