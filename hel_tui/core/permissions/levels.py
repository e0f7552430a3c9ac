"""What each access level does with each class of tool, before any rule.

A table and two questions on it. Not here: rules (rules), what becomes of one call (policy).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.protocol import ACCESS_LEVELS, AccessLevel
from hel_tui.core.vocabulary import Access

Action = Literal["run", "ask", "refuse"]

_TABLE: dict[AccessLevel, dict[Access, Action]] = {
    "read-only": {"read": "run", "write": "refuse", "execute": "refuse"},
    "confirm": {"read": "run", "write": "ask", "execute": "ask"},
    "auto": {"read": "run", "write": "run", "execute": "run"},
}


def level_action(level: AccessLevel, access: Access) -> Action:
    return _TABLE[level][access]


def levels_that_run(access: Access) -> tuple[AccessLevel, ...]:
    """Return the levels at which tools of this class run without a question."""
    return tuple(level for level in ACCESS_LEVELS if _TABLE[level][access] == "run")


def levels_that_may(access: Access) -> tuple[AccessLevel, ...]:
    """Return the levels at which tools of this class run at all, asked for or not."""
    return tuple(level for level in ACCESS_LEVELS if _TABLE[level][access] != "refuse")
