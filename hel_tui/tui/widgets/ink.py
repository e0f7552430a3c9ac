"""From inks to the styles of the theme, and from rows of text to strips on the screen.

Each role is a class of the view's CSS, which has its colours. Not here: what rows say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip
from textual.widget import Widget

from hel_tui.tui.strings import t
from hel_tui.tui.text.lines import (
    BOLD,
    ITALIC,
    MUTED,
    REVERSE,
    STRIKE,
    TEXT,
    UNDERLINE,
    Ink,
    Line,
    Span,
    wrap,
)
from hel_tui.tui.widgets.components import component_style

PREFIX = "conversation--"

CSS = """
TranscriptView {
    height: 1fr;
    padding: 0 1;
    overflow-x: hidden;
    overflow-y: scroll;
    scrollbar-size-vertical: 1;
    & > .conversation--muted, & > .conversation--reasoning {
        color: $text-muted;
    }
    & > .conversation--heading { color: $text-primary; }
    & > .conversation--link { color: $text-accent; }
    & > .conversation--inline-code { color: $text-secondary; }
    & > .conversation--code { background: $panel; }
    & > .conversation--code-comment { color: $text-muted; background: $panel; }
    & > .conversation--code-keyword { color: $text-primary; background: $panel; }
    & > .conversation--code-string { color: $text-success; background: $panel; }
    & > .conversation--code-number { color: $text-warning; background: $panel; }
    & > .conversation--code-name { color: $text-accent; background: $panel; }
    & > .conversation--bar { color: $primary 50%; }
    & > .conversation--marker { color: $text-primary; }
    & > .conversation--user { color: $text-accent; }
    & > .conversation--accent { color: $text-accent; }
    & > .conversation--success { color: $text-success; }
    & > .conversation--warning { color: $text-warning; }
    & > .conversation--error { color: $text-error; }
    & > .conversation--added { color: $text-success; background: $panel; }
    & > .conversation--removed { color: $text-error; background: $panel; }
    & > .conversation--found { background: $warning 40%; }
    & > .conversation--found-here { background: $warning; color: $background; text-style: bold; }
    & > .conversation--selected { background: $primary 60%; color: $text; }
    & > .conversation--missed { background: $accent; color: $background; text-style: bold; }
    &:ansi {
        & > .conversation--muted, & > .conversation--reasoning, & > .conversation--code-comment {
            text-style: dim;
        }
        & > .conversation--found { text-style: underline; }
        & > .conversation--found-here, & > .conversation--selected, & > .conversation--missed {
            color: ansi_default;
            background: ansi_default;
            text-style: reverse;
        }
    }
}
"""

_FLAGS = (
    (BOLD, Style(bold=True)),
    (ITALIC, Style(italic=True)),
    (STRIKE, Style(strike=True)),
    (UNDERLINE, Style(underline=True)),
    (REVERSE, Style(reverse=True)),
)


RowSize = tuple[int, int, int]
"""Cells of a row: padding at the left, text, padding at the right."""


class Painter:
    """Paints rows in the styles of one widget, each once. `forget` after a change of styles."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[Ink, Style] = {}
        self._strips: LRUCache[tuple[Line, RowSize], Strip] = LRUCache(1_000)

    def forget(self) -> None:
        """The theme or the widget's styles changed."""
        self._styles.clear()
        self._strips.clear()

    def style(self, ink: Ink) -> Style:
        """The style of an ink on the widget's background."""
        style = self._styles.get(ink)
        if style is None:
            style = self._widget.rich_style
            if ink.role != "text":
                style = component_style(self._widget, PREFIX + ink.role)
            for flag, more in _FLAGS:
                if ink.flags & flag:
                    style += more
            self._styles[ink] = style
        return style

    def row(self, line: Line, marks: Sequence[tuple[int, int, Ink]], size: RowSize) -> Strip:
        """A row painted; `marks` are ranges (from, to, ink) of its characters to draw otherwise."""
        if marks:
            return self._strip(emphasised(line, marks), size)
        strip = self._strips.get((line, size))
        if strip is None:
            strip = self._strips[line, size] = self._strip(line, size)
        return strip

    def _strip(self, line: Line, size: RowSize) -> Strip:
        left, width, right = size
        base = self.style(TEXT)
        segments = [Segment(text, self.style(ink)) for text, ink in line.spans]
        strip = Strip(segments).adjust_cell_length(width, self.style(line.fill) if line.fill else base)
        if not left and not right:
            return strip
        padded = [Segment(" " * left, base), *strip, Segment(" " * right, base)]
        return Strip([segment for segment in padded if segment.text], left + width + right)

    def with_missed(self, strip: Strip, missed: int, size: RowSize) -> Strip:
        """A row with the number of new rows below over its right end."""
        left, width, right = size
        words = t("conversation.new_lines", n=f"{missed:,}")
        label = f" {words} "
        end = left + width
        label_strip = Strip([Segment(label, self.style(Ink("missed")))], cell_len(label))
        room = max(end - cell_len(label), 0)
        return Strip.join([strip.crop(0, room), label_strip, strip.crop(end, end + right)])

    def placeholder(self, lines: Sequence[str], y: int, size: RowSize) -> Strip:
        """Row `y` of a view without items: `lines` below an empty row, muted."""
        rows = _hint_rows(tuple(lines), size[1])
        return self.row(rows[y] if y < len(rows) else Line(), (), size)


@lru_cache(maxsize=2)
def _hint_rows(lines: tuple[str, ...], width: int) -> list[Line]:
    rows = [Line()]
    for text in lines:
        rows += wrap([(text, MUTED)], width)
    return rows


def emphasised(line: Line, ranges: Sequence[tuple[int, int, Ink]]) -> Line:
    """The row with other inks in ranges (from, to, ink) of its characters; later ranges win."""
    text = line.text
    marks = sorted(
        {0, len(text), *(min(edge, len(text)) for start, end, _ in ranges for edge in (start, end))}
    )
    spans: list[Span] = []
    base = 0
    edges = iter(marks[1:])
    edge = next(edges, 0)
    for part, own in line.spans:
        stop = base + len(part)
        while base < stop:
            end = min(stop, edge)
            if end > base:
                ink = next((ink for a, b, ink in reversed(ranges) if a <= base < b), own)
                spans.append((text[base:end], ink))
                base = end
            if base >= edge:
                edge = next(edges, len(text))
    return Line(spans, line.join, line.gutter, line.fill)
