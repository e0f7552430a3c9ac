"""The names below a folder, in a fixed order, without following links.

Not here: what matches (wildcards, patterns).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from hel_tui.core.tools.opening import open_folder
from hel_tui.core.tools.paths import ResolvedPath, Workspace, is_closed_name
from hel_tui.core.tools.wildcards import States, Wildcard

SKIPPED = (
    ".git",
    ".hg",
    ".svn",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
)
"""Names that glob and grep leave out below where they start, unless a pattern spells them."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Found:
    """A path below the start; links count as files."""

    parts: tuple[str, ...]
    is_folder: bool


class Walk:
    """Everything below a folder that a wildcard matches, name by name, folders before what is in them."""

    def __init__(self, workspace: Workspace, start: ResolvedPath, wildcard: Wildcard, limit: float) -> None:
        """`limit` is in seconds; when it is over the walk ends and `is_cut` says so."""
        self._workspace = workspace
        self._start = start
        self._wildcard = wildcard
        self._skipped = frozenset(SKIPPED) - wildcard.names
        self._deadline = time.monotonic() + limit
        self.is_cut = False

    def __iter__(self) -> Iterator[Found]:
        """Raises OSError when the start itself cannot be listed."""
        handle = open_folder(self._start.root, self._start.parts)
        yield from self._below(handle, (), self._wildcard.start())

    def _below(self, handle: int, parts: tuple[str, ...], states: States) -> Iterator[Found]:
        try:
            with os.scandir(handle) as entries:
                names = sorted(
                    ((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries),
                    key=lambda pair: os.fsencode(pair[0]),
                )
            for name, is_folder in names:
                if time.monotonic() > self._deadline:
                    self.is_cut = True
                    return
                if name in self._skipped or is_closed_name(name):
                    continue
                after = self._wildcard.step(states, name)
                if after:
                    yield from self._entry(handle, (*parts, name), after, is_folder=is_folder)
        finally:
            os.close(handle)

    def _entry(
        self, handle: int, parts: tuple[str, ...], states: States, *, is_folder: bool
    ) -> Iterator[Found]:
        if not is_folder:
            if self._wildcard.accepts(states):
                yield Found(parts, is_folder=False)
            return
        if not self._workspace.is_open(self._start.root, (*self._start.parts, *parts)):
            return
        if self._wildcard.accepts(states):
            yield Found(parts, is_folder=True)
        if len(parts) >= _MAX_DEPTH:
            self.is_cut = True
            return
        try:
            below = os.open(parts[-1], _FOLDER, dir_fd=handle)
        except OSError:  # gone, a link by now, or not readable: as if it were not there
            return
        yield from self._below(below, parts, states)
