"""A thousand lines of a log as one compressed piece, and what is looked up in it.

Packed, a line takes some ten bytes. Not here: which pieces are kept (logs).
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from dataclasses import dataclass, field

from hel_tui.core.mcp.looking import Wanted
from hel_tui.foreign import SEQUENCES

SIZE = 1024
"""Lines of a chunk."""
CHARACTERS = 1024 * 1024
"""Of a chunk that is packed although it has fewer lines."""


@dataclass(slots=True)
class Lines:
    """Lines that are at hand, with what is known of each, column by column."""

    times: array[float] = field(default_factory=lambda: array("d"))
    streams: bytearray = field(default_factory=bytearray)
    """Indexes of streams, as the store numbers them."""
    levels: bytearray = field(default_factory=bytearray)
    """0 for none, else 1 for debug and so on."""
    servers: array[int] = field(default_factory=lambda: array("H"))
    texts: list[str] = field(default_factory=list)
    _folded: str | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def add(self, time: float, stream: int, level: int, server: int, text: str) -> None:
        """Add a line."""
        self.times.append(time)
        self.streams.append(stream)
        self.levels.append(level)
        self.servers.append(server)
        self.texts.append(text)
        self._folded = None

    def take_last(self) -> str:
        """Take the newest line away again and return its text."""
        for column in (self.times, self.streams, self.levels, self.servers):
            column.pop()
        self._folded = None
        return self.texts.pop()

    def take_first(self, count: int) -> Lines:
        """Take so many of the oldest lines away, as lines of their own."""
        taken = Lines(
            self.times[:count],
            self.streams[:count],
            self.levels[:count],
            self.servers[:count],
            self.texts[:count],
        )
        for column in (self.times, self.streams, self.levels, self.servers, self.texts):
            del column[:count]
        self._folded = None
        return taken

    def matches(self, wanted: Wanted | None, least: int, low: int, high: int) -> list[int]:
        """Which of the lines low..high-1 have `wanted` in them, and at least that level.

        Raises ValueError when an expression takes too long.
        """
        if wanted is None:
            found: list[int] = list(range(low, high))
        elif wanted.is_literal:
            found = [at for at in self._with(wanted.text) if low <= at < high]
        else:
            texts = self.texts
            found = [at for at in range(low, high) if wanted.in_text(_plain(texts[at]))]
        if least:
            levels = self.levels
            found = [at for at in found if levels[at] >= least]
        return found

    def _with(self, needle: str) -> list[int]:
        """The lines with this literal: looked for in all of them at once."""
        if self._folded is None:
            self._folded = _plain("\n".join(self.texts)).casefold()
        text, found, line, counted = self._folded, [], 0, 0
        at = text.find(needle) if "\n" not in needle else -1
        while at >= 0:
            line += text.count("\n", counted, at)
            found.append(line)
            counted = text.find("\n", at)
            if counted < 0:
                break
            at = text.find(needle, counted)
        return found


def pack(lines: Lines) -> bytes:
    """The lines as one compressed piece."""
    columns = (lines.times.tobytes(), bytes(lines.streams), bytes(lines.levels), lines.servers.tobytes())
    return zlib.compress(marshal.dumps((*columns, "\n".join(lines.texts))), 1)


def unpack(packed: bytes) -> Lines:
    """What was packed."""
    times, streams, levels, servers, text = marshal.loads(zlib.decompress(packed))
    return Lines(
        array("d", times), bytearray(streams), bytearray(levels), array("H", servers), text.split("\n")
    )


def _plain(text: str) -> str:
    return SEQUENCES.sub("", text) if "\x1b" in text else text
