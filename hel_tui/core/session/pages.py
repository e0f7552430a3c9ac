"""The record that is being written: a new session begins a new file, its writers stay.

Not here: how a record is written (store).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hel_tui.core.store.atomic import PRIVATE_FILE
from hel_tui.core.store.places import PROJECT_MARK, make_private
from hel_tui.core.store.record import Record, RecordKind

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
        self._mark(self._folder / PROJECT_MARK)
        return self._folder

    def _mark(self, path: Path) -> None:
        """Say whose session it is, for those who look for it later. Without it they do not find it."""
        if self._project is None or path.exists():
            return
        with suppress(OSError):
            path.touch(PRIVATE_FILE)
            path.write_text(os.path.realpath(self._project) + "\n", "utf-8", "surrogateescape")

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
