"""Bounded logs that one thread writes and another reads: a server's stderr and hel's remarks on it.

Ingest is by chunk and never waits: a flood is counted, its newest lines are kept.
Not here: making foreign text safe to draw (the screen's own border).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from hel_tui.core.protocol import LogLine, LogQuery

MAX_LINES = 50_000
MAX_CHARACTERS = 16 * 1024 * 1024
LINE_LENGTH = 8192
"""Longer lines are cut."""
LINES_A_SECOND = 20_000
"""More than these in one second are counted, not kept."""
TAIL = 20
"""How many of the newest lines of a flood are kept."""
MIRROR_BYTES = 64 * 1024
"""How much of a log goes to the session's file."""

Stream = Literal["stderr", "stdout", "hel"]
_Line = tuple[float, str, Stream]
"""The fields of a `LogLine`. As tuples the garbage collector leaves them alone: there may be 50,000."""


class LogStore:
    """A log of numbered lines; implements `protocol.LogWindow`. All methods are safe from any thread."""

    def __init__(
        self,
        max_lines: int = MAX_LINES,
        max_characters: int = MAX_CHARACTERS,
        *,
        mask: Callable[[str], str] = lambda text: text,
    ) -> None:
        """`mask` hides known secrets in hel's own remarks, which may quote a server."""
        self._mask = mask
        self._max_lines = max_lines
        self._max_characters = max_characters
        self._lines: deque[_Line] = deque()
        self._first = 0
        self._characters = 0
        self._version = 0
        self._open = False
        """True while the newest line is the beginning of one that has not ended yet."""
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self._version

    @property
    def first(self) -> int:
        """Number of the oldest line kept."""
        return self._first

    @property
    def end(self) -> int:
        """Number after the newest line."""
        with self._lock:
            return self._first + len(self._lines)

    def lines(self, start: int, stop: int) -> list[LogLine]:
        """The lines numbered start..stop-1 that are still kept."""
        with self._lock:
            low = max(start - self._first, 0)
            high = min(stop - self._first, len(self._lines))
            return [LogLine(*self._lines[index]) for index in range(low, high)]

    def matches(self, query: LogQuery, start: int, stop: int) -> list[int]:
        """The numbers of those kept lines among start..stop-1 that `query` wants."""
        wanted = query.text.casefold()
        lines = self.lines(start, stop)
        base = min(stop, self.end) - len(lines)
        return [base + at for at, line in enumerate(lines) if wanted in line.text.casefold()]

    def clear(self) -> None:
        """Forget all lines; numbers go on."""
        with self._lock:
            self._first += len(self._lines)
            self._lines.clear()
            self._characters, self._open = 0, False
            self._version += 1

    def tail(self, count: int, stream: Stream | None = None, since: int = 0) -> list[str]:
        """The newest `count` texts from line `since` on, of `stream` only if it is given, oldest first."""
        found: list[str] = []
        with self._lock:
            number = self._first + len(self._lines)
            for _time, text, of in reversed(self._lines):
                number -= 1
                if len(found) == count or number < since:
                    break
                if stream is None or of == stream:
                    found.append(text)
        return found[::-1]

    def append(self, texts: list[str], stream: Stream, *, unfinished: bool = False) -> None:
        """Add lines. With `unfinished` the last one is a beginning, replaced by the next `append`."""
        if not texts:
            return
        now = time.time()
        new = [(now, _cut(text), stream) for text in texts]
        with self._lock:
            if self._open and self._lines[-1][2] == stream:
                self._characters -= len(self._lines.pop()[1])
            self._open = unfinished
            self._lines.extend(new)
            self._characters += sum(len(text) for _time, text, _stream in new)
            while len(self._lines) > self._max_lines or self._characters > self._max_characters:
                self._characters -= len(self._lines.popleft()[1])
                self._first += 1
            self._version += 1

    def remark(self, text: str) -> None:
        """Add a line of hel's own."""
        self.append([self._mask(text[: 2 * LINE_LENGTH])], "hel")


def _cut(text: str) -> str:
    return text if len(text) <= LINE_LENGTH else f"{text[:LINE_LENGTH]}… ({len(text):,} characters)"


class LogIntake:
    """Turns the bytes of one stream into lines of a store: decoded with replacement, masked, bounded."""

    def __init__(
        self,
        store: LogStore,
        stream: Stream,
        *,
        mask: Callable[[str], str] = lambda text: text,
        mirror: Mirror | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._stream: Stream = stream
        self._mask = mask
        self._mirror = mirror
        self._clock = clock
        self._rest = b""
        self._window = 0.0
        self._taken = 0
        self._skipped = 0
        self._newest = b""
        """The last chunk of a flood: its final lines are the ones that explain a crash."""

    @property
    def unfinished(self) -> bool:
        """True while a line has begun and not ended, or lines of a flood are held back."""
        return bool(self._rest or self._skipped)

    def feed(self, data: bytes) -> None:
        """Take in what arrived."""
        data = self._rest + data
        complete, newline, self._rest = data.rpartition(b"\n")
        if len(self._rest) > 16 * LINE_LENGTH:
            complete, newline, self._rest = data, b"\n", b""
        if not newline:
            return
        count = complete.count(b"\n") + 1
        now = self._clock()
        if now - self._window >= 1.0:
            self._end_flood()
            self._window, self._taken = now, 0
        if self._skipped or self._taken + count > LINES_A_SECOND:
            self._skipped += count
            self._newest = complete
            return
        self._taken += count
        self._append(complete)

    def flush(self) -> None:
        """Show what waits: called after a moment without data, and at the end."""
        self._end_flood()
        if self._rest:
            self._store.append(self._texts(self._rest), self._stream, unfinished=True)

    def close(self) -> None:
        """The stream ended: its last line is complete as it is."""
        self.flush()
        if self._rest and self._mirror is not None:
            self._mirror.write(self._texts(self._rest))
        self._rest = b""

    def _end_flood(self) -> None:
        if not self._skipped:
            return
        kept = self._newest.split(b"\n")[-TAIL:]
        lost = self._skipped - len(kept)
        self._skipped, self._newest = 0, b""
        if lost > 0:
            self._store.append([f"… {lost:,} lines skipped"], "hel")
        self._append(b"\n".join(kept))

    def _append(self, data: bytes) -> None:
        texts = self._texts(data)
        self._store.append(texts, self._stream)
        if self._mirror is not None:
            self._mirror.write(texts)

    def _texts(self, data: bytes) -> list[str]:
        text = self._mask(data.decode("utf-8", "replace"))
        return [line.removesuffix("\r") for line in text.split("\n")]


class Mirror:
    """A file of the session that gets the first lines of a log, at most `limit` bytes, mode 0600."""

    def __init__(self, path: Path, limit: int = MIRROR_BYTES) -> None:
        self._path = path
        self._left = limit

    def write(self, texts: list[str]) -> None:
        """Add lines; a file that cannot be written ends the mirror, never the log."""
        if self._left <= 0:
            return
        data = "".join(f"{text}\n" for text in texts).encode("utf-8", "replace")
        cut = data[: self._left]
        self._left -= len(data)
        if self._left <= 0:
            cut += b"(the rest was not kept)\n"
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError:
            self._left = 0
            return
        with os.fdopen(fd, "ab") as file, contextlib.suppress(OSError):
            file.write(cut)
