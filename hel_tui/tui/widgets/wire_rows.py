"""What a frame looks like in the list, and what is said of one whose body is open. Pure functions.

Not here: which frames are shown (wire), bodies (json_view).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import lru_cache

from rich.cells import cell_len

from hel_tui.core import protocol as p
from hel_tui.tui.safe import cut, one_line
from hel_tui.tui.sizes import size_text
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import duration
from hel_tui.tui.widgets.lines import Part, pad, width_of

ARROWS: dict[p.Direction, str] = {"out": "→", "in": "←"}
_STYLES: dict[p.FrameKind, str] = {
    "request": "strong",
    "result": "ok",
    "error": "bad",
    "notification": "muted",
    "noise": "warn",
    "http": "accent",
}
ID, LATENCY, SIZE = 6, 9, 8
"""Cells of the columns at the right."""
EXACT_FROM, SIZE_FROM = 90, 70
"""Cells from which times have milliseconds, and sizes a column."""


def moment(seconds: float, *, exact: bool = True) -> str:
    """Local time of day, with milliseconds if it is to be exact."""
    words = time.strftime("%H:%M:%S", time.localtime(seconds))
    return f"{words}.{int(seconds * 1000) % 1000:03}" if exact else words


def kind_word(kind: p.FrameKind) -> tuple[str, int]:
    """The word for a kind, and the cells of the longest one."""
    words = _kind_words(t("wire.kind.request"))
    return words[kind], max(map(cell_len, words.values()))


@lru_cache(maxsize=4)
def _kind_words(_language: str) -> dict[p.FrameKind, str]:
    return {kind: t(f"wire.kind.{kind}") for kind in _STYLES}


def frame_line(frame: p.Frame, width: int, *, gutter: str = " ", mixed: bool = False) -> list[Part]:
    """A frame on one row. `mixed`: there are exchanges of HTTP too, so what they carried is indented."""
    word, cells = kind_word(frame.kind)
    style = _STYLES[frame.kind]
    arrow = "⇄" if frame.kind == "http" else ARROWS[frame.direction]
    left: list[Part] = [
        (gutter, "accent"),
        (f"{moment(frame.time, exact=width >= EXACT_FROM)} ", "muted"),
        ("  " if mixed and frame.exchange >= 0 else "", ""),
        (f"{arrow} ", "strong" if frame.direction == "out" else style),
        (pad(word, cells) + " ", style),
    ]
    latency = duration(frame.latency) if frame.latency > 0 else ""
    right: list[Part] = [
        (pad_left(f"#{one_line(frame.id, ID - 1)}" if frame.id else "", ID), "muted"),
        (pad_left(latency, LATENCY), ""),
        (pad_left(size_text(frame.size), SIZE if width >= SIZE_FROM else 0), "muted"),
        (" ", ""),
    ]
    room = max(width - width_of(left) - width_of(right), 0)
    method = one_line(frame.method, room)
    rest = room - cell_len(method) - 1
    what = frame.summary if frame.summary or frame.kind in ("request", "http") else frame.tool
    said = one_line(what or frame.tool, rest) if rest > 0 else ""
    bad = frame.kind in ("error", "noise")
    middle: list[Part] = [(method, "" if method else "muted"), (f" {said}", "bad" if bad else "muted")]
    gap = max(room - width_of(middle), 0)
    line = [*left, *middle, (" " * gap, ""), *right]
    return line if width_of(line) <= width else [(cut("".join(text for text, _ in line), width), style)]


def pad_left(text: str, width: int) -> str:
    """`text` at the right of `width` cells."""
    short = cut(text, width)
    return " " * max(width - cell_len(short), 0) + short


def head(frame: p.Frame) -> list[Part]:
    """What is said of a frame above its body."""
    arrow = "⇄" if frame.kind == "http" else ARROWS[frame.direction]
    facts: list[Part] = [(f"{arrow} {t(f'wire.kind.{frame.kind}')}", _STYLES[frame.kind])]
    if frame.method or frame.tool:
        facts.append((one_line(f"{frame.method} {frame.tool}".strip(), 60), "strong"))
    if frame.id:
        facts.append((f"#{one_line(frame.id, 20)}", "muted"))
    if frame.latency > 0:
        facts.append((duration(frame.latency), ""))
    if size := size_text(frame.size):
        facts.append((size, "muted"))
    facts.append((moment(frame.time), "muted"))
    return facts


def exchange_text(exchange: p.HttpExchange) -> str:
    """The head of an exchange of HTTP as JSON: it folds and is searched as bodies are."""
    answer: dict[str, object] = {"status": exchange.status} if exchange.status else {}
    if exchange.reason:
        answer["reason"] = exchange.reason
    answer["seconds"] = round(exchange.seconds, 6)
    answer["headers"] = _headers(exchange.response_headers)
    said = {
        "request": {
            "method": exchange.method,
            "url": exchange.url,
            "bytes": exchange.sent,
            "headers": _headers(exchange.request_headers),
        },
        "answer": answer,
    }
    return json.dumps(said, ensure_ascii=False, indent=1)


def _headers(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Headers as they stand on the wire: the same name may come twice."""
    return [f"{name}: {value}" for name, value in pairs]
