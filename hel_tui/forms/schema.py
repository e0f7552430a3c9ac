"""From the schema of an elicitation to the fields of a form, or a sentence why it cannot be one.

Specification 2025-11-25 and 2026-07-28, client/elicitation: a flat object of primitives. Not here: what is
typed in the fields (values).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from hel_tui.core.protocol import FieldKind, FieldValue, FormField
from hel_tui.forms.patterns import LONGEST
from hel_tui.forms.values import Problem, number_text, parse_number

MAX_SCHEMA = 64 * 1024
"""Characters of all a form says, also where it says it once for many fields."""
MAX_FIELDS = 50
MAX_OPTIONS = 500
"""Countries and time zones are chosen from a few hundred."""
MAX_NAME = 200
"""Characters of what is sent back as it is: the name of a field, the value of an option."""
MAX_LABEL = 200
MAX_DESCRIPTION = 500
MAX_DEFAULT = 4_000
_TOO_LARGE = f"The form is too large: it says more than {MAX_SCHEMA // 1024} KiB."


def fields_from_schema(schema: object) -> tuple[FormField, ...] | str:
    """The fields of an elicitation's `requestedSchema`; a sentence where no form can be made of it.

    Specification: a flat object of strings, numbers, booleans and enums (client/elicitation, schema). Also
    taken: a missing `type`, a null beside another type, a local `$ref`, and whole numbers as options. What is
    wrong in a limit or a default is left out; labels and descriptions are cut, what is sent back never is.
    """
    if not isinstance(schema, Mapping):
        return "The schema of the form is not an object."
    if _size(schema) > MAX_SCHEMA:
        return _TOO_LARGE
    if schema.get("type", "object") != "object":
        return "The schema of the form does not describe an object."
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return "The schema of the form has no properties."
    needed = [one for one in _list(schema.get("required")) if isinstance(one, str)]
    named = {str(name): each for name, each in properties.items()}
    named |= {name: {} for name in needed if name not in named}
    if len(named) > MAX_FIELDS:
        return f"The form has {len(named)} fields; at most {MAX_FIELDS} can be asked for."
    if any(len(name) > MAX_NAME for name in named):
        return f"The name of a field is longer than {MAX_NAME} characters."
    fields: list[FormField] = []
    said = 0
    for name, each in named.items():
        resolved = _resolved(each, schema)
        said += _size(resolved)
        if said > MAX_SCHEMA:
            return _TOO_LARGE
        field = _field(name, resolved, name in needed)
        if isinstance(field, str):
            return f'The field "{name[:MAX_LABEL]}" cannot be asked for: {field}.'
        fields.append(field)
    return tuple(fields)


def _size(value: object) -> int:
    """About the characters of a JSON value; no more is counted than tells that it is too large."""
    size, left = 0, [value]
    while left and size <= MAX_SCHEMA:
        match left.pop():
            case str(text):
                size += len(text) + 2
            case Mapping() as some:
                size += sum(len(name) + 4 if isinstance(name, str) else 4 for name in some)
                left.extend(some.values())
            case list() | tuple() as several:
                size += 2 * len(several)
                left.extend(several)
            case _:
                size += 4
    return size


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _resolved(schema: object, root: Mapping[object, object]) -> Mapping[object, object]:
    """The schema itself: behind a local `$ref`, an `allOf` of one, or a choice between it and null."""
    found: dict[object, object] = dict(schema) if isinstance(schema, Mapping) else {}
    for _ in range(8):
        inner: object = None
        match found.get("$ref"):
            case str(path) if path.startswith("#/"):
                inner = _at(root, path)
        for key in ("allOf", "anyOf", "oneOf"):
            several = [one for one in _list(found.get(key)) if one != {"type": "null"}]
            if len(several) == 1 and isinstance(several[0], Mapping) and "const" not in several[0]:
                inner, _gone = several[0], found.pop(key)
        if not isinstance(inner, Mapping):
            return found
        found.pop("$ref", None)
        found = {**inner, **found}
    return found


def _at(root: Mapping[object, object], path: str) -> object:
    value: object = root
    for step in path[2:].split("/"):
        value = value.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(value, Mapping) else None
    return value


def _field(name: str, schema: Mapping[object, object], required: bool) -> FormField | str:
    kind, options = _kind(schema)
    if kind is None:
        return options if isinstance(options, str) else "its type is not known"
    if isinstance(options, str):
        return options
    low, high = _LIMITS.get(kind, ("minLength", "maxLength"))
    return FormField(
        name=name,
        kind=kind,
        label=_text(schema.get("title"), MAX_LABEL) or name,
        description=_text(schema.get("description"), MAX_DESCRIPTION),
        required=required,
        default=_default(kind, options, schema.get("default")),
        options=options,
        minimum=_limit(schema.get(low)),
        maximum=_limit(schema.get(high)),
        pattern=_pattern(schema.get("pattern")) if kind in _WRITTEN else "",
    )


_WRITTEN: frozenset[FieldKind] = frozenset({"text", "email", "uri", "date", "date-time"})
_LIMITS: dict[FieldKind, tuple[str, str]] = {
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "choices": ("minItems", "maxItems"),
}
_FORMATS: dict[object, FieldKind] = {
    "email": "email", "uri": "uri", "date": "date", "date-time": "date-time",
}  # fmt: skip
Options = tuple[tuple[str, str], ...]


def _kind(schema: Mapping[object, object]) -> tuple[FieldKind | None, Options | str]:
    """The kind with its options, or a phrase why there is none."""
    type_ = schema.get("type")
    if isinstance(type_, list | tuple):
        left = [one for one in type_ if one != "null"]
        type_ = left[0] if len(left) == 1 else "a mixture of types"
    options = _options(schema)
    match type_:
        case "object" | None if type_ or "properties" in schema:
            return None, "it is an object, and a form is flat"
        case "array":
            items = schema.get("items")
            several = _options(items) if isinstance(items, Mapping) else ()
            return ("choices", several) if several else (None, "it is a list without options to choose from")
        case "integer" | "number":
            return ("integer" if type_ == "integer" else "number"), options
        case "boolean":
            return "boolean", ()
        case "string" | None if options:
            return "choice", options
        case "string" | None:
            format_ = schema.get("format")
            return _FORMATS.get(format_, "text") if isinstance(format_, str) else "text", ()
    return None, f"its type is {_text(str(type_), 40)}"


def _options(schema: Mapping[object, object]) -> Options | str:
    """(value, label) of an enum, in either of its spellings."""
    found: list[tuple[str, str]] = []
    names = _list(schema.get("enumNames"))
    for index, value in enumerate(_list(schema.get("enum"))):
        found += _option(value, names[index] if index < len(names) else None)
    for key in () if found else ("oneOf", "anyOf"):
        for one in _list(schema.get(key)):
            if isinstance(one, Mapping) and "const" in one:
                found += _option(one["const"], one.get("title"))
    unique = dict(reversed(found))
    options = tuple((value, unique[value]) for value in dict(found))
    if any(len(value) > MAX_NAME for value in unique):
        return f"one of its options is longer than {MAX_NAME} characters"
    return options if len(options) <= MAX_OPTIONS else f"it has more than {MAX_OPTIONS} options"


def _option(value: object, label: object) -> list[tuple[str, str]]:
    shown = number_text(value) if isinstance(value, int | float) else value
    return [(shown, _text(label, MAX_LABEL) or shown)] if isinstance(shown, str) else []


def _text(value: object, longest: int) -> str:
    if not isinstance(value, str):
        return ""
    return value if len(value) <= longest else value[: longest - 1] + "…"


def _pattern(value: object) -> str:
    """A pattern that is looked at; half a pattern would be another one."""
    return value if isinstance(value, str) and len(value) <= LONGEST else ""


def _limit(value: object) -> float | None:
    """A limit as a number; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _default(kind: FieldKind, options: Options, value: object) -> FieldValue | None:
    """The default, if it is of the kind; limits are looked at when the form is sent."""
    known = {one for one, _label in options}
    match kind:
        case "boolean":
            return value if isinstance(value, bool) else None
        case "choices":
            return tuple(one for one in _list(value) if isinstance(one, str) and one in known) or None
        case "integer" | "number":
            text = number_text(value)
            if text is None or (known and text not in known):
                return None
            number = parse_number("", kind, text)
            return None if isinstance(number, Problem) else number
        case "choice":
            return value if isinstance(value, str) and value in known else None
    return value if isinstance(value, str) and 0 < len(value) <= MAX_DEFAULT else None
