"""Source code as spans: Pygments token types mapped to the inks of the theme.

Pygments is imported when the first closed code block is drawn. Not here: wrapping and bars (markdown blocks).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hel_tui.tui.text.lines import BOLD, ITALIC, Ink, Span

if TYPE_CHECKING:
    from pygments.lexer import Lexer

CODE = Ink("code")
MOST = 60_000
"""Characters beyond which code stays plain."""

_INKS: dict[str, Ink] = {
    "Comment": Ink("code-comment", ITALIC),
    "Keyword": Ink("code-keyword"),
    "Operator.Word": Ink("code-keyword"),
    "Literal.String": Ink("code-string"),
    "Literal.Number": Ink("code-number"),
    "Name.Function": Ink("code-name"),
    "Name.Class": Ink("code-name", BOLD),
    "Name.Decorator": Ink("code-name"),
    "Name.Tag": Ink("code-keyword"),
    "Name.Attribute": Ink("code-name"),
    "Name.Builtin": Ink("code-name"),
    "Generic.Deleted": Ink("removed"),
    "Generic.Inserted": Ink("added"),
    "Generic.Heading": Ink("code-name", BOLD),
    "Generic.Subheading": Ink("code-name"),
}


@lru_cache(maxsize=256)
def _ink(kind: str) -> Ink:
    """The ink of a token type such as `Name.Function.Magic`, or of its nearest ancestor."""
    while kind:
        if (found := _INKS.get(kind)) is not None:
            return found
        kind = kind.rpartition(".")[0]
    return CODE


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def plain_code(text: str) -> list[list[Span]]:
    """`text` as one list of spans a line, in the ink of code."""
    return [[(line, CODE)] for line in text.split("\n")]


@lru_cache(maxsize=128)
def highlighted(language: str, text: str) -> list[list[Span]]:
    """`text` as one list of spans a line, coloured for `language`; plain if that is not known.

    The result is cached and shared: do not change it.
    """
    lexer = _lexer(language) if language and len(text) <= MOST else None
    if lexer is None:
        return plain_code(text)
    lines: list[list[Span]] = [[]]
    for kind, value in lexer.get_tokens(text):
        ink = _ink(str(kind)[6:])
        first, *rest = value.split("\n")
        if first:
            lines[-1].append((first, ink))
        for part in rest:
            lines.append([(part, ink)] if part else [])
    return lines
