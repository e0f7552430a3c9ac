"""A call's arguments as its server wants them: names put back, values converted where nothing is lost.

Converted is only what the server's own schema cannot take as it is, and only where there is one way to read
it; each conversion is a sentence. A text stays a text wherever a text is allowed. Not here: checking the
arguments (the tools do that).
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any

from hel_tui.core.models.schemas.adapt import Adapted
from hel_tui.core.models.schemas.forms import type_of
from hel_tui.core.models.schemas.hints import brief
from hel_tui.core.models.schemas.reading import Reading
from hel_tui.core.models.schemas.references import References
from hel_tui.core.models.schemas.repair import sound
from hel_tui.core.models.schemas.work import Path
from hel_tui.core.vocabulary import Json

MOST_TEXT = 1_000_000
"""Characters of JSON text that are read."""
MOST_SAID = 20
"""Sentences about one call."""
MOST_DEPTH = 100
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Restored:
    """Arguments for the server, and a sentence for each conversion."""

    arguments: Json
    conversions: tuple[str, ...] = ()


def restore(adapted: Adapted, arguments: Json) -> Restored:
    """The arguments the model gave, as the server of the tool wants them. `arguments` is not changed."""
    root: Json = adapted.source.parameters if isinstance(adapted.source.parameters, dict) else {}
    work = _Restoring(adapted, Reading(References(root)))
    restored = work.object(arguments, root, (), 0)
    said = list(dict.fromkeys(work.said))
    if len(said) > MOST_SAID:
        said[MOST_SAID:] = [f"and {len(said) - MOST_SAID} more conversions"]
    return Restored(restored, tuple(said))


@dataclass(slots=True)
class _Restoring:
    adapted: Adapted
    reading: Reading
    said: list[str] = field(default_factory=list)

    def say(self, path: Path, sentence: str) -> None:
        place = ".".join(step for step in path if step not in ("properties", "items"))
        self.said.append(f"{place}: {sentence}")

    # ---------------------------------------------------------------- containers

    def object(self, given: Json, schema: Any, path: Path, depth: int) -> Json:
        if depth > MOST_DEPTH:
            return given
        back = self._names_back(schema)
        out: Json = {}
        for name, value in given.items():
            own = back.get(name, name)
            if own in out:
                own = name
            here = (*path, "properties", own)
            inner = self.reading.property(schema, own)
            if value is None and self._stands_for_nothing(schema, own, inner):
                self.say(here, "null stands for leaving it out")
                continue
            out[own] = self.value(value, inner, here, depth + 1)
        return out

    def _names_back(self, schema: Any) -> dict[str, str]:
        """By the model's name, the server's own, for properties this schema speaks of."""
        names = self.adapted.names
        if not names:
            return {}
        known = self.reading.names(schema)
        return {short: name for name, short in names.items() if name in known and short not in known}

    def _stands_for_nothing(self, schema: Any, name: str, inner: Any) -> bool:
        if "null" in self.reading.types(inner) or self.reading.is_required(schema, name):
            return False
        return name in self.reading.names(schema)

    def list(self, given: list[Any], schema: Any, path: Path, depth: int) -> list[Any]:
        if depth > MOST_DEPTH:
            return given
        here = (*path, "items")
        return [
            self.value(one, self.reading.items(schema, position), here, depth + 1)
            for position, one in enumerate(given)
        ]

    # -------------------------------------------------------------------- values

    def value(self, given: Any, schema: Any, path: Path, depth: int) -> Any:
        allowed = self.reading.types(schema)
        kind = type_of(given)
        if (
            isinstance(given, float)
            and kind == "integer"
            and "number" not in allowed
            and "integer" in allowed
        ):
            self.say(path, f"{given} is the whole number {int(given)}")
            return int(given)
        if kind not in allowed:
            converted = self._converted(given, schema, allowed, path, depth)
            if converted is not _ABSENT:
                return converted
        elif isinstance(given, str) and path in self.adapted.texts:
            inner = _parsed(given)
            if isinstance(inner, dict | list) and type_of(inner) in allowed:
                self.say(path, f"the JSON text is the {type_of(inner)} it holds")
                return self.value(inner, schema, (), depth)
        if isinstance(given, str):
            return self._of_values(given, schema, path)
        if isinstance(given, dict):
            return self.object(given, schema, path, depth)
        return self.list(given, schema, path, depth) if isinstance(given, list) else given

    def _converted(self, given: Any, schema: Any, allowed: frozenset[str], path: Path, depth: int) -> Any:
        """A value of a type the schema refuses as one it takes, or _ABSENT."""
        if isinstance(given, str):
            scalar = _scalar(given, allowed)
            if scalar is not _ABSENT:
                self.say(path, f"the text {brief(given, 60)} is {_named(scalar)}")
                return scalar
            inner = _parsed(given) if given.lstrip()[:1] in ("{", "[") else None
            if isinstance(inner, dict | list) and type_of(inner) in allowed:
                self.say(path, f"the JSON text is the {type_of(inner)} it holds")
                return self.value(inner, schema, path, depth)
            if given.lstrip()[:1] in ("{", "["):
                return _ABSENT  # meant as JSON and broken: nothing to guess
        if "array" in allowed and given is not None and not isinstance(given, list):
            inner_schema = self.reading.items(schema, 0)
            is_said = isinstance(inner_schema, dict) and self.reading.types(inner_schema) != _ANY
            if is_said and type_of(given) in self.reading.types(inner_schema):
                self.say(path, "one value is a list of one")
                return self.list([given], schema, path, depth)
        return _ABSENT

    def _of_values(self, given: str, schema: Any, path: Path) -> Any:
        """A text that stands for one of the values the schema lists."""
        values = self.reading.values(schema)
        if values is None or given in values:
            return given
        meant = [value for value in values if _spelled(value) == given]
        if len(meant) != 1:
            return given
        self.say(path, f"the text {brief(given, 60)} is the value {brief(meant[0], 60)}")
        return meant[0]


_ANY = Reading(References({})).types(True)


def _spelled(value: Any) -> str:
    """The text that stands for a value of an enum."""
    usable = sound(value)
    return usable if isinstance(usable, str) else brief(usable, 1_000)


def _named(value: Any) -> str:
    return "null" if value is None else f"{brief(value)}, {_KINDS[type_of(value)]}"


_KINDS = {"integer": "a whole number", "number": "a number", "boolean": "a truth value"}


def _scalar(text: str, allowed: frozenset[str]) -> Any:
    """The number, truth value or null a text spells, exactly, where such is allowed; else _ABSENT."""
    if "integer" in allowed and _INTEGER.fullmatch(text):
        return int(text) if text != "-0" else _ABSENT
    if "number" in allowed and _NUMBER.fullmatch(text):
        return float(text)
    if "integer" in allowed and (match := re.fullmatch(r"(-?[1-9]\d{0,14}|0)\.0+", text)):
        return int(match[1])
    if "boolean" in allowed and text in ("true", "false"):
        return text == "true"
    return None if text == "null" and "null" in allowed else _ABSENT


def _parsed(text: str) -> Any:
    """What a JSON text holds; None when it is none, or holds what cannot be sent."""
    if len(text) > MOST_TEXT:
        return None
    try:
        value = json.loads(text, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(text)
    return number
