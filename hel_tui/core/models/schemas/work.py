"""What one adaptation keeps while it goes: the changes so far, the names that were replaced, the limits.

Not here: any rule.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hel_tui.core.models.schemas.hints import hint
from hel_tui.core.models.schemas.profile import SchemaProfile
from hel_tui.core.models.schemas.references import References
from hel_tui.core.vocabulary import Json

Path = tuple[str, ...]
"""Keys from the top of a schema to a place in it, as the server wrote them."""

MOST_EXPANDED = 1_500
"""Schemas that writing out references may bring; beyond, references are cut."""
MOST_SCHEMAS = 6_000
"""Schemas in one definition; with more it cannot be offered."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between a schema and what the model gets of it."""

    path: Path
    rule: str
    """A short name of the rule, the same for all tools."""
    sentence: str

    @property
    def place(self) -> str:
        """The place with dots: `properties.a.items`; empty for the top."""
        return ".".join(self.path)

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}" if self.path else self.sentence


@dataclass(slots=True)
class Work:
    """The state of one adaptation."""

    profile: SchemaProfile
    references: References
    names: Mapping[str, str]
    """By a property's own name, the one the model uses instead."""
    rewrite: Callable[[Any, Spot], Json]
    """Rewrites a schema inside another one."""
    changes: list[Change] = field(default_factory=list)
    texts: set[Path] = field(default_factory=set)
    """Places where JSON text stands for a value."""
    hints: list[str] = field(default_factory=list)
    """Sentences about the top, for the tool's description."""
    schemas: int = 0
    expanded: int = 0
    properties: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """The schema that is being rewritten: where it is, how it was reached, what its description shall say."""

    work: Work
    path: Path = ()
    chain: tuple[str, ...] = ()
    """The references that lead to it, outermost first."""
    level: int = 1
    """Schemas inside each other, from 1."""
    hints: list[str] = field(default_factory=list)

    @property
    def profile(self) -> SchemaProfile:
        """The family it is rewritten for."""
        return self.work.profile

    def say(self, rule: str, sentence: str) -> None:
        """Note a change here."""
        self.work.changes.append(Change(self.path, rule, sentence))

    def lose(self, key: str, value: Any) -> None:
        """Let the description say what this keyword said."""
        self.hints.append(hint(key, value))

    def inside(self, *steps: str) -> Spot:
        """The spot of a schema inside this one."""
        return replace(self, path=(*self.path, *steps), level=self.level + 1, hints=[])

    def part(self, *steps: str) -> Spot:
        """The spot of a schema that becomes part of this one."""
        return replace(self, path=(*self.path, *steps))

    def reached(self, other: Spot) -> Spot:
        """This spot, with the references that led to the other one among its own."""
        return replace(self, chain=tuple(dict.fromkeys((*self.chain, *other.chain))))


def plain(path: Path) -> Path:
    """`path` without the steps into alternatives: where a value is, however many schemas speak of it."""
    out: list[str] = []
    position = 0
    while position < len(path):
        step = path[position]
        if step in ("anyOf", "oneOf", "allOf"):
            position += 2
        elif step == "properties":
            out += path[position : position + 2]
            position += 2
        else:
            out.append(step)
            position += 1
    return tuple(out)


def canonical(value: Any) -> str:
    """A JSON value as text that is equal for equal values: true is not 1, and the order of keys is none."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def is_schema(value: Any) -> bool:
    """Whether a value can be a schema at all."""
    return isinstance(value, dict | bool)
