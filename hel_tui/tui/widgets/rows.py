"""A list with a cursor that stays on its row when the list changes around it.

Base of the servers and tools panes. Not here: what a row means.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from hel_tui.core.values import dataclass
from hel_tui.tui import keymap
from hel_tui.tui.widgets.lines import Line, LineView, wrap

MOST_SAID = 3
"""Rows of what is said where there is no row."""


@dataclass(frozen=True, slots=True)
class Row:
    """`key` names the row across updates; rows that are not `live` are headings."""

    key: str
    parts: Line
    live: bool = True


class RowList(LineView, can_focus=True):
    """Rows of text. Keys come from the key table's part `list` and the subclass's own part."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("list")
    DEFAULT_CSS = """
    RowList { height: 1fr; overflow-x: hidden; overflow-y: auto; }
    """

    class Opened(Message):
        """Enter or a double click on a row."""

        def __init__(self, source: RowList, key: str) -> None:
            super().__init__()
            self.source, self.key = source, key

        @property
        def control(self) -> RowList:
            return self.source

    class Moved(Message):
        """The cursor is on another row. `by_hand`: it was moved, the rows did not change below it."""

        def __init__(self, source: RowList, key: str, by_hand: bool) -> None:
            super().__init__()
            self.source, self.key, self.by_hand = source, key, by_hand

        @property
        def control(self) -> RowList:
            return self.source

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[Row] = []
        self.cursor = -1
        self.touched = False
        """Whether the person has moved the cursor: until then it stays on the first row."""
        self.empty: Line = ()
        """What to say when there is no row."""

    @property
    def current(self) -> str:
        """Key of the row under the cursor; empty when there is none."""
        return self.rows[self.cursor].key if 0 <= self.cursor < len(self.rows) else ""

    def show(self, rows: list[Row]) -> None:
        """Replace all rows; the cursor stays on the row with the same key, else where it was."""
        if rows == self.rows:
            return
        key = self.current
        self.rows = rows
        found = -1
        if self.touched:
            found = next((i for i, row in enumerate(rows) if row.key == key and row.live), -1)
        if found < 0:
            near = min(max(self.cursor, 0), len(rows) - 1) if self.touched else 0
            found = self._live_near(near)
        self.cursor = found
        self.set_height(max(len(rows), 1 if rows else MOST_SAID))
        self.refresh()
        if self.current != key:
            self.post_message(self.Moved(self, self.current, by_hand=False))

    def select(self, key: str) -> None:
        """Put the cursor on the row with this key, if there is one."""
        for index, row in enumerate(self.rows):
            if row.key == key:
                self.move(index)

    def move(self, index: int, step: int = 1) -> None:
        """Put the cursor on row `index` or the nearest live one in the direction of `step`."""
        index = min(max(index, 0), len(self.rows) - 1)
        while 0 <= index < len(self.rows) and not self.rows[index].live:
            index += step
        if not 0 <= index < len(self.rows) or index == self.cursor:
            return
        self.cursor, self.touched = index, True
        self.scroll_to_region(Region(0, index, 1, 1), animate=False, immediate=True)
        self.refresh()
        self.post_message(self.Moved(self, self.current, by_hand=True))

    def _live_near(self, index: int) -> int:
        order = sorted(range(len(self.rows)), key=lambda i: abs(i - index))
        return next((i for i in order if self.rows[i].live), -1)

    def line_at(self, y: int) -> Line:
        if not self.rows:
            said = wrap(self.empty, self.size.width)
            return said[y] if y < len(said) else ()
        return self.rows[y].parts if y < len(self.rows) else ()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        row = y + self.scroll_offset.y
        if row == self.cursor and self.rows and self.has_focus:
            cursor = self.style_of("cursor")
            return Strip([Segment(text, (style or cursor) + cursor) for text, style, _ in strip])
        return strip

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        if row < len(self.rows) and self.rows[row].live:
            self.move(row)
            if event.chain > 1:
                self.action_open()

    def action_down(self) -> None:
        self.move(self.cursor + 1)

    def action_up(self) -> None:
        self.move(self.cursor - 1, -1)

    def action_first(self) -> None:
        self.move(0)

    def action_last(self) -> None:
        self.move(len(self.rows) - 1, -1)

    def action_page(self, pages: int) -> None:
        self.move(self.cursor + pages * max(self.size.height - 1, 1), 1 if pages > 0 else -1)

    def action_open(self) -> None:
        if self.current:
            self.post_message(self.Opened(self, self.current))
