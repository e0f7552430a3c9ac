"""Markdown that streams in, as rows of text: what is closed is parsed and laid out once, the rest each time.

The text only grows; cost follows what is new, also within one long list, table or code block.
Not here: cleaning of foreign text (the caller gives clean text), colours (paint), the widget (conversation).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from hel_tui.tui.text.blocks import Block, Cell, Code, Flow, Item, Quote, Rule, Table, code_rows
from hel_tui.tui.text.highlight import plain_code
from hel_tui.tui.text.inline import inline_spans
from hel_tui.tui.text.lines import BOLD, MUTED, TEXT, UNDERLINE, Ink, Line, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LARGE = 6_000
"""Characters of an open block above which it is parsed again only after it grew by an eighth."""
TABLE_ROWS_OPEN = 4

_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*\S", re.MULTILINE)
_HEADINGS = {"h1": BOLD | UNDERLINE, "h2": BOLD, "h3": BOLD}
_BULLETS = ("• ", "◦ ", "▪ ")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough. Raw HTML is text; inline text is parsed when it is built."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


# ----------------------------------------------------------- tokens to blocks


class _Builder:
    """Makes blocks of block tokens. One use a parse."""

    def __init__(self, tokens: Sequence[Token], lines: Sequence[str], env: dict[str, object]) -> None:
        self._tokens = tokens
        self._lines = lines
        self._env = env

    def _end(self, start: int) -> int:
        """Index of the token that closes the one at `start`."""
        depth = 0
        for index in range(start, len(self._tokens)):
            depth += self._tokens[index].nesting
            if depth == 0:
                return index
        return len(self._tokens) - 1

    def _spans(self, content: str, ink: Ink = TEXT) -> Cell:
        return inline_spans(_parser(), content, self._env, ink)

    def blocks(self, start: int, stop: int, depth: int = 0, tight: bool = False) -> list[Block]:
        """The blocks of the tokens start..stop-1; `depth` counts the lists around them."""
        out: list[Block] = []
        index = start
        while index < stop:
            end = self._end(index)
            out += self._block(index, end, depth, tight)
            index = end + 1
        return out

    def _block(self, start: int, end: int, depth: int, tight: bool) -> list[Block]:
        token = self._tokens[start]
        gap = not tight or self._after_blank(token)
        match token.type:
            case "paragraph_open":
                return [Flow(self._spans(self._tokens[start + 1].content), gap)]
            case "heading_open":
                ink = Ink("heading", _HEADINGS.get(token.tag, 0))
                return [Flow(self._spans(self._tokens[start + 1].content, ink), True)]
            case "fence":
                language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
                return [Code(token.content.removesuffix("\n"), language.lower(), gap=gap)]
            case "code_block":
                return [Code(token.content.rstrip("\n"), gap=gap)]
            case "hr":
                return [Rule()]
            case "blockquote_open":
                return [Quote(self.blocks(start + 1, end, depth, tight=True), gap)]
            case "bullet_list_open" | "ordered_list_open":
                return list(self.items(start, end, depth, gap))
            case "table_open":
                head, aligns, rows = self.table(start, end)
                return [Table(head, aligns, list(rows), gap)]
            case _:
                return [Flow([(token.content.rstrip("\n"), MUTED)], gap)] if token.content else []

    def _after_blank(self, token: Token) -> bool:
        """Whether a blank line stands before the block in the source."""
        if token.map is None or token.map[0] == 0:
            return False
        before = self._lines[token.map[0] - 1]
        return not before.strip(" >")

    def items(self, start: int, end: int, depth: int, gap: bool, first: int | None = None) -> list[Item]:
        """The items of the list at `start`; `first` overrides the number it begins with."""
        token = self._tokens[start]
        number = first if first is not None else int(token.attrGet("start") or 1)
        out: list[Item] = []
        index = start + 1
        while index < end:
            close = self._end(index)
            opened = self._tokens[index]
            if token.type == "ordered_list_open":
                marker = f"{number}. "
                number += 1
            else:
                marker = _BULLETS[min(depth, len(_BULLETS) - 1)]
            children = self.blocks(index + 1, close, depth + 1, tight=True)
            out.append(Item(marker, _as_task(children), gap if not out else self._after_blank(opened)))
            index = close + 1
        return out

    def table(self, start: int, end: int) -> tuple[list[Cell], list[str], list[list[Cell]]]:
        """(head, alignment of each column, rows) of the table at `start`."""
        rows: list[list[Cell]] = []
        aligns: list[str] = []
        for index in range(start, end):
            token = self._tokens[index]
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "th_open":
                aligns.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
            elif token.type == "inline":
                rows[-1].append(self._spans(token.content))
        return rows[0], aligns, rows[1:]


def _as_task(children: list[Block]) -> list[Block]:
    """`[ ]` and `[x]` at the start of a list item drawn as boxes."""
    if children and isinstance(first := children[0], Flow) and first.spans:
        text, ink = first.spans[0]
        box = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}.get(text[:4])
        if box:
            return [Flow([(box + text[4:], ink), *first.spans[1:]], first.gap), *children[1:]]
    return children


def _groups(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """(start, end) token indexes of the top-level blocks; end is the last token."""
    out: list[tuple[int, int]] = []
    depth = start = 0
    for index, token in enumerate(tokens):
        if depth == 0:
            start = index
        depth += token.nesting
        if depth == 0:
            out.append((start, index))
    return out


# ------------------------------------------------------------------ streaming


class _Fence:
    """A code block that is not closed yet: lines are added, the last one may still grow."""

    def __init__(self, source: str, opening: int, marker: str, indent: int, language: str) -> None:
        self.language = language
        self.start = source.find("\n", opening) + 1 or len(source)
        """Where its text begins in the source."""
        self._indent = re.compile(f"^ {{1,{indent}}}", re.MULTILINE) if indent else None
        self._closing = re.compile(rf"^ {{0,3}}{re.escape(marker[0])}{{{len(marker)},}} *$", re.MULTILINE)
        self._marker = marker
        self._scanned = self.start  # start of the first line that is not complete
        self._rows: list[Line] = []
        self._rows_for = 0
        self._rows_end = self.start

    def close(self, source: str, done: bool) -> tuple[str, int] | None:
        """(text, where the rest begins) once the closing line is there; with `done`, also without it."""
        complete = source.rfind("\n") + 1
        limit = len(source) if done else complete
        match = self._closing.search(source, self._scanned, limit)
        if match is not None:
            return self._text(source[self.start : match.start()].removesuffix("\n")), min(
                match.end() + 1, len(source)
            )
        self._scanned = max(self._scanned, complete)
        if done:
            return self._text(source[self.start :].removesuffix("\n")), len(source)
        return None

    def _text(self, text: str) -> str:
        return self._indent.sub("", text) if self._indent else text

    def render(self, source: str, width: int) -> list[Line]:
        """The rows so far; complete lines are laid out once."""
        if width != self._rows_for:
            self._rows, self._rows_for, self._rows_end = [], width, self.start
        if self._scanned > self._rows_end:
            text = self._text(source[self._rows_end : self._scanned - 1])
            self._rows += code_rows(plain_code(text), width)
            self._rows_end = self._scanned
        last = self._text(source[self._rows_end :])
        if not last or (last.strip() and last.strip() in self._marker):
            return list(self._rows)
        return self._rows + code_rows(plain_code(last), width)


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
        self._fence: _Fence | None = None
        self._table: tuple[Table, str] | None = None  # with the source of its head
        self._table_rows: list[list[Cell]] = []
        self._list: tuple[str, int, bool] | None = None  # (kind, next number, gap) of a list that goes on
        self._rows: list[Line] = []
        self._rows_of = 0
        self._rows_for = 0

    def update(self, source: str, *, done: bool = False) -> None:
        """Take the whole text so far. Cheap if it begins with the text given before."""
        if not source.startswith(self._source) or (self._done and source != self._source):
            self._reset()
        elif source == self._source and done == self._done:
            return
        self._source = source
        if done and not self._done and self._closed and _REFERENCE.search(source):
            # A reference at the end gives links their target further up.
            self._reset()
            self._source = source
        self._done = done
        self._advance()

    def _advance(self) -> None:
        while True:
            if self._fence is not None:
                closed = self._fence.close(self._source, self._done)
                if closed is None:
                    return
                text, self._offset = closed
                self._closed.append(Code(text, self._fence.language))
                self._fence = None
                self._open = []
            if self._offset >= len(self._source) and not self._table:
                self._open = []
                return
            if not self._worth_parsing() or not self._parse():
                return

    def _worth_parsing(self) -> bool:
        size = len(self._source) - self._offset
        parsed = self._parsed_to - self._offset
        return self._done or size < LARGE or parsed <= 0 or size > parsed * 9 // 8

    def _parse(self) -> bool:
        """Parse the open part and close what is closed. True if there is more to do (a fence opened)."""
        head = self._table[1] if self._table else ""
        text = head + self._source[self._offset :]
        self.parsed += len(text)
        self._parsed_to = len(self._source)
        tokens = _parser().parse(text, self._env)
        lines = text.split("\n")
        builder = _Builder(tokens, lines, self._env)
        groups = _groups(tokens)
        self._open = []
        self._table_rows = []

        def offset_of(line: int) -> int:
            return self._offset - len(head) + sum(len(row) + 1 for row in lines[:line])

        last = len(groups) if self._done else len(groups) - 1
        for number, (start, end) in enumerate(groups[: max(last, 0)]):
            self._close(builder, tokens, start, end, first=number == 0)
        if self._done or not groups:
            if self._done:
                self._offset = len(self._source)
            return False
        start, end = groups[-1]
        return self._keep_open(builder, tokens, start, end, len(groups) == 1, offset_of, lines)

    def _close(self, builder: _Builder, tokens: Sequence[Token], start: int, end: int, first: bool) -> None:
        """Move one top-level block, the first of which may go on from before, to what is closed."""
        if first and self._table is not None:
            table = self._table[0]
            table.extend(builder.table(start, end)[2])
            self._closed.append(table)
            self._table = None
        elif first and self._list is not None and tokens[start].type == self._list[0]:
            _kind, number, gap = self._list
            self._closed += builder.items(start, end, 0, gap, number)
        else:
            self._closed += builder.blocks(start, end + 1)
        self._list = None

    def _keep_open(
        self,
        builder: _Builder,
        tokens: Sequence[Token],
        start: int,
        end: int,
        only: bool,
        offset_of: Callable[[int], int],
        lines: Sequence[str],
    ) -> bool:
        """Take the last top-level block as the open one, closing the parts of it that are whole."""
        token = tokens[start]
        begin = token.map[0] if token.map else 0
        if not only:
            self._list = None
        if token.type == "fence":
            self._open_at(offset_of(begin))
            indent = len(lines[begin]) - len(lines[begin].lstrip(" "))
            info = token.info.split(maxsplit=1)
            language = info[0].lower() if info else ""
            self._fence = _Fence(self._source, self._offset, token.markup, indent, language)
            return True
        if token.type == "table_open":
            self._keep_table(builder, tokens, start, end, only, offset_of, lines)
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            self._keep_list(builder, tokens, start, end, offset_of)
        else:
            self._open_at(offset_of(begin))
            self._open = builder.blocks(start, end + 1)
        return False

    def _open_at(self, offset: int) -> None:
        self._offset = max(offset, self._offset)

    def _keep_list(
        self,
        builder: _Builder,
        tokens: Sequence[Token],
        start: int,
        end: int,
        offset_of: Callable[[int], int],
    ) -> None:
        """All items but the last are closed: nothing that follows can change them."""
        kind, number, gap = self._list or (tokens[start].type, None, True)
        if kind != tokens[start].type:
            number, gap = None, True
        items = builder.items(start, end, 0, gap, number)
        if number is None:
            number = int(tokens[start].attrGet("start") or 1)
        last = start + 1
        for index in range(start + 1, end):
            if tokens[index].type == "list_item_open" and tokens[index].level == tokens[start].level + 1:
                last = index
        token_map = tokens[last].map
        self._closed += items[:-1]
        self._open = list(items[-1:])
        self._open_at(offset_of(token_map[0] if token_map else 0))
        self._list = (tokens[start].type, number + len(items) - 1, items[-1].gap if items else True)

    def _keep_table(
        self,
        builder: _Builder,
        tokens: Sequence[Token],
        start: int,
        end: int,
        only: bool,
        offset_of: Callable[[int], int],
        lines: Sequence[str],
    ) -> None:
        """Rows but the last few are closed; the head is parsed again with each new row."""
        first_line = (tokens[start].map or [0])[0]
        head, aligns, rows = builder.table(start, end)
        if self._table is None or not only:
            begin = offset_of(first_line)
            self._table = (Table(head, aligns), "\n".join(lines[first_line : first_line + 2]) + "\n")
            keep_from = first_line + 2
            if keep_from >= len(lines):
                # The line under the head is still being written.
                self._table = None
                self._open_at(begin)
                self._open = [Table(head, aligns)]
                return
        else:
            keep_from = 2
        whole = max(len(rows) - TABLE_ROWS_OPEN, 0)
        self._table[0].extend(rows[:whole])
        self._table_rows = rows[whole:]
        self._open_at(offset_of(keep_from + whole))

    # ------------------------------------------------------------------ rows

    def lines(self, width: int) -> list[Line]:
        """All rows for `width` cells."""
        if width != self._rows_for:
            self._rows, self._rows_of, self._rows_for = [], 0, width
        for block in self._closed[self._rows_of :]:
            self._append(self._rows, block.gap, block.render(width))
        self._rows_of = len(self._closed)
        rows = list(self._rows)
        for block in self._open:
            self._append(rows, block.gap, block.render(width))
        if self._fence is not None:
            self._append(rows, True, self._fence.render(self._source, width))
        elif self._table is not None:
            self._append(rows, True, self._table[0].render_with(width, self._table_rows))
        if self._fence is None and not self._done and self._parsed_to < len(self._source):
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
