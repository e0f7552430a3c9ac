"""Foreign text on the screen: how wide it is drawn, and where it is cut.

What makes it safe is re-exported from `hel_tui.foreign`. Widgets draw text as it is, never as markup.
"""

from __future__ import annotations

from rich.cells import cell_len, split_graphemes

from hel_tui.foreign import NEWLINE_MARK, STAND_IN, TAB_WIDTH, ForeignText, clean, is_clean, reveal

__all__ = [
    "NEWLINE_MARK",
    "STAND_IN",
    "TAB_WIDTH",
    "ForeignText",
    "clean",
    "cut",
    "is_clean",
    "one_line",
    "reveal",
]


def cut(text: str, width: int) -> str:
    """Return `text` (one line, clean) in at most `width` cells; what is cut off ends in …."""
    if width <= 0:
        return ""
    if len(text) * 2 <= width or cell_len(text) <= width:
        return text
    # No more than this many code points are worth measuring, however long the line is.
    head = text[: width * 8]
    cells = 0
    end = 0
    for _start, stop, size in split_graphemes(head)[0]:
        if cells + size > width - 1:
            break
        cells += size
        end = stop
    return head[:end] + "…"


def one_line(text: str, width: int) -> str:
    """Return foreign `text` cleaned, on one line, in at most `width` cells, cut with …."""
    return cut(clean(text[: max(width, 1) * 64], newlines=False), width)
