"""JSON paths of what does not count in a comparison: `items[*].id`, `$.time`, `[0]`, `a.*.b`.

Pure functions. Not here: comparing (comparing).
"""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")


def without(value: Any, paths: tuple[str, ...]) -> Any:
    """Return the JSON value without what stands at `paths`; it is not changed itself."""
    for path in paths:
        value = _without(value, _steps(path))
    return value


def _steps(path: str) -> list[str]:
    """The steps of a path; a number or `*` in brackets, or a key."""
    path = path.strip()
    rest = path[1:] if path.startswith("$") else path
    return [found[1] or f"[{found[2]}]" for found in _STEP.finditer(rest)]


def _without(value: Any, steps: list[str]) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict):
        hit = [key for key in value if step in ("*", key)]
        return {
            key: _without(item, rest) if key in hit else item
            for key, item in value.items()
            if not (key in hit and not rest)
        }
    if isinstance(value, list) and (step == "*" or step.startswith("[")):
        number = step.strip("[]")
        hits = [at for at in range(len(value)) if number in ("*", str(at))]
        return [
            _without(item, rest) if at in hits else item
            for at, item in enumerate(value)
            if not (at in hits and not rest)
        ]
    return value
