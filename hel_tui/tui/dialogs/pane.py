"""The scrolling text of a dialog: wrapped, never clipped, and it knows whether its end was seen.

Foreign text comes in as `ForeignText`, through the functions here and no other way. Not here: what it is.
"""

from __future__ import annotations

import re

from rich.cells import cell_len
from textual.message import Message

from hel_tui.tui.safe import NEWLINE_MARK, ForeignText
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, LineView, Part, wrap
from hel_tui.tui.widgets.scrolling import scroll_by_key

LONG_RUN = 12
"""Spaces in a row, after the start of a line, that are counted instead of drawn."""
_RUN = re.compile(rf"(?<=\S) {{{LONG_RUN},}}")
_AFTER_ESCAPED_BREAK = re.compile(r"(?<=\\n)")
FRAME = "│ "
LABEL = "label"
"""Style of a line's first part that the line's later rows are indented by."""
SCROLLBAR = 1
"""Cells kept free at the right, so that a scroll bar that comes later covers no text."""


def foreign(text: ForeignText) -> str:
    """Foreign text for a decision: hidden characters drawn, long runs of spaces counted."""
    return _RUN.sub(lambda match: f"⟨{t('pane.spaces', n=len(match[0]))}⟩", text.revealed)


def one_line(text: ForeignText) -> str:
    """The same where it cannot begin a line of its own, which would look like one of hel's."""
    return foreign(text).replace("\n", NEWLINE_MARK)


def framed(text: ForeignText, style: str = "", *, break_escapes: bool = False) -> list[Line]:
    """Foreign text behind a bar at its left, which it cannot draw itself.

    `break_escapes` also breaks the line after each `\\n` of JSON, so that long strings can be read.
    """
    lines: list[Line] = []
    for line in foreign(text).split("\n"):
        pieces = _AFTER_ESCAPED_BREAK.split(line) if break_escapes else [line]
        lines += [((FRAME, "frame"), (piece, style)) for piece in pieces if piece or len(pieces) == 1]
    return lines


def diff_lines(diff: ForeignText) -> list[Line]:
    """A unified diff; the sign at the front of each line says it, colour only repeats it."""
    styles = {"+": "ok", "-": "bad", "@": "accent"}
    return [
        ((FRAME, "frame"), (foreign(ForeignText(line)), styles.get(line[:1], "muted")))
        for line in diff.raw.splitlines()
        if line
    ]


class TextPane(LineView, can_focus=False):
    """Lines of parts, wrapped to the width. `end_seen` is true once the last row was on screen."""

    DEFAULT_CSS = """
    TextPane { height: auto; overflow-x: hidden; overflow-y: auto; }
    """

    class EndSeen(Message):
        """All of it has been shown."""

    def __init__(self) -> None:
        super().__init__()
        self.source: list[Line] = []
        self.end_seen = False
        self._rows: list[list[Part]] = []
        self._starts: list[int] = []
        self._width = 0

    def show(self, lines: list[Line]) -> None:
        """Replace the text."""
        self.source = lines
        self.end_seen = False
        self._width = 0
        self._lay_out()
        self.call_after_refresh(self._look)

    def _lay_out(self) -> None:
        width = self.size.width - SCROLLBAR
        if width <= 0 or width == self._width:
            return
        self._width = width
        self._rows, self._starts = [], []
        for line in self.source:
            self._starts.append(len(self._rows))
            self._rows += self.wrapped(line, width)
        self.set_height(len(self._rows))
        self.refresh(layout=True)

    @staticmethod
    def wrapped(line: Line, width: int) -> list[list[Part]]:
        """Rows of one line; a framed line keeps its bar on every row, what has a label stays beside it."""
        if line and line[0] == (FRAME, "frame"):
            return [[line[0], *row] for row in wrap(line[1:], width - cell_len(FRAME))]
        if line and line[0][1] == LABEL and (indent := cell_len(line[0][0])) <= width // 2:
            first, *rest = wrap(line[1:], width - indent)
            return [[line[0], *first], *([(" " * indent, ""), *row] for row in rest)]
        return wrap(line, width)

    def line_at(self, y: int) -> Line:
        return self._rows[y] if y < len(self._rows) else ()

    def on_resize(self) -> None:
        self._lay_out()
        self.call_after_refresh(self._look)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._look()

    def _look(self) -> None:
        if not self.end_seen and self._width and self.scroll_offset.y + self.size.height >= len(self._rows):
            self.end_seen = True
            self.post_message(self.EndSeen())

    def to_line(self, index: int) -> None:
        """Scroll so that source line `index` is near the top."""
        if index < len(self._starts):
            self.scroll_to(y=max(self._starts[index] - 1, 0), animate=False, immediate=True, force=True)

    def scroll_key(self, key: str) -> bool:
        """Scroll by a key of the keyboard's arrow block; say whether it was one."""
        return scroll_by_key(self, key)
