"""What two results differ in: values by their JSON path, and text by lines. Pure functions that
remember the latest answers, since a screen asks again for each width.

Not here: which two (results), how it is drawn (result).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

from hel_tui.core.values import dataclass
from hel_tui.differences import Matcher, unified

MOST_CHANGES = 500
MOST_LINES = 2_000
"""Lines of a difference that are shown; side by side, lines of a text that are compared."""
MAX_VALUE = 200
_NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class Change:
    """One value that differs. `path` such as `$.items[2].name`; values are JSON in short."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: str = ""
    after: str = ""


@lru_cache(maxsize=4)
def json_changes(before: str, after: str) -> list[Change] | None:
    """The values that differ, at most `MOST_CHANGES`; None where one of the two is no JSON."""
    try:
        one, other = json.loads(before), json.loads(after)
    except (ValueError, RecursionError):
        return None
    found: list[Change] = []
    try:
        for change in _changes("$", one, other):
            found.append(change)
            if len(found) == MOST_CHANGES:
                break
    except RecursionError:
        return None
    return found


def _changes(path: str, one: Any, other: Any) -> Iterator[Change]:
    if one is _NOTHING:
        yield Change(path, "added", after=_short(other))
    elif other is _NOTHING:
        yield Change(path, "removed", before=_short(one))
    elif isinstance(one, dict) and isinstance(other, dict):
        for name in [*one, *(name for name in other if name not in one)]:
            step = f".{name}" if name.isidentifier() else f"[{json.dumps(name, ensure_ascii=False)}]"
            yield from _changes(path + step, one.get(name, _NOTHING), other.get(name, _NOTHING))
    elif isinstance(one, list) and isinstance(other, list):
        for at in range(max(len(one), len(other))):
            left = one[at] if at < len(one) else _NOTHING
            right = other[at] if at < len(other) else _NOTHING
            yield from _changes(f"{path}[{at}]", left, right)
    elif one != other or isinstance(one, bool) != isinstance(other, bool):
        yield Change(path, "changed", _short(one), _short(other))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"


def pretty(text: str) -> str:
    """JSON with an item on each line, so that lines can be compared; any other text as it is."""
    try:
        value = json.loads(text)
        return json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, dict | list) else text
    except (ValueError, RecursionError):
        return text


@lru_cache(maxsize=4)
def text_diff(before: str, after: str, names: tuple[str, str] = ("before", "after")) -> str:
    """A unified diff of two texts, JSON in its pretty form; empty when they say the same."""
    return unified(pretty(before), pretty(after), names, MOST_LINES)


@lru_cache(maxsize=4)
def beside(before: str, after: str) -> list[tuple[str, str, str]]:
    """Both texts in columns: (sign, left, right) for each row; the sign is `~`, `-`, `+` or a space."""
    one = pretty(before).splitlines()[:MOST_LINES]
    other = pretty(after).splitlines()[:MOST_LINES]
    rows: list[tuple[str, str, str]] = []
    for tag, i1, i2, j1, j2 in Matcher(one, other).get_opcodes():
        if tag == "equal":
            rows += [(" ", line, line) for line in one[i1:i2]]
            continue
        for at in range(max(i2 - i1, j2 - j1)):
            left = one[i1 + at] if at < i2 - i1 else ""
            right = other[j1 + at] if at < j2 - j1 else ""
            sign = "~" if at < i2 - i1 and at < j2 - j1 else "-" if at < i2 - i1 else "+"
            rows.append((sign, left, right))
    return rows
