"""A look over the project: which files, links and folders there are, each with what tells a change of it.

Contents are not read here (keeper). What glob and grep leave out, and what is closed to tools, is left out.
"""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass, field

from hel_tui.core.tools.checkpoints.states import State, described
from hel_tui.core.tools.opening import open_folder
from hel_tui.core.tools.paths import Workspace, is_closed_name
from hel_tui.core.tools.walking import SKIPPED

MOST_FILES = 20_000
"""Names that a look takes in."""
MOST_IN_FOLDER = 5_000
"""Names of one folder: one with more holds what programs made, and would hide the rest of the project."""
MOST_TIME = 1.0
"""Seconds that a look takes."""
_DEEPEST = 100
_LEFT_OUT = frozenset(SKIPPED)


@dataclass(slots=True)
class Survey:
    """What a look found, by path relative to the project."""

    states: dict[str, State] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    """Folders of which every name was looked at; the project itself is the empty name."""
    is_cut: bool = False
    """The project is too large to be looked at whole."""
    at: int = 0
    """time.time_ns() when the look began."""

    def knows(self, path: str) -> bool:
        """Whether it is sure what was at `path`, also when that was nothing."""
        if path in self.states:
            return True
        folder = path.rpartition("/")[0]
        if not folder or folder in self.listed:
            return folder in self.listed
        above = self.states.get(folder)
        return self.knows(folder) if above is None else above.kind != "folder"


def survey(workspace: Workspace) -> Survey:
    """Look over the project, folders near its top first. Never raises OSError."""
    found = Survey(at=time.time_ns())
    deadline = time.monotonic() + MOST_TIME
    waiting: deque[tuple[str, ...]] = deque([()])
    while waiting:
        parts = waiting.popleft()
        if len(parts) > _DEEPEST or len(found.states) >= MOST_FILES or time.monotonic() > deadline:
            found.is_cut = True
            return found
        try:
            handle = open_folder(workspace.project, parts)
        except OSError:  # gone by now, or closed to us
            continue
        try:
            waiting += _look(workspace, handle, parts, found, deadline)
        finally:
            os.close(handle)
    return found


def _look(
    workspace: Workspace, handle: int, parts: tuple[str, ...], found: Survey, deadline: float
) -> list[tuple[str, ...]]:
    """Take in one folder; returns the folders in it."""
    below: list[tuple[str, ...]] = []
    try:
        names = [name for name in os.listdir(handle) if name not in _LEFT_OUT and not is_closed_name(name)]
    except OSError:  # closed to us
        return below
    if len(names) > MOST_IN_FOLDER:
        found.is_cut = True
        return below
    for name in sorted(names):
        if len(found.states) >= MOST_FILES or time.monotonic() > deadline:
            found.is_cut = True
            return below
        try:
            state = described(handle, name)
        except FileNotFoundError:  # gone by now
            continue
        except OSError:  # a folder whose names can be read and nothing else: what is in it is not known
            return below
        if state.kind == "other":
            continue
        if state.kind == "folder":
            if not workspace.is_open(workspace.project, (*parts, name)):
                continue
            below.append((*parts, name))
        found.states["/".join((*parts, name))] = state
    found.listed.add("/".join(parts))
    return below
