"""The changes that are kept, a line each in a file of the session.

A change is written before it is made, where it is known by then. Not here: contents (blobs), making
them undone (restoring).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.store.lines import LineFile
from hel_tui.core.store.sessions.forking import CHECKPOINT_LOG
from hel_tui.core.tools.checkpoints.states import State, state_from
from hel_tui.core.vocabulary import Json

MOST_BYTES = 32 << 20
"""Of the file, when it is read."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a tool did to one path."""

    turn: int
    tool: str
    path: str
    """Relative to the project, with `/`."""
    before: State
    after: State


@dataclass(slots=True)
class ChangeLog:
    """The changes of one session that are not undone, oldest first. Used by one thread at a time."""

    file: LineFile
    changes: list[Change]
    given_back: bool = False
    """Something that a turn changed was given back."""

    @classmethod
    def of(cls, folder: Path) -> ChangeLog:
        """The log of the session in `folder`; lines that cannot be read are left out."""
        path = folder / CHECKPOINT_LOG
        changes: list[Change] = []
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES)
        except OSError:
            data = b""
        given_back = False
        for line in data.splitlines():
            given_back = _take(line, changes) or given_back
        return cls(LineFile(path), changes, given_back)

    def add(self, changes: Sequence[Change]) -> None:
        """Write down these changes. Raises OSError; then they are kept in memory only."""
        if not changes:
            return
        self.changes += changes
        lines = [
            {
                "k": "change",
                "turn": one.turn,
                "tool": one.tool,
                "path": one.path,
                "before": one.before.as_json(),
                "after": one.after.as_json(),
            }
            for one in changes
        ]
        self.file.append(_lines(lines))

    def undo(self, turn: int, paths: Sequence[str]) -> None:
        """These paths are as they were before `turn` again. Raises OSError."""
        _undo(self.changes, turn, paths)
        self.given_back = self.given_back or bool(paths)
        self.file.append(_lines([{"k": "undone", "turn": turn, "paths": list(paths)}]))

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()


def _undo(changes: list[Change], turn: int, paths: Iterable[str]) -> None:
    gone = frozenset(paths)
    changes[:] = [one for one in changes if one.turn < turn or one.path not in gone]


def _lines(records: Iterable[Json]) -> bytes:
    """Names on disk may be no UTF-8: JSON's escapes hold them."""
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in records)


def _take(line: bytes, changes: list[Change]) -> bool:
    """Take a line in; whether it says that something was given back."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    match record:
        case {
            "k": "change",
            "turn": int(turn),
            "tool": str(tool),
            "path": str(path),
            "before": dict(b),
            "after": dict(a),
        }:
            before, after = state_from(b), state_from(a)
            if before is not None and after is not None:
                changes.append(Change(turn, tool, path, before, after))
        case {"k": "undone", "turn": int(turn), "paths": list(paths)}:
            _undo(changes, turn, [path for path in paths if isinstance(path, str)])
            return bool(paths)
        case _:
            pass
    return False
