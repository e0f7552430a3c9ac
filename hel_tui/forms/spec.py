"""What a schema says about one place of a form: its kind, its parts, its limits, in one flat description.

Any JSON Schema of the wild, draft-4 to 2020-12 and OpenAPI's words: references are followed, `allOf` is
merged, alternatives become branches. What cannot be read is any JSON. Not here: values (tree), whether they
fit (checks).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hel_tui.forms.references import Merger, merged

Kind = Literal[
    "text", "number", "integer", "boolean", "null", "choice", "object", "array", "union", "any", "never"
]
"""`any` takes any JSON; `never` takes nothing (the schema `false`)."""
Schema = Mapping[str, Any]

MISSING: Any = type("Missing", (), {"__repr__": lambda _: "MISSING"})()
"""No value: not null."""
MOST_OPTIONS = 2_000
MOST_BRANCHES = 100
MOST_EXAMPLES = 5
LIMITS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
_TYPES: dict[str, Kind] = {
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "null": "null",
    "object": "object",
    "array": "array",
}
_SIGNS: dict[Kind, tuple[str, ...]] = {
    "object": ("properties", "additionalProperties", "patternProperties", "required", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "text": ("minLength", "maxLength", "pattern", "contentMediaType", "contentEncoding"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""Words that tell the kind where no type is given."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One of several shapes a value may have."""

    label: str
    schema: Any
    origin: int = -1
    """Its place in `oneOf` or `anyOf`; -1 when it comes from elsewhere."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One place of a form. Texts are foreign."""

    kind: Kind
    title: str = ""
    description: str = ""
    format: str = ""
    default: Any = MISSING
    examples: tuple[Any, ...] = ()
    options: tuple[Any, ...] = ()
    """Of a choice: JSON values."""
    labels: tuple[str, ...] = ()
    """Beside `options`; empty where the value says it all."""
    branches: tuple[Branch, ...] = ()
    """Of a union."""
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    extra: Any = None
    """Of an object: the schema of properties that are not named; None where there can be none."""
    patterns: Mapping[str, Any] = field(default_factory=dict)
    invites: bool = False
    """Of an object: the schema speaks of properties it does not name."""
    prefix: tuple[Any, ...] = ()
    """Of an array: the schemas of its first items."""
    items: Any = None
    """Of an array: the schema of the other items; None where there can be none."""
    limits: tuple[tuple[str, Any], ...] = ()
    read_only: bool = False
    deprecated: bool = False
    secret: bool = False
    """`writeOnly` or the format `password`."""
    long: bool = False
    """A text of many lines, likely: its media type says so, or its greatest length."""


def spec_of(schema: Any, root: Any) -> Spec:
    """Read one place. `root` is the whole schema, where references lead. Never raises."""
    if schema is False:
        return Spec("never")
    try:
        return _spec(Merger(root).resolved(schema), root)
    except (RecursionError, TypeError, ValueError, AttributeError):
        return Spec("any")


def type_word(value: Any) -> Kind:
    """The kind of a JSON value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "text"
        case Mapping():
            return "object"
        case _:
            return "array"


# ------------------------------------------------------------------- one place


def _spec(found: dict[str, Any], root: Any) -> Spec:
    about: dict[str, Any] = {
        "title": _text(found.get("title")),
        "description": _text(found.get("description")),
        "format": _text(found.get("format")),
        "default": found.get("default", MISSING),
        "examples": _examples(found),
        "limits": tuple((key, found[key]) for key in LIMITS if _is_limit(found.get(key))),
        "read_only": found.get("readOnly") is True,
        "deprecated": found.get("deprecated") is True,
        "secret": found.get("writeOnly") is True or found.get("format") == "password",
        "long": _is_long(found),
    }
    if (choice := _choice(found)) is not None:
        options, labels = choice
        if found.get("nullable") is True and None not in options:
            options, labels = (*options, None), (*labels, "")
        return Spec("choice", options=options, labels=labels, **about)
    if branches := _branches(found, root):
        return Spec("union", branches=branches, **about)
    kind = _kind(found)
    if kind == "object":
        about |= _object(found)
    elif kind == "array":
        about |= _array(found)
    return Spec(kind, **about)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_limit(value: Any) -> bool:
    return value is not None and value is not False and isinstance(value, int | float | str)


def _examples(found: Mapping[str, Any]) -> tuple[Any, ...]:
    several = found.get("examples")
    if isinstance(several, Mapping):  # OpenAPI: by name
        several = [one.get("value") if isinstance(one, Mapping) else one for one in several.values()]
    if isinstance(several, list | tuple):
        return tuple(several[:MOST_EXAMPLES])
    return (found["example"],) if "example" in found else ()


def _is_long(found: Mapping[str, Any]) -> bool:
    longest = found.get("maxLength")
    return "contentMediaType" in found or (
        isinstance(longest, int) and not isinstance(longest, bool) and longest > 500
    )


def _choice(found: Mapping[str, Any]) -> tuple[tuple[Any, ...], tuple[str, ...]] | None:
    """Options and labels of `const`, `enum`, or alternatives that are constants."""
    if "const" in found:
        return (found["const"],), ("",)
    several = found.get("enum")
    if isinstance(several, list | tuple) and several:
        names = found.get("enumNames") or found.get("x-enumNames") or found.get("x-enum-varnames")
        names = names if isinstance(names, list | tuple) else []
        labels = [_text(names[at]) if at < len(names) else "" for at in range(len(several))]
        return tuple(several[:MOST_OPTIONS]), tuple(labels[:MOST_OPTIONS])
    for key in ("oneOf", "anyOf"):
        parts = found.get(key)
        if not isinstance(parts, list | tuple) or not parts:
            continue
        if all(isinstance(part, Mapping) and "const" in part for part in parts):
            labels = [_text(part.get("title")) or _text(part.get("description")) for part in parts]
            return tuple(part["const"] for part in parts[:MOST_OPTIONS]), tuple(labels[:MOST_OPTIONS])
    return None


def _kind(found: Mapping[str, Any]) -> Kind:
    type_ = found.get("type")
    if isinstance(type_, list | tuple) and len(type_) == 1:
        type_ = type_[0]
    if isinstance(type_, str):
        return _TYPES.get(type_, "any")
    return next((kind for kind, signs in _SIGNS.items() if any(sign in found for sign in signs)), "any")


def _branches(found: dict[str, Any], root: Any) -> tuple[Branch, ...]:
    """The shapes a value may have, the null last; empty where there is but one."""
    for key in ("oneOf", "anyOf"):
        parts = found.get(key)
        if isinstance(parts, list | tuple) and parts:
            base = {name: value for name, value in found.items() if name not in (key, "title", "description")}
            base.pop("default", None)
            return _of_parts(parts[:MOST_BRANCHES], base, found, root)
    types = found.get("type")
    types = list(types) if isinstance(types, list | tuple) else [types]
    types = [one for one in dict.fromkeys(types) if isinstance(one, str)]
    if found.get("nullable") is True and types and "null" not in types:
        types.append("null")
    if len(types) < 2:
        return ()
    types.sort(key=lambda one: one == "null")
    base = {name: value for name, value in found.items() if name not in ("title", "description", "nullable")}
    base.pop("default", None)
    return tuple(Branch(one, {**base, "type": one}) for one in types)


def _of_parts(parts: Any, base: dict[str, Any], found: dict[str, Any], root: Any) -> tuple[Branch, ...]:
    shapes = {"properties", "required", "additionalProperties", "patternProperties", "type", "items"}
    given = base if shapes & base.keys() else {}
    discriminator = found.get("discriminator")
    names = [discriminator.get("propertyName")] if isinstance(discriminator, Mapping) else []
    out: list[Branch] = []
    for origin, part in enumerate(parts):
        schema: Any = part
        if isinstance(part, Mapping) and given:
            schema = merged(dict(given), Merger(root).resolved(part))
        label = branch_label(part, root, [name for name in names if isinstance(name, str)])
        out.append(Branch(label or str(origin + 1), schema, origin))
    out.sort(key=lambda branch: branch.label == "null")
    if found.get("nullable") is True and all(branch.label != "null" for branch in out):
        out.append(Branch("null", {"type": "null"}))
    return tuple(out)


def branch_label(part: Any, root: Any, names: list[str]) -> str:
    """A short name of an alternative: its title, what tells it from the others, its reference, its type."""
    if not isinstance(part, Mapping):
        return "any" if part is True else ""
    found = Merger(root).resolved(part)
    if title := _text(found.get("title")):
        return title
    properties = found.get("properties")
    if isinstance(properties, Mapping):
        for name in [*names, *properties]:
            one = properties.get(name)
            if isinstance(one, Mapping):
                several = one.get("enum")
                only = several[0] if isinstance(several, list | tuple) and len(several) == 1 else None
                value = one.get("const", only)
                if isinstance(value, str | int) and value != "":
                    return f"{name}={value}"
    if "const" in found and isinstance(found["const"], str | int | float):
        return str(found["const"])
    if ref := _text(found.get("x-ref")):
        return ref
    type_ = found.get("type")
    if isinstance(type_, list | tuple):
        return " | ".join(str(one) for one in type_)
    kind = _kind(found)
    if type_ == "array" and isinstance(found.get("items"), Mapping):
        inner = found["items"].get("type")
        return f"array of {inner}" if isinstance(inner, str) else "array"
    return type_ if isinstance(type_, str) else {"any": "any", "text": "string"}.get(kind, kind)


def _object(found: Mapping[str, Any]) -> dict[str, Any]:
    properties = found.get("properties")
    named = dict(properties) if isinstance(properties, Mapping) else {}
    needs = found.get("required")
    required = [name for name in needs if isinstance(name, str)] if isinstance(needs, list | tuple) else []
    named |= {name: {} for name in required if name not in named}
    named = {str(name): schema for name, schema in named.items()}
    for name, schema in named.items():  # draft-3 says it in the property
        if isinstance(schema, Mapping) and schema.get("required") is True:
            required.append(name)
    patterns = found.get("patternProperties")
    extra = found.get("additionalProperties", found.get("unevaluatedProperties", True))
    return {
        "properties": named,
        "required": frozenset(required),
        "extra": None if extra is False else extra,
        "invites": extra is not False and ("additionalProperties" in found or bool(patterns) or not named),
        "patterns": dict(patterns) if isinstance(patterns, Mapping) else {},
    }


def _array(found: Mapping[str, Any]) -> dict[str, Any]:
    prefix, items = found.get("prefixItems"), found.get("items", True)
    if isinstance(items, list | tuple):  # before 2020-12
        prefix, items = items, found.get("additionalItems", True)
    return {
        "prefix": tuple(prefix) if isinstance(prefix, list | tuple) else (),
        "items": None if items is False else items,
    }
