"""Tells when one of a few files changes on disk.

Folders are watched, not files: editors replace files, and some are not there yet. Not here: what the files
mean, what is done about a change (servers).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

QUIET = 200
"""Milliseconds without a further change after which a change is told."""


async def changes(files: Sequence[Path]) -> AsyncIterator[None]:
    """Yield each time one of `files` may have changed, until cancelled.

    A folder that comes later is watched from then on; a link is watched where it is and where it leads.
    """
    from watchfiles import awatch

    while True:
        wanted = _wanted(files)
        folders = [folder for folder in sorted({file.parent for file in wanted}) if folder.is_dir()]
        expected = {str(file) for file in wanted}
        missing = {str(folder) for folder in _missing(wanted)}
        above = {Path(folder).parent for folder in missing}
        watched = sorted({*folders, *above})
        if not watched:
            return
        moved = False
        async for batch in awatch(
            *watched,
            watch_filter=lambda _change, path: path in expected or path in missing,  # noqa: B023
            debounce=1_600,
            step=QUIET,
            recursive=False,
            rust_timeout=5_000,
        ):
            yield
            moved = bool({path for _, path in batch} & missing) or _wanted(files) != wanted
            if moved or not all(folder.is_dir() for folder in folders):
                moved = True
                break
        if not moved:
            return
        yield  # something may have come between two watches


def _wanted(files: Sequence[Path]) -> set[Path]:
    """The files, and those that links among them lead to."""
    return {*files, *(Path(os.path.realpath(file)) for file in files)}


def _missing(files: set[Path]) -> set[Path]:
    """The topmost folder on the way to each file that is not there."""
    found = set()
    for file in files:
        folder = file.parent
        while not folder.is_dir() and not folder.parent.is_dir() and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir():
            found.add(folder)
    return found
