"""From inks to the styles of the theme, and from rows of text to strips on the screen.

The conversation's component classes are the roles; their colours are in its CSS. Not here: what rows say.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from hel_tui.tui.text.lines import BOLD, ITALIC, REVERSE, STRIKE, UNDERLINE, Ink, Line, Span

ROLES = (
    "muted",
    "heading",
    "link",
    "inline-code",
    "code",
    "code-comment",
    "code-keyword",
    "code-string",
    "code-number",
    "code-name",
    "bar",
    "marker",
    "user",
    "user-text",
    "accent",
    "success",
    "warning",
    "error",
    "added",
    "removed",
    "reasoning",
    "cursor",
    "found",
    "found-here",
    "missed",
    "selected",
)
PREFIX = "conversation--"

CSS = """
Conversation {
    height: 1fr;
    padding: 0 1;
    overflow-x: hidden;
    overflow-y: scroll;
    scrollbar-size-vertical: 1;
    & > .conversation--muted, & > .conversation--reasoning {
        color: $text-muted;
        &:ansi { text-style: dim; }
    }
    & > .conversation--heading { color: $primary; }
    & > .conversation--link { color: $accent; }
    & > .conversation--inline-code { color: $secondary; }
    & > .conversation--code { background: $boost; }
    & > .conversation--code-comment {
        color: $text-muted; background: $boost;
        &:ansi { text-style: dim; }
    }
    & > .conversation--code-keyword { color: $primary; background: $boost; }
    & > .conversation--code-string { color: $success; background: $boost; }
    & > .conversation--code-number { color: $warning; background: $boost; }
    & > .conversation--code-name { color: $accent; background: $boost; }
    & > .conversation--bar { color: $primary 50%; }
    & > .conversation--marker { color: $primary; }
    & > .conversation--user { color: $accent; }
    & > .conversation--accent { color: $accent; }
    & > .conversation--success { color: $success; }
    & > .conversation--warning { color: $warning; }
    & > .conversation--error { color: $error; }
    & > .conversation--added { color: $success; background: $boost; }
    & > .conversation--removed { color: $error; background: $boost; }
    & > .conversation--found { background: $warning 40%; }
    & > .conversation--found-here { background: $warning; color: $background; text-style: bold; }
    & > .conversation--selected { background: $primary 60%; color: $text; }
    & > .conversation--missed { background: $accent; color: $background; text-style: bold; }
}
"""

_FLAGS = (
    (BOLD, Style(bold=True)),
    (ITALIC, Style(italic=True)),
    (STRIKE, Style(strike=True)),
    (UNDERLINE, Style(underline=True)),
    (REVERSE, Style(reverse=True)),
)


class Inks:
    """The styles of one widget's theme, looked up once each. `forget` after a change of styles."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[Ink, Style] = {}

    def forget(self) -> None:
        """The theme or the widget's styles changed."""
        self._styles.clear()

    def style(self, ink: Ink) -> Style:
        """The style of an ink on the widget's background."""
        style = self._styles.get(ink)
        if style is None:
            style = self._widget.rich_style
            if ink.role != "text":
                style = self._widget.get_component_rich_style(PREFIX + ink.role, default=style)
            for flag, more in _FLAGS:
                if ink.flags & flag:
                    style += more
            self._styles[ink] = style
        return style

    def strip(self, line: Line, width: int) -> Strip:
        """A row painted, exactly `width` cells."""
        segments = [Segment(text, self.style(ink)) for text, ink in line.spans]
        rest = self.style(line.fill) if line.fill else self._widget.rich_style
        return Strip(segments).adjust_cell_length(width, rest)


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
