"""Markdown that streams in, as rows of text: what is closed is parsed and laid out once, the rest each time.

The text only grows; cost follows what is new, also within one long list, table or code block.
Not here: cleaning of foreign text (the caller gives clean text), colours (ink), the widget (conversation).
"""

from __future__ import annotations

import re

from hel_tui.tui.text.blocks import Block, Cell, Code, Table
from hel_tui.tui.text.building import LISTS, Parse
from hel_tui.tui.text.fence import OpenFence
from hel_tui.tui.text.lines import TEXT, Line, wrap

LARGE = 6_000
"""Characters of an open block above which it is parsed again only after it grew by an eighth."""
TABLE_ROWS_OPEN = 4

_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*\S", re.MULTILINE)


class MarkdownView:
    """One Markdown document that grows. Call `update`, then `lines`."""

    def __init__(self, source: str = "", *, done: bool = False) -> None:
        self.parsed = 0
        """Characters given to the parser so far: a measure of cost."""
        self._reset()
        if source or done:
            self.update(source, done=done)

    def _reset(self) -> None:
        self._source = ""
        self._done = False
        self._env: dict[str, object] = {}
        self._closed: list[Block] = []
        self._open: list[Block] = []
        self._offset = 0  # where the open part begins
        self._parsed_to = 0  # how far the open part was parsed
        self._fence: OpenFence | None = None
        self._table: tuple[Table, str] | None = None  # with the source of its head
        self._table_rows: list[list[Cell]] = []
        self._list: tuple[str, int, bool] | None = None  # (kind, number, gap) of the open item of a list
        self._rows: list[Line] = []
        self._rows_of = 0
        self._rows_for = 0

    def update(self, source: str, *, done: bool = False) -> None:
        """Take the whole text so far. Cheap if it begins with the text given before."""
        if not source.startswith(self._source) or (self._done and source != self._source):
            self._reset()
        elif source == self._source and done == self._done:
            return
        if done and not self._done and self._closed and _REFERENCE.search(source):
            # A reference at the end gives links their target further up.
            self._reset()
        self._source = source
        self._done = done
        self._advance()

    # -------------------------------------------------------------- parsing

    def _advance(self) -> None:
        """Parse what there is; again after each code block that turns out to be closed."""
        while True:
            if self._fence is not None:
                closed = self._fence.close(self._source, self._done)
                if closed is None:
                    return
                text, self._offset = closed
                self._closed.append(Code(text, self._fence.language))
                self._fence = None
            if self._offset >= len(self._source) and not self._table:
                self._open = []
                return
            if not self._worth_parsing():
                return
            self._parse()
            if self._fence is None:
                return

    def _worth_parsing(self) -> bool:
        size = len(self._source) - self._offset
        parsed = self._parsed_to - self._offset
        return self._done or size < LARGE or parsed <= 0 or size > parsed * 9 // 8

    def _parse(self) -> None:
        """Parse the open part, close what is closed, and keep the rest open."""
        head = self._table[1] if self._table else ""
        parse = Parse(head + self._source[self._offset :], self._env)
        self.parsed += len(self._source) - self._offset + len(head)
        self._parsed_to = len(self._source)
        self._open, self._table_rows = [], []
        origin = self._offset - len(head)
        groups = parse.groups()
        if self._done:
            for number, group in enumerate(groups):
                self._close(parse, *group, first=number == 0)
            self._offset = len(self._source)
            return
        if not groups:
            return
        # A block that begins on an unfinished line may yet turn out to be a part of the one before.
        last = len(groups) - 1
        # A table is one only by the line under its head.
        start = groups[last][0]
        begin = parse.line_of(start) + (parse.tokens[start].type == "table_open")
        kept = last - (last > 0 and self._is_unfinished(parse, begin))
        for number, group in enumerate(groups[:kept]):
            self._close(parse, *group, first=number == 0)
        self._keep_open(parse, *groups[kept], only=kept == 0, origin=origin)
        if kept != last and self._fence is None:
            self._open += parse.blocks(groups[last][0], groups[last][1] + 1)

    @staticmethod
    def _is_unfinished(parse: Parse, line: int) -> bool:
        return line == len(parse.lines) - 1

    def _close(self, parse: Parse, start: int, end: int, first: bool) -> None:
        """Move one top-level block, the first of which may go on from before, to what is closed."""
        if first and self._table is not None:
            table = self._table[0]
            table.extend(parse.table(start, end)[2])
            self._closed.append(table)
            self._table = None
        elif first and self._list is not None and parse.tokens[start].type == self._list[0]:
            _kind, number, gap = self._list
            self._closed += parse.items(start, end, 0, gap, number)
        else:
            self._closed += parse.blocks(start, end + 1)
        self._list = None

    def _keep_open(self, parse: Parse, start: int, end: int, *, only: bool, origin: int) -> None:
        """Take a top-level block as the open one, closing the parts of it that are whole.

        `only` says that nothing before it was closed in this parse; `origin` is the offset of the parse.
        """
        token = parse.tokens[start]
        begin = parse.line_of(start)
        if token.type == "table_open":
            self._list = None
            self._keep_table(parse, start, end, only, origin)
            return
        self._table = None
        if token.type in LISTS:
            self._keep_list(parse, start, end, only, origin)
            return
        self._list = None
        self._offset = origin + parse.offset_of(begin)
        if token.type == "fence" and not self._is_unfinished(parse, begin):
            info = token.info.split(maxsplit=1)
            self._fence = OpenFence(self._source, self._offset, token.markup, info[0].lower() if info else "")
        else:
            self._open = parse.blocks(start, end + 1)

    def _keep_list(self, parse: Parse, start: int, end: int, only: bool, origin: int) -> None:
        """All items but the last are closed: nothing that follows can change them."""
        token = parse.tokens[start]
        goes_on = only and self._list is not None and self._list[0] == token.type
        number, gap = self._list[1:] if goes_on and self._list else (int(token.attrGet("start") or 1), True)
        items = parse.items(start, end, 0, gap, number)
        starts = parse.item_starts(start, end)
        kept = len(items) - 1
        if kept and self._is_unfinished(parse, parse.line_of(starts[kept])):
            kept -= 1
        self._closed += items[:kept]
        self._open = list(items[kept:])
        self._offset = origin + parse.offset_of(parse.line_of(starts[kept]))
        self._list = (token.type, number + kept, items[kept].gap)

    def _keep_table(self, parse: Parse, start: int, end: int, only: bool, origin: int) -> None:
        """Rows but the last few are closed; the head is parsed again with each new row."""
        first = parse.line_of(start)
        head, aligns, rows = parse.table(start, end)
        if self._table is None or not only:
            if self._is_unfinished(parse, first + 1):
                # The line under the head is still being written.
                self._table = None
                self._offset = origin + parse.offset_of(first)
                self._open = [Table(head, aligns)]
                return
            self._table = (Table(head, aligns), "\n".join(parse.lines[first : first + 2]) + "\n")
        whole = max(len(rows) - TABLE_ROWS_OPEN, 0)
        self._table[0].extend(rows[:whole])
        self._table_rows = rows[whole:]
        self._offset = origin + parse.offset_of(first + 2 + whole)

    # ------------------------------------------------------------------ rows

    def lines(self, width: int) -> list[Line]:
        """All rows for `width` cells."""
        if width != self._rows_for:
            self._rows, self._rows_of, self._rows_for = [], 0, width
        for block in self._closed[self._rows_of :]:
            self._append(self._rows, block.gap, block.render(width))
        self._rows_of = len(self._closed)
        rows = list(self._rows)
        if self._fence is not None:
            self._append(rows, True, self._fence.render(self._source, width))
            return rows
        if self._table is not None:
            self._append(rows, self._table[0].gap, self._table[0].render_with(width, self._table_rows))
        for block in self._open:
            self._append(rows, block.gap, block.render(width))
        if not self._done and self._parsed_to < len(self._source):
            # What came since the last parse of a large block, plain until the next one.
            rest = self._source[max(self._parsed_to, self._offset) :].strip("\n")
            if rest:
                rows += wrap([(rest, TEXT)], width)
        return rows

    @staticmethod
    def _append(rows: list[Line], gap: bool, more: list[Line]) -> None:
        if rows and gap and more:
            rows.append(Line())
        rows += more


def render_markdown(source: str, width: int) -> list[Line]:
    """The rows of a whole Markdown text (clean) at `width` cells."""
    return MarkdownView(source, done=True).lines(width)
