"""Reads values out of a TOML table, with a sentence for each that cannot be used.

Not here: which keys there are (reading).
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any


class BadLab(Exception):
    """The lab cannot be used; the text says where and why."""


class Table:
    """One table; what was not asked for at the end is unknown."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = values
        self.where = where
        self._known: set[str] = set()

    def __contains__(self, key: str) -> bool:
        self._known.add(key)
        return key in self.values

    def bad(self, key: str, expected: str) -> BadLab:
        """The error about one value."""
        return BadLab(f"{self.where}: `{key}` must be {expected}")

    def text(self, key: str, default: str | None = None, *, among: Collection[str] = ()) -> str:
        """A text; required without a default."""
        value = self._value(key, default)
        if not isinstance(value, str):
            raise self.bad(key, "text in quotes")
        if among and value not in among:
            raise self.bad(key, f"one of {', '.join(map(repr, among))}")
        return value

    def whole(self, key: str, default: int | None = None, *, most: int = 10**9) -> int:
        """A whole number above 0."""
        value = self._value(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise self.bad(key, f"a whole number above 0, at most {most:,}")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A number above 0."""
        value = self._value(key, default)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e9:
            raise self.bad(key, "a number above 0")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self._value(key, default)
        if not isinstance(value, bool):
            raise self.bad(key, "true or false")
        return value

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of texts; one text stands for a list of it."""
        value = self._value(key, default)
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise self.bad(key, 'a list of texts, such as ["a", "b"]')
        return tuple(value)

    def table(self, key: str) -> Table:
        """A table inside; empty when it is not there."""
        value = self._value(key, {})
        if not isinstance(value, Mapping):
            raise self.bad(key, "a table")
        return Table(value, f"{self.where}, {key}")

    def tables(self, key: str) -> list[Table]:
        """A list of tables; empty when it is not there."""
        value = self._value(key, [])
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise self.bad(key, f"tables, such as [[{key}]]")
        return [
            Table(one, f"{self.where}, {key} {one.get('name', number)}")
            for number, one in enumerate(value, start=1)
        ]

    def done(self) -> None:
        """Raises BadLab for a key that nobody asked for."""
        for key in self.values:
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, 1, 0.6)
                meant = f"; did you mean `{near[0]}`?" if near else ""
                raise BadLab(f"{self.where}: there is no key `{key}`{meant}")

    def _value(self, key: str, default: Any) -> Any:
        self._known.add(key)
        if key not in self.values and default is None:
            raise BadLab(f"{self.where}: `{key}` is missing")
        return self.values.get(key, default)
