"""How deep a JSON value is nested. Not here: what is done about one that is too deep."""

from __future__ import annotations

from typing import Any


def is_nested_deeper(value: Any, levels: int) -> bool:
    """Whether a JSON value has more than so many levels of objects and lists; itself without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return bool(level)
