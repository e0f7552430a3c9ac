"""Rows numbered for ever, in blocks: the newest block open, older ones packed, the oldest let go.

Packing is what keeps hundreds of thousands of rows in a few megabytes. Not here: what a row holds (frames).
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

SIZE = 1024
"""Rows of a block."""
UNPACKED = 8
"""Packed blocks that are kept unpacked too, the last ones that were looked at."""

Row = tuple[float, str, str, int, str, str, str, str, str, int, bool]
"""time, direction, kind, size, method, id, tool, summary, call, life, whether it is an error."""


@dataclass(slots=True)
class Block:
    """So many rows, and what may change about them later."""

    rows: list[Row] = field(default_factory=list)
    """Empty once packed."""
    packed: bytes = b""
    pair: array[int] = field(default_factory=lambda: array("q"))
    latency: array[float] = field(default_factory=lambda: array("d"))
    exchange: array[int] = field(default_factory=lambda: array("q"))
    status: array[int] = field(default_factory=lambda: array("h"))

    def append(self, row: Row, pair: int, latency: float, exchange: int) -> None:
        self.rows.append(row)
        self.pair.append(pair)
        self.latency.append(latency)
        self.exchange.append(exchange)
        self.status.append(0)

    def pack(self) -> None:
        """Its rows are complete: keep them small."""
        self.packed = zlib.compress(marshal.dumps(self.rows), 1)
        self.rows = []

    def __len__(self) -> int:
        return len(self.pair)


class Blocks:
    """All rows that are kept. Not safe from several threads: whoever owns it has a lock."""

    def __init__(self, most: int) -> None:
        """`most` rows are kept, give or take a block."""
        self._most = most
        self._blocks: deque[Block] = deque([Block()])
        self.first = 0
        """Number of the oldest row kept; a multiple of `SIZE`."""
        self.end = 0
        self._unpacked: dict[int, list[Row]] = {}

    def append(self, row: Row, pair: int, latency: float, exchange: int) -> int:
        """Add a row and return its number."""
        newest = self._blocks[-1]
        newest.append(row, pair, latency, exchange)
        number = self.end
        self.end += 1
        if len(newest) == SIZE:
            newest.pack()
            self._blocks.append(Block())
            if self.end - self.first > self._most:
                self._unpacked.pop(self.first, None)
                self._blocks.popleft()
                self.first += SIZE
        return number

    def find(self, number: int) -> tuple[Block, int] | None:
        """The block with this row, and where in it."""
        if not self.first <= number < self.end:
            return None
        at = number - self.first
        return self._blocks[at // SIZE], at % SIZE

    def row(self, number: int) -> Row | None:
        """One row."""
        found = self.find(number)
        if found is None:
            return None
        return self._rows_of(found[0], number - found[1])[found[1]]

    def parts(self, start: int, stop: int) -> Iterator[tuple[int, Block, list[Row], int, int]]:
        """The rows numbered start..stop-1 by blocks: (number of the block's first row, block, its rows,
        and which of them, from and to)."""
        number = max(start, self.first)
        stop = min(stop, self.end)
        while number < stop:
            at = number - self.first
            block, low = self._blocks[at // SIZE], at % SIZE
            high = min(SIZE, low + stop - number)
            yield number - low, block, self._rows_of(block, number - low), low, high
            number += high - low

    def _rows_of(self, block: Block, first: int) -> list[Row]:
        if not block.packed:
            return block.rows
        rows = self._unpacked.pop(first, None)
        if rows is None:
            rows = marshal.loads(zlib.decompress(block.packed))
            if len(self._unpacked) >= UNPACKED:
                del self._unpacked[next(iter(self._unpacked))]
        self._unpacked[first] = rows
        return rows
