"""How wide a line is in a terminal, and lines that fit.

Not here: widths on the screen of the app (tui), what is printed.
"""

from __future__ import annotations

import unicodedata

LEAST = 8
"""Cells that are left of a text, however narrow the terminal is."""


def cells(text: str) -> int:
    """Cells that a line takes: characters of Chinese, Japanese and Korean take two (UAX 11)."""
    return sum(map(_cells_of, text))


def cut(text: str, width: int) -> str:
    """The line in at most `width` cells, but not in fewer than a few; where it is cut it says so."""
    width = max(width, LEAST)
    if cells(text) <= width:
        return text
    room, end = width - 1, 0
    while (room := room - _cells_of(text[end])) >= 0:
        end += 1
    return f"{text[:end].rstrip()}…"


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
