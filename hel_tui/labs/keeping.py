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

from hel_tui.core.store.atomic import why
from hel_tui.core.store.reading import Unreadable, read_plain
from hel_tui.foreign import whole_characters
from hel_tui.labs.lab import Lab
from hel_tui.labs.running import Run

ROWS = "runs.jsonl"
MOST_BYTES = 256 << 20
"""Bytes of a file of rows that is read."""
_KEY = ("condition", "run")
_TEXTS = ("condition", "digest", "model", "ended")
_COUNTS = (
    "run",
    "model_calls",
    "tool_calls",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "called_before_loading",
)
_HAS = {"effort": "", "error": "", "hel": "", "cost": None, "unpriced": 0}
"""What rows of an earlier hel may lack."""
_WAYS = "; --again puts them aside, --output DIR keeps these elsewhere"


class Foreign(Exception):
    """The folder holds runs of something else, or is another process's now; the text says so."""


class Results:
    """The runs in one folder, those of an interrupted lab too. Later rows stand for earlier ones of a run."""

    def __init__(self, folder: Path, *, writes: bool = True) -> None:
        """Reads what is there. Who `writes` has the folder alone until its process ends.

        A link in the current folder is not followed: it may have come with somebody's project. Raises
        Foreign, OSError.
        """
        refuse_links(folder, folder / ROWS)
        self.folder = folder
        self._claim = _claimed(folder) if writes else None
        self.file = folder / ROWS
        self._rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._torn = False
        self.spent = 0.0
        """US dollars, over all runs that were ever made here."""
        data = read_plain(self.file, within=folder, limit=MOST_BYTES) if folder.exists() else None
        if isinstance(data, Unreadable):
            raise Foreign(f"{self.file}: {data.sentence}")
        self._read(data or b"")

    def _read(self, data: bytes) -> None:
        self._torn = bool(data) and not data.endswith(b"\n")
        for line in data.splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # the line it was in the middle of
                continue
            if (row := _sound(row)) is not None:
                self._take(row)

    def _take(self, row: dict[str, Any]) -> None:
        self._rows[tuple(row[key] for key in _KEY)] = row
        self.spent += row["cost"] or 0.0

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
        row = _HAS | _whole(row)
        line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(self.file, flags, 0o644), "ab") as file:
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


def refuse_links(folder: Path, *files: Path) -> None:
    """Raises Foreign where a step from the current folder to `folder`, or one of its `files`, is a link."""
    here = Path.cwd()
    inside = [part for part in (folder, *folder.parents) if part != here and part.is_relative_to(here)]
    for part in (*files, *inside):
        if part.is_symlink():
            raise Foreign(f"{part} is a link: results are written into plain folders and files only")


def _sound(row: Any) -> dict[str, Any] | None:
    """A row that can be told and summed; None for anything else that somebody wrote there."""
    if not isinstance(row, dict):
        return None
    row = _HAS | _whole(row)
    cost = row["cost"]
    is_sound = (
        all(isinstance(row.get(key), str) for key in (*_TEXTS, "effort", "error", "hel"))
        and all(_is_count(row.get(key)) for key in (*_COUNTS, "unpriced"))
        and _is_sum(row.get("seconds"))
        and (cost is None or _is_sum(cost))
        and isinstance(row.get("passed"), bool)
        and isinstance(checks := row.get("checks"), list)
        and all(map(_is_check, checks))
        and isinstance(notes := row.get("notes"), dict)
        and all(isinstance(one, bool) for one in notes.values())
        and isinstance(calls := row.get("server_calls"), list)
        and all(isinstance(one, str) for one in calls)
    )
    return row if is_sound else None


def _is_check(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("passed"), bool)
        and isinstance(one.get("why"), str)
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def _is_sum(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15


def _whole(value: Any) -> Any:
    """A JSON value whose texts can be encoded: a model and a server may send half a character."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {whole_characters(key): _whole(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return value


def _claimed(folder: Path) -> int:
    """A handle that keeps others from writing there, however this process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Foreign(f"{folder}: {why(error)}") from None
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise Foreign(f"another hel eval is at work in {folder}") from None
    return handle
