"""Arguments of a tool to begin with: what its schema requires, with an empty value of its type each.

For a person who calls a tool by hand and fills in the rest. Not here: what the arguments must be (arguments).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hel_tui.foreign import is_clean

MOST_NAMES = 30
MOST_CHARACTERS = 1_000
"""Of the whole text: above it, filling in begins with nothing."""
MOST_TEXT = 200
"""Characters of one given value."""
_DEPTH = 4
_EMPTY: dict[str, Any] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


def blank_arguments(schema: Mapping[str, Any]) -> str:
    """Return JSON of an object with the required arguments; `{}` where that cannot be told. Never raises.

    A constant, a default or the first of an enumeration stands for itself. Characters that steer or hide are
    escaped.
    """
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return "{}"
    names = [name for name in required[:MOST_NAMES] if isinstance(name, str)]
    found = {name: _value(properties.get(name), schema, _DEPTH) for name in names}
    try:
        text = json.dumps(found, ensure_ascii=False)
        text = text if is_clean(text) else json.dumps(found)
    except (ValueError, TypeError, RecursionError):
        return "{}"
    return text if len(text) <= MOST_CHARACTERS else "{}"


def _value(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    """An empty value for a property's schema; None where there is none to be told."""
    if not isinstance(schema, dict) or depth == 0:
        return None
    options = schema.get("enum")
    first = options[0] if isinstance(options, list) and options else None
    for given in (schema.get("const"), schema.get("default"), first):
        if isinstance(given, bool | int | float) or (isinstance(given, str) and len(given) <= MOST_TEXT):
            return given
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if isinstance(kind, str) and kind in _EMPTY:
            return _EMPTY[kind]
    if isinstance(name := schema.get("$ref"), str):
        return _value(_local(name, root), root, depth - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for option in schema[key] if isinstance(schema.get(key), list) else ():
            if (value := _value(option, root, depth - 1)) is not None:
                return value
    return None


def _local(reference: str, root: Mapping[str, Any]) -> Any:
    """What `#/$defs/Name` refers to in the schema itself; None for any other reference."""
    place, _, name = reference.removeprefix("#/").rpartition("/")
    definitions = root.get(place) if place in ("$defs", "definitions") else None
    return definitions.get(name) if isinstance(definitions, dict) else None
