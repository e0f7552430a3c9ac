"""Lines that scroll and wrap, some of which can be chosen: the text of a tab.

Not here: what the lines say (texts), what choosing one does (the tab).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from hel_tui.core.values import dataclass
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.pane import SCROLLBAR, TextPane
from hel_tui.tui.widgets.lines import Line, LineView, Part


@dataclass(frozen=True, slots=True)
class Choice:
    """A line that can be chosen: `key` says what it is."""

    key: str
    parts: Line


SheetLine = Line | Choice


class SheetView(LineView, can_focus=True):
    """Wrapped lines with a cursor over those that are choices; without any, the keys scroll."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("list")
    DEFAULT_CSS = """
    SheetView { height: 1fr; overflow-x: hidden; overflow-y: auto; }
    """

    class Chosen(Message):
        """Enter, a space or a click on a choice."""

        def __init__(self, source: SheetView, key: str) -> None:
            super().__init__()
            self.source, self.key = source, key

        @property
        def control(self) -> SheetView:
            return self.source

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._source: Sequence[SheetLine] = ()
        self._rows: list[tuple[list[Part], str]] = []
        """Each row with the key of its choice, or empty."""
        self._width = 0
        self.current = ""
        """Key of the choice under the cursor."""

    def show(self, lines: Sequence[SheetLine]) -> None:
        """Replace the text; the cursor stays on the choice with its key, and the view where it is."""
        if lines == self._source:
            return
        self._source = lines
        self._width = 0
        self._lay_out()

    def _lay_out(self) -> None:
        width = self.size.width - SCROLLBAR
        if width <= 0 or width == self._width:
            return
        self._width = width
        self._rows = []
        for line in self._source:
            parts, key = (line.parts, line.key) if isinstance(line, Choice) else (line, "")
            self._rows += [(row, key) for row in TextPane.wrapped(parts, width)]
        keys = self.keys
        if self.current not in keys:
            self.current = keys[0] if keys else ""
        self.set_height(len(self._rows))
        self.refresh()

    @property
    def keys(self) -> list[str]:
        """Keys of the choices, in order."""
        return [line.key for line in self._source if isinstance(line, Choice)]

    def on_resize(self) -> None:
        self._lay_out()

    def line_at(self, y: int) -> Line:
        return self._rows[y][0] if y < len(self._rows) else ()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        row = y + self.scroll_offset.y
        if self.has_focus and row < len(self._rows) and self._rows[row][1] == self.current != "":
            cursor = self.style_of("cursor")
            return Strip([Segment(text, (style or cursor) + cursor) for text, style, _ in strip])
        return strip

    # ------------------------------------------------------------------ keys

    def _move(self, by: int) -> None:
        keys = self.keys
        if not keys:
            self.scroll_relative(y=by, animate=False, immediate=True, force=True)
            return
        at = keys.index(self.current) if self.current in keys else 0
        goal = at + by
        if 0 <= goal < len(keys):
            self.choose(keys[goal])
        else:  # what stands before the first and behind the last choice is to be seen too
            self.scroll_relative(y=by, animate=False, immediate=True, force=True)

    def choose(self, key: str) -> None:
        """Put the cursor on a choice and bring it into view."""
        if key not in self.keys:
            return
        self.current = key
        row = next((at for at, (_, of) in enumerate(self._rows) if of == key), 0)
        self.scroll_to_region(Region(0, row, 1, 1), animate=False, immediate=True)
        self.refresh()

    def action_down(self) -> None:
        self._move(1)

    def action_up(self) -> None:
        self._move(-1)

    def action_first(self) -> None:
        if keys := self.keys:
            self.choose(keys[0])
        self.scroll_home(animate=False, immediate=True, force=True)

    def action_last(self) -> None:
        if keys := self.keys:
            self.choose(keys[-1])
        self.scroll_end(animate=False, immediate=True, force=True)

    def action_page(self, pages: int) -> None:
        step = pages * max(self.size.height - 1, 1)
        self.scroll_relative(y=step, animate=False, immediate=True, force=True)

    def action_open(self) -> None:
        if self.current:
            self.post_message(self.Chosen(self, self.current))

    def on_key(self, event: events.Key) -> None:
        if event.key == "space" and self.current:
            event.stop()
            self.action_open()

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        if row < len(self._rows) and (key := self._rows[row][1]):
            self.choose(key)
            if event.chain > 1:
                self.action_open()
