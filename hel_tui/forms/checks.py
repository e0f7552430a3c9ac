"""What is wrong with a filled form, each thing at its own place, several at once.

Not here: the tree (tree), how a foreign schema is tamed (validator).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import time
from typing import Any, Literal
from uuid import UUID

from hel_tui.forms.node import Node, Path, value_of
from hel_tui.forms.patterns import matches
from hel_tui.forms.spec import MISSING
from hel_tui.forms.tree import Form
from hel_tui.forms.validator import errors
from hel_tui.forms.values import Problem, read_format

MOST_ERRORS = 50
MAX_MESSAGE = 300
FlawKind = Literal[
    "required", "type", "choice", "number", "integer", "json", "small", "large", "above", "below", "multiple",
    "short", "long", "few", "many", "unique", "extra", "shape", "shapes", "fewer", "more", "format",
    "pattern", "other",
]  # fmt: skip
_KINDS: dict[str, FlawKind] = {
    "type": "type",
    "enum": "choice",
    "const": "choice",
    "minimum": "small",
    "maximum": "large",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "multipleOf": "multiple",
    "divisibleBy": "multiple",
    "minLength": "short",
    "maxLength": "long",
    "minItems": "few",
    "maxItems": "many",
    "uniqueItems": "unique",
    "additionalProperties": "extra",
    "unevaluatedProperties": "extra",
    "minProperties": "fewer",
    "maxProperties": "more",
}
_LIMITED = frozenset(
    {"small", "large", "above", "below", "multiple", "short", "long", "few", "many", "fewer", "more"}
)


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong. A catalogue of a language goes by `kind`."""

    path: Path
    kind: FlawKind
    limit: str = ""
    """What the sentence speaks of: a number, a type, a pattern, a format, a name."""
    message: str = ""
    """Of kind `other`: foreign text that says it, in English."""
    soft: bool = False
    """It may be sent all the same: the server judges."""


def check(form: Form) -> tuple[Any, tuple[Flaw, ...]]:
    """The value of a form and what is wrong with it; without hard flaws it can be sent."""
    unread: list[tuple[Node, Problem]] = []
    value = value_of(form.root, unread)
    value = {} if value is MISSING else value
    flaws = [_unread(node, problem) for node, problem in unread]
    told = [flaw.path for flaw in flaws]
    for flaw in check_value(form.schema, value, form):
        if not any(flaw.path[: len(path)] == path for path in told):
            flaws.append(flaw)
    flaws += _soft(form)
    return value, tuple(dict.fromkeys(flaws))


def check_value(schema: Any, value: Any, form: Form | None = None) -> list[Flaw]:
    """What is wrong with a value; `form` tells which alternatives were meant."""
    if schema is False:
        return [Flaw((), "shape")]
    found: list[Flaw] = []
    for error in errors(schema, value, MOST_ERRORS):
        found += _flaws(error, form, ())
    return found


def _unread(node: Node, problem: Problem) -> Flaw:
    kinds: dict[str, FlawKind] = {
        "required": "required",
        "number": "number",
        "integer": "integer",
        "json": "json",
    }
    return Flaw(node.path, kinds.get(problem.kind, "other"), problem.limit, problem.sentence)


def _flaws(error: Any, form: Form | None, base: Path) -> Iterator[Flaw]:
    """One error of jsonschema as flaws; of an alternative that was chosen, what is wrong inside it."""
    path: Path = (*base, *error.relative_path)
    word, limit = error.validator, error.validator_value
    if word in ("oneOf", "anyOf"):
        yield from _of_alternatives(error, form, path)
        return
    if word == "allOf" and error.context:
        for inner in error.context:
            yield from _flaws(inner, form, path)
        return
    if word == "required":
        needs = limit if isinstance(limit, list | tuple) else []
        named = [name for name in needs if error.message.startswith(repr(name))]
        for name in named[:1] or [name for name in needs if name not in error.instance][:1]:
            yield Flaw((*path, name), "required")
        return
    kind = _KINDS.get(word)
    if word in ("minimum", "maximum") and error.schema.get(f"exclusiveM{word[1:]}") is True:  # draft-4
        kind = "above" if word == "minimum" else "below"
    if word in ("additionalProperties", "unevaluatedProperties") and isinstance(error.instance, dict):
        known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        for name in (name for name in error.instance if name not in known):
            yield Flaw((*path, name), "extra", name)
        return
    if kind is None:
        yield Flaw(path, "other", message=error.message[:MAX_MESSAGE])
    elif kind == "type":
        types = limit if isinstance(limit, list | tuple) else [limit]
        yield Flaw(path, kind, ", ".join(str(one) for one in types))
    else:
        yield Flaw(path, kind, str(limit)[:100] if kind in _LIMITED else "")


def _of_alternatives(error: Any, form: Form | None, path: Path) -> Iterator[Flaw]:
    node = _union_at(form, path) if form is not None else None
    origin = node.spec.branches[node.picked].origin if node is not None and node.picked >= 0 else -1
    inner = [
        one
        for one in error.context or ()
        if one.relative_schema_path and one.relative_schema_path[0] == origin
    ]
    if inner:
        for one in inner:
            yield from _flaws(one, form, path)
    else:
        yield Flaw(path, "shapes" if not error.context else "shape")


def _union_at(form: Form | None, path: Path) -> Node | None:
    """The outermost union at a path that has something chosen."""
    if form is None:
        return None
    return next((node for node in form.root if node.kind == "union" and node.path == path), None)


def _soft(form: Form) -> Iterator[Flaw]:
    """Patterns and formats: the server judges by its own rules, so that these only warn."""
    for node in form.root:
        if node.kind != "text" or not node.present:
            continue
        pattern = dict(node.spec.limits).get("pattern")
        if isinstance(pattern, str) and not matches(pattern, node.text):
            yield Flaw(node.path, "pattern", pattern[:100], soft=True)
        if node.spec.format and node.text and not is_format(node.spec.format, node.text):
            yield Flaw(node.path, "format", node.spec.format[:40], soft=True)


_TIME = re.compile(r"\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?")
_HOST = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?")
_DURATION = re.compile(
    r"P(?!$)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
)


def is_format(name: str, text: str) -> bool:
    """Whether a text is of a format; True for one that is not known here."""
    try:
        match name:
            case "email" | "uri" | "date" | "date-time":
                return read_format(name, text)
            case "uuid":
                return str(UUID(text)) == text.lower()
            case "ipv4":
                ipaddress.IPv4Address(text)
            case "ipv6":
                ipaddress.IPv6Address(text)
            case "time":
                time.fromisoformat(text)
                return _TIME.fullmatch(text) is not None
            case "hostname":
                return len(text) <= 253 and _HOST.fullmatch(text) is not None
            case "duration":
                return _DURATION.fullmatch(text) is not None
            case "regex":
                re.compile(text)
    except (ValueError, re.error, OverflowError, RecursionError):
        return False
    return True
