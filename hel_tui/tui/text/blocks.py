"""The blocks a Markdown text is made of, and how each becomes rows of a given width.

A block is parsed once and rendered for any width. Not here: parsing (markdown), colours (paint).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol

from hel_tui.core.values import dataclass
from hel_tui.tui.text.highlight import highlighted, plain_code
from hel_tui.tui.text.lines import BOLD, TEXT, Ink, Line, Span, cells_of, chop, prefixed, wrap

BAR: Span = ("│ ", Ink("bar"))
QUOTE_BAR: Span = ("▎ ", Ink("bar"))
CODE_FILL = Ink("code")
MIN_WIDTH = 8
"""Deep nesting indents no further than this leaves room for."""


class Block(Protocol):
    """A piece of a document. `gap` says that a blank row comes before it."""

    @property
    def gap(self) -> bool: ...

    def render(self, width: int) -> list[Line]:
        """The rows of the block, the gap not included."""


def stacked(blocks: Sequence[Block], width: int) -> list[Line]:
    """The rows of `blocks` below each other; the first block's gap is left out."""
    out: list[Line] = []
    for number, block in enumerate(blocks):
        if number and block.gap:
            out.append(Line())
        out.extend(block.render(width))
    return out


@dataclass(frozen=True, slots=True)
class Flow:
    """A paragraph or heading: text that wraps."""

    spans: Sequence[Span]
    gap: bool = True

    def render(self, width: int) -> list[Line]:
        return wrap(self.spans, width)


@dataclass(frozen=True, slots=True)
class Rule:
    gap: bool = True

    def render(self, width: int) -> list[Line]:
        return [Line([("─" * width, Ink("bar"))], gutter=width)]


@dataclass(frozen=True, slots=True)
class Code:
    """A code block: a bar at its left, highlighted once it is whole."""

    text: str
    language: str = ""
    whole: bool = True
    gap: bool = True

    def render(self, width: int) -> list[Line]:
        rows = highlighted(self.language, self.text) if self.whole else plain_code(self.text)
        return code_rows(rows, width)


def code_rows(rows: Sequence[Sequence[Span]], width: int) -> list[Line]:
    """Source lines as rows with a bar, cut into pieces where they are too wide."""
    out: list[Line] = []
    for row in rows:
        pieces = chop(row, width - 2)
        for piece in pieces:
            piece.fill = CODE_FILL
        out.extend(prefixed(pieces, BAR, BAR))
    return out


@dataclass(frozen=True, slots=True)
class Quote:
    children: Sequence[Block]
    gap: bool = True

    def render(self, width: int) -> list[Line]:
        inner = max(width - 2, MIN_WIDTH)
        return prefixed(stacked(self.children, inner), QUOTE_BAR, QUOTE_BAR)


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list, its marker with the space after it."""

    marker: str
    children: Sequence[Block]
    gap: bool = False

    def render(self, width: int) -> list[Line]:
        ink = Ink("marker")
        inner = max(width - len(self.marker), MIN_WIDTH)
        rows = stacked(self.children, inner) or [Line()]
        return prefixed(rows, (self.marker, ink), (" " * len(self.marker), TEXT))


Cell = list[Span]
SEPARATOR: Span = (" │ ", Ink("bar"))
MIN_COLUMN = 4


def _fit(natural: Sequence[int], width: int) -> tuple[int, ...]:
    """Column widths for `width` cells: the widest columns give way first, none below MIN_COLUMN."""
    room = width - len(SEPARATOR[0]) * (len(natural) - 1)
    if sum(natural) <= room:
        return tuple(natural)
    # The largest cap for which the capped columns fit.
    low, high = MIN_COLUMN, max(natural)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(cells, middle) for cells in natural) <= room:
            low = middle
        else:
            high = middle - 1
    fitted = [min(cells, low) for cells in natural]
    spare = room - sum(fitted)
    for number, cells in enumerate(natural):
        if spare > 0 and fitted[number] < cells:
            more = min(spare, cells - fitted[number])
            fitted[number] += more
            spare -= more
    return tuple(fitted)


def _aligned(line: Line, width: int, align: str) -> list[Span]:
    pad = max(width - cells_of(line.spans), 0)
    left = pad if align == "right" else pad // 2 if align == "center" else 0
    return [(" " * left, TEXT), *line.spans, (" " * (pad - left), TEXT)]


@dataclass(slots=True)
class Table:
    """A table that may still grow: rows are laid out once for each set of column widths."""

    head: Sequence[Cell]
    aligns: Sequence[str]
    rows: list[Sequence[Cell]] = field(default_factory=list)
    gap: bool = True
    _natural: list[int] = field(default_factory=list)
    _laid_for: tuple[int, ...] = ()
    _laid: list[Line] = field(default_factory=list)
    _laid_rows: int = 0

    def __post_init__(self) -> None:
        self._natural = [max(cells_of(cell), 1) for cell in self.head]
        self._measure(self.rows, self._natural)

    @staticmethod
    def _measure(rows: Sequence[Sequence[Cell]], natural: list[int]) -> None:
        for row in rows:
            for number, cell in enumerate(row[: len(natural)]):
                natural[number] = max(natural[number], cells_of(cell))

    def extend(self, rows: Sequence[Sequence[Cell]]) -> None:
        """Add rows that will not change any more."""
        self._measure(rows, self._natural)
        self.rows.extend(rows)

    def _row(self, cells: Sequence[Cell], widths: tuple[int, ...]) -> list[Line]:
        wrapped = [wrap(cell, width) for cell, width in zip(cells, widths, strict=False)]
        wrapped += [[Line()]] * (len(widths) - len(wrapped))
        out: list[Line] = []
        for number in range(max(len(rows) for rows in wrapped)):
            spans: list[Span] = []
            for column, rows in enumerate(wrapped):
                line = rows[number] if number < len(rows) else Line()
                if column:
                    spans.append(SEPARATOR)
                spans += _aligned(line, widths[column], self.aligns[column])
            out.append(Line([span for span in spans if span[0]]))
        return out

    def render(self, width: int) -> list[Line]:
        return self.render_with(width, ())

    def render_with(self, width: int, more: Sequence[Sequence[Cell]]) -> list[Line]:
        """The rows of the table with `more`, rows that may still change, at its end."""
        natural = self._natural
        if more:
            natural = list(natural)
            self._measure(more, natural)
        widths = _fit(natural, width)
        if widths != self._laid_for:
            self._laid_for, self._laid_rows = widths, 0
            self._laid = self._row([[(t, i.with_flags(BOLD)) for t, i in cell] for cell in self.head], widths)
            rule = "─┼─".join("─" * cells for cells in widths)
            self._laid.append(Line([(rule, SEPARATOR[1])]))
        for row in self.rows[self._laid_rows :]:
            self._laid += self._row(row, widths)
        self._laid_rows = len(self.rows)
        out = list(self._laid)
        for row in more:
            out += self._row(row, widths)
        return out
