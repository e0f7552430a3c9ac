"""The look before a command, on disk while the command runs.

A hel that is killed meanwhile leaves it, and the next one finds out from it what the command changed.
Not here: looking (survey), comparing (keeper).
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hel_tui.core.store.places import make_private
from hel_tui.core.store.reading import read_plain
from hel_tui.core.store.remains import part_name
from hel_tui.core.tools.checkpoints.states import State, state_from
from hel_tui.core.tools.checkpoints.survey import Survey
from hel_tui.core.tools.opening import Stamp

NAME = "checkpoints.look"
"""The file, in the folder of the session."""
MOST_BYTES = 64 << 20
"""Of the file, when it is read."""
_PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen before a command."""

    turn: int
    tool: str
    survey: Survey

    def told(self, changed: int, lost: int) -> str:
        """What a person has to know of a command in the middle of which hel was ended: how much changed, and
        of how much nobody has what it was.
        """
        count = "1 path of the project has" if changed == 1 else f"{changed:,} paths of the project have"
        gone = f" Of {lost:,} what they were is not kept." if lost else ""
        return (
            f"hel was ended while {self.tool} ran in turn {self.turn}, and {count} changed since. /undo "
            f"shows each of them before it gives it back.{gone}"
        )


def keep_look(folder: Path, look: Look) -> None:
    """Put the look into the folder of the session, in place of an earlier one. Raises OSError.

    It need not outlive the machine, so nothing is waited for.
    """
    make_private(folder)
    seen = look.survey
    record = {
        "turn": look.turn,
        "tool": look.tool,
        "at": seen.at,
        "cut": seen.is_cut,
        "listed": sorted(seen.listed),
        "states": {path: _state(state) for path, state in seen.states.items()},
    }
    part = folder / part_name()
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(record, separators=(",", ":")).encode())
        part.replace(folder / NAME)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def forget_look(folder: Path) -> None:
    """The command is over, and what it changed is known. Never fails."""
    with suppress(OSError):
        (folder / NAME).unlink(missing_ok=True)


def left_look(folder: Path) -> Look | None:
    """The look that a hel left which was killed while a command ran; None where none can be read."""
    data = read_plain(folder / NAME, within=folder, limit=MOST_BYTES) if folder.is_dir() else None
    if not isinstance(data, bytes):
        return None
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return None
    match record:
        case {
            "turn": int(turn),
            "tool": str(tool),
            "at": int(at),
            "cut": bool(is_cut),
            "listed": list(listed),
            "states": dict(states),
        }:
            seen = Survey(
                {path: state for path, one in states.items() if (state := _state_of(one)) is not None},
                {folder for folder in listed if isinstance(folder, str)},
                is_cut,
                at,
            )
            return Look(turn, tool, seen)
        case _:
            return None


def _state(state: State) -> dict[str, Any]:
    stamp = state.stamp
    if stamp is None:
        return state.as_json()
    found = [stamp.device, stamp.inode, stamp.size, stamp.modified, stamp.changed]
    return {**state.as_json(), "stamp": found}


def _state_of(record: Any) -> State | None:
    state = state_from(record) if isinstance(record, dict) else None
    if state is None:
        return None
    match record.get("stamp"):
        case [int(device), int(inode), int(size), int(modified), int(changed)]:
            return replace(state, stamp=Stamp(device, inode, size, modified, changed))
        case _:
            return state
