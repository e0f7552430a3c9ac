"""The part of a text in which something was found, one line, with the places of what was found.

Not here: finding (index).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

WIDTH = 160
"""Characters of an excerpt."""
_BEFORE = 40


def excerpt(text: str, words: Sequence[str], width: int = WIDTH) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return one line of `text` around the first place that has one of `words`, and (begin, end) of all of
    them in that line, in order and apart.
    """
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)), re.I)
    first = pattern.search(text)
    begin = max(0, first.start() - _BEFORE) if first is not None else 0
    line = " ".join(text[begin : begin + 2 * width].split())[:width]
    head = "…" if begin else ""
    tail = "…" if begin + width < len(text) else ""
    line = f"{head}{line}{tail}"
    return line, tuple((found.start(), found.end()) for found in pattern.finditer(line) if found.group())
