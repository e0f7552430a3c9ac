"""From the tokens of a Markdown parse to blocks.

Not here: what is parsed when (markdown), how blocks become rows (blocks).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from hel_tui.tui.text.blocks import Block, Cell, Code, Flow, Item, Quote, Rule, Table
from hel_tui.tui.text.inline import inline_spans
from hel_tui.tui.text.lines import BOLD, MUTED, TEXT, UNDERLINE, Ink

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LISTS = ("bullet_list_open", "ordered_list_open")
_HEADINGS = {"h1": BOLD | UNDERLINE, "h2": BOLD, "h3": BOLD}
_BULLETS = ("• ", "◦ ", "▪ ")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough. Raw HTML is text; inline text is parsed when it is built."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


class Parse:
    """One parse of a piece of source, and the blocks of its tokens."""

    def __init__(self, text: str, env: dict[str, object]) -> None:
        """`env` holds the link references found so far and takes those of `text`."""
        self.lines = text.split("\n")
        self.tokens: Sequence[Token] = _parser().parse(text, env)
        self._env = env

    def groups(self) -> list[tuple[int, int]]:
        """(start, end) token indexes of the top-level blocks; end is the last token."""
        out: list[tuple[int, int]] = []
        depth = start = 0
        for index, token in enumerate(self.tokens):
            if depth == 0:
                start = index
            depth += token.nesting
            if depth == 0:
                out.append((start, index))
        return out

    def line_of(self, index: int) -> int:
        """The source line on which the block of a token begins."""
        place = self.tokens[index].map
        return place[0] if place else 0

    def offset_of(self, line: int) -> int:
        """Where a source line begins, in characters."""
        return sum(len(row) + 1 for row in self.lines[:line])

    def item_starts(self, start: int, end: int) -> list[int]:
        """Token indexes at which the items of the list at `start` begin."""
        level = self.tokens[start].level + 1
        return [
            index
            for index in range(start + 1, end)
            if self.tokens[index].type == "list_item_open" and self.tokens[index].level == level
        ]

    def _end(self, start: int) -> int:
        """Index of the token that closes the one at `start`."""
        depth = 0
        for index in range(start, len(self.tokens)):
            depth += self.tokens[index].nesting
            if depth == 0:
                return index
        return len(self.tokens) - 1

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
        token = self.tokens[start]
        gap = not tight or self._after_blank(token)
        match token.type:
            case "paragraph_open":
                return [Flow(self._spans(self.tokens[start + 1].content), gap)]
            case "heading_open":
                ink = Ink("heading", _HEADINGS.get(token.tag, 0))
                return [Flow(self._spans(self.tokens[start + 1].content, ink), True)]
            case "fence":
                language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
                return [Code(token.content.removesuffix("\n"), language.lower(), gap=gap)]
            case "code_block":
                return [Code(token.content.rstrip("\n"), gap=gap)]
            case "hr":
                return [Rule()]
            case "blockquote_open":
                return [Quote(self._inside(start, end, depth), gap)]
            case "bullet_list_open" | "ordered_list_open":
                return list(self.items(start, end, depth, gap))
            case "table_open":
                head, aligns, rows = self.table(start, end)
                return [Table(head, aligns, list(rows), gap)]
            case _:
                return [Flow([(token.content.rstrip("\n"), MUTED)], gap)] if token.content else []

    def _inside(self, start: int, end: int, depth: int) -> list[Block]:
        """The blocks inside a container; its source where the parser gave up (it nests too deep)."""
        children = self.blocks(start + 1, end, depth, tight=True)
        if children:
            return children
        begin, stop = self.tokens[start].map or [0, 0]
        source = "\n".join(self.lines[begin:stop])
        return [Flow([(source, MUTED)])] if source.strip(" \n>-+*.)0123456789") else []

    def _after_blank(self, token: Token) -> bool:
        """Whether a blank line stands before the block in the source."""
        if token.map is None or token.map[0] == 0:
            return False
        before = self.lines[token.map[0] - 1]
        return not before.strip(" >")

    def items(self, start: int, end: int, depth: int, gap: bool, first: int | None = None) -> list[Item]:
        """The items of the list at `start`; `first` overrides the number it begins with."""
        token = self.tokens[start]
        number = first if first is not None else int(token.attrGet("start") or 1)
        out: list[Item] = []
        index = start + 1
        while index < end:
            close = self._end(index)
            opened = self.tokens[index]
            if token.type == "ordered_list_open":
                marker = f"{number}. "
                number += 1
            else:
                marker = _BULLETS[min(depth, len(_BULLETS) - 1)]
            children = self._inside(index, close, depth + 1)
            out.append(Item(marker, _as_task(children), gap if not out else self._after_blank(opened)))
            index = close + 1
        return out

    def table(self, start: int, end: int) -> tuple[list[Cell], list[str], list[list[Cell]]]:
        """(head, alignment of each column, rows) of the table at `start`."""
        rows: list[list[Cell]] = []
        aligns: list[str] = []
        for index in range(start, end):
            token = self.tokens[index]
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
