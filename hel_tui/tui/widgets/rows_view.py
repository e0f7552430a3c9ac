"""A scrolling view of rows that were laid out for its width. Not here: what they say (text)."""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hel_tui.tui.text.lines import Line
from hel_tui.tui.widgets.ink import CSS, Painter
from hel_tui.tui.widgets.scrolling import scroll_by_key


class RowsView(ScrollView, can_focus=False):
    """`show(layout)`: a function from a width to rows; it is asked again when the width changes."""

    DEFAULT_CSS = CSS.replace("TranscriptView", "RowsView").replace("padding: 0 1;", "padding: 0;", 1)

    def __init__(self) -> None:
        super().__init__()
        self._layout_rows: Callable[[int], list[Line]] = lambda _width: []
        self._rows: list[Line] = []
        self._width = -1
        self._painter = Painter(self)

    def show(self, layout: Callable[[int], list[Line]]) -> None:
        """Show other rows, from the top."""
        self._layout_rows, self._width = layout, -1
        if self.is_mounted:
            self._lay_out()
            self.scroll_home(animate=False, immediate=True, force=True)

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0 or width == self._width:
            return
        self._width = width
        self._rows = self._layout_rows(width)
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def on_resize(self) -> None:
        self._lay_out()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painter.forget()

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        line = self._rows[index] if index < len(self._rows) else Line()
        return self._painter.row(line, (), (0, self.scrollable_content_region.width, 0))

    def scroll_key(self, key: str) -> bool:
        """Scroll by a key; say whether it was one for that."""
        return scroll_by_key(self, key, space=True)
