"""Several schemas as one: all of them at once (allOf), or any of them (anyOf, oneOf) as one object.

Pure, on well-formed schemas without references. What does not fit into one comes back as a list of hints.
Not here: where merging is needed (walk).
"""

from __future__ import annotations

from typing import Any

from hel_tui.core.models.schemas.hints import brief, hint
from hel_tui.core.models.schemas.references import reference_in
from hel_tui.core.models.schemas.repair import TYPES
from hel_tui.core.models.schemas.work import canonical
from hel_tui.core.vocabulary import Json

_LARGER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_SMALLER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_NOTES = frozenset({"title", "description", "default", "examples", "deprecated", "$comment", "$schema"})


def both(first: Json, second: Json, lost: list[str]) -> Json:
    """A schema for what fits both. Notes of the first win; what cannot be joined is told in `lost`."""
    out = dict(first)
    for key, value in second.items():
        if key not in out:
            out[key] = value
        elif out[key] != value or type(out[key]) is not type(value):
            out[key] = _joined(key, out[key], value, lost)
    return out


def _joined(key: str, one: Any, other: Any, lost: list[str]) -> Any:
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if type(one) is not type(other) and not numbers and key not in ("type", "additionalProperties"):
        lost.append(hint(key, other) or f"Also {key}: {brief(other)}.")
        return one
    if key == "properties" and isinstance(one, dict):
        return {
            **one,
            **{
                name: both_any(one[name], schema, lost) if name in one else schema
                for name, schema in other.items()
            },
        }
    if key == "allOf" and isinstance(one, list):
        return [*one, *other]
    if key == "required" and isinstance(one, list):
        return list(dict.fromkeys([*one, *other]))
    if key == "type":
        return _types(one, other)
    if key == "enum" and isinstance(one, list):
        wanted = set(map(canonical, other)) if isinstance(other, list) else set()
        common = [value for value in one if canonical(value) in wanted]
        return common or one
    if key in _LARGER and numbers:
        return max(one, other)
    if key in _SMALLER and numbers:
        return min(one, other)
    if key in ("items", "additionalProperties") and isinstance(one, dict) and isinstance(other, dict):
        return both(one, other, lost)
    if key == "additionalProperties" and isinstance(other, dict) and one is True:
        return other
    if key == "additionalProperties" and other is False and isinstance(one, bool):
        return False
    if key not in _NOTES:
        lost.append(hint(key, other) or f"Also {key}: {brief(other)}.")
    return one


def both_any(one: Any, other: Any, lost: list[str]) -> Any:
    """`both` for schemas that may be booleans, or references, which are joined when they are written out."""
    if isinstance(one, dict) and isinstance(other, dict) and (reference_in(one) or reference_in(other)):
        return one if one == other else {"allOf": [one, other]}
    if isinstance(one, dict) and isinstance(other, dict):
        return both(one, other, lost)
    return other if one is True else one if other is True else False


def _types(one: Any, other: Any) -> Any:
    first, second = _as_list(one), _as_list(other)
    common = [kind for kind in first if kind in second and isinstance(kind, str)]
    if "integer" in second and "number" in first and "integer" not in common:
        common.append("integer")
    if "integer" in first and "number" in second and "integer" not in common:
        common.append("integer")
    common = [kind for kind in TYPES if kind in common] or first
    return common[0] if len(common) == 1 else common


def _as_list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def any_object(node: Json, variants: list[Json]) -> Json:
    """`node` widened by the properties of its variants; required is only what all of them require."""
    out = dict(node)
    own = node.get("properties")
    properties: Json = dict(own) if isinstance(own, dict) else {}
    seen: dict[str, list[Any]] = {}
    for variant in variants:
        inner = variant.get("properties")
        for name, schema in inner.items() if isinstance(inner, dict) else ():
            seen.setdefault(name, []).append(schema)
    for name, schemas in seen.items():
        widened = either(schemas)
        properties[name] = both_any(properties[name], widened, []) if name in properties else widened
    required = [name for name in _required(variants[0]) if all(name in _required(one) for one in variants)]
    out["properties"] = properties
    if required or "required" in node:
        out["required"] = list(dict.fromkeys([*_required(node), *required]))
    return out


def _required(node: Json) -> list[str]:
    value = node.get("required")
    return value if isinstance(value, list) else []


def either(schemas: list[Any]) -> Any:
    """One schema for what fits any of these: values of enums together, else `anyOf`."""
    unique: list[Any] = []
    for one in schemas:
        if one not in unique:
            unique.append(one)
    if len(unique) == 1:
        return unique[0]
    if True in [one for one in unique if isinstance(one, bool)]:
        return True
    unique = [one for one in unique if isinstance(one, dict)]
    if len(unique) == 1:
        return unique[0]
    values = [_values(one) for one in unique]
    if all(one is not None for one in values):
        together: list[Any] = []
        for value in [value for one in values for value in one or ()]:
            if not any(_same(value, known) for known in together):
                together.append(value)
        notes = next((one for one in unique if "description" in one), unique[0])
        rest = {key: value for key, value in notes.items() if key not in ("const", "enum", "type", "default")}
        kinds = {brief(one.get("type")) for one in unique if "type" in one}
        typed = (
            {"type": unique[0]["type"]} if len(kinds) == 1 and all("type" in one for one in unique) else {}
        )
        return {**typed, "enum": together, **rest}
    return {"anyOf": unique}


def _values(schema: Json) -> list[Any] | None:
    if set(schema) - {"const", "enum", "type", "title", "description", "default"}:
        return None
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) else None
