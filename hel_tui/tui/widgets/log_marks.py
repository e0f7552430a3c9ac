"""Searching and selecting in a log: going from match to match, lines held from one to another.

Not here: which lines are shown (log), drawing (log_page).
"""

from __future__ import annotations

from textual import events
from textual.actions import SkipAction

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean
from hel_tui.tui.widgets.log_layout import CallMark, stamp, wanted
from hel_tui.tui.widgets.log_page import LogPage
from hel_tui.tui.widgets.window_search import Seeker

COPIED_MOST = 5_000
"""Lines that are copied when nothing is selected; of a selection it is `SELECTED_MOST`."""
SELECTED_MOST = 50_000


class LogMarks(LogPage):
    """A log with a place one stands at, a search and a selection."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.search_text, self.search_is_regex = "", False
        self.seeker: Seeker | None = None
        self.search_said = ""
        """How the last search ended: empty, `around` or `none`."""
        self._drags = False

    def poll(self) -> bool:
        changed = super().poll()
        if self.seeker is not None:
            self._seek_on(self.seeker)
        if self.window is not None and self.at >= 0:
            self.at = max(self.at, self._first)
            self.held = max(self.held, self._first) if self.held >= 0 else -1
        return changed

    def action_scroll_lines(self, lines: int) -> None:
        """By rows; a selection is made larger or smaller."""
        if self.held >= 0:
            self._select_to(self.row(self.at) + lines)
        else:
            super().action_scroll_lines(lines)

    def _go(self, number: int) -> None:
        """Bring a line into view: to the top where it was not in it."""
        self.following = False
        if not any(number == shown for shown, _ in self._page):
            row = self.row(number)
            self.go_to_row(max(row - self.size.height // 3, 0) if not self.wraps else row)
            self.following = False
        self.refresh()

    def go_to(self, number: int) -> None:
        """Stand at a line."""
        self.at = min(max(number, self._first), max(self._end - 1, self._first))
        self._go(self.at)
        self.post_message(self.Changed())

    # --------------------------------------------------------------- searching

    def search(self, text: str, *, is_regex: bool = False) -> None:
        """Highlight `text` and go to the match before the end of the view; empty ends the search."""
        self.search_text, self.search_is_regex = text, is_regex
        self.found = wanted(text, is_regex)
        self.seeker, self.search_said, self.problem = None, "", ""
        if text:
            last = self._page[-1][0] + 1 if self._page else self._end
            self._seek(last, -1)
        else:
            self.at = -1
        self.refresh()
        self.post_message(self.Changed())

    def _seek(self, at: int, step: int) -> None:
        if (window := self.window) is None or not self.search_text:
            return
        query = p.LogQuery(self.search_text, is_regex=self.search_is_regex)
        self.seeker = Seeker(
            lambda start, stop: window.matches(query, start, stop), at, step, self._first, self._end
        )
        self._seek_on(self.seeker)

    def _seek_on(self, seeker: Seeker) -> None:
        """A slice of the search."""
        try:
            found = seeker.go(self.sieve.holds if self.sieve is not None else lambda _: True)
        except ValueError as error:
            self.seeker, self.problem = None, str(error)
            self.post_message(self.Changed())
            return
        if found is None:
            return
        self.seeker = None
        self.search_said = "none" if found < 0 else "around" if seeker.is_around else ""
        if found >= 0:
            self.go_to(found)
        self.post_message(self.Changed())

    def action_match(self, step: int) -> None:
        """To the next or the previous match, around the ends."""
        if not self.search_text:
            raise SkipAction
        top = self._page[0][0] - 1 if self._page else self._first - 1
        self._seek(self.at if self.at >= 0 else top, step)

    # --------------------------------------------------------------- selecting

    def action_select(self) -> None:
        """Begin to select at the line stood at, or the last in view; a second time, stop."""
        if self.held >= 0:
            self.held = -1
        elif self._page:
            shown = [number for number, _ in self._page]
            self.at = self.at if self.at in shown else shown[-1]
            self.held = self.at
            self.following = False
        self.refresh()
        self.post_message(self.Changed())

    def _select_to(self, row: int) -> None:
        """Let the selection reach to a row and show it."""
        if not self.count:
            return
        row = min(max(row, 0), self.count - 1)
        self.at = self.number(row)
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        if row < top or row >= top + height:
            self.go_to_row(row if row < top else row - height + 1)
        self.following = False
        self.refresh()
        self.post_message(self.Changed())

    @property
    def selected(self) -> tuple[int, int] | None:
        """Numbers of the first and the last line selected."""
        if self.held < 0 or self.at < 0:
            return None
        return min(self.held, self.at), max(self.held, self.at)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A drag selects lines; a click stands at one."""
        if event.button == 1 and event.y < len(self._page):
            self.at, self.held = self._page[event.y][0], -1
            self._drags = True
            self.capture_mouse()
            self.refresh()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if not self._drags or not self._page:
            return
        if self.held < 0:
            self.held = self.at
        if event.y < 0 or event.y >= self.size.height:
            self._select_to(self.row(self.at) + (1 if event.y > 0 else -1))
            return
        self.at = self._page[min(event.y, len(self._page) - 1)][0]
        self.following = False
        self.refresh()

    def on_mouse_up(self) -> None:
        if self._drags:
            self._drags = False
            self.release_mouse()
            if self.held == self.at:
                self.held = -1
            self.refresh()

    def text(self, limit: int = COPIED_MOST) -> str:
        """What is selected, else the newest lines shown, as text with times, for the clipboard."""
        if self.window is None:
            return ""
        if (selected := self.selected) is not None:
            first, last = self.row(selected[0]), self.row(selected[1] + 1)
            numbers = self.numbers(first, min(last - first, SELECTED_MOST))
        else:
            numbers = self.numbers(self.count - limit, limit)
        return "\n".join(plain(line, self.names) for _, line in self._read(numbers))

    def call_here(self) -> CallMark | None:
        """The call that ran when the line stood at came; without one, or among marked lines, the first in
        view that any did."""
        shown = list(dict.fromkeys(number for number, _ in self._page))
        numbers = shown if self.at < 0 else [self.at, *(shown if self.span is not None else ())]
        calls = (self._call_of(line) for _, line in self._read(numbers))
        return next((call for call in calls if call is not None), None)


def plain(line: p.LogLine, names: bool = False) -> str:
    """A line as text: time, whose where that is said, level of a message, the text without its colours."""
    whose = f"{clean(line.server, newlines=False)} " if names and line.server else ""
    level = f"{line.level} " if line.stream == "message" and line.level else ""
    return f"{stamp(line.time)} {whose}{level}{clean(line.text, newlines=False)}"
