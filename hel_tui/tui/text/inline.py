"""Inline Markdown as spans: emphasis, code, links shown as text plus address.

Nothing in foreign text becomes live: links are text, raw HTML is text. Not here: blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hel_tui.tui.text.lines import BOLD, ITALIC, STRIKE, UNDERLINE, Ink, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST = 8_000
"""Characters of one paragraph beyond which it stays plain: a hostile one may be slow to parse."""
MOST_BRACKETS = 200
"""Each may begin a link, and the parser looks for the end of each."""

_MARKS = frozenset("*_`[]<>!~\\&")
_FLAGS = {"strong": BOLD, "em": ITALIC, "s": STRIKE}


def inline_spans(parser: MarkdownIt, content: str, env: dict[str, object], ink: Ink) -> list[Span]:
    """Parse `content` (clean text of one paragraph, heading or cell) into spans over `ink`."""
    if (
        len(content) > MOST
        or content.count("[") > MOST_BRACKETS
        or not (_MARKS.intersection(content) or "  \n" in content)
    ):
        return [(" ".join(row.strip() for row in content.split("\n")), ink)]
    tokens: list[Token] = []
    parser.inline.parse(content, parser, env, tokens)
    return _Walk(ink).spans(tokens)


class _Walk:
    """Goes through inline tokens with the inks that are open."""

    def __init__(self, ink: Ink) -> None:
        self._inks = [ink]
        self._out: list[Span] = []
        self._link = ""
        self._link_from = 0

    def spans(self, tokens: list[Token]) -> list[Span]:
        for token in tokens:
            self._take(token)
        return self._out

    def _take(self, token: Token) -> None:
        ink = self._inks[-1]
        match token.type:
            case "text" | "text_special" | "html_inline":
                if token.content:
                    self._out.append((token.content, ink))
            case "softbreak":
                self._out.append((" ", ink))
            case "hardbreak":
                self._out.append(("\n", ink))
            case "code_inline":
                self._out.append((token.content, Ink("inline-code", ink.flags)))
            case "strong_open" | "em_open" | "s_open":
                self._inks.append(ink.with_flags(_FLAGS[token.type[:-5]]))
            case "link_open":
                self._link = str(token.attrGet("href") or "")
                self._link_from = len(self._out)
                self._inks.append(Ink("link", ink.flags | UNDERLINE))
            case "link_close":
                self._inks.pop()
                self._address()
            case "image":
                self._out.append((f"[image: {token.content}]", ink))
                address = str(token.attrGet("src") or "")
                if address:
                    self._out.append((f" ({address})", Ink("muted")))
            case _:
                if token.nesting < 0 and len(self._inks) > 1:
                    self._inks.pop()

    def _address(self) -> None:
        """After a link's text its address, unless the text says it already."""
        shown = "".join(text for text, _ink in self._out[self._link_from :])
        address = self._link
        if address and shown not in (address, address.removeprefix("mailto:")):
            self._out.append((f" ({address})", Ink("muted")))
