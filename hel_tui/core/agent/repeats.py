"""Notices a model that goes in circles: one call again and again, or two that take turns.

Not here: what is said of it, and to whom (calls).
"""

from __future__ import annotations

REMARK_AT = (3, 5, 8)
"""Rounds after which the model, and at the last of them the person, is told."""

Call = tuple[str, str]
"""Name and arguments, as text."""


class Repeats:
    """Counts rounds of one conversation's calls, in the order they run."""

    def __init__(self) -> None:
        self._last: tuple[Call, ...] = ()
        """The newest two calls, oldest first."""
        self._same = 0
        """How many calls at the end are the same one."""
        self._turns = 0
        """How many calls at the end are two that take turns."""

    def add(self, call: Call) -> tuple[int, int]:
        """Count a call. Returns (how many rounds it ends, how many calls a round has), where that is one of
        REMARK_AT; else (0, 0).
        """
        self._same = self._same + 1 if self._last[-1:] == (call,) else 1
        if len(self._last) == 2 and self._last[0] == call:
            self._turns += 1
        else:
            self._turns = min(len(self._last), 1) + 1
        self._last = (*self._last, call)[-2:]
        if self._same > 1:
            return (self._same, 1) if self._same in REMARK_AT else (0, 0)
        rounds, is_second = (self._turns + 1) // 2, self._turns % 2 == 0
        return (rounds, 2) if rounds in REMARK_AT and not is_second else (0, 0)

    def clear(self) -> None:
        """Another thing happened in between: nothing counts as repeated."""
        self._last, self._same, self._turns = (), 0, 0
