"""The record of a session: what was asked, answered, decided and run, one JSON object a line.

Append-only, private, credentials taken out before a byte is written. Not here: the conversation itself
(session files), frames and logs as the screen shows them (mcp.logs).
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.store.atomic import PRIVATE_FILE, why
from hel_tui.core.store.places import make_private
from hel_tui.core.store.redact import Redactor

RecordKind = Literal[
    "user",
    "request",
    "response",
    "permission",
    "hook",
    "result",
    "turn",
    "access",
    "server",
    "search",
    "note",
]
MAX_RECORD_FILE = 64 << 20
"""Bytes after which a record takes no more; the last line says so."""


class Record:
    """Writes records, one write each, from any thread. Failing to write never fails the caller."""

    def __init__(
        self,
        path: Path,
        redactor: Redactor,
        on_failure: Callable[[str], None] = lambda _sentence: None,
        *,
        limit: int = MAX_RECORD_FILE,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Nothing is opened before the first record. `on_failure` hears one sentence an outage."""
        self._path = path
        self._redactor = redactor
        self._on_failure = on_failure
        self._limit = limit
        self._now = now
        self._lock = threading.Lock()
        self._handle: int | None = None
        self._size = 0
        self._lost = 0
        self._torn = False
        self._full = False

    def write(self, kind: RecordKind, **facts: Any) -> None:
        """Append one record: the time, its kind and `facts` (JSON-like; other values by their text)."""
        with self._lock:
            if self._full:
                return
            line = self._line(kind, facts)
            if self._size + len(line) > self._limit:
                self._full = True
                line = self._line("note", {"text": f"The record is full at {self._limit} bytes."})
            self._append(line)

    def close(self) -> None:
        with self._lock:
            self._close()

    def _line(self, kind: RecordKind, facts: dict[str, Any]) -> bytes:
        body = self._redactor.data({"time": round(self._now(), 3), "kind": kind, **facts})
        text = json.dumps(body, ensure_ascii=False, default=lambda value: self._redactor(str(value)))
        return text.encode("utf-8", "replace") + b"\n"

    def _append(self, line: bytes) -> None:
        if self._lost:
            line = self._line("note", {"text": f"{self._lost} records were lost."}) + line
        try:
            if self._handle is None:
                self._open()
            self._put(b"\n" + line if self._torn else line)
        except OSError as error:
            self._close()
            self._lost += 1
            if self._lost == 1:
                since = time.strftime("%H:%M", time.localtime(self._now()))
                self._on_failure(f"The record of this session is not saved since {since}: {why(error)}.")
        else:
            self._lost = 0

    def _open(self) -> None:
        make_private(self._path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._handle = os.open(self._path, flags, PRIVATE_FILE)
        self._size = os.fstat(self._handle).st_size
        self._torn = self._size > 0 and os.pread(self._handle, 1, self._size - 1) != b"\n"

    def _put(self, data: bytes) -> None:
        """Write `data` whole or, when the disk is full, nothing of it."""
        handle = self._handle
        assert handle is not None
        done = 0
        try:
            while done < len(data):
                done += os.write(handle, data[done:])
        except OSError:
            if done:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, self._size)
            raise
        self._size += done
        self._torn = False

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
