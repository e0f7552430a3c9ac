"""Views over a bounded window that another thread writes: they follow its end, pause, filter, and read only
what they show.

Base of the views of a log and of a wire. Not here: what a row looks like (they).
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from hel_tui.tui.widgets.lines import LineView
from hel_tui.tui.widgets.window_sieve import FIRST_SLICE, SLICE, Matches, Sieve

RARELY = 8
"""Frames after which the scroll bar tells how much a filter has found further up."""


class Window(Protocol):
    """What a log and a trace have in common: lines or frames with numbers that only grow."""

    @property
    def version(self) -> int: ...

    @property
    def first(self) -> int: ...

    @property
    def end(self) -> int: ...


W = TypeVar("W", bound=Window)


class WindowView(LineView, Generic[W], can_focus=True):
    """One row for each number that is kept, or that the filter lets through. `poll` once a frame."""

    class Changed(Message):
        """Something about looking changed: following, the filter, the place. For the line that says so."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.window: W | None = None
        self.following = True
        self.sieve: Sieve | None = None
        self.problem = ""
        """Why the filter is none: foreign text. Nothing is hidden then."""
        self._seen = -1
        self._first = 0
        self._end = 0
        self._slice = SLICE
        self._waited = 0
        self._hidden = 0
        """How many rows a filter has found further up that are not told of yet."""

    # ------------------------------------------------------------- numbers

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.sieve) - self._hidden if self.sieve is not None else self._end - self._first

    @property
    def kept(self) -> int:
        """How many there are without the filter."""
        return self._end - self._first

    def number(self, row: int) -> int:
        """The number in a row, 0 <= row < count."""
        return self.sieve[row + self._hidden] if self.sieve is not None else self._first + row

    def row(self, number: int) -> int:
        """The row of a number, or of the next one that is shown."""
        if self.sieve is not None:
            return max(self.sieve.row(number) - self._hidden, 0)
        return min(max(number - self._first, 0), self.kept)

    def numbers(self, top: int, height: int) -> list[int]:
        """The numbers in `height` rows from row `top`."""
        rows = range(max(top, 0), min(top + height, self.count))
        return [self.number(row) for row in rows]

    # ------------------------------------------------------------- looking

    def look_at(self, window: W | None) -> None:
        """Show another window, at its end and without a filter."""
        self.window = window
        self._seen, self._first, self._end = -1, 0, 0
        self.sieve, self.problem, self._hidden = None, "", 0
        self.following = True
        if window is None:
            self.set_rows()
        self.poll()
        self.refresh()

    def sift(self, matches: Matches | None) -> None:
        """Show only what `matches` lets through; None shows all. What stood at the top stays in view."""
        top = self._top_number()
        self.problem, self._hidden = "", 0
        self.sieve = None
        if matches is not None and self.window is not None:
            self._first, self._end = self.window.first, self.window.end
            self.sieve = Sieve(matches, self._first, self._end)
        self._seen, self._slice = -1, FIRST_SLICE
        self.poll()
        self._slice = SLICE
        if not self.following and self.sieve is None and top >= 0:
            self.go_to_row(self.row(top))
        elif self.sieve is not None:
            self.action_end()
        self.refresh()
        self.post_message(self.Changed())

    def _top_number(self) -> int:
        row = int(self.scroll_y)
        return self.number(row) if 0 <= row < self.count else -1

    def poll(self) -> bool:
        """Look whether the window has changed and draw it if so. Say whether it had."""
        if self.window is None:
            return False
        version = self.window.version
        if version == self._seen and not (self.sieve is not None and self.sieve.behind):
            return False
        is_news, self._seen = version != self._seen, version
        moved = self._first - self.window.first
        self._first, self._end = self.window.first, max(self.window.end, self.window.first)
        if self.sieve is not None:
            moved = self._sift_on(self.sieve)
            if not is_news and self._may_wait(self.sieve):
                self._hidden += moved
                return True
            moved, self._hidden = moved + self._hidden, 0
        self.set_rows()
        if self.following:
            self.go_to_end()
        elif moved:
            self.scroll_to(y=self.scroll_y + moved, animate=False, immediate=True, force=True)
        self.refresh()
        return True

    def _may_wait(self, sieve: Sieve) -> bool:
        """Whether what was found changes nothing but how far up one could scroll: told now and then."""
        self._waited += 1
        if self._waited < RARELY and self.following and sieve.behind:
            return self.virtual_size.height > self.size.height
        self._waited = 0
        return False

    def _sift_on(self, sieve: Sieve) -> int:
        """A slice of the filter; one that is none hides nothing."""
        try:
            return sieve.step(self._first, self._end, self._slice)
        except ValueError as error:
            self.problem, self.sieve, self._hidden = str(error), None, 0
            self.post_message(self.Changed())
            return 0

    def set_rows(self) -> None:
        """Say how many rows there are."""
        self.set_height(self.count)

    def set_height(self, lines: int) -> None:
        """Say how many lines there are; more of them below a scroll bar need no new layout of the screen."""
        before = self.virtual_size.height
        if self.show_vertical_scrollbar and lines > before > self.size.height:
            self.set_reactive(ScrollView.virtual_size, Size(0, lines))
            self.vertical_scrollbar.window_virtual_size = lines
        else:
            super().set_height(lines)

    # ------------------------------------------------------------ scrolling

    def go_to_row(self, row: int) -> None:
        """Scroll so that a row is the top one, as far as there is something below."""
        self.scroll_to(y=row, animate=False, immediate=True, force=True)

    def go_to_end(self) -> None:
        """Scroll to the newest."""
        self.scroll_end(animate=False, immediate=True, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        follows = self.following
        if new_value < old_value and new_value < self.max_scroll_y:
            self.following = False
        elif new_value >= self.max_scroll_y:
            self.following = True
        if follows != self.following:
            self.post_message(self.Changed())

    def action_pause(self) -> None:
        self.following = not self.following
        if self.following:
            self.action_end()
        self.refresh()
        self.post_message(self.Changed())

    def action_end(self) -> None:
        self.following = True
        self.go_to_end()
        self.refresh()

    def action_start(self) -> None:
        self.following = False
        self.scroll_home(animate=False, immediate=True, force=True)

    def action_scroll_lines(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False, immediate=True, force=True)

    def action_scroll_pages(self, pages: int) -> None:
        self.action_scroll_lines(pages * max(self.size.height - 1, 1))
