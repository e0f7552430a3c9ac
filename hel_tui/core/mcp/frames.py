"""The trace of one server: every message on its wire, over all its lives, bounded.

Written in the core's loop, read from any thread. Not here: what a message says (trace), keeping bodies
(bodies), writing a trace to a file (exports).
"""

from __future__ import annotations

import threading
import time
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import cast

from hel_tui.core.mcp.blocks import SIZE, Block, Blocks, Row
from hel_tui.core.mcp.bodies import LONGEST, Bodies
from hel_tui.core.mcp.looking import Wanted
from hel_tui.core.protocol import Direction, Frame, FrameKind, FrameQuery, HttpExchange

MAX_FRAMES = 200_000
MAX_EXCHANGES = 20_000
"""Of so many exchanges headers are kept."""
MOST_CALLS = 50_000
"""Calls of which it is known which frames are theirs."""
NO_ANSWER = -1
"""Status of an exchange that got none."""


class FrameStore:
    """Implements `protocol.FrameWindow`. All methods are safe from any thread."""

    def __init__(
        self,
        name: str = "server",
        folder: Callable[[], Path | None] = lambda: None,
        mask: Callable[[str], str] = lambda text: text,
        *,
        most: int = MAX_FRAMES,
    ) -> None:
        """`folder` is where older bodies go, `mask` takes secrets out of what is shown or written."""
        self.bodies = Bodies(folder, name, mask)
        self.mask = mask
        self.sessions = 0
        """Sessions of HTTP that were opened."""
        self._blocks = Blocks(most)
        self._calls: OrderedDict[str, array[int]] = OrderedDict()
        self._exchanges: OrderedDict[int, HttpExchange] = OrderedDict()
        self._version = 0
        self._lives = 0
        self._lock = threading.Lock()

    # ------------------------------------------------------------------- writing

    def begin(self) -> int:
        """Another start of the server; its number, from 1."""
        self._lives += 1
        return self._lives

    def add(
        self,
        direction: Direction,
        kind: FrameKind,
        body: bytes,
        *,
        method: str = "",
        id: str = "",
        tool: str = "",
        summary: str = "",
        call: str = "",
        life: int = 0,
        failed: bool = False,
        answers: int = -1,
        latency: float = 0.0,
        exchange: int = -1,
        size: int = -1,
    ) -> int:
        """Add a frame and return its number. `answers` is the number of the request it belongs to; `size` is
        that of the body unless given."""
        size = len(body) if size < 0 else size
        row: Row = (time.time(), direction, kind, size, method, id, tool, summary, call, life, failed)
        with self._lock:
            first = self._blocks.first
            number = self._blocks.append(row, answers, latency, exchange)
            if answers >= 0 and (found := self._blocks.find(answers)) is not None:
                found[0].pair[found[1]] = number
            if call:
                self._note_call(call, number)
            self._version += 1
            gone = self._blocks.first
        if gone != first:
            self._forget_before(gone)
        if body:
            self.bodies.put(number, body)
        return number

    def size(self, number: int) -> int:
        """Bytes of that frame as it was sent; -1 when it is not kept."""
        with self._lock:
            row = self._blocks.row(number)
        return row[3] if row is not None else -1

    def carried(self, number: int, exchange: int) -> None:
        """This frame went out with that exchange."""
        with self._lock:
            if (found := self._blocks.find(number)) is not None:
                found[0].exchange[found[1]] = exchange
                self._version += 1

    def exchanged(self, number: int, exchange: HttpExchange) -> None:
        """What is known of an `http` frame now."""
        with self._lock:
            if (found := self._blocks.find(number)) is None:
                return
            block, at = found
            if exchange.status or exchange.reason:
                block.status[at] = exchange.status or NO_ANSWER
                block.latency[at] = exchange.seconds
            if len(self._exchanges) >= MAX_EXCHANGES and number not in self._exchanges:
                self._exchanges.popitem(last=False)
            self._exchanges[number] = exchange
            self._version += 1

    def _note_call(self, call: str, number: int) -> None:
        known = self._calls.get(call)
        if known is None:
            if len(self._calls) >= MOST_CALLS:
                self._calls.popitem(last=False)
            known = self._calls[call] = array("q")
        known.append(number)

    def _forget_before(self, number: int) -> None:
        self.bodies.forget_before(number)
        with self._lock:
            for call, numbers in list(self._calls.items()):
                if numbers[-1] < number:
                    del self._calls[call]
                elif numbers[0] < number:  # a call with endless progress
                    del numbers[: bisect_left(numbers, number)]
            for old in [one for one in self._exchanges if one < number]:
                del self._exchanges[old]

    # ------------------------------------------------------------------- reading

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self._version

    @property
    def first(self) -> int:
        """Number of the oldest frame kept."""
        return self._blocks.first

    @property
    def end(self) -> int:
        """Number after the newest frame."""
        return self._blocks.end

    def frames(self, start: int, stop: int) -> list[Frame]:
        """The frames numbered start..stop-1 that are still kept."""
        with self._lock:
            return [
                _frame(base + at, rows[at], block, at)
                for base, block, rows, low, high in self._blocks.parts(start, stop)
                for at in range(low, high)
            ]

    def matches(self, query: FrameQuery, start: int, stop: int) -> list[int]:
        """The numbers of those kept frames among start..stop-1 that `query` wants.

        Raises ValueError with a sentence for a regular expression that is none, or takes too long.
        """
        wanted = Wanted(query.text, is_regex=query.is_regex) if query.text else None
        found: list[tuple[int, str]] = []
        while start < stop:  # the lock is held for one block at a time
            upper = min(stop, start - start % SIZE + SIZE)
            with self._lock:
                for base, block, rows, low, high in self._blocks.parts(start, upper):
                    found += [
                        (base + at, f"{rows[at][4]}\n{rows[at][7]}")
                        for at in range(low, high)
                        if _fits(query, rows[at], block.status[at])
                    ]
                if upper >= self._blocks.end:
                    break
            start = upper
        if wanted is None:
            return [number for number, _ in found]
        return [
            number
            for number, said in found
            if wanted.in_text(said) or wanted.in_bytes(self.bodies.raw(number))
        ]

    def body(self, number: int) -> str:
        """The body as it was on the wire, redacted; empty when it is not kept any more.

        Of an exchange: its heads.
        """
        if (exchange := self._exchanges.get(number)) is not None:
            return self.mask(heads(exchange))
        return self.bodies.get(number) if number >= self.first else ""

    def is_whole(self, frame: Frame) -> bool:
        """Whether the body of this frame is kept as long as it was."""
        if frame.kind == "http" or not frame.size:
            return True
        return frame.size <= LONGEST and frame.number >= self.first and self.bodies.has(frame.number)

    def exchange(self, number: int) -> HttpExchange | None:
        """What is known of the `http` frame with this number."""
        return self._exchanges.get(number)

    @property
    def noted(self) -> int:
        """Numbers that are kept for calls."""
        with self._lock:
            return sum(map(len, self._calls.values()))

    def of_call(self, call_id: str) -> tuple[int, ...]:
        """Numbers of the kept frames that a call caused, in order."""
        with self._lock:
            first = self._blocks.first
            return tuple(number for number in self._calls.get(call_id, ()) if number >= first)


def _frame(number: int, row: Row, block: Block, at: int) -> Frame:
    time_, direction, kind, size, method, id_, tool, summary, call, life, _ = row
    if kind == "http" and (status := block.status[at]):
        summary = f"{summary} {status if status > 0 else 'no answer'}"
    return Frame(
        number,
        time_,
        cast(Direction, direction),
        cast(FrameKind, kind),
        size,
        method,
        id_,
        block.pair[at],
        block.latency[at],
        tool,
        summary,
        call,
        block.exchange[at],
        life,
    )


def heads(exchange: HttpExchange) -> str:
    """Both heads of an exchange, as HTTP writes them."""
    lines = [f"{exchange.method} {exchange.url}"]
    lines += [f"{name}: {value}" for name, value in exchange.request_headers]
    lines += ["", str(exchange.status) if exchange.status else exchange.reason or "no answer yet"]
    lines += [f"{name}: {value}" for name, value in exchange.response_headers]
    return "\n".join(lines)


def _fits(query: FrameQuery, row: Row, status: int) -> bool:
    """Whether all but the text fits."""
    return (
        (not query.direction or row[1] == query.direction)
        and row[4].startswith(query.method)
        and (not query.id or row[5] == query.id)
        and (not query.tool or row[6] == query.tool)
        and (not query.call or row[8] == query.call)
        and (not query.errors or row[10] or status < 0 or status >= 400)
    )
