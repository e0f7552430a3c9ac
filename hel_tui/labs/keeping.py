"""The results of a lab on disk: a line a run, written when it is over, so that a lab can be gone on with.

Not here: what is in a row (running), what is made of all rows (reporting).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hel_tui.labs.lab import Lab
from hel_tui.labs.running import Run

ROWS = "runs.jsonl"
_KEY = ("condition", "run")


class Foreign(Exception):
    """The folder holds runs of something else; the text says of what."""


class Results:
    """The runs in one folder, those of an interrupted lab too. Later rows stand for earlier ones of a run."""

    def __init__(self, folder: Path) -> None:
        """Reads what is there. Raises OSError."""
        self.folder = folder
        self.file = folder / ROWS
        self._rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._torn = False
        self.spent = 0.0
        """US dollars, over all runs that were ever made here."""
        if self.file.exists():
            self._read(self.file.read_bytes())

    def _read(self, data: bytes) -> None:
        self._torn = bool(data) and not data.endswith(b"\n")
        for line in data.splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # the line it was in the middle of
                continue
            if isinstance(row, dict) and all(key in row for key in (*_KEY, "digest", "model", "passed")):
                self._take(row)

    def _take(self, row: dict[str, Any]) -> None:
        self._rows[tuple(row[key] for key in _KEY)] = row
        self.spent += row.get("cost") or 0.0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row a run."""
        return list(self._rows.values())

    def hold(self, lab: Lab, models: Mapping[str, str], effort: str) -> None:
        """Raises Foreign when a row is of another state of the lab, or of another model than `models` has for
        its condition: they could not stand in one report.
        """
        for row in self._rows.values():
            if row["digest"] != lab.digest:
                raise Foreign(f"{self.file} holds runs of another lab, or of this one before it was changed")
            model = models.get(row["condition"], row["model"])
            if (row["model"], row.get("effort", "")) != (model, effort):
                raise Foreign(f"{self.file} holds runs with {row['model']} {row.get('effort', '')}".rstrip())

    def missing(self, runs: Sequence[Run]) -> list[Run]:
        """Those that were not made, or that a failure of hel or of the endpoint ended."""
        done = {key for key, row in self._rows.items() if not row.get("error")}
        return [run for run in runs if (run.condition.name, run.number) not in done]

    def add(self, row: dict[str, Any]) -> None:
        """Keep one run: on disk before it counts. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
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
