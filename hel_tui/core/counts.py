"""Counts in the core's sentences: one of something is said in the singular.

Not here: what the screen says (its catalogue has a form for one).
"""

from __future__ import annotations


def counted(n: int, one: str, many: str = "") -> str:
    """`1 tool`, `2 tools`, `1,200 tools`. `many` where the plural is not `one` with an s."""
    return f"1 {one}" if n == 1 else f"{n:,} {many or one + 's'}"
