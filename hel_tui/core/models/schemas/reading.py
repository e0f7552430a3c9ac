"""What a server's own schema says of one value: the types it may have, its values, what is inside it.

Reads schemas as they were sent, references and combinations included; an answer may be too wide, never too
narrow. Not here: judging arguments (the tools do that).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hel_tui.core.models.schemas.forms import type_of
from hel_tui.core.models.schemas.references import References, reference_in
from hel_tui.core.models.schemas.repair import TYPES, type_words
from hel_tui.core.vocabulary import Json

ALL = frozenset(TYPES)
MOST_STEPS = 24
"""References and combinations that are looked into for one answer."""
_NUMBERS = frozenset({"number", "integer"})


@dataclass(frozen=True, slots=True)
class Reading:
    """Answers about the schemas of one document."""

    references: References

    def types(self, schema: Any, steps: int = MOST_STEPS) -> frozenset[str]:
        """The types a value may have. Every type that is not among them is refused by the schema."""
        if schema is False:
            return frozenset()
        if not isinstance(schema, dict) or steps <= 0:
            return ALL
        found = ALL
        if words := type_words(schema.get("type")):
            found = frozenset(words) | (frozenset({"integer"}) if "number" in words else frozenset())
            if schema.get("nullable") is True:
                found |= {"null"}
        if (values := _values(schema)) is not None:
            found &= _wide(frozenset(map(type_of, values)))
        if reference := reference_in(schema):
            found &= self.types(self.references.find(reference), steps - 1)
        for one in _listed(schema, "allOf"):
            found &= self.types(one, steps - 1)
        for key in ("anyOf", "oneOf"):
            if members := _listed(schema, key):
                found &= frozenset().union(*(self.types(one, steps // 2) for one in members))
        return found

    def parts(self, schema: Any, steps: int = MOST_STEPS) -> Iterator[Json]:
        """The schema and every schema that speaks of the same value, references written out."""
        if not isinstance(schema, dict) or steps <= 0:
            return
        yield schema
        if reference := reference_in(schema):
            yield from self.parts(self.references.find(reference), steps - 1)
        for key in ("allOf", "anyOf", "oneOf"):
            for one in _listed(schema, key):
                yield from self.parts(one, steps // 2)
        for key in ("then", "else"):
            yield from self.parts(schema.get(key), steps // 2)

    def property(self, schema: Any, name: str) -> Any:
        """The schema of a property, of all parts that list it; True (anything) when none does."""
        found = []
        for part in self.parts(schema):
            listed = part.get("properties")
            if isinstance(listed, dict) and name in listed and listed[name] not in found:
                found.append(listed[name])
        if len(found) == 1:
            return found[0]
        return {"anyOf": found} if found else self._further(schema)

    def _further(self, schema: Any) -> Any:
        """The schema of properties that are not listed, where one part alone speaks of them."""
        found = [
            part["additionalProperties"] for part in self.parts(schema) if "additionalProperties" in part
        ]
        return found[0] if len(found) == 1 and isinstance(found[0], dict) else True

    def names(self, schema: Any) -> set[str]:
        """Names of all properties that are listed or required."""
        out: set[str] = set()
        for part in self.parts(schema):
            listed, required = part.get("properties"), part.get("required")
            out |= set(listed) if isinstance(listed, dict) else set()
            out |= {one for one in required if isinstance(one, str)} if isinstance(required, list) else set()
        return out

    def is_required(self, schema: Any, name: str) -> bool:
        """Whether some part requires the property."""
        for part in self.parts(schema):
            required = part.get("required")
            if isinstance(required, list) and name in required:
                return True
            listed = part.get("properties")
            own = listed.get(name) if isinstance(listed, dict) else None
            if isinstance(own, dict) and own.get("required") is True:
                return True
        return False

    def items(self, schema: Any, position: int) -> Any:
        """The schema of an item; True when the parts do not say one."""
        found = []
        for part in self.parts(schema):
            first = part.get("prefixItems")
            rest: Any = part.get("items")
            if isinstance(rest, list):
                first, rest = rest, part.get("additionalItems")
            one = first[position] if isinstance(first, list) and position < len(first) else rest
            if isinstance(one, dict) and one not in found:
                found.append(one)
        return found[0] if len(found) == 1 else {"anyOf": found} if found else True

    def values(self, schema: Any) -> list[Any] | None:
        """The values a value must be one of, of all parts together; None when some part leaves it open."""
        parts = [part for part in self.parts(schema) if not reference_in(part) and not _combines(part)]
        lists = [_values(part) for part in parts]
        if not lists or any(one is None for one in lists):
            return _values(schema) if isinstance(schema, dict) else None
        return [value for one in lists for value in one or ()]


def _combines(part: Json) -> bool:
    return any(key in part for key in ("allOf", "anyOf", "oneOf"))


def _listed(schema: Json, key: str) -> list[Any]:
    members = schema.get(key)
    return members if isinstance(members, list) else [members] if isinstance(members, dict) else []


def _values(schema: Json) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) and values else None


def _wide(kinds: frozenset[str]) -> frozenset[str]:
    """Types of values: 1 and 1.0 are the same number."""
    return kinds | _NUMBERS if kinds & _NUMBERS else kinds
