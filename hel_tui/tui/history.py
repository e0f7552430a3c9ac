"""What was sent before, for the Up key: a bounded list, kept in a file of JSON lines.

Not here: sessions (core).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

KEPT = 500
MAX_TEXT = 20_000
"""Characters; longer messages are not remembered."""


class History:
    """A list with a place in it; `file` may be None (nothing is kept beyond the run)."""

    def __init__(self, file: Path | None = None, mask: Callable[[str], str] = str) -> None:
        """`mask` takes secrets out of what goes into the file; the list has the text as it was sent."""
        self.file = file
        self._mask = mask
        self.texts = _read(file) if file else []
        self._at = len(self.texts)
        self._draft = ""

    def add(self, text: str) -> None:
        """Remember a message and go back to the newest place."""
        if text and len(text) <= MAX_TEXT and self.texts[-1:] != [text]:
            self.texts = [*self.texts, text][-KEPT:]
            if self.file:
                _append(self.file, self._mask(text))
        self._at, self._draft = len(self.texts), ""

    def older(self, now: str) -> str | None:
        """The message before; None at the oldest. `now` is kept to come back to."""
        if self._at == 0:
            return None
        if self._at == len(self.texts):
            self._draft = now
        self._at -= 1
        return self.texts[self._at]

    def newer(self) -> str | None:
        """The message after, at last the draft that was being written; None when already there."""
        if self._at >= len(self.texts):
            return None
        self._at += 1
        return self._draft if self._at == len(self.texts) else self.texts[self._at]

    def own(self, now: str) -> str:
        """What the person is writing: `now`, or the draft to come back to where `now` is only looked at."""
        at_old = self._at < len(self.texts) and now in ("", self.texts[self._at])
        return self._draft if at_old else now


def _read(file: Path) -> list[str]:
    texts: list[str] = []
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    for line in lines[-KEPT:]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, str):
            texts.append(value)
    return texts


def _append(file: Path, text: str) -> None:
    """One line, in a file only the person can read. A full disk costs the memory, not the message."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, json.dumps(text, ensure_ascii=True).encode() + b"\n")
        finally:
            os.close(handle)
    except OSError:
        return
