"""What the screen lists of checkpoints: the turns that changed files, and which they were.

Pure functions of the changes. Not here: the changes (log), giving files back (restoring).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from hel_tui.core.protocol import CheckpointFile, CheckpointRow, FileChange
from hel_tui.core.tools.checkpoints.log import Change
from hel_tui.core.tools.checkpoints.states import State

MOST_NAMED = 50
"""Files of a turn that are told by name."""


def rows_of(changes: Iterable[Change]) -> tuple[CheckpointRow, ...]:
    """A row a turn, oldest first. Folders are not told of."""
    turns: dict[int, dict[str, tuple[State, State]]] = {}
    for one in changes:
        if "folder" in (one.before.kind, one.after.kind):
            continue
        paths = turns.setdefault(one.turn, {})
        paths[one.path] = paths.get(one.path, (one.before, one.after))[0], one.after
    return tuple(
        CheckpointRow(
            turn,
            tuple(
                CheckpointFile(path.encode("utf-8", "replace").decode(), _word(*ends))
                for path, ends in islice(paths.items(), MOST_NAMED)
            ),
            len(paths),
        )
        for turn, paths in sorted(turns.items())
    )


def _word(before: State, after: State) -> FileChange:
    if before.kind == "none":
        return "made"
    return "removed" if after.kind == "none" else "changed"
