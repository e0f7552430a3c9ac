"""JSON text laid out for reading, without touching a value: numbers and repeated keys stay as written.

Not here: parsing; the caller knows that the text is valid JSON.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_STEP = "  "


def indented(text: str) -> str:
    """Return valid JSON `text` with one member or element a line; empty containers stay on theirs."""
    out: list[str] = []
    depth = 0
    opened = False  # the token before was an opening bracket
    for token in _TOKEN.findall(text):
        if token in "]}":
            depth -= 1
            if not opened:
                out.append("\n" + _STEP * depth)
            out.append(token)
            opened = False
            continue
        if opened:
            out.append("\n" + _STEP * depth)
        opened = token in "[{"
        if opened:
            depth += 1
        out.append(token)
        if token == ",":
            out.append("\n" + _STEP * depth)
        elif token == ":":
            out.append(" ")
    return "".join(out)
