"""The record that is being written: a new session begins a new file, its writers stay.

Not here: how a record is written (store).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hel_tui.core.store.places import make_private
from hel_tui.core.store.record import Record, RecordKind
from hel_tui.core.store.sessions.folders import mark

FILE = "record.jsonl"


class Pages:
    """The record of the session that is open."""

    def __init__(self, open_at: Callable[[Path], Record], folder: Path, project: Path | None = None) -> None:
        self._open_at = open_at
        self._folder = folder
        self._project = project
        self._page = open_at(folder / FILE)

    def folder(self) -> Path | None:
        """The folder of the open session, made if needed; None when it cannot be."""
        try:
            make_private(self._folder)
        except OSError:
            return None
        if self._project is not None:
            mark(self._folder, self._project)
        return self._folder

    def write(self, kind: RecordKind, **facts: Any) -> None:
        """Append to the open record."""
        self._page.write(kind, **facts)

    def turn_over(self, folder: Path) -> None:
        """Close the record and begin one in `folder`."""
        self._page.close()
        self._folder = folder
        self._page = self._open_at(folder / FILE)

    def close(self) -> None:
        """Write no more."""
        self._page.close()
