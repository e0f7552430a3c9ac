"""The stderr pane: a view over a server's bounded log that reads only the lines it shows.

Follows the end, pauses, filters, and stays cheap at any rate of lines: it looks at the log's version once
a frame. Not here: keeping lines (core).
"""

from __future__ import annotations

import time
from typing import ClassVar

from textual.actions import SkipAction
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, LineView, Part, wrap

SCAN_PER_FRAME = 4000
"""Lines a filter looks at in one frame: more waits for the next."""
SLACK = 0.05
"""Seconds by which a line may stand before what caused it: clocks of two threads, a frame apart."""
_STYLES = {"stderr": "", "stdout": "warn", "hel": "muted"}


class LogView(LineView, can_focus=True):
    """Lines of one server's log. `poll` is called once a frame."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("log")
    DEFAULT_CSS = """
    LogView { height: 1fr; overflow-x: hidden; overflow-y: auto; }
    """

    class CopyRequested(Message):
        """Put `text`, so many lines, on the clipboard. It is clean."""

        def __init__(self, text: str, lines: int) -> None:
            super().__init__()
            self.text, self.lines = text, lines

    def __init__(self) -> None:
        super().__init__(id="log")
        self.window: p.LogWindow | None = None
        self.server = ""
        self.following = True
        self.filter = ""
        self.span: tuple[float, float] | None = None
        """Lines that came between these Unix times are marked."""
        self._seen = -1
        self._first = 0
        self._end = 0
        self._matches: list[int] = []
        self._scanned = 0
        self._shown: list[int] = []
        self._page: dict[int, p.LogLine] = {}
        self._why = ""
        self._is_remote = False

    def watch_log(self, server: str, window: p.LogWindow | None) -> None:
        """Show this log from now on, at its end."""
        if server == self.server and window is self.window:
            return
        self.server, self.window = server, window
        self._seen, self._first, self._end = -1, 0, 0
        self.span = None
        self._restart_scan()
        self.following = True
        self.poll()
        self.refresh()

    def show_span(self, began: float, ended: float) -> None:
        """Mark the lines that came between two Unix times and go to the first; without any, to the end."""
        self.set_filter("")
        self.span = (began - SLACK, ended + SLACK)
        first = self._number_at(self.span[0])
        marked = self.window.lines(first, first + 1) if self.window is not None else []
        if marked and marked[0].time <= self.span[1]:
            self.following = False
            self.scroll_to(y=first - self._first, animate=False, immediate=True, force=True)
        else:
            self.span = None
            self.action_end()
            self.app.notify(t("log.none_then"), markup=False)
        self.refresh()

    def _number_at(self, moment: float) -> int:
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

    def set_filter(self, text: str) -> None:
        """Show only lines that contain `text`, in any case; empty shows all."""
        self.filter = text.casefold()
        self._restart_scan()
        self._seen = -1
        self.poll()
        self.refresh()

    def _restart_scan(self) -> None:
        self._matches, self._scanned = [], 0

    def poll(self) -> bool:
        """Look whether the log has changed and draw it if so. Say whether it had."""
        if self.window is None:
            if self._end:
                self._end = 0
                self.set_height(0)
            return False
        version = self.window.version
        if version == self._seen and not self._behind:
            return False
        self._seen = version
        dropped = self.window.first - self._first
        self._first, self._end = self.window.first, self.window.end
        if self.filter:
            self._scan()
        self.set_height(self._count)
        if self.following:
            self.scroll_end(animate=False, immediate=True, force=True)
        elif dropped > 0 and not self.filter:
            self.scroll_to(y=self.scroll_y - dropped, animate=False, immediate=True, force=True)
        self.refresh()
        return True

    @property
    def _behind(self) -> bool:
        return bool(self.filter) and self._scanned < self._end

    @property
    def _count(self) -> int:
        return len(self._matches) if self.filter else self._end - self._first

    def _scan(self) -> None:
        """Look for the filter in the lines that have come, a bounded number a frame, newest kept."""
        assert self.window is not None
        start = max(self._scanned, self._first)
        stop = min(start + SCAN_PER_FRAME, self._end)
        lines = self.window.lines(start, stop)
        base = stop - len(lines)
        self._matches += [base + i for i, line in enumerate(lines) if self.filter in line.text.casefold()]
        self._scanned = stop
        if self._matches and self._matches[0] < self._first:
            self._matches = [number for number in self._matches if number >= self._first]

    def _numbers(self, top: int, height: int) -> list[int]:
        if self.filter:
            return self._matches[top : top + height]
        return list(range(self._first + top, min(self._first + top + height, self._end)))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Read the window once for all lines of this frame."""
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        self._page = {}
        numbers = self._numbers(top, height)
        if numbers and self.window is not None:
            got = self.window.lines(numbers[0], numbers[-1] + 1)
            base = numbers[-1] + 1 - len(got)
            self._page = {base + i: line for i, line in enumerate(got)}
        self._shown = numbers
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        return self.paint(self._line(y), self.columns)

    def _line(self, y: int) -> Line:
        if y >= len(self._shown):
            return self._nothing(y) if not self._count else ()
        line = self._page.get(self._shown[y])
        if line is None:
            return ()
        marked = self.span is not None and self.span[0] <= line.time <= self.span[1]
        return log_line(line, self.columns, marked=marked)

    def _nothing(self, y: int) -> Line:
        """Row `y` of a log without lines."""
        if not self._why:
            empty = t("log.empty_remote" if self._is_remote else "log.empty")
            return [(f" {empty}", "muted")] if y == 0 else ()
        rows = wrap([(clean(self._why, newlines=False), "muted")], self.columns - 2)
        return [(" ", ""), *rows[y]] if y < len(rows) else ()

    def line_at(self, y: int) -> Line:
        return self._line(y - self.scroll_offset.y)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value and new_value < self.max_scroll_y:
            self.following = False
        elif new_value >= self.max_scroll_y:
            self.following = True

    def text(self, limit: int = 5000) -> str:
        """The newest lines kept, as text with times, for the clipboard."""
        if self.window is None:
            return ""
        lines = self.window.lines(max(self._first, self._end - limit), self._end)
        return "\n".join(f"{stamp(line.time)} {clean(line.text, newlines=False)}" for line in lines)

    def action_pause(self) -> None:
        self.following = not self.following
        if self.following:
            self.action_end()
        self.refresh()

    def action_end(self) -> None:
        self.following, self.span = True, None
        self.scroll_end(animate=False, immediate=True, force=True)
        self.refresh()

    def action_start(self) -> None:
        self.following = False
        self.scroll_home(animate=False, immediate=True, force=True)

    def action_scroll_lines(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False, immediate=True, force=True)

    def action_scroll_pages(self, pages: int) -> None:
        self.action_scroll_lines(pages * max(self.size.height - 1, 1))

    def action_clear_filter(self) -> None:
        if not self.filter:
            raise SkipAction
        self.set_filter("")

    async def action_filter(self) -> None:
        await self.run_action("screen.filter_log")

    async def action_large(self) -> None:
        await self.run_action("screen.large_log")

    def action_copy(self) -> None:
        if text := self.text():
            self.post_message(self.CopyRequested(text, text.count("\n") + 1))


def stamp(seconds: float) -> str:
    """Local time of day, 24 hours."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def log_line(line: p.LogLine, width: int, *, marked: bool = False) -> list[Part]:
    """A log line as it is drawn: a bar when it is `marked`, time, then the text on one line."""
    mark = "▮ " if line.stream == "hel" else ""
    head = f" {stamp(line.time)} "
    return [
        ("▌" + head[1:], "accent") if marked else (head, "muted"),
        (mark + one_line(line.text, width - len(head) - len(mark)), _STYLES[line.stream]),
    ]
