"""Bytes from a server's stdout, cut into lines in linear time.

Not here: what a line means (messages), where the bytes come from (pipes).
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_LINE = 64 * 1024 * 1024
"""Longest line that is taken in, in bytes; the rest of a longer one is skipped."""

_ENDS = 8192
"""How much of a line that is too long is kept at either end, to find the request it answers."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the limit. `head` and `tail` are its two ends, `size` its length in bytes."""

    head: bytes
    tail: bytes
    size: int


class LineSplitter:
    """Splits on `\\n` only; drops a byte order mark at the start, `\\r` at the end, and blank lines."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._max_line = max_line
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping: tuple[bytes, int] | None = None
        """(head, bytes so far) while the rest of a line that is too long passes by."""
        self._tail = b""
        self._at_start = True

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """Take in `chunk` and return the lines it completed."""
        if not chunk:
            return []
        *complete, rest = chunk.split(b"\n")
        lines: list[bytes | TooLong] = []
        for piece in complete:
            self._add(piece)
            self._finish(lines)
        self._add(rest)
        return lines

    def close(self) -> list[bytes | TooLong]:
        """Return the last line if it had no newline."""
        lines: list[bytes | TooLong] = []
        if self._size or self._skipping:
            self._finish(lines)
        return lines

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        if self._skipping is None and self._size + len(piece) > self._max_line:
            self._parts.append(piece)
            held = b"".join(self._parts)
            self._skipping = (held[:_ENDS], len(held))
            self._tail = held[-_ENDS:]
            self._parts.clear()
            self._size = 0
        elif self._skipping is not None:
            head, size = self._skipping
            self._skipping = (head, size + len(piece))
            self._tail = (self._tail + piece)[-_ENDS:] if len(piece) < _ENDS else piece[-_ENDS:]
        else:
            self._parts.append(piece)
            self._size += len(piece)

    def _finish(self, lines: list[bytes | TooLong]) -> None:
        if self._skipping is not None:
            head, size = self._skipping
            lines.append(TooLong(head, self._tail, size))
            self._skipping, self._tail = None, b""
            self._at_start = False
            return
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        if self._at_start:
            line = line.removeprefix(_BOM)
        line = line.removesuffix(b"\r")
        if line.strip():
            self._at_start = False
            lines.append(line)
