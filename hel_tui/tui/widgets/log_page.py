"""The rows of a log that are seen: read from the window, wrapped or cut, in their colours, calls bracketed.

Lines are rows of the view, however many rows each takes where lines are wrapped: only what is seen is ever
measured. Not here: what a line looks like (log_layout), filtering and keys (log), searching (log_marks).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean
from hel_tui.tui.strings import t
from hel_tui.tui.widgets import ansi
from hel_tui.tui.widgets.components import component_style
from hel_tui.tui.widgets.lines import Line, Part, wrap
from hel_tui.tui.widgets.log_layout import CallMark, Look, Wanted, rows_of
from hel_tui.tui.widgets.window_view import WindowView

_GROUNDED = frozenset({"found", "found-here", "selected"})
"""Styles with a background of their own."""


class LogPage(WindowView[p.LogWindow]):
    """The rows of a log."""

    DEFAULT_CSS = """
    LogPage {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        & > .line--blue { color: $primary; }
        & > .line--magenta { color: $secondary; }
        & > .line--found { background: $warning 40%; color: $foreground; }
        & > .line--found-here { background: $warning; color: $background; text-style: bold; }
        & > .line--selected { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:nocolor > .line--selected { text-style: reverse; }
        &:nocolor > .line--found { text-style: underline; }
        &:nocolor > .line--found-here { text-style: reverse; }
        &:ansi > .line--found { color: ansi_default; background: ansi_default; text-style: underline; }
        &:ansi > .line--found-here, &:ansi > .line--selected {
            color: ansi_default;
            background: ansi_default;
            text-style: reverse;
        }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.names = False
        """Each line says whose it is: a log of all servers."""
        self.span: tuple[float, float] | None = None
        """Lines that came between these Unix times are marked."""
        self.wraps = False
        self.at = -1
        """The number of the line that a search, a jump or a selection stands at, -1 for none."""
        self.held = -1
        """The other end of the selection; -1 for none."""
        self.found: Wanted | None = None
        """What is highlighted."""
        self._calls: Sequence[CallMark] = ()
        self._began: list[float] = []
        self._until: list[float] = []
        """By call: when the last of it and those before it ended."""
        self._why = ""
        self._is_remote = False
        self._inner = 0
        """Rows of the top line that are scrolled away; only where lines are wrapped."""
        self._fit = 0
        """How many lines fill the view at the end; only where lines are wrapped."""
        self._page: list[tuple[int, list[Part]]] = []
        """(number, row) of the rows shown."""

    def mark_calls(self, calls: Sequence[CallMark]) -> None:
        """Calls that ran meanwhile, in the order in which they began: their lines are bracketed."""
        if calls != self._calls:
            self._calls = calls
            self._began = [call.began for call in calls]
            self._until = list(accumulate((call.ended or math.inf for call in calls), max))
            self.refresh()

    # ------------------------------------------------------------------ rows

    def set_rows(self) -> None:
        """The end is where the last line is at the bottom, also where lines take several rows."""
        height = max(self.size.height, 1)
        rows = self.count
        if self.wraps and rows:
            self._fit = self._fitting(height)
            rows += height - self._fit
        self.set_height(rows)

    def _fitting(self, height: int) -> int:
        """How many of the last lines fit into the view."""
        lines = self._read(self.numbers(self.count - height, height))
        room, fit = height, 0
        for _number, line in reversed(lines):
            room -= len(self._rows(line))
            if room < 0 and fit:
                break
            fit += 1
            if room <= 0:
                break
        return fit

    def on_resize(self) -> None:
        self.set_rows()
        if self.following:
            self.go_to_end()

    @property
    def _look(self) -> Look:
        return Look(max(self.columns, 2), self.names, self.wraps, self.found)

    def _read(self, numbers: list[int]) -> list[tuple[int, p.LogLine]]:
        """The lines with these numbers, each run of them in one go."""
        found: list[tuple[int, p.LogLine]] = []
        at = 0
        while at < len(numbers) and self.window is not None:
            stop = at + 1
            while stop < len(numbers) and numbers[stop] == numbers[stop - 1] + 1:
                stop += 1
            end = numbers[stop - 1] + 1
            got = self.window.lines(numbers[at], end)
            found += [(end - len(got) + place, line) for place, line in enumerate(got)]
            at = stop
        return found

    def _rows(self, line: p.LogLine, gutter: str = " ", *, here: bool = False) -> list[list[Part]]:
        return rows_of(line, self._look, gutter, here=here)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Read the window once for all rows of this frame."""
        self._page = self._paged(max(self.size.height, 1))
        return super().render_lines(crop)

    def _paged(self, height: int) -> list[tuple[int, list[Part]]]:
        """The rows from the top of the view; at the end, those that end with the last line."""
        top = self.scroll_offset.y
        at_end = self.wraps and self.count > 0 and top >= max(self.count - self._fit, 0) and self.following
        start = max(self.count - height, 0) if at_end else top
        lines = self._read(self.numbers(start, height))
        page: list[tuple[int, list[Part]]] = []
        for place, (number, line) in enumerate(lines):
            gutter = self._gutter(line, _beside(lines, place, -1), _beside(lines, place, 1))
            page += [(number, row) for row in self._rows(line, gutter, here=number == self.at)]
            if not at_end and len(page) >= height + self._inner:
                break
        if at_end:
            return page[-height:]
        return page[self._inner if self.wraps else 0 :][:height]

    def _gutter(self, line: p.LogLine, before: p.LogLine | None, after: p.LogLine | None) -> str:
        """The sign left of a line: marked, or that a call began, ran or ended there."""
        if self.span is not None and self.span[0] <= line.time <= self.span[1]:
            return "▌"
        call = self._call_of(line)
        if call is None:
            return " "
        begins = before is not None and not call.covers(before)
        ends = after is not None and not call.covers(after) and call.ended > 0
        return "╶" if begins and ends else "╭" if begins else "╰" if ends else "│"

    def _call_of(self, line: p.LogLine) -> CallMark | None:
        """The latest call that ran when a line came: thousands of calls cost no more than a few."""
        at = bisect_right(self._began, line.time) - 1
        while at >= 0 and self._until[at] >= line.time:
            if self._calls[at].covers(line):
                return self._calls[at]
            at -= 1
        return None

    def render_line(self, y: int) -> Strip:
        if y >= len(self._page):
            return self.paint(() if self.count else self._nothing(y), self.columns)
        number, row = self._page[y]
        strip = self.paint(row, self.columns)
        if self.held >= 0 and min(self.held, self.at) <= number <= max(self.held, self.at):
            selected = self.style_of("selected")
            return Strip([Segment(text, (style or selected) + selected) for text, style, _ in strip])
        return strip

    def _nothing(self, y: int) -> Line:
        """Row `y` of a log without lines."""
        if self.sieve is not None:
            return [(f" {t('log.no_match')}", "muted")] if y == 0 and not self.sieve.behind else ()
        if not self._why:
            empty = t("log.empty_remote" if self._is_remote else "log.empty")
            return [(f" {empty}", "muted")] if y == 0 else ()
        rows = wrap([(clean(self._why, newlines=False), "muted")], self.columns - 2)
        return [(" ", ""), *rows[y]] if y < len(rows) else ()

    def line_at(self, y: int) -> Line:
        row = y - self.scroll_offset.y
        return self._page[row][1] if 0 <= row < len(self._page) else ()

    def style_of(self, name: str) -> Style:
        style = self._styles_of.get(name)
        if style is not None:
            return style
        if name.startswith(ansi.PREFIX):
            style = ansi.style(name, super().style_of, self.app.native_ansi_color)
        elif name in _GROUNDED:
            style = super().style_of("") + component_style(self, f"line--{name}")
        else:
            return super().style_of(name)
        self._styles_of[name] = style
        return style

    # -------------------------------------------------------------- scrolling

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if old_value != new_value:
            self._inner = 0
        super().watch_scroll_y(old_value, new_value)

    def action_scroll_lines(self, lines: int) -> None:
        """By rows."""
        if self.wraps:
            self._scroll_rows(lines)
        else:
            super().action_scroll_lines(lines)

    def _scroll_rows(self, by: int) -> None:
        """Scroll by so many rows where lines take several; at most a page."""
        height = max(self.size.height, 1)
        top, inner = self._top()
        goal = inner + by
        while goal < 0 and top > 0:
            top -= 1
            goal += self._height_of(top)
        while goal > 0 and top < self.count - 1 and goal >= (rows := self._height_of(top)):
            top += 1
            goal -= rows
        last, last_inner = self._last_top(height)
        if (top, goal) >= (last, last_inner):
            self.action_end()
            return
        self.following = False
        self.scroll_to(y=top, animate=False, immediate=True, force=True)
        self.following = False
        self._inner = max(goal, 0)
        self.refresh()

    def _height_of(self, row: int) -> int:
        lines = self._read([self.number(row)])
        return len(self._rows(lines[0][1])) if lines else 1

    def _top(self) -> tuple[int, int]:
        """(row, rows of its line above the view) at the top of the view."""
        if self.following:
            return self._last_top(max(self.size.height, 1))
        return self.scroll_offset.y, self._inner

    def _last_top(self, height: int) -> tuple[int, int]:
        """The same for a view that stands at the end."""
        row, room = self.count, height
        while row > 0 and room > 0:
            row -= 1
            room -= self._height_of(row)
        return row, max(-room, 0)


def _beside(lines: list[tuple[int, p.LogLine]], place: int, step: int) -> p.LogLine | None:
    """The line of the same server before or after one of those in view."""
    server = lines[place][1].server
    place += step
    while 0 <= place < len(lines):
        if lines[place][1].server == server:
            return lines[place][1]
        place += step
    return None
