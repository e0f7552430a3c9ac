"""The bounded list that glob and grep answer with.

Not here: what is in it.
"""

from __future__ import annotations

import os

from hel_tui.core.tools.paths import ResolvedPath

MAX_LINES = 100
MAX_BYTES = 10_000
"""UTF-8 bytes of a result, notice included."""
_NOTICE_ROOM = 120


class Listing:
    """Lines up to a number and a size; then it is full and says so at its end."""

    def __init__(self, what: str) -> None:
        """`what` names the lines in the notice, in the plural."""
        self._what = what
        self._lines: list[str] = []
        self._size = 0
        self._is_full = False

    def add(self, line: str) -> bool:
        """Add a line; False when it did not fit, and nothing more will."""
        size = len(line.encode()) + 1
        if len(self._lines) == MAX_LINES or self._size + size > MAX_BYTES - _NOTICE_ROOM:
            self._is_full = True
        if not self._is_full:
            self._lines.append(line)
            self._size += size
        return not self._is_full

    def text(self, nothing: str, *, cut: bool = False) -> str:
        """The whole; `nothing` when there are no lines, `cut` when the search itself did not end."""
        notice = ""
        if self._is_full:
            notice = f"[Only the first {len(self._lines)} {self._what}: narrow the pattern or the path.]"
        elif cut:
            notice = "[The search took too long and was stopped: narrow the pattern or the path.]"
        if not self._lines and not notice:
            return nothing
        return "\n".join([*self._lines, *([notice] if notice else [])])


def named(place: ResolvedPath) -> str:
    """A place in a sentence."""
    return "the project" if place.shown == "." else place.shown


def clean(name: str) -> str:
    """A file's name as one line of valid text."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return "".join(char if char >= " " and char != "\x7f" else f"\\x{ord(char):02x}" for char in text)
