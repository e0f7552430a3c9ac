"""From what a person typed in a form to values that can be sent, or a sentence why not.

Not here: where the fields come from (schema).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from hel_tui.core.protocol import FieldKind, FieldValue, FormField
from hel_tui.forms.patterns import matches

MAX_DIGITS = 300
"""Digits of a number that are still sent; Python's own limit is 4300."""

Typed = str | bool | tuple[str, ...]
"""What a person did in a field: text, a check mark, what is chosen of several."""

Content = tuple[tuple[str, FieldValue], ...]
"""(name, value) in the order of the fields; an optional field left empty is not in it."""

ProblemKind = Literal[
    "required",
    "short",
    "long",
    "small",
    "large",
    "few",
    "many",
    "pattern",
    "email",
    "uri",
    "date",
    "date-time",
    "number",
    "integer",
    "boolean",
    "choice",
    "json",
]
_SENTENCES: dict[ProblemKind, str] = {
    "required": "This is needed.",
    "short": "At least {limit} characters.",
    "long": "At most {limit} characters.",
    "small": "At least {limit}.",
    "large": "At most {limit}.",
    "few": "Choose at least {limit}.",
    "many": "Choose at most {limit}.",
    "pattern": "It must match {limit}",
    "email": "An e-mail address, such as ana@example.com.",
    "uri": "A whole URI with its scheme, such as https://example.com/page.",
    "date": "A date, such as 2026-01-31.",
    "date-time": "A date and time with its zone, such as 2026-01-31T14:05:00Z.",
    "number": "A number, such as 3.5.",
    "integer": "A whole number, such as 42.",
    "boolean": "true or false.",
    "choice": "One of the options.",
    "json": "Not valid JSON: {limit}",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why what stands in a field cannot be sent. A catalogue of another language goes by `kind`."""

    field: str
    kind: ProblemKind
    limit: str = ""
    """What the sentence speaks of: a number, or the pattern."""

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.kind].format(limit=self.limit)


def number_text(value: object) -> str | None:
    """A number as a person would write it; None for what is no number that can be sent."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if abs(value) < 10**MAX_DIGITS else None
    return repr(value) if isinstance(value, float) and math.isfinite(value) else None


def start(field: FormField) -> Typed:
    """What stands in a field at first: its default."""
    match field.kind, field.default:
        case "boolean", default:
            return default is True
        case "choices", default:
            return default if isinstance(default, tuple) else ()
        case _, None:
            return ""
        case _, default:
            return number_text(default) or str(default)


def read_field(field: FormField, typed: Typed) -> FieldValue | Problem | None:
    """The value of what stands in a field; None for an optional one left empty."""
    if field.kind == "choices":
        return _chosen(
            field, (typed,) if isinstance(typed, str) else () if isinstance(typed, bool) else typed
        )
    if field.kind == "boolean":
        return _flag(field, typed)
    text = typed if isinstance(typed, str) else ""
    text = text if field.kind in ("text", "choice") else text.strip()
    if not text:
        return Problem(field.name, "required") if field.required else None
    if field.options and text not in {value for value, _label in field.options}:
        return Problem(field.name, "choice")
    match field.kind:
        case "integer" | "number":
            return _in_range(field, parse_number(field.name, field.kind, text))
        case "choice":
            return text
    return _written(field, text)


def check_form(
    fields: Iterable[FormField], typed: Mapping[str, Typed]
) -> tuple[Content, tuple[Problem, ...]]:
    """Everything typed, by the names of fields, as (content, problems): without problems it can be sent.

    A field nobody touched counts with its default.
    """
    content: list[tuple[str, FieldValue]] = []
    problems: list[Problem] = []
    for field in fields:
        value = read_field(field, typed.get(field.name, start(field)))
        if isinstance(value, Problem):
            problems.append(value)
        elif value is not None:
            content.append((field.name, value))
    return tuple(content), tuple(problems)


def _flag(field: FormField, typed: Typed) -> FieldValue | Problem | None:
    if isinstance(typed, bool):
        return typed
    match typed.strip().lower() if isinstance(typed, str) else "?":
        case "true":
            return True
        case "false":
            return False
        case "" if not field.required:
            return None
    return Problem(field.name, "boolean")


def _chosen(field: FormField, typed: tuple[str, ...]) -> FieldValue | Problem | None:
    if set(typed) - {value for value, _label in field.options}:
        return Problem(field.name, "choice")
    chosen = tuple(value for value, _label in field.options if value in typed)
    if not chosen and not field.required:
        return None
    if field.minimum is not None and len(chosen) < field.minimum:
        return Problem(field.name, "few", _shown(field.minimum))
    if field.maximum is not None and len(chosen) > field.maximum:
        return Problem(field.name, "many", _shown(field.maximum))
    return chosen


_INTEGER = re.compile(r"[+-]?[0-9]+(?:\.0*)?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


def parse_number(name: str, kind: FieldKind, text: str) -> int | float | Problem:
    """A number that JSON can carry: whole ones exact, no NaN, no infinity."""
    if len(text) > MAX_DIGITS:
        return Problem(name, "integer" if kind == "integer" else "number")
    if _INTEGER.fullmatch(text) and (kind == "integer" or "." not in text):
        return int(text.partition(".")[0])
    if kind == "integer" or not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        return Problem(name, "integer" if kind == "integer" else "number")
    return float(text)


def _in_range(field: FormField, number: int | float | Problem) -> int | float | Problem:
    if isinstance(number, Problem):
        return number
    if field.minimum is not None and number < field.minimum:
        return Problem(field.name, "small", _shown(field.minimum))
    if field.maximum is not None and number > field.maximum:
        return Problem(field.name, "large", _shown(field.maximum))
    return number


def _shown(limit: float) -> str:
    return str(int(limit)) if limit == int(limit) and abs(limit) < 1e15 else repr(limit)


def _written(field: FormField, text: str) -> str | Problem:
    if field.kind != "text" and not read_format(field.kind, text):
        kind: ProblemKind = field.kind  # type: ignore[assignment]  # the formats are kinds of problems
        return Problem(field.name, kind)
    if field.minimum is not None and len(text) < field.minimum:
        return Problem(field.name, "short", _shown(field.minimum))
    if field.maximum is not None and len(text) > field.maximum:
        return Problem(field.name, "long", _shown(field.maximum))
    if not matches(field.pattern, text):
        return Problem(field.name, "pattern", field.pattern)
    return text


_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)


def read_format(kind: FieldKind, text: str) -> bool:
    """Whether `text` is of a format (RFC 5321 addresses loosely, RFC 3986, RFC 3339)."""
    match kind:
        case "email":
            return _EMAIL.fullmatch(text) is not None
        case "uri":
            try:
                parts = urlsplit(text)
            except ValueError:
                return False
            return bool(parts.scheme and (parts.netloc or parts.path)) and not re.search(r"\s", text)
    shape = _DATE if kind == "date" else _DATE_TIME
    if shape.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def short_number(value: float) -> str:
    """A limit as a person reads it; one beyond all floats by how many digits it has."""
    try:
        return f"{value:g}"
    except OverflowError:
        digits = int(value.bit_length() * 0.30103) if isinstance(value, int) else 0
        return f"{'-' if value < 0 else ''}10^{digits}"
