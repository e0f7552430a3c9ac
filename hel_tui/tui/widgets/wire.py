"""The list of frames on the wire of a server, over a bounded trace of which it reads only what it shows.

A cursor, following and pausing, filters. Not here: keeping frames (core), what a row looks like (wire_rows),
bodies (wire_body), the lines around it (wire_panel).
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line
from hel_tui.tui.widgets.window_view import WindowView
from hel_tui.tui.widgets.wire_rows import frame_line

SLICES = 30
"""Slices of looking for one frame that is wanted now."""
METHODS_OF = 5_000
"""How many of the newest frames are looked at for the methods there are."""


class WireView(WindowView[p.FrameWindow]):
    """Frames of one server. `poll` is called once a frame."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("wire")
    DEFAULT_CSS = """
    WireView { height: 1fr; overflow-x: hidden; overflow-y: auto; }
    """

    class Opened(Message):
        """Enter or a double click: show the body of the frame under the cursor."""

    class Moved(Message):
        """The cursor is on another frame."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.server = ""
        self.query_now = p.FrameQuery()
        self.cursor = -1
        """Number of the frame under the cursor, -1 for none."""
        self._page: dict[int, p.Frame] = {}
        self._shown: list[int] = []
        self._pair = -1
        self._is_http = False

    def watch_wire(self, server: str, window: p.FrameWindow | None) -> None:
        """Show this trace from now on, at its end."""
        if server == self.server and window is self.window:
            return
        self.server, self.query_now, self.cursor = server, p.FrameQuery(), -1
        self.look_at(window)

    def set_query(self, query: p.FrameQuery) -> None:
        """Show only frames that `query` wants."""
        self.query_now = query
        if (window := self.window) is None:
            return
        everything = query == p.FrameQuery(is_regex=query.is_regex)
        self.sift(None if everything else lambda start, stop: window.matches(query, start, stop))
        self._follow()

    def frame(self, number: int) -> p.Frame | None:
        """A frame that is still kept."""
        if self.window is None or number < 0:
            return None
        found = self.window.frames(number, number + 1)
        return found[0] if found else None

    @property
    def current(self) -> p.Frame | None:
        """The frame under the cursor."""
        return self.frame(self.cursor)

    def methods(self) -> list[tuple[str, int]]:
        """The methods among the newest frames with how often they stand there, most frequent first."""
        if self.window is None:
            return []
        counts: dict[str, int] = {}
        for frame in self.window.frames(max(self._first, self._end - METHODS_OF), self._end):
            if frame.method and frame.kind != "http":
                counts[frame.method] = counts.get(frame.method, 0) + 1
        return sorted(counts.items(), key=lambda one: (-one[1], one[0]))

    # --------------------------------------------------------------- drawing

    def poll(self) -> bool:
        changed = super().poll()
        if changed:
            self._follow()
        return changed

    def _follow(self) -> None:
        """The cursor goes along with the newest while the view does, and stays on a frame that is shown."""
        before = self.cursor
        if not self.count:
            self.cursor = -1
        elif self.following or self.cursor < 0:
            self.cursor = self.number(self.count - 1)
        else:
            self.cursor = self.number(min(self.row(self.cursor), self.count - 1))
        if self.cursor != before:
            self.post_message(self.Moved())

    def render_lines(self, crop: Region) -> list[Strip]:
        """Read the window once for all rows of this frame."""
        numbers = self.numbers(self.scroll_offset.y, max(self.size.height, 1))
        self._shown = numbers
        self._page = {}
        if numbers and self.window is not None:
            at = 0
            while at < len(numbers):
                stop = at + 1
                while stop < len(numbers) and numbers[stop] == numbers[stop - 1] + 1:
                    stop += 1
                for frame in self.window.frames(numbers[at], numbers[stop - 1] + 1):
                    self._page[frame.number] = frame
                at = stop
        self._is_http = self._is_http or any(one.kind == "http" for one in self._page.values())
        current = self.current
        self._pair = current.pair if current is not None else -1
        return super().render_lines(crop)

    def line_at(self, y: int) -> Line:
        row = y - self.scroll_offset.y
        if not 0 <= row < len(self._shown):
            return self._nothing() if row == 0 and not self.count else ()
        frame = self._page.get(self._shown[row])
        if frame is None:
            return ()
        gutter = "▸" if frame.number == self.cursor else "┃" if frame.number == self._pair else " "
        return frame_line(frame, self.columns, gutter=gutter, mixed=self._is_http)

    def _nothing(self) -> Line:
        if self.sieve is not None:
            return [] if self.sieve.behind else [(f" {t('wire.no_match')}", "muted")]
        return [(f" {t('wire.empty')}", "muted")]

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if self.has_focus and 0 <= y < len(self._shown) and self._shown[y] == self.cursor:
            cursor = self.style_of("cursor")
            return Strip([Segment(text, (style or cursor) + cursor) for text, style, _ in strip])
        return strip

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        if self.following:
            self.go_to_end()
        elif self.count:
            row, height = self.row(self.cursor), max(self.size.height, 1)
            if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
                cursor = self.cursor
                self.go_to_row(max(row - height // 2, 0))
                self.following, self.cursor = False, cursor
                self.refresh()

    # ------------------------------------------------------------------ keys

    def go_to(self, number: int) -> None:
        """Put the cursor on a frame, or the next that is shown, and bring it into view."""
        if not self.count:
            return
        row = min(max(self.row(number), 0), self.count - 1)
        self._go_to_row(row)

    def reach(self, number: int) -> None:
        """Let the filter look back as far as a frame, for a fraction of a second at most."""
        for _ in range(SLICES):
            if self.sieve is None or not self.sieve.behind or self.sieve.holds(number):
                return
            self.poll()

    def _go_to_row(self, row: int) -> None:
        row = min(max(row, 0), self.count - 1)
        is_last = row == self.count - 1
        before, self.cursor = self.cursor, self.number(row)
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        self.following = False
        if not top <= row < top + height:
            self.go_to_row(row if row < top else row - height + 1)
        self.following = is_last
        self.refresh()
        if self.cursor != before:
            self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling by wheel or bar pauses and takes the cursor along."""
        super().watch_scroll_y(old_value, new_value)
        if old_value == new_value or not self.count:
            return
        row, top, height = self.row(self.cursor), round(new_value), max(self.size.height, 1)
        if not self.following and not top <= row < top + height:
            row = min(max(row, top), top + height - 1, self.count - 1)
            self.cursor = self.number(row)
            self.post_message(self.Moved())

    def action_move(self, by: int) -> None:
        if self.count:
            self._go_to_row(min(self.row(self.cursor), self.count - 1) + by)

    def action_pages(self, pages: int) -> None:
        self.action_move(pages * max(self.size.height - 1, 1))

    def action_first(self) -> None:
        if self.count:
            self._go_to_row(0)

    def action_last(self) -> None:
        self.action_end()
        self._follow()

    def action_open(self) -> None:
        if self.cursor >= 0:
            self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        if 0 <= event.y < len(self._shown):
            self.go_to(self._shown[event.y])
            if event.chain > 1:
                self.action_open()
