"""What a line of a log looks like: time, whose it is, level, text in its colours, what is found in it.

Pure functions from lines to rows of parts. Not here: which lines are shown (log), colours (ansi).
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Sequence
from zlib import crc32

from rich.cells import cell_len

from hel_tui.core import protocol as p
from hel_tui.core.values import dataclass
from hel_tui.tui.safe import cut, one_line
from hel_tui.tui.widgets import ansi
from hel_tui.tui.widgets.lines import Line, Part, pad, width_of, wrap

SERVER_CELLS = 12
"""Cells for the name of a server in a log of all."""
WRAPPED_MOST = 8_192
"""Characters of one line that are wrapped at most: stores cut longer ones."""
_STREAMS = {"stderr": "", "stdout": "warn", "hel": "muted", "message": "", "start": "muted"}
_LEVELS: dict[str, str] = {
    "debug": "muted",
    "warning": "warn",
    "error": "bad",
    "critical": "bad",
    "alert": "bad",
    "emergency": "bad",
}
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_REPEATED_GROUP = re.compile(r"\)(?:[*+]|\{)")
_QUANTIFIER = re.compile(r"[*+?]|\{\d*,?\d*\}")
_HUES = ("blue", "magenta", "ok", "accent")


@dataclass(frozen=True, slots=True)
class CallMark:
    """A call, as the log shows when it ran. `ended` is 0 while it runs; times are Unix times."""

    call: str
    server: str
    title: str
    began: float
    ended: float = 0.0

    def covers(self, line: p.LogLine) -> bool:
        """Whether a line came while it ran."""
        return self.began <= line.time <= (self.ended or line.time) and self.server in ("", line.server)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search highlights, in so many characters of a line at most."""

    pattern: re.Pattern[str]
    limit: int = WRAPPED_MOST


def wanted(text: str, is_regex: bool) -> Wanted | None:
    """What to highlight for a search; None where there is nothing, or finding it might take too long.

    Matching backtracks and cannot be stopped: k quantifiers take up to n^(k+1) steps on n characters.
    """
    if not text:
        return None
    if not is_regex:
        return Wanted(re.compile(re.escape(text), re.IGNORECASE))
    quantifiers = len(_QUANTIFIER.findall(_ESCAPED.sub("c", text)))
    if _REPEATED_GROUP.search(text) or quantifiers > 2:
        return None
    try:
        return Wanted(re.compile(text, re.IGNORECASE), (WRAPPED_MOST, 2_000, 200)[quantifiers])
    except (re.error, OverflowError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class Look:
    """How lines are drawn. `found` marks what a search looks for."""

    width: int
    names: bool = False
    wraps: bool = False
    found: Wanted | None = None


def stamp(seconds: float) -> str:
    """Local time of day, 24 hours."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def hue(server: str) -> str:
    """The style of a server's name: the same in every run."""
    return _HUES[crc32(server.encode("utf-8", "replace")) % len(_HUES)]


def log_line(line: p.LogLine, width: int, *, marked: bool = False) -> list[Part]:
    """A log line as it is drawn on one row: a bar when it is `marked`, time, then the text."""
    return rows_of(line, Look(width), "▌" if marked else " ")[0]


def rows_of(line: p.LogLine, look: Look, gutter: str = " ", *, here: bool = False) -> list[list[Part]]:
    """A log line as rows of at most `look.width` cells; one row unless lines are wrapped.

    `gutter` is drawn at its left; `here`: the search stands at this line.
    """
    if line.stream == "start":
        return [_rule(line, look)]
    head = _head(line, look, gutter)
    room = look.width - width_of(head)
    source = line.text[: WRAPPED_MOST if look.wraps else max(room, 1) * 64]
    text = ansi.parts(source, _LEVELS.get(line.level, _STREAMS[line.stream]))
    if look.found is not None:
        text = emphasised(text, look.found, "found-here" if here else "found")
    if not look.wraps:
        return [[*head, *fitted(text, room)]]
    indent = width_of(head) if width_of(head) * 3 <= look.width else 2
    first, *rest = _wrapped(text, room, look.width - indent)
    bar = (gutter if gutter in "│▌" else {"╭": "│"}.get(gutter, " "), "accent")
    return [[*head, *first], *([bar, (" " * (indent - 1), ""), *row] for row in rest)]


def _wrapped(text: Line, first: int, rest: int) -> list[list[Part]]:
    """Rows of `first` cells and then of `rest` each."""
    if first == rest:
        return wrap(text, rest)
    rows = wrap(text, first)
    if len(rows) < 2:
        return rows
    return [rows[0], *wrap([part for row in rows[1:] for part in row], rest)]


def _head(line: p.LogLine, look: Look, gutter: str) -> list[Part]:
    """What stands before the text."""
    head: list[Part] = [(gutter, "accent"), (f"{stamp(line.time)} ", "accent" if gutter == "▌" else "muted")]
    if look.names:
        head.append((pad(one_line(line.server, SERVER_CELLS), SERVER_CELLS) + " ", hue(line.server)))
    if line.stream == "message" and line.level:
        head.append((f"{line.level} ", _LEVELS.get(line.level, "accent")))
    elif line.stream == "hel":
        head.append(("▮ ", "muted"))
    elif line.stream == "stdout":
        head.append(("stdout ", "warn"))
    return head


def _rule(line: p.LogLine, look: Look) -> list[Part]:
    """A start of the server, across the whole view."""
    whose = f"{one_line(line.server, SERVER_CELLS)} · " if look.names and line.server else ""
    words = f" {stamp(line.time)} {whose}{one_line(line.text, max(look.width - 16, 8))} "
    words = cut(words, max(look.width - 4, 1))
    after = max(look.width - 2 - cell_len(words), 0)
    return [("──", "frame"), (words, "strong"), ("─" * after, "frame")]


def fitted(line: Sequence[Part], width: int) -> list[Part]:
    """The parts in at most `width` cells; what is cut off ends in …."""
    if width_of(line) <= width:
        return list(line)
    found: list[Part] = []
    room = width
    for text, style in line:
        size = cell_len(text)
        if size >= room:
            piece = cut(text, room) if size > room else cut(text + " ", room)
            found.append((piece, style))
            break
        found.append((text, style))
        room -= size
    return found


def emphasised(line: Sequence[Part], sought: Wanted, style: str) -> list[Part]:
    """The parts with everything that is sought in their text in another style."""
    text = "".join(part for part, _ in line)[: sought.limit]
    spans = [match.span() for match in sought.pattern.finditer(text) if match.end() > match.start()]
    if not spans:
        return list(line)
    return in_style(line, spans, style)


def in_style(line: Sequence[Part], spans: Sequence[tuple[int, int]], style: str) -> list[Part]:
    """The parts with ranges (from, to) of their characters in another style; ranges in order, apart."""
    found: list[Part] = []
    base = 0
    for part, own in line:
        at, end = base, base + len(part)
        near = bisect_right(spans, (base, base)) - 1
        for start, stop in spans[max(near, 0) :]:
            if stop <= at:
                continue
            if start >= end:
                break
            if start > at:
                found.append((part[at - base : start - base], own))
            found.append((part[max(start, at) - base : min(stop, end) - base], style))
            at = min(stop, end)
        if at < end:
            found.append((part[at - base :], own))
        base = end
    return found
