"""One place of a form, the value it comes to, and JSON as a person writes it.

Not here: building, filling and changing a form (tree), what a schema says (spec).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hel_tui.forms.spec import MISSING, Kind, Spec, type_word
from hel_tui.forms.values import Problem, number_text, parse_number

Path = tuple[str | int, ...]


@dataclass(slots=True, eq=False)
class Node:
    """One place. `present`: it is part of the value; what is left out is not the same as what is empty."""

    key: str | int
    """Name of the property or place in the list; empty for the whole."""
    schema: Any
    spec: Spec
    required: bool = False
    parent: Node | None = None
    present: bool = False
    text: str = ""
    """What stands in a field: text, a number, or JSON where it is raw."""
    picked: int = -1
    """Which option or branch."""
    children: list[Node] = field(default_factory=list)
    extra: bool = False
    """A property that the schema does not name: it can be renamed and removed."""
    raw: bool = False
    """Shown as JSON, whatever the kind."""

    @property
    def kind(self) -> Kind:
        return "any" if self.raw else self.spec.kind

    @property
    def path(self) -> Path:
        """From the whole to here; a branch has the path of its union."""
        steps: list[str | int] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            if node.parent.kind != "union":
                steps.append(node.key)
            node = node.parent
        return tuple(reversed(steps))

    @property
    def branch(self) -> Node | None:
        """Of a union: what was chosen."""
        return self.children[0] if self.kind == "union" and self.children else None

    @property
    def depth(self) -> int:
        """Levels above it."""
        depth, node = 0, self.parent
        while node is not None:
            depth, node = depth + 1, node.parent
        return depth

    @property
    def can_grow(self) -> bool:
        """Whether an item or a property can be added to it."""
        if self.kind == "array":
            return self.spec.items is not None or len(self.children) < len(self.spec.prefix)
        return self.kind == "object" and (self.spec.extra is not None or bool(self.spec.patterns))

    @property
    def is_item(self) -> bool:
        return self.parent is not None and self.parent.kind == "array"

    def __iter__(self) -> Iterator[Node]:
        """It and all below it, in order."""
        yield self
        for child in self.children:
            yield from child


def place_among(options: tuple[Any, ...], value: Any) -> int:
    """Where a value stands among options; -1 when it does not. JSON's true is not 1."""
    return next(
        (
            at
            for at, one in enumerate(options)
            if one == value and isinstance(one, bool) == isinstance(value, bool)
        ),
        -1,
    )


def fits(spec: Spec, value: Any) -> bool:
    """Whether a value has the shape of a place, judged by the outermost level."""
    match spec.kind:
        case "any":
            return True
        case "never":
            return False
        case "choice":
            return place_among(spec.options, value) >= 0
        case "union":
            return True
        case "number":
            return number_text(value) is not None
        case "integer":
            whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            return whole and number_text(value) is not None
        case "object":
            return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
        case "array":
            return isinstance(value, list | tuple)
    return type_word(value) == spec.kind


# ------------------------------------------------------------------------- JSON


@dataclass(frozen=True, slots=True)
class BadJson:
    """Why a text is no JSON, and where: from 1."""

    why: str
    line: int = 1
    column: int = 1


def read_json(text: str) -> Any:
    """The value of a JSON text, or `BadJson`. NaN and infinity are none."""

    def constant(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(text, parse_constant=constant)
    except json.JSONDecodeError as error:
        return BadJson(error.msg, error.lineno, error.colno)
    except (ValueError, RecursionError) as error:
        return BadJson("nested too deeply" if isinstance(error, RecursionError) else str(error)[:200])


def written(value: Any) -> str:
    """A value as JSON that a person can edit."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except (TypeError, ValueError, RecursionError):
        return "null"


def value_of(node: Node, problems: list[tuple[Node, Problem]] | None = None) -> Any:
    """What a place comes to; MISSING when it is left out, or cannot be read, which `problems` hears of."""
    if not node.present and node.kind != "union":
        return MISSING
    match node.kind:
        case "text":
            return node.text
        case "number" | "integer":
            kind: Any = node.kind
            number = parse_number(str(node.key), kind, node.text.strip())
            return _or_missing(node, number, problems)
        case "boolean":
            return MISSING if node.picked < 0 else bool(node.picked)
        case "choice":
            return node.spec.options[node.picked] if node.picked >= 0 else MISSING
        case "null":
            return None
        case "union":
            return value_of(node.children[0], problems) if node.children else MISSING
        case "object":
            found = {str(child.key): value_of(child, problems) for child in node.children}
            return {name: value for name, value in found.items() if value is not MISSING}
        case "array":
            return _items(node, problems)
        case _:
            return _raw_value(node, problems)


def _items(node: Node, problems: list[tuple[Node, Problem]] | None) -> list[Any]:
    """The items of a list. One that is not filled in is a problem, and null: the others keep their place."""
    values: list[Any] = []
    for child in node.children:
        known = len(problems) if problems is not None else 0
        value = value_of(child, problems)
        if value is MISSING and problems is not None and len(problems) == known:
            problems.append((child, Problem(str(child.key), "required")))
        if value is not MISSING or problems is not None:
            values.append(None if value is MISSING else value)
    return values


def _or_missing(node: Node, value: Any, problems: list[tuple[Node, Problem]] | None) -> Any:
    if isinstance(value, Problem):
        if problems is not None:
            problems.append((node, value))
        return MISSING
    return value


def _raw_value(node: Node, problems: list[tuple[Node, Problem]] | None) -> Any:
    if not node.text.strip():
        return MISSING
    value = read_json(node.text)
    if isinstance(value, BadJson):
        where = f"{value.why} ({value.line}:{value.column})"
        return _or_missing(node, Problem(str(node.key), "json", where), problems)
    return value
