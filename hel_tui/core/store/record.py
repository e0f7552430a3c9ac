"""The record of a session: what was asked, answered, decided and run, one JSON object a line.

Append-only, private, credentials taken out before a byte is written. Not here: the conversation itself
(session files), frames and logs as the screen shows them (mcp.logs).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.store.atomic import why
from hel_tui.core.store.lines import LineFile
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
        self._file = LineFile(path)
        self._redactor = redactor
        self._on_failure = on_failure
        self._limit = limit
        self._now = now
        self._lock = threading.Lock()
        self._lost = 0
        self._full = False

    def write(self, kind: RecordKind, **facts: Any) -> None:
        """Append one record: the time, its kind and `facts` (JSON-like; other values by their text)."""
        with self._lock:
            if self._full:
                return
            line = self._line(kind, facts)
            if self._file.size + len(line) > self._limit:
                self._full = True
                line = self._line("note", {"text": f"The record is full at {self._limit} bytes."})
            self._append(line)

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _line(self, kind: RecordKind, facts: dict[str, Any]) -> bytes:
        body = self._redactor.data({"time": round(self._now(), 3), "kind": kind, **facts})
        text = json.dumps(body, ensure_ascii=False, default=lambda value: self._redactor(str(value)))
        return text.encode("utf-8", "replace") + b"\n"

    def _append(self, line: bytes) -> None:
        if self._lost:
            line = self._line("note", {"text": f"{self._lost} records were lost."}) + line
        try:
            self._file.append(line)
        except OSError as error:
            self._lost += 1
            if self._lost == 1:
                since = time.strftime("%H:%M", time.localtime(self._now()))
                self._on_failure(f"The record of this session is not saved since {since}: {why(error)}.")
        else:
            self._lost = 0
