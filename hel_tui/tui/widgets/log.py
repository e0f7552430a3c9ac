"""The view of a log: a server's, or all together, from a bounded store of which it reads only what it shows.

Follows the end, pauses, filters, and stays cheap at any rate of lines. Not here: keeping lines (core),
searching and selecting (log_marks), drawing (log_page), the line to type in (log_panel).
"""

from __future__ import annotations

from typing import ClassVar, Protocol, get_args, runtime_checkable

from textual.actions import SkipAction
from textual.binding import BindingType
from textual.message import Message

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.log_layout import CallMark, log_line, stamp
from hel_tui.tui.widgets.log_marks import LogMarks

__all__ = ["CallMark", "LogView", "log_line", "stamp"]

SLACK = 0.05
"""Seconds by which a line may stand before what caused it: clocks of two threads, a frame apart."""
LEVELS: tuple[p.LogLevel | str, ...] = ("", "info", "warning", "error")
"""What the key for levels goes through; empty is all."""
_ALL_LEVELS: tuple[p.LogLevel, ...] = get_args(p.LogLevel)


@runtime_checkable
class Asks(Protocol):
    """A container that has a line to type in."""

    def action_filter(self) -> None: ...


class LogView(LogMarks):
    """Lines of a log. `poll` is called once a frame."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("log")

    class CopyRequested(Message):
        """Put `text`, so many lines, on the clipboard. It is clean."""

        def __init__(self, text: str, lines: int) -> None:
            super().__init__()
            self.text, self.lines = text, lines

    def __init__(self, *, id: str = "log") -> None:
        super().__init__(id=id)
        self.server = ""
        self.query_now = p.LogQuery()

    # -------------------------------------------------------------- what is shown

    @property
    def filter(self) -> str:
        """The text that lines are filtered by."""
        return self.query_now.text

    def watch_log(self, server: str, window: p.LogWindow | None, *, names: bool = False) -> None:
        """Show this log from now on, at its end. `names`: it is one of several servers."""
        if server == self.server and window is self.window:
            return
        self.server, self.names = server, names
        self.query_now = p.LogQuery()
        self.span = self.seeker = None
        self.at = self.held = -1
        self._inner = 0
        self.look_at(window)

    def show_span(self, began: float, ended: float) -> bool:
        """Mark the lines that came between two Unix times and go to the first; without any, to the end."""
        if self.query_now != p.LogQuery():
            self.set_query(p.LogQuery())
        self.span = (began - SLACK, ended + SLACK)
        first = self.number_at(self.span[0])
        marked = self.window.lines(first, first + 1) if self.window is not None else []
        found = bool(marked and marked[0].time <= self.span[1])
        if found:
            self.following = False
            self.at = first
            self.go_to_row(self.row(first))
            self.following = False  # also where that is the end
        else:
            self.span = None
            self.action_end()
            self.app.notify(t("log.none_then"), markup=False)
        self.refresh()
        return found

    def number_at(self, moment: float) -> int:
        """The number of the first line kept that came at this Unix time or later."""
        low, high = self._first, self._end
        while low < high and self.window is not None:
            middle = (low + high) // 2
            line = self.window.lines(middle, middle + 1)
            if line and line[0].time < moment:
                low = middle + 1
            else:
                high = middle
        return low

    def explain(self, why: str, *, is_remote: bool = False) -> None:
        """What an empty log says instead of that it is empty: why there is nothing. Foreign text.

        A remote server has no stderr, only a log.
        """
        if (why, is_remote) != (self._why, self._is_remote):
            self._why, self._is_remote = why, is_remote
            self.refresh()

    def set_filter(self, text: str, *, is_regex: bool = False) -> None:
        """Show only lines that contain `text`, in any case; empty shows all."""
        self.set_query(p.LogQuery(text, is_regex=is_regex, level=self.query_now.level))

    def set_query(self, query: p.LogQuery) -> None:
        """Show only lines that `query` wants."""
        self.query_now = query
        self._inner = 0
        if (window := self.window) is None:
            return
        is_all = query.text == "" and query.level == ""
        self.sift(None if is_all else lambda start, stop: window.matches(query, start, stop))

    # ------------------------------------------------------------------- keys

    def action_level(self) -> None:
        """Only lines of the next level and above; after the last, all."""
        level = self.query_now.level
        following = LEVELS[(LEVELS.index(level) + 1) % len(LEVELS)] if level in LEVELS else ""
        found = next((one for one in _ALL_LEVELS if one == following), None)
        self.set_query(p.LogQuery(self.query_now.text, self.query_now.is_regex, found or ""))

    def action_regex(self) -> None:
        """Take the filter as a regular expression, or as plain text again."""
        query = self.query_now
        self.set_query(p.LogQuery(query.text, not query.is_regex, query.level))

    def action_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        top = self._page[0][0] if self._page else -1
        self.wraps, self._inner = not self.wraps, 0
        self.set_rows()
        if self.following:
            self.go_to_end()
        elif top >= 0:
            self.go_to_row(self.row(top))
        self.refresh()
        self.post_message(self.Changed())

    def action_end(self) -> None:
        self.span, self.held = None, -1
        super().action_end()

    def action_clear_filter(self) -> None:
        """End what is on, one after the other: the selection, the search, the filter."""
        if self.held >= 0:
            self.held = -1
        elif self.search_text:
            self.search("")
        elif self.query_now.text or self.query_now.level:
            self.set_query(p.LogQuery())
        else:
            raise SkipAction
        self.refresh()
        self.post_message(self.Changed())

    async def action_filter(self) -> None:
        """In the line of the panel around it, else in that of the screen."""
        if (panel := self._panel()) is not None:
            panel.action_filter()
        else:
            await self.run_action("screen.filter_log")

    async def action_large(self) -> None:
        if self._panel() is not None:
            raise SkipAction
        await self.run_action("screen.large_log")

    def _panel(self) -> Asks | None:
        parent: object = self.parent
        return parent if isinstance(parent, Asks) else None

    def action_copy(self) -> None:
        if text := self.text():
            self.post_message(self.CopyRequested(text, text.count("\n") + 1))
