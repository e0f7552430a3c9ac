"""Writes the file of a session as things happen: a line each, before the screen hears of it.

Text that still arrives goes piece by piece into a second file, `live.jsonl`, which is emptied when the
whole text is one line of the first: what was shown is kept, and long sessions stay small. When nothing can
be written, lines wait in memory and are written later. Not here: what the lines say (records), the end of
an earlier run (reading).
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hel_tui.core.counts import counted
from hel_tui.core.store.atomic import why
from hel_tui.core.store.lines import LineFile
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions.locking import Lock
from hel_tui.core.store.sessions.masking import masked
from hel_tui.core.vocabulary import Json

FILE = "session.jsonl"
LIVE = "live.jsonl"
MAX_LINE = 16 << 20
"""Bytes of a line that is read back; a longer one counts as damaged, and none is written."""
MOST_TEXT = 2_000_000
"""Characters that stay of a text that would make a longer one: however JSON writes them, they fit."""
MOST_WAITING = 64 << 20
"""Bytes of lines that wait in memory while nothing can be written; beyond, the oldest are lost."""
RECENT = 200
"""Characters of a text that are looked at with its next piece: a secret may lie across both."""
_SIGNS = ("=", ":", "earer", "EARER", "KEY-")
"""What stands before a credential that gives itself away by more than itself (see redact)."""
AGAIN_AFTER = 1.0
"""Seconds after a failure before a write is tried again."""


@dataclass(slots=True)
class _Open:
    """A text that still arrives."""

    head: Json
    number: int
    pieces: list[str] = field(default_factory=list)
    recent: str = ""
    """How it ends."""
    masked: str = ""
    """The same without secrets, as it is in the file."""


class Journal:
    """The files of the session that is open. Safe from any thread; failing to write fails nobody."""

    def __init__(
        self,
        folder: Path,
        redactor: Redactor,
        lock: Lock,
        on_trouble: Callable[[float, str], None] = lambda _since, _why: None,
        *,
        on_return: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is touched before the first line. `on_trouble` hears (Unix time since when, why) when lines
        cannot be written, and (0, "") when all are; `lock` is held from the first line on.
        """
        self.folder = folder
        self._file = LineFile(folder / FILE)
        self._live = LineFile(folder / LIVE)
        self._redactor = redactor
        self._lock = lock
        self._on_trouble = on_trouble
        self._on_return = on_return
        self._now = now
        self._guard = threading.RLock()
        self._waiting: deque[bytes] = deque()
        self._weight = 0
        self._lost = 0
        self._since = 0.0
        self._next_try = 0.0
        self._texts: dict[str, _Open] = {}
        self._numbers = 0
        self.lines = 0
        """Lines that were written in this run."""

    @property
    def size(self) -> int:
        """Bytes of the session's file."""
        return self._file.size

    @property
    def is_there(self) -> bool:
        """Something is in the session's file, and nobody took it away."""
        try:
            return self._file.path.stat().st_size > 0 and not self._file.is_gone
        except OSError:
            return False

    def hold(self) -> bool:
        """Keep hold of the file of a kept session before the first line; False when it is gone already."""
        with contextlib.suppress(OSError):
            return self._file.hold()
        return True

    @property
    def is_behind(self) -> bool:
        """There are lines that could not be written yet."""
        return bool(self._since)

    def write(self, record: Json) -> int:
        """Write one record with the time; returns where in the file it begins, -1 while that cannot be."""
        with self._guard:
            line = self._line(record)
            if self._since:
                self._wait(line)
                if time.monotonic() >= self._next_try:
                    self.catch_up()
                return -1
            try:
                self._put(line)
            except OSError as error:
                self._since = self._now()
                self._wait(line)
                self._fail(error)
                return -1
            return self._file.size - len(line)

    def piece(self, item: str, head: Json, text: str) -> None:
        """A piece of a text arrived; `head` are the fields of the record it becomes."""
        with self._guard:
            one = self._texts.get(item)
            begins = b""
            if one is None:
                one = self._texts[item] = _Open({"k": "text", "item": item, **head}, self._numbers)
                self._numbers += 1
                begins = _json({"n": one.number, **one.head})
            one.pieces.append(text)
            if self._since:
                return
            try:
                self._put_piece(one, begins, text)
            except OSError as error:
                self._since = self._now()
                self._fail(error)

    def text(self, item: str) -> str:
        """The text of `item` so far."""
        one = self._texts.get(item)
        return "".join(one.pieces) if one is not None else ""

    def end(self, item: str) -> None:
        """No more of this text comes: it becomes one line."""
        with self._guard:
            one = self._texts.pop(item, None)
            if one is None:
                return
            self.write({**one.head, "text": "".join(one.pieces)})
            if not self._texts and not self._since:
                with contextlib.suppress(OSError):
                    self._live.empty()

    def catch_up(self) -> bool:
        """Write what waits; say whether nothing waits any more."""
        with self._guard:
            if not self._since:
                return True
            since, lost = self._since, self._lost
            try:
                while self._waiting:
                    self._put(self._waiting[0])
                    self._weight -= len(self._waiting.popleft())
                self._put(self._line({"k": "gap", "from": round(since, 3), "lost": lost}))
                self._put_texts()
            except OSError as error:
                self._fail(error, told=True)
                return False
            self._since, self._lost = 0.0, 0
            self._on_trouble(0.0, f"{counted(lost, 'line')} lost" if lost else "")
            return True

    def close(self) -> None:
        """Write what waits, as far as that is possible, and let go of files and lock."""
        with self._guard:
            for item in tuple(self._texts):
                self.end(item)
            self.catch_up()
            self._file.close()
            self._live.close()
            self._lock.release()

    # ------------------------------------------------------------------- inside

    def _line(self, record: Json) -> bytes:
        head = {"k": record["k"], "t": round(self._now(), 3)}
        shown = masked(record, self._redactor)
        line = _json({**head, **shown})
        if len(line) > MAX_LINE and isinstance(text := shown.get("text"), str):
            line = _json({**head, **shown, "text": _cut(text)})
        return line

    def _put(self, line: bytes) -> None:
        returned = self._file.returned
        if self._file.is_gone:
            self._lock.renew()
        self._lock.take()
        self._file.append(line)
        self.lines += 1
        if self._file.returned != returned:
            self._on_return()

    def _put_piece(self, one: _Open, begins: bytes, text: str) -> None:
        """Write a piece. One that makes a secret of what stands before it has all of that written anew."""
        one.recent += text
        if any(sign in one.recent for sign in _SIGNS):
            now = self._redactor(one.recent)
        else:
            now = one.masked + self._redactor(text)
        if now.startswith(one.masked):
            self._live.append(begins + _json([one.number, now[len(one.masked) :]]))
        else:
            self._put_texts()
        self.lines += 1
        one.masked = now
        if len(one.recent) > 2 * RECENT:
            one.recent = one.recent[-RECENT:]
            one.masked = self._redactor(one.recent)

    def _put_texts(self) -> None:
        """Write all texts that still arrive, as far as they came, in the place of their pieces."""
        self._live.empty()
        for one in self._texts.values():
            text = self._redactor("".join(one.pieces))
            self._live.append(_json({"n": one.number, **one.head}) + _json([one.number, text]))

    def _wait(self, line: bytes) -> None:
        self._waiting.append(line)
        self._weight += len(line)
        while self._weight > MOST_WAITING and len(self._waiting) > 1:
            self._weight -= len(self._waiting.popleft())
            self._lost += 1

    def _fail(self, error: OSError, *, told: bool = False) -> None:
        self._next_try = time.monotonic() + AGAIN_AFTER
        if not told:
            self._on_trouble(self._since, why(error))


def _cut(text: str) -> str:
    """The head and tail of a text, and between them how much is not kept."""
    half = MOST_TEXT // 2
    return f"{text[:half]}\n[… {len(text) - MOST_TEXT:,} characters are not kept …]\n{text[-half:]}"


def _json(value: object) -> bytes:
    """One line. A lone surrogate becomes its JSON escape, and is read back as what it was."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "backslashreplace") + b"\n"
