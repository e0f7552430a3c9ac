"""Turns the bytes of a stream into lines of a log: decoded, masked, bounded, as a terminal would show them.

Ingest is by chunk and never waits: a flood is counted, its newest lines are kept. Not here: keeping the lines
(logs), making foreign text safe to draw (the screen's own border).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from hel_tui.core.counts import counted
from hel_tui.core.mcp.levels import Guesser
from hel_tui.core.mcp.logs import LINE_LENGTH, LogStore, Stream
from hel_tui.core.store.redact import MARGIN

LINES_A_SECOND = 20_000
"""More than these in one second are counted, not kept."""
TAIL = 20
"""How many of the newest lines of a flood are kept."""
MIRROR_BYTES = 64 * 1024
"""How much of a log goes to the session's file."""
STATES = 50
"""How many states of a line that rewrites itself are looked at, the last ones."""


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
        self._guesser = Guesser()
        self._rest = b""
        self._is_within = False
        """What waits begins with the end of what was taken of a long line: a secret may lie across."""
        self._window = 0.0
        self._taken = 0
        self._skipped = 0
        self._newest, self._newest_within = b"", False
        """The last chunk of a flood: its final lines are the ones that explain a crash."""

    @property
    def unfinished(self) -> bool:
        """True while a line has begun and not ended, or lines of a flood are held back."""
        return bool(self._rest or self._skipped)

    def feed(self, data: bytes) -> None:
        """Take in what arrived."""
        data = self._rest + data
        complete, newline, self._rest = data.rpartition(b"\n")
        if len(self._rest) > LINE_LENGTH and b"\r" in self._rest:  # a line that rewrites itself
            self._rest = b"\r".join(self._rest.rsplit(b"\r", 3)[-3:])
            self._is_within = self._is_within and bool(newline)
        within = self._is_within
        if len(self._rest) > 16 * LINE_LENGTH:
            complete, newline, self._rest = data, b"\n", data[-MARGIN:]
            self._is_within = True
        elif newline:
            self._is_within = False
        if not newline:
            return
        count = complete.count(b"\n") + 1
        now = self._clock()
        if now - self._window >= 1.0:
            self._end_flood()
            self._window, self._taken = now, 0
        if self._skipped or self._taken + count > LINES_A_SECOND:
            self._skipped += count
            self._newest, self._newest_within = complete, within
            return
        self._taken += count
        self._append(complete, within)

    def flush(self) -> None:
        """Show what waits: called after a moment without data, and at the end."""
        self._end_flood()
        if self._rest and (texts := self._texts(self._rest, self._is_within)) != [""]:
            self._store.append(texts, self._stream, unfinished=True)

    def close(self) -> None:
        """The stream ended: its last line is complete as it is."""
        self.flush()
        if self._rest and self._mirror is not None:
            self._mirror.write(self._texts(self._rest, self._is_within))
        self._rest, self._is_within = b"", False
        self._store.finish()

    def _end_flood(self) -> None:
        if not self._skipped:
            return
        lines = self._newest.split(b"\n")
        kept = lines[-TAIL:]
        within = self._newest_within and len(kept) == len(lines)
        lost = self._skipped - len(kept)
        self._skipped, self._newest = 0, b""
        if lost > 0:
            self._store.append([f"… {counted(lost, 'line')} skipped"], "hel")
        self._append(b"\n".join(kept), within)

    def _append(self, data: bytes, within: bool) -> None:
        texts = self._texts(data, within)
        self._store.append(texts, self._stream, levels=[self._guesser.level(text) for text in texts])
        if self._mirror is not None:
            self._mirror.write(texts)

    def _texts(self, data: bytes, within: bool) -> list[str]:
        text = self._mask(data.decode("utf-8", "replace"))
        if within:
            first, newline, rest = text.partition("\n")
            text = first[MARGIN:] + newline + rest
        lines = text.split("\n")
        return [_last_state(line) for line in lines] if "\r" in text else lines


def _last_state(line: str) -> str:
    """A line as a terminal shows it in the end: each carriage return begins to write over it."""
    shown = ""
    for state in line.removesuffix("\r").split("\r")[-STATES:]:
        erases = "\x1b[K" in state or "\x1b[2K" in state or "\x1b[0K" in state
        shown = state if erases or "\x1b" in shown else state + shown[len(state) :]
    return shown


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
