"""The scrolling view over a transcript: one widget that draws only the rows in sight.

It follows the end until someone scrolls up, and keeps its place when rows above change. Not here: cards,
search and messages (conversation), what rows say (text), colours (ink).
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from hel_tui.tui.state import CallItem, Item
from hel_tui.tui.text import warm_up
from hel_tui.tui.text.lines import MUTED, Ink, Line, copied_text
from hel_tui.tui.text.transcript import DetailFn, Transcript
from hel_tui.tui.widgets.ink import CSS, Painter

FEW = 64
"""Changed items up to which all are laid out at once, so that the count of missed rows is exact."""
WALK_PAGES = 8
"""Pages up to which scrolling back measures every item in between; further is a jump."""
WARM_UP_AFTER = 1.5
"""Seconds after the start: the first paint and the core come first."""


class TranscriptView(ScrollView, can_focus=True):
    """Rows of all items. `sync` takes over what changed, once a frame."""

    DEFAULT_CSS = CSS
    ALLOW_SELECT = True

    def __init__(self, detail: DetailFn, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.transcript = Transcript(detail)
        self._painter = Painter(self)
        self._following = True
        self._anchor = (0, 0)  # (item, row in it) at the top when the view does not follow
        self._mark = (0, 0)  # (last item, its height) when the view stopped to follow
        self._arranging = False
        self._running_calls: set[int] = set()
        self._clock: Timer | None = None
        self._placeholder: Sequence[str] = ()
        self._boxed = False
        self._synced = False
        """What is behind has been taken further in this frame."""

    # ------------------------------------------------------------- contents

    @property
    def placeholder(self) -> Sequence[str]:
        """What a conversation says in which nobody has said anything, a line each."""
        return self._placeholder

    @placeholder.setter
    def placeholder(self, lines: Sequence[str]) -> None:
        self._placeholder = [lines] if isinstance(lines, str) else list(lines)
        if not self.transcript.began:
            self.refresh()

    def on_mount(self) -> None:
        super().on_mount()  # type: ignore[no-untyped-call]
        self._clock = self.set_interval(1, self._tick, pause=not self._running_calls)
        self.set_timer(WARM_UP_AFTER, self._warm_up)

    @staticmethod
    def _warm_up() -> None:
        # In a thread of its own: about 0.1 s of imports would be felt as a stumble under someone's fingers.
        threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

    def sync(self, items: Sequence[Item], dirty: Collection[str], cleared: bool = False) -> None:
        """Take over the items whose keys are in `dirty` and those that are new.

        `cleared` says that the conversation began anew. The cost depends on what changed, not on how much
        there is.
        """
        cleared = cleared or self.transcript.is_other(items)
        if cleared:
            self._restart()
        changed = self.transcript.sync(items, dirty, cleared)
        self._synced = not self.transcript.behind.isdisjoint(changed)
        if not changed and not cleared:
            return
        for index in changed:
            item = self.transcript.entries[index].item
            if isinstance(item, CallItem) and item.state == "running":
                self._running_calls.add(index)
            else:
                self._running_calls.discard(index)
        if self._clock is not None and self._running_calls:
            self._clock.resume()
        self._arrange(changed)

    def frame(self) -> None:
        """Once a frame, after `sync`: take in more of an answer that came faster than it is drawn."""
        if self.transcript.behind and not self._synced:
            self._arrange(self.transcript.catch_up())
        self._synced = False

    def _restart(self) -> None:
        """The conversation began anew."""
        self._running_calls.clear()
        self._anchor = self._mark = (0, 0)
        self._set_following(True)

    def _tick(self) -> None:
        """Once a second: the elapsed time of running cards."""
        if not self._running_calls:
            if self._clock is not None:
                self._clock.pause()
            return
        for index in self._running_calls:
            self.transcript.restate(index)
        self._arrange(sorted(self._running_calls))

    # --------------------------------------------------------------- layout

    @property
    def following(self) -> bool:
        """Whether the view stays at the end as rows arrive."""
        return self._following

    @property
    def missed(self) -> int:
        """Rows that came below the view since it stopped to follow."""
        if self._following or not self.transcript.entries:
            return 0
        index, height = self._mark
        seen = self.transcript.heights.top(index) + height
        return max(self.transcript.heights.total - max(seen, self.scroll_offset.y + self._page), 0)

    @property
    def _page(self) -> int:
        return max(self.scrollable_content_region.height, 1)

    def _set_following(self, following: bool) -> None:
        if following == self._following:
            return
        self._following = following
        if not following:
            last = len(self.transcript.entries) - 1
            self._mark = (max(last, 0), self.transcript.heights[last] if last >= 0 else 0)

    def on_resize(self) -> None:
        self._arrange()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painter.forget()

    def _arrange(self, changed: Sequence[int] = ()) -> None:
        """Make exact what is in view, put the view where it belongs, and paint."""
        width, height = self.scrollable_content_region.size
        if width <= 0 or height <= 0:
            return
        transcript = self.transcript
        transcript.resize(width)
        if len(changed) <= FEW:
            for index in changed:
                transcript.lay_out(index)
        y = self._wanted(height)
        while transcript.settle(y, height):
            y = self._wanted(height)
        self._show(y, width)

    def _wanted(self, height: int) -> int:
        """The row at the top of the view by the heights known now."""
        transcript = self.transcript
        end = max(transcript.heights.total - height, 0)
        if self._following or not transcript.entries:
            return end
        index, row = self._anchor
        transcript.lay_out(index)
        row = min(row, max(transcript.heights[index] - 1, 0))
        return min(transcript.heights.top(index) + row, end)

    def _show(self, y: int, width: int) -> None:
        total = self.transcript.heights.total
        # Not through the reactive: the scrollbar is always there, so nothing has to be laid out anew.
        self.set_reactive(ScrollView.virtual_size, Size(width, total))
        self._arranging = True
        try:
            self.scroll_target_y = self.scroll_y = y
        finally:
            self._arranging = False
        bar = self.vertical_scrollbar
        at_end = bar.position >= bar.window_virtual_size - bar.window_size
        # While following only the size of the thumb changes, a little: painting that each frame costs as
        # much as the text does.
        if not (self._following and at_end) or abs(total - bar.window_virtual_size) * 50 >= total:
            bar.window_virtual_size = total
            bar.position = y
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if not self._arranging:
            super().watch_scroll_y(old_value, new_value)
            self._moved(round(old_value), round(new_value))

    def _moved(self, old: int, new: int) -> None:
        """Someone scrolled: find what is at the top now, so that it stays there."""
        transcript = self.transcript
        if new < old and old - new <= WALK_PAGES * self._page:
            self._anchor = transcript.above(*transcript.heights.at(old), old - new)
        else:
            self._anchor = transcript.heights.at(new)
        if self._anchor[0] >= len(transcript.entries):
            self._anchor = (max(len(transcript.entries) - 1, 0), 0)
        self._set_following(new >= transcript.heights.total - self._page)
        self._arrange()

    def keep_place(self) -> None:
        """Stop following without moving: what is at the top stays there."""
        self._anchor = self.transcript.heights.at(self.scroll_offset.y)
        self._set_following(False)

    def bring(self, index: int, row: int = 0) -> None:
        """Scroll so that a row of an item is in view, if it is not."""
        transcript = self.transcript
        transcript.lay_out(index)
        y = transcript.heights.top(index) + row
        top = self.scroll_offset.y
        last = top + self._page - (1 if self._following else 2)  # the last row may say what was missed
        if not top <= y <= last:
            self._set_following(False)
            self._anchor = transcript.above(index, row, self._page // 3)
        self._arrange()

    def reveal(self, index: int) -> None:
        """Scroll down until an item is seen whole, or from its first row when it is longer than the view."""
        heights, top = self.transcript.heights, self.scroll_offset.y
        first = heights.top(index) + self.transcript.entries[index].margin
        end = heights.top(index) + heights[index]
        y = max(top, min(end - self._page, first))
        if not (self._following and y >= heights.total - self._page):
            self._set_following(False)
            self._anchor = heights.at(y)

    # -------------------------------------------------------------- scrolling

    def _go(self, y: int) -> None:
        self.scroll_to(y=min(max(y, 0), self.max_scroll_y), animate=False, force=True)

    def action_scroll_lines(self, lines: int) -> None:
        self._go(self.scroll_offset.y + lines)

    def action_scroll_pages(self, pages: int) -> None:
        self._go(self.scroll_offset.y + pages * max(self._page - 1, 1))

    def action_start(self) -> None:
        self._go(0)

    def action_end(self) -> None:
        """To the end, and follow it."""
        self._set_following(True)
        self._arrange()

    # -------------------------------------------------------------- painting

    def emphasis(self, index: int, row: int) -> Sequence[tuple[int, int, Ink]]:
        """Ranges (from, to, ink) of a row's characters that are drawn otherwise."""
        del index, row
        return ()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a region of the widget, painted.

        Textual's own way builds each row anew with its box around it; a bare box needs only its padding, and
        then a row that was painted before costs nothing.
        """
        styles = self.styles
        padding = styles.padding
        border = any(kind for kind, _color in (*styles.border, *styles.outline))
        if border or padding.top or padding.bottom or styles.tint.a or self.opacity != 1.0:
            self._boxed = True
            try:
                return super().render_lines(crop)
            finally:
                self._boxed = False
        background = self.background_colors[1]
        filters = self.get_line_filters()
        width = self.scrollable_content_region.width
        whole = crop.column_span == (0, width + padding.width)
        strips: list[Strip] = []
        for y in crop.line_range:
            strip = self._painted(y, width, padding.left, padding.right)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip if whole else strip.crop(*crop.column_span))
        return strips

    def render_line(self, y: int) -> Strip:
        strip = self._painted(y, self.scrollable_content_region.width, 0, 0)
        if self._boxed:
            return strip
        # Asked what is under the mouse: that needs offsets in the text.
        return strip.apply_offsets(0, self.scroll_offset.y + y)

    def _painted(self, y: int, width: int, left: int, right: int) -> Strip:
        """Row `y` of the view with its padding."""
        size = (left, width, right)
        top = self.scroll_offset.y
        index, row = self.transcript.heights.at(top + y)
        if index >= len(self.transcript.entries):
            below = top + y - self.transcript.heights.total
            hints = () if self.transcript.began else self._placeholder
            return self._painter.placeholder(hints, below, size)
        rows = self.transcript.lines(index)
        line = rows[row] if row < len(rows) else Line()
        marks = self.emphasis(index, row)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(top + y)) is not None:
            start, end = span
            end = len(line.text) if end == -1 else end
            marks = [*marks, (max(start, line.gutter), end, Ink("selected"))]
        strip = self._painter.row(line, marks, size)
        if not self._following and y == self._page - 1 and (missed := self.missed):
            return self._painter.with_missed(strip, missed, size)
        return strip

    # ------------------------------------------------------------- selection

    def selection_updated(self, selection: Selection | None) -> None:
        """The selection changed: paint it."""
        del selection
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it was written: wrapped rows joined, ornament left out."""
        total = self.transcript.heights.total
        start = selection.start.y if selection.start is not None else 0
        end = min(selection.end.y if selection.end is not None else total - 1, total - 1)
        rows: list[Line] = []
        for y in range(start, end + 1):
            line = self.transcript.line(y) or Line()
            span = selection.get_span(y)
            if span is None:
                continue
            first, last = span
            text = line.text
            piece = text[max(first, line.gutter) : len(text) if last == -1 else last]
            rows.append(Line([(piece, MUTED)], line.join))
        return (copied_text(rows), "\n") if rows else None
