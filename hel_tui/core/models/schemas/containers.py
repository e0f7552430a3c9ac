"""Objects and arrays with the schemas inside them, in the form a family of providers takes.

Not here: types and values (forms), choices (walk).
"""

from __future__ import annotations

from typing import Any

from hel_tui.core.models.schemas.merging import either
from hel_tui.core.models.schemas.work import Spot, plain
from hel_tui.core.vocabulary import Json

NOTES = ("title", "description", "default")
_OF_OBJECTS = ("properties", "required", "additionalProperties")
_OF_ARRAYS = ("items", "prefixItems")


def plain_form(node: Json, kinds: list[str], spot: Spot) -> Json:
    """A schema of types that hold no others."""
    out: Json = {"type": kinds[0] if len(kinds) == 1 else kinds}
    for key, value in node.items():
        if key in _OF_OBJECTS or key in _OF_ARRAYS:
            spot.say("type", f"{key} says nothing of {' or '.join(kinds)} and is left out")
        elif key not in NOTES:
            out[key] = value
    return out


# -------------------------------------------------------------------------- arrays


def array_form(node: Json, spot: Spot) -> Json:
    """An array: its items one schema, or a tuple where the family takes that."""
    out: Json = {"type": "array"}
    for key, value in node.items():
        if key in _OF_OBJECTS:
            spot.say("type", f"{key} says nothing of an array and is left out")
        elif key not in _OF_ARRAYS and key not in NOTES:
            out[key] = value
    items, prefix = _tuple(node, spot)
    if prefix and spot.profile.tuples:
        out["prefixItems"] = [
            spot.work.rewrite(one, spot.inside("prefixItems", str(number)))
            for number, one in enumerate(prefix)
        ]
    elif prefix:
        if items is False and "maxItems" not in out:
            out["maxItems"] = len(prefix)
        items = either([*prefix, items] if isinstance(items, dict) else prefix)
    if items is not None:
        out["items"] = spot.work.rewrite(items, spot.inside("items"))
    elif spot.profile.needs_items:
        spot.say("items", "items added: of any kind")
        out["items"] = spot.work.rewrite({}, spot.inside("items"))
    return out


def _tuple(node: Json, spot: Spot) -> tuple[Any, list[Any]]:
    """(schema of the items, schemas of the first items) of an array, from any draft's spelling."""
    items, prefix = node.get("items"), node.get("prefixItems") or []
    if isinstance(items, list):
        items, prefix = node.get("additionalItems"), items
        if spot.profile.tuples:
            spot.say("tuple", "a list of items is prefixItems since draft 2020-12")
    if prefix and not spot.profile.tuples:
        spot.hints.append(_in_order(prefix))
        spot.say("tuple", "a list of items is one schema that any of them fits, with a word on their order")
    return items, prefix


def _in_order(prefix: list[Any]) -> str:
    words = []
    for number, one in enumerate(prefix[:12], 1):
        notes = one if isinstance(one, dict) else {}
        said = notes.get("title") or notes.get("description") or notes.get("type") or "any"
        words.append(f"{number}. {str(said)[:60]}")
    return f"In this order: {', '.join(words)}."


# ------------------------------------------------------------------------- objects


def object_form(node: Json, spot: Spot) -> Json:
    """An object: its properties under names the family takes, what is required, what else may come."""
    profile = spot.profile
    required: list[str] = node.get("required", [])
    further = node.get("additionalProperties")
    listed = [name for name, schema in node.get("properties", {}).items() if schema is not False]
    is_empty = not listed and not required
    if is_empty and spot.path and profile.maps == "text":
        return _text_form(further, spot)
    out: Json = {"type": "object", "properties": _properties(node.get("properties", {}), required, spot)}
    if "properties" not in node:
        spot.say("properties", "properties added: none are listed")
    if profile.closed:
        _close(out, required, further, spot)
    else:
        names = [spot.work.names.get(name, name) for name in required]
        if names:
            out["required"] = names
        if names != node.get("required", names):
            spot.say("required", "required lists the names the model uses")
        elif "required" in node and not names:
            spot.say("required", "an empty list of what is required is left out")
        out |= _further(further, is_empty, spot)
    for key, value in node.items():
        if key in _OF_ARRAYS:
            spot.say("type", f"{key} says nothing of an object and is left out")
        elif key not in out and key not in _OF_OBJECTS and key not in NOTES:
            out[key] = value
    return out


def _text_form(further: Any, spot: Spot) -> Json:
    """An object whose properties nobody lists, as text: the family holds models to what is listed."""
    spot.work.texts.add(plain(spot.path))
    if isinstance(further, dict):
        spot.lose("additionalProperties", further)
    spot.hints.append("A JSON object, written as JSON text.")
    spot.say("map", f"{spot.profile.name} wants properties listed: a text that holds the object")
    return {"type": "string"}


def _properties(listed: Json, required: list[str], spot: Spot) -> Json:
    """The properties by the names the model uses; what is only required is added."""
    out: Json = {}
    names = spot.work.names
    for name, schema in listed.items():
        here = spot.inside("properties", name)
        if schema is False and name not in required:
            here.say("boolean", "left out: it may never be given")
            continue
        if name in names:
            here.say("name", f"the model calls it {names[name]}: {spot.profile.name} does not take its name")
        out[names.get(name, name)] = spot.work.rewrite(schema, here)
    for name in required:
        if name not in listed:
            here = spot.inside("properties", name)
            here.say("required", "added: it is required and was not described")
            out[names.get(name, name)] = spot.work.rewrite({}, here)
    spot.work.properties += len(out)
    return out


def _further(further: Any, is_empty: bool, spot: Spot) -> Json:
    """What is said of properties that are not listed."""
    if not spot.profile.takes("additionalProperties"):
        return {}
    if further is None:
        if not is_empty or not spot.path:
            return {}
        spot.say("properties", "further properties are allowed: an empty list might mean none")
        return {"additionalProperties": True}
    if isinstance(further, bool):
        return {"additionalProperties": further}
    if not set(further) - {*NOTES, "$comment"}:
        spot.say("further", "further properties of any kind: true says so")
        return {"additionalProperties": True}
    return {"additionalProperties": spot.work.rewrite(further, spot.inside("additionalProperties"))}


def _close(out: Json, required: list[str], further: Any, spot: Spot) -> None:
    """Strict mode: every property is required, optional ones may be null, no others may come."""
    back = {short: name for name, short in spot.work.names.items()}
    for name, schema in out["properties"].items():
        own = back.get(name, name)
        if own not in required:
            out["properties"][name] = optional(schema)
            spot.part("properties", own).say(
                "strict", "null stands for leaving it out: strict schemas require all"
            )
    out["required"] = list(out["properties"])
    out["additionalProperties"] = False
    spot.say("strict", "every property is required, and no other may come")
    if isinstance(further, dict):
        spot.lose("additionalProperties", further)


def optional(schema: Json) -> Json:
    """A schema that may be null, too; its notes stay outside."""
    out = dict(schema)
    if "anyOf" in out:
        variants = out["anyOf"]
        out["anyOf"] = variants if {"type": "null"} in variants else [*variants, {"type": "null"}]
    elif isinstance(kind := out.get("type"), str):
        out["type"] = [kind, "null"] if kind != "null" else kind
    elif isinstance(kind, list) and "null" not in kind:
        out["type"] = [*kind, "null"]
    if "enum" in out and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    return out
