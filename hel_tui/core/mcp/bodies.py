"""Bodies of frames, bounded: the newest in memory, older ones in files of the session, the oldest let go.

What goes to a file is redacted before; writing is done beside the loop. Not here: what a body belongs to
(frames), the files themselves (spill).
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.mcp.spill import Spill
from hel_tui.core.store.redact import json_text

MEMORY = 8 * 1024 * 1024
"""Bytes of bodies in memory, beyond which the oldest are written to a file."""
HARD = 3 * MEMORY
"""Bytes in memory, beyond which the oldest are let go although they are not written yet."""
BATCH = 1024 * 1024
"""Bytes that are written at a time."""
LONGEST = 1024 * 1024
"""Bytes of a body that are kept whole; of a longer one head and tail are."""
LONGEST_PAUSE = 0.5
"""Seconds between two batches, at most: as long as the last one took."""
MARGIN = 4096
"""Bytes more that are kept where a long body was cut, until secrets are out: one may lie across the cut."""
_LENGTH_BITS = 24
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class _Long:
    """What is kept of a body that is too long."""

    head: bytes
    tail: bytes
    size: int

    def __len__(self) -> int:
        return len(self.head) + len(self.tail)


_Body = bytes | _Long


class Bodies:
    """Bodies by number of their frame. All methods are safe from any thread."""

    def __init__(self, folder: Callable[[], Path | None], name: str, mask: Callable[[str], str]) -> None:
        """`folder` is where files go, None for nowhere; asked for each batch, since sessions change."""
        self._mask = mask
        self._spill = Spill(folder, name)
        self._lock = threading.Lock()
        self._memory: dict[int, _Body] = {}
        self._bytes = 0
        self._base = 0
        self._places = array("q")
        """For the frames from `_base` on: where a body is in the files, and its length."""
        self._is_writing = False
        self.lost = 0
        """Bodies that were let go for want of room."""
        self.on_lost: Callable[[], None] = lambda: None
        """Hears, once, that the oldest bodies are let go from now on; in any thread."""
        self._is_told = False
        self.on_failed: Callable[[str], None] = lambda _why: None
        """Hears, once, that writing them fails, and why; in any thread."""
        self._has_failed = False

    def put(self, number: int, body: bytes) -> None:
        """Keep the body of a frame; not yet known numbers only grow."""
        kept = body if len(body) <= LONGEST else _cut(body)
        with self._lock:
            self._memory[number] = kept
            self._bytes += len(kept)
            if self._bytes <= MEMORY:
                return
            begins = not self._is_writing
            if not begins:
                self._let_go(HARD)
            self._is_writing = True
        if begins:
            try:
                threading.Thread(target=self._write, name="hel-frames", daemon=True).start()
            except RuntimeError as error:  # there are too many
                self._failed(error)
        self._tell()

    def get(self, number: int) -> str:
        """The body, redacted; empty when it is not kept."""
        with self._lock:
            body = self._memory.get(number)
            place = self._place(number) if body is None else _NOWHERE
        if body is not None:
            return self._shown(body)
        return self._read(place).decode("utf-8", "replace")

    def has(self, number: int) -> bool:
        """Whether it is kept, be it in part."""
        with self._lock:
            if number in self._memory:
                return True
            place = self._place(number)
        return place >= 0 and self._spill.has(place >> _LENGTH_BITS)

    def raw(self, number: int) -> bytes:
        """The body as it is kept: of a newer one with secrets in it, so for looking into it only."""
        with self._lock:
            body = self._memory.get(number)
            place = self._place(number) if body is None else _NOWHERE
        if isinstance(body, _Long):
            return body.head + body.tail
        return body if body is not None else self._read(place)

    def forget_before(self, number: int) -> None:
        """The frames before this one are not kept any more."""
        with self._lock:
            for old in list(self._memory):
                if old >= number:
                    break
                self._bytes -= len(self._memory.pop(old))
            gone = min(number - self._base, len(self._places))
            if gone > 0:
                del self._places[:gone]
            self._base = max(self._base, number)

    def close(self) -> None:
        """Close the files; they stay."""
        self._spill.close()

    # -------------------------------------------------------------------- inside

    def _read(self, place: int) -> bytes:
        if place < 0:
            return b""
        return self._spill.read(place >> _LENGTH_BITS, place & ((1 << _LENGTH_BITS) - 1))

    def _place(self, number: int) -> int:
        at = number - self._base
        return self._places[at] if 0 <= at < len(self._places) else _NOWHERE

    def _note(self, number: int, place: int) -> None:
        at = number - self._base
        if at < 0:
            return
        if at >= len(self._places):
            self._places.extend([_NOWHERE] * (at + 1 - len(self._places)))
        self._places[at] = place

    def _let_go(self, limit: int) -> None:
        while self._bytes > limit and self._memory:
            oldest = next(iter(self._memory))
            self._bytes -= len(self._memory.pop(oldest))
            self.lost += 1

    def _tell(self) -> None:
        """Say once that something was let go."""
        if (self.lost or self._spill.dropped) and not self._is_told:
            self._is_told = True
            self.on_lost()

    def _write(self) -> None:
        """In a thread of its own: write the oldest bodies until enough room is there."""
        try:
            while self._write_some():
                pass
        except Exception as error:  # whoever puts the next body tries again; what is too much is let go
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        with self._lock:
            self._is_writing = False
            self._let_go(MEMORY - BATCH)  # it will hardly go better at the very next body
            told, self._has_failed = self._has_failed, True
        if not told:
            self.on_failed(f"{type(error).__name__}: {error}")
        self._tell()

    def _write_some(self) -> bool:
        """Write a batch, if there is too much; whether there may be more to do."""
        with self._lock:
            if self._bytes <= MEMORY:
                self._is_writing = False
                return False
            batch: list[tuple[int, _Body]] = []
            left = BATCH
            for number, body in self._memory.items():
                batch.append((number, body))
                left -= len(body)
                if left <= 0:
                    break
        began = time.monotonic()
        data, places = self._prepared(batch)
        offset = self._spill.append(data)
        with self._lock:
            for (number, body), (start, length) in zip(batch, places, strict=True):
                if self._memory.get(number) is not body:  # let go, or another since
                    continue
                del self._memory[number]
                self._bytes -= len(body)
                if offset is None:
                    self.lost += 1
                else:
                    self._note(number, (offset + start) << _LENGTH_BITS | length)
        self._tell()
        time.sleep(min(time.monotonic() - began, LONGEST_PAUSE))  # a flood must not take all the time
        return True

    def _shown(self, body: _Body) -> str:
        """The body as it may be seen."""
        if isinstance(body, bytes):
            return json_text(body.decode("utf-8", "replace"), self._mask)
        head = json_text(body.head.decode("utf-8", "replace"), self._mask)[:-MARGIN]
        tail = json_text(body.tail.decode("utf-8", "replace"), self._mask)[MARGIN:]
        half = LONGEST // 2
        return f"{head}…\n…{tail}\n(of {body.size:,} bytes about the first and last {half:,} are kept)"

    def _prepared(self, batch: list[tuple[int, _Body]]) -> tuple[bytes, list[tuple[int, int]]]:
        """The bodies as they are written, redacted, one a line; where each is."""
        data = bytearray()
        places: list[tuple[int, int]] = []
        for _, body in batch:
            text = self._shown(body).encode("utf-8", "replace")
            places.append((len(data), len(text)))
            data += text
            data += b"\n"
        return bytes(data), places


def _cut(body: bytes) -> _Long:
    kept = LONGEST // 2 + MARGIN
    return _Long(body[:kept], body[-kept:], len(body))
