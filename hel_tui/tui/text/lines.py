"""Lines of the transcript before they have colours: spans of text with an ink, wrapped by cells.

An ink names a role of the theme and text attributes, so a line outlives a change of theme.
Not here: what the lines say (markdown, cards) and how they are painted (the conversation).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes

BOLD, ITALIC, STRIKE, UNDERLINE, REVERSE = 1, 2, 4, 8, 16


class Ink(NamedTuple):
    """How text looks: a role (a component class of the conversation) and attribute flags."""

    role: str = "text"
    flags: int = 0

    def with_flags(self, flags: int) -> Ink:
        """The same role with more attributes."""
        return Ink(self.role, self.flags | flags)


TEXT = Ink()
MUTED = Ink("muted")
Span = tuple[str, Ink]


class Line:
    """One row of the transcript.

    `join` is what stands between this row and the next in the text that is copied: a line break, or what
    wrapping swallowed. `gutter` counts leading characters that are ornament and never copied. `fill` is
    the ink of the cells after the text.
    """

    __slots__ = ("fill", "gutter", "join", "spans")

    def __init__(
        self, spans: Sequence[Span] = (), join: str = "\n", gutter: int = 0, fill: Ink | None = None
    ) -> None:
        self.spans = spans
        self.join = join
        self.gutter = gutter
        self.fill = fill

    @property
    def text(self) -> str:
        """What the row shows, ornament included."""
        return "".join([text for text, _ink in self.spans])

    @property
    def copied(self) -> str:
        """What the row adds to copied text."""
        return self.text[self.gutter :]

    def __repr__(self) -> str:
        return f"Line({self.text!r})"


_IDEOGRAPH = "\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OPENING = "（「『【〈《〔［｛"
_CLOSING = "、。，．）」』】〉》〕］｝！？：；ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ…‥"


@functools.cache
def _words() -> re.Pattern[str]:
    """What stays together on a row, with the spaces after it: an ideograph with its punctuation, or a word.

    Compiled when first used: that takes 2 ms, and the first paint breaks no row.
    """
    return re.compile(
        rf"([{_OPENING}]*[{_IDEOGRAPH}][{_CLOSING}]*|[^\s{_IDEOGRAPH}{_OPENING}]+|[{_OPENING}]+)(\s*)|(\s+)"
    )


def _chopped(text: str, start: int, width: int) -> Iterator[tuple[int, int]]:
    """(end, cells) of the pieces of a text that is wider than a row; graphemes stay whole."""
    cells = 0
    before = 0
    for begin, _stop, size in split_graphemes(text)[0]:
        before = begin
        if cells and cells + size > width:
            yield start + before, cells
            cells = 0
        cells += size
    yield start + len(text), cells


def _breaks(text: str, width: int) -> list[tuple[int, int, str]]:
    """(start, end, join) of the rows of `text`, which holds no line break and is wider than `width`."""
    rows: list[tuple[int, int, str]] = []
    start = end = 0  # of the row being filled; end leaves trailing spaces out
    cells = 0
    for match in _words().finditer(text):
        word, space, lone = match.groups()
        if word is None:
            cells += len(lone)
            continue
        begin, stop = match.span(1)
        size = cell_len(word)
        if cells and cells + size > width:
            if end > start:
                rows.append((start, end, text[end:begin]))
            start, cells = begin, 0
        if size > width:
            for piece_end, piece in _chopped(word, begin, width):
                if piece_end < stop:
                    rows.append((start, piece_end, ""))
                    start = piece_end
                size = piece
        cells += size + len(space)
        end = stop
    rows.append((start, end, "\n"))
    return rows


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same text with neighbours of one ink made one span, empty ones left out."""
    out: list[Span] = []
    for text, ink in spans:
        if not text:
            continue
        if out and out[-1][1] == ink:
            out[-1] = (out[-1][0] + text, ink)
        else:
            out.append((text, ink))
    return out


def _sliced(spans: Sequence[Span], cuts: Sequence[tuple[int, int, str]]) -> Iterator[Line]:
    """Cut `spans` at offsets into their joined text; the cuts are in order and do not overlap."""
    index = 0
    base = 0  # offset of spans[index]
    for start, end, join in cuts:
        row: list[Span] = []
        while index < len(spans):
            text, ink = spans[index]
            stop = base + len(text)
            if stop > start:
                piece = text[max(start - base, 0) : end - base]
                if piece:
                    row.append((piece, ink))
            if stop >= end:
                break
            base = stop
            index += 1
        yield Line(row, join)


def _paragraphs(spans: Sequence[Span]) -> Iterator[list[Span]]:
    row: list[Span] = []
    for text, ink in spans:
        if "\n" not in text:
            row.append((text, ink))
            continue
        first, *rest = text.split("\n")
        row.append((first, ink))
        for part in rest:
            yield row
            row = [(part, ink)]
    yield row


def wrap(spans: Sequence[Span], width: int) -> list[Line]:
    """Return `spans` as rows of at most `width` cells, broken between words where that is possible.

    Line breaks inside are kept. There is always at least one row.
    """
    width = max(width, 2)  # a wide character must fit
    out: list[Line] = []
    for row in _paragraphs(spans):
        text = "".join([part for part, _ink in row])
        if cell_len(text) <= width:
            out.append(Line(merged(row)))
        else:
            out.extend(_sliced(merged(row), _breaks(text, width)))
    return out


def chop(spans: Sequence[Span], width: int) -> list[Line]:
    """Return one source line as rows of `width` cells, broken anywhere: code keeps its spaces."""
    width = max(width, 2)
    text = "".join([part for part, _ink in spans])
    if cell_len(text) <= width:
        return [Line(merged(spans))]
    cuts: list[tuple[int, int, str]] = []
    start = 0
    for end, _cells in _chopped(text, 0, width):
        cuts.append((start, end, "" if end < len(text) else "\n"))
        start = end
    return list(_sliced(merged(spans), cuts))


def fitted(spans: Sequence[Span], width: int, *, more: bool = False) -> Line:
    """Return `spans` as one row of at most `width` cells, cut with …; `more` adds … even if all fits."""
    text = "".join([part for part, _ink in spans])
    if cell_len(text) <= width - more:
        return Line(merged([*spans, ("…" if more else "", MUTED)]))
    end = cells = 0
    for _start, stop, size in split_graphemes(text[: max(width, 0) * 8])[0]:
        if cells + size > width - 1:
            break
        cells += size
        end = stop
    row = next(_sliced(merged(spans), [(0, end, "\n")]), Line())
    ink = row.spans[-1][1] if row.spans else TEXT
    return Line([*row.spans, ("…", ink)])


def fitted_words(spans: Sequence[Span], width: int) -> Line:
    """Return `spans` as one row of at most `width` cells, cut with … behind a word where one ends in its
    second half.
    """
    row = fitted(spans, width)
    text = "".join([part for part, _ink in spans])
    kept = "".join([part for part, _ink in row.spans]).removesuffix("…")
    if kept == text or text[len(kept) : len(kept) + 1].isspace():
        return row
    end = kept.rfind(" ")
    if cell_len(kept[:end]) < width // 2:
        return row
    kept = kept[:end].rstrip(" ,;:")
    cut = next(_sliced(merged(spans), [(0, len(kept), "\n")]), Line())
    return Line([*cut.spans, ("…", cut.spans[-1][1] if cut.spans else TEXT)])


def cells_of(spans: Iterable[Span]) -> int:
    """Width of `spans` in cells."""
    return sum([cell_len(text) for text, _ink in spans])


def prefixed(lines: Iterable[Line], first: Span, rest: Span) -> list[Line]:
    """Put `first` before the first row and `rest` before the others, as ornament that is not copied.

    Both have the same width. A row that a wrap broke stays joined.
    """
    out: list[Line] = []
    for line in lines:
        span = rest if out else first
        out.append(Line([span, *line.spans], line.join, line.gutter + len(span[0]), line.fill))
    return out


def copied_text(lines: Sequence[Line]) -> str:
    """The text of `lines` as it is copied: without ornament, wrapped rows joined again."""
    parts: list[str] = []
    for number, line in enumerate(lines):
        parts.append(line.copied)
        if number < len(lines) - 1:
            parts.append(line.join)
    return "".join(parts)
