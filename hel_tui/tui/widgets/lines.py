"""Views that draw their own lines: one base for bars, lists, logs and the text of dialogs.

A line is a sequence of (text, style name) parts; text is drawn as it is, never parsed as markup, and must
have been made safe before. Not here: what the lines say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hel_tui.tui.safe import cut
from hel_tui.tui.widgets.components import component_style

Part = tuple[str, str]
"""(text, style name): the name of a class of `LineView`'s CSS without `line--`, or empty."""
Line = Sequence[Part]


def width_of(line: Iterable[Part]) -> int:
    """Width in cells."""
    return sum(cell_len(text) for text, _ in line)


def pad(text: str, width: int) -> str:
    """`text` in exactly `width` cells."""
    short = cut(text, width)
    return short + " " * (width - cell_len(short))


def column(text: str, width: int) -> str:
    """As `pad`, and the last cell is free: what stands behind it never touches it."""
    return pad(text, width - 1) + " "


def spread(left: Line, right: Line, width: int) -> list[Part]:
    """`left`, then `right` pushed to the edge; `left` is cut when both do not fit."""
    room = width - width_of(right)
    parts: list[Part] = []
    for text, style in left:
        short = cut(text, room)
        room -= cell_len(short)
        parts.append((short, style))
    return [*parts, (" " * max(room, 0), ""), *right]


def wrap(line: Line, width: int) -> list[list[Part]]:
    """Break a line into rows of at most `width` cells, after a space where there is one.

    A word takes the space behind it along, so that no row begins with one that only parts words. No
    character is lost, spaces included. Linear in the length of the line.
    """
    width = max(width, 2)
    rows: list[list[Part]] = [[]]
    room = width
    for text, style in line:
        start = 0
        while start < len(text):
            head = _fitting(text, start, room)
            start += len(head)
            if head:
                rows[-1].append((head, style))
                room -= cell_len(head)
            if start < len(text):
                rows.append([])
                room = width
    return rows


def _fitting(text: str, start: int, room: int) -> str:
    """As much of `text` from `start` as fits in `room` cells; empty when nothing does."""
    if room <= 0:
        return ""
    head = text[start : start + room]
    if not head.isascii() and cell_len(head) > room:
        head = chop_cells(head, room)[0]
        if cell_len(head) > room:
            return ""
    stop = start + len(head)
    if stop < len(text) and (space := head.rfind(" ")) > 0:
        head = head[: space + 1]
    return head


class LineView(ScrollView):
    """Base of our line-drawing widgets. Subclasses give `line_at(y, width)`."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LineView {
        background: transparent;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        & > .line--muted, & > .line--label { color: $text-muted; }
        &:ansi > .line--muted, &:ansi > .line--label { color: ansi_default; text-style: dim; }
        & > .line--strong { text-style: bold; }
        & > .line--accent { color: $accent; }
        & > .line--key { color: $accent; text-style: bold; }
        & > .line--ok { color: $success; }
        & > .line--warn { color: $warning; }
        & > .line--bad { color: $error; }
        & > .line--alert { color: $warning; text-style: bold reverse; }
        & > .line--frame { color: $border-blurred; }
        & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        &:nocolor > .line--cursor { text-style: reverse; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        self._styles_of: dict[str, Style] = {}
        super().__init__(id=id)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles_of.clear()

    @property
    def columns(self) -> int:
        """Cells a line may take now."""
        return self.scrollable_content_region.width

    def line_at(self, y: int) -> Line:
        """The line with number `y` (from the top of the content)."""
        raise NotImplementedError

    def style_of(self, name: str) -> Style:
        """The Rich style of a style name (empty: the view's own); only the cursor has its own background."""
        style = self._styles_of.get(name)
        if style is None:
            style = self.rich_style
            if name:
                own = component_style(self, f"line--{name}")
                style += own if name == "cursor" else own.without_color + Style(color=own.color)
            self._styles_of[name] = style
        return style

    def render_line(self, y: int) -> Strip:
        return self.paint(self.line_at(y + self.scroll_offset.y), self.columns)

    def paint(self, line: Line, width: int) -> Strip:
        """A line as a strip of exactly `width` cells."""
        segments = [Segment(text, self.style_of(style)) for text, style in line if text]
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def set_height(self, lines: int) -> None:
        """Say how many lines there are."""
        size = Size(0, lines)
        if self.virtual_size != size:
            self.virtual_size = size


class Bar(LineView, can_focus=False):
    """A few lines that never scroll: `lines` gives them."""

    DEFAULT_CSS = """
    Bar { height: 1; overflow: hidden; }
    """

    def lines(self) -> list[Line]:
        raise NotImplementedError

    def line_at(self, y: int) -> Line:
        lines = self.lines()
        return lines[y] if y < len(lines) else ()


class Caption(Bar):
    """One fixed line, such as a title; `say` changes it."""

    def __init__(self, line: Line = ()) -> None:
        super().__init__()
        self.line = line

    def lines(self) -> list[Line]:
        return [self.line]

    def say(self, line: Line) -> None:
        self.line = line
        self.refresh()
