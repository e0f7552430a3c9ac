"""The results of a lab on disk: a line a run, written when it is over, so that a lab can be gone on with.

Not here: what is in a row (running), what is made of all rows (reporting).
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hel_tui.core.store.reading import open_plain
from hel_tui.labs.lab import Lab
from hel_tui.labs.running import Run

ROWS = "runs.jsonl"
_KEY = ("condition", "run")
_FIGURES = ("model_calls", "tool_calls", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
_TOLD = ("digest", "model", "passed", "checks", "notes", "called_before_loading", "server_calls", "ended")
_NEEDED = frozenset((*_KEY, *_TOLD, *_FIGURES, "seconds"))
"""What every row has."""
_WAYS = "; --again puts them aside, --output DIR keeps these elsewhere"


class Foreign(Exception):
    """The folder holds runs of something else, or is another process's now; the text says so."""


class Results:
    """The runs in one folder, those of an interrupted lab too. Later rows stand for earlier ones of a run."""

    def __init__(self, folder: Path, *, writes: bool = True) -> None:
        """Reads what is there. Who `writes` has the folder alone until its process ends.

        Raises Foreign, OSError.
        """
        self.folder = folder
        self._claim = _claimed(folder) if writes else None
        self.file = folder / ROWS
        self._rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._torn = False
        self.spent = 0.0
        """US dollars, over all runs that were ever made here."""
        if self.file.exists():
            with open_plain(self.file) as file:
                self._read(file.read())

    def _read(self, data: bytes) -> None:
        self._torn = bool(data) and not data.endswith(b"\n")
        for line in data.splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # the line it was in the middle of
                continue
            if isinstance(row, dict) and row.keys() >= _NEEDED:
                self._take(row)

    def _take(self, row: dict[str, Any]) -> None:
        self._rows[tuple(row[key] for key in _KEY)] = row
        self.spent += row.get("cost") or 0.0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row a run."""
        return list(self._rows.values())

    def hold(self, lab: Lab, voices: Mapping[str, tuple[str, str]] | None = None) -> None:
        """Raises Foreign when a row is of another state of the lab, or of another model or effort than its
        condition has in `voices`: they could not stand in one report. Without `voices` any will do.
        """
        for row in self._rows.values():
            if row["digest"] != lab.digest:
                changed = "another lab, or of this one before it was changed"
                raise Foreign(f"{self.file} holds runs of {changed}{_WAYS}")
            voice = (row["model"], row.get("effort", ""))
            if voices is not None and voice != voices.get(row["condition"], voice):
                raise Foreign(f"{self.file} holds runs with {' '.join(voice).rstrip()}{_WAYS}")

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """Those that were not made, or that a failure of hel or of the endpoint ended."""
        done = {key for key, row in self._rows.items() if not row.get("error")}
        return [run for run in runs if (run.condition.name, run.number) not in done]

    def add(self, row: dict[str, Any]) -> None:
        """Keep one run: on disk before it counts. Raises OSError."""
        line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
        with self.file.open("ab") as file:
            file.write(b"\n" + line if self._torn else line)
            file.flush()
            os.fsync(file.fileno())
        self._torn = False
        self._take(row)

    def set_aside(self) -> Path | None:
        """Give the rows that are there another name; the name, None when there were none."""
        self._rows.clear()
        self.spent = 0.0
        self._torn = False
        if not self.file.exists():
            return None
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self.file.stat().st_mtime))
        aside = next(
            path
            for number in range(1, 10_000)
            if not (path := self.folder / f"runs-{stamp}{f'-{number}' if number > 1 else ''}.jsonl").exists()
        )
        self.file.rename(aside)
        return aside


def _claimed(folder: Path) -> int:
    """A handle that keeps others from writing there, however this process ends."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise Foreign(f"another hel eval is at work in {folder}") from None
    return handle
