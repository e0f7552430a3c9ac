"""A trace or a log as a file of the person's: JSON Lines, HAR, text.

Everything here is redacted as it is on the screen, never goes over a file that is there, and blocks: call it
in a thread. Not here: choosing the path (session), cassettes (cassette).
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, TypeVar
from urllib.parse import parse_qsl, urlsplit

import hel_tui
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.protocol import Direction, Frame, FrameQuery, HttpExchange, LogQuery, LogWindow
from hel_tui.core.store.atomic import PRIVATE_FILE, why
from hel_tui.foreign import clean

SLICE = 4096
"""Rows that are read at a time."""
_FIELDS = tuple(one.name for one in dataclasses.fields(Frame))


class NotExported(Exception):
    """Nothing was written; the text says why, without a full stop."""


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """What came of it."""

    count: int
    """Frames, exchanges or lines."""
    gaps: int = 0
    """Frames among them whose body was let go, or is kept in part."""


Result = TypeVar("Result")


def to_file(path: Path, write: Callable[[TextIO], Result]) -> Result:
    """Make `path`, private, and let `write` fill it; what it returns. Raises NotExported, and then there is
    no such file."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    except FileExistsError:
        raise NotExported("there is such a file already") from None
    except OSError as error:
        raise NotExported(why(error)) from error
    try:
        with os.fdopen(fd, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            return write(file)
    except (OSError, ValueError) as error:
        path.unlink(missing_ok=True)
        raise NotExported(why(error) if isinstance(error, OSError) else str(error).rstrip(".")) from error
    except BaseException:
        path.unlink(missing_ok=True)
        raise


# ----------------------------------------------------------------------- frames


def frames_of(store: FrameStore, query: FrameQuery | None) -> Iterator[Frame]:
    """The kept frames that are wanted, oldest first. Raises ValueError for a bad expression."""
    start, end = store.first, store.end
    while start < end:
        stop = min(start + SLICE, end)
        if query is None:
            yield from store.frames(start, stop)
        else:
            for number in store.matches(query, start, stop):
                yield from store.frames(number, number + 1)
        start = stop


def write_jsonl(store: FrameStore, query: FrameQuery | None, file: TextIO) -> Written:
    """One frame a line: its fields, and `body` as JSON, or as a string where it is none.

    `body_kept` is false where it was let go, or is kept in part.
    """
    count = gaps = 0
    for frame in frames_of(store, query):
        row: dict[str, Any] = {name: getattr(frame, name) for name in _FIELDS}
        row["at"] = _iso(frame.time)
        exchange = store.exchange(frame.number)
        if exchange is not None:
            row["http"] = dataclasses.asdict(exchange)
        else:
            row["body"] = _value(store.body(frame.number))
            if not store.is_whole(frame):
                row["body_kept"] = False
                gaps += 1
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
        count += 1
    return Written(count, gaps)


def messages(store: FrameStore, query: FrameQuery | None) -> tuple[list[tuple[float, Direction, str]], int]:
    """What was said, for a cassette: (Unix time, direction, body); without a query of the newest life only.

    Messages whose body is not kept whole are left out; how many those are. Raises ValueError for a bad
    expression.
    """
    frames = [frame for frame in frames_of(store, query) if frame.kind != "http"]
    if query is None and frames:
        newest = max(frame.life for frame in frames)
        frames = [frame for frame in frames if frame.life == newest]
    whole = [frame for frame in frames if store.is_whole(frame)]
    said = [(frame.time, frame.direction, store.body(frame.number)) for frame in whole]
    return said, len(frames) - len(whole)


def write_har(store: FrameStore, query: FrameQuery | None, file: TextIO) -> Written:
    """The exchanges of HTTP as an HTTP Archive (HAR 1.2), with the messages they carried as bodies.

    An exchange is wanted when it is itself, or a message it carried. Raises ValueError when there is none.
    """
    carried: dict[int, tuple[list[Frame], list[Frame]]] = {}
    exchanges: dict[int, Frame] = {}
    wanted: set[int] = set()
    chosen = set() if query is None else {frame.number for frame in frames_of(store, query)}
    for frame in frames_of(store, None):
        is_wanted = query is None or frame.number in chosen
        if frame.kind == "http":
            exchanges[frame.number] = frame
            wanted |= {frame.number} if is_wanted else set()
        elif frame.exchange >= 0:
            carried.setdefault(frame.exchange, ([], []))[frame.direction == "in"].append(frame)
            wanted |= {frame.exchange} if is_wanted else set()
    entries = [number for number in sorted(wanted) if number in exchanges]
    if not entries:
        raise ValueError("it has no exchanges of HTTP; JSON Lines take every frame")
    creator = {"name": "hel", "version": hel_tui.__version__}
    file.write(f'{{"log": {{"version": "1.2", "creator": {json.dumps(creator)}, "entries": [')
    gaps = 0
    for at, number in enumerate(entries):
        known = store.exchange(number) or HttpExchange(exchanges[number].method, "", 0, "not kept", 0.0)
        out, back = carried.get(number, ([], []))
        gaps += sum(not store.is_whole(one) for one in (*out, *back))
        entry = _har_entry(store, exchanges[number], known, out, back)
        file.write(("," if at else "") + "\n" + json.dumps(entry, ensure_ascii=False))
    file.write("\n]}}\n")
    return Written(len(entries), gaps)


def _har_entry(
    store: FrameStore, frame: Frame, exchange: HttpExchange, out: list[Frame], back: list[Frame]
) -> dict[str, Any]:
    said, came = (("\n".join(store.body(one.number) for one in each)) for each in (out, back))
    milliseconds = round(exchange.seconds * 1000, 3)
    request: dict[str, Any] = {
        "method": exchange.method,
        "url": exchange.url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(exchange.request_headers),
        "queryString": _pairs(parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)),
        "headersSize": -1,
        "bodySize": exchange.sent,
    }
    if out:
        request["postData"] = {"mimeType": _mime(exchange.request_headers), "text": said}
    return {
        "startedDateTime": _iso(frame.time),
        "time": milliseconds,
        "request": request,
        "response": {
            "status": exchange.status,
            "statusText": exchange.reason,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _pairs(exchange.response_headers),
            "content": {
                "size": sum(one.size for one in back),
                "mimeType": _mime(exchange.response_headers),
                "text": came,
            },
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        },
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
    }


def _pairs(pairs: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _mime(headers: tuple[tuple[str, str], ...]) -> str:
    return next((value for name, value in headers if name.lower() == "content-type"), "")


def _value(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# -------------------------------------------------------------------------- logs


def write_log(
    log: LogWindow, query: LogQuery | None, mask: Callable[[str], str], file: TextIO, *, whose: bool
) -> Written:
    """One line each: time, server if `whose`, stream, level, text without control sequences."""
    count, start = 0, log.first
    end = log.end
    while start < end:
        stop = min(start + SLICE, end)
        if query is None:
            lines = log.lines(start, stop)
        else:
            found = log.matches(query, start, stop)
            lines = [line for number in found for line in log.lines(number, number + 1)]
        for line in lines:
            at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(line.time))
            words = [f"{at}.{int(line.time * 1000) % 1000:03d}", line.server if whose else "", line.stream]
            words += [line.level, mask(clean(line.text, newlines=False))]
            file.write(" ".join(word for word in words if word) + "\n")
        count += len(lines)
        start = stop
    return Written(count)
