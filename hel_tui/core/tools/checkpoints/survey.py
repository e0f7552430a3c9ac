"""A look over the project: which files, links and folders there are, each with what tells a change of it.

Contents are not read here (keeper). What glob and grep leave out, and what is closed to tools, is left out.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from hel_tui.core.tools.checkpoints.states import State, described
from hel_tui.core.tools.opening import open_folder
from hel_tui.core.tools.paths import Workspace, is_closed_name
from hel_tui.core.tools.walking import SKIPPED

MOST_FILES = 20_000
"""Names that a look takes in."""
MOST_TIME = 2.0
"""Seconds that a look takes."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 100
_LEFT_OUT = frozenset(SKIPPED)


@dataclass(slots=True)
class Survey:
    """What a look found, by path relative to the project."""

    states: dict[str, State] = field(default_factory=dict)
    is_cut: bool = False
    """The project is too large to be looked at whole, or a folder could not be listed."""
    at: int = 0
    """time.time_ns() when the look began."""


def survey(workspace: Workspace) -> Survey:
    """Look over the whole project. Never raises OSError."""
    found = Survey(at=time.time_ns())
    deadline = time.monotonic() + MOST_TIME
    try:
        handle = open_folder(workspace.project, ())
    except OSError:
        found.is_cut = True
        return found
    _look(workspace, handle, (), found, deadline)
    return found


def _look(workspace: Workspace, handle: int, parts: tuple[str, ...], found: Survey, deadline: float) -> None:
    below: list[str] = []
    try:
        try:
            names = sorted(os.listdir(handle))
        except OSError:
            found.is_cut = True
            return
        for name in names:
            if name in _LEFT_OUT or is_closed_name(name):
                continue
            if len(found.states) >= MOST_FILES or time.monotonic() > deadline:
                found.is_cut = True
                return
            try:
                state = described(handle, name)
            except OSError:  # gone by now
                continue
            if state.kind == "other":
                continue
            if state.kind == "folder":
                if not workspace.is_open(workspace.project, (*parts, name)):
                    continue
                below.append(name)
            found.states["/".join((*parts, name))] = state
        if below and len(parts) >= _DEEPEST:
            found.is_cut = True
            return
        for name in below:
            try:
                deeper = os.open(name, _FOLDER, dir_fd=handle)
            except OSError:
                found.is_cut = True
                continue
            _look(workspace, deeper, (*parts, name), found, deadline)
    finally:
        os.close(handle)
