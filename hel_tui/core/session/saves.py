"""Tells when files that match some globs were saved, once for each save.

Editors replace files, write several at once, and touch what they did not change: what counts is that the
content is another. Not here: what is done about it (author).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.session.contents import Contents
from hel_tui.core.threads import in_thread
from hel_tui.core.tools.wildcards import ANY_FOLDERS, Wildcard, WildcardError

QUIET = 150
"""Milliseconds without a further change after which a save is told."""
LONGEST = 1_600
"""Milliseconds after which it is told although changes go on."""
MOST_FOLDERS = 5_000
"""Folders that are watched for one server; the system has a limit for all."""
AGAIN = 30.0
"""Seconds after which it is tried again to watch, where that failed."""
IGNORED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", "site-packages"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".idea", ".vscode", ".DS_Store"}
)
"""Names that are never meant, unless a glob spells them out."""
_SIGNS = frozenset("*?[{")
_NAMED = re.compile(r'about \["(.*)"\]$')
"""The path in an error of watchfiles."""


@dataclass(frozen=True, slots=True)
class Watched:
    """One glob, read once."""

    base: Path
    """The folder below which it can match: its part without wildcards."""
    rest: Wildcard
    """What of it is below that."""
    deep: bool
    """It reaches into folders below `base`."""

    def holds(self, path: str) -> bool:
        """Whether it means this file."""
        try:
            parts = Path(path).relative_to(self.base).parts
        except ValueError:
            return False
        return not IGNORED.intersection(set(parts) - self.rest.names) and self.rest.matches(parts)

    def leads(self, path: str) -> bool:
        """Whether files in this folder, or further below, can be meant."""
        if not self.deep:
            return path == str(self.base)
        try:
            parts = Path(path).relative_to(self.base).parts
        except ValueError:
            return False
        if IGNORED.intersection(set(parts) - self.rest.names):
            return False
        states = self.rest.start()
        for part in parts:
            states = self.rest.step(states, part)
        return bool(states)


def read_glob(root: Path, glob: str) -> Watched:
    """Read a glob that is relative to `root`. Raises WildcardError with a sentence."""
    steps = [step for step in Path(glob).parts if step != "."]
    base = Path(os.path.normpath(root))
    if steps and steps[0] == os.sep:
        base, steps = Path(os.sep), steps[1:]
    while len(steps) > 1 and not _SIGNS & set(steps[0]):
        base, steps = (base.parent if steps[0] == ".." else base / steps[0]), steps[1:]
    if not steps or ".." in steps:
        raise WildcardError(f"{glob[:60] or 'An empty text'} names no file.")
    return Watched(base, Wildcard("/".join(steps)), len(steps) > 1 or ANY_FOLDERS in steps)


async def saves(
    globs: Sequence[Watched], told: Callable[[str], None] = lambda _sentence: None
) -> AsyncIterator[tuple[Path, ...]]:
    """Yield the files that were saved, until cancelled. A folder that comes later is watched from then on.

    `told` hears once of folders that cannot be watched, and each new reason why nothing can be; then it is
    tried again.
    """
    contents, refused, why = Contents(), frozenset[str](), ""
    from watchfiles import Change, awatch

    before: frozenset[str] | None = None
    has_told = False
    while True:
        missing = {str(_missing(one.base)) for one in globs if not one.base.is_dir()}
        folders, unread = await in_thread(lambda: _folders(globs, refused), "hel-saves")  # noqa: B023
        watched = folders | {str(Path(path).parent) for path in missing}
        left_out = {*unread, *refused}
        steps = missing | left_out
        if left_out and not has_told:
            has_told = True
            told(f"Not watched, since it cannot be read: {min(left_out)}")
        if not watched:
            await asyncio.sleep(AGAIN)
            continue

        def counts(change: Change, path: str) -> bool:
            if path in steps or (change == Change.deleted and path in folders):  # noqa: B023
                return True
            if any(one.holds(path) for one in globs):
                return True
            return change == Change.added and any(one.leads(path) for one in globs) and _is_folder(path)

        batches = awatch(
            *sorted(watched),
            watch_filter=counts,
            debounce=LONGEST,
            step=QUIET,
            recursive=False,
            rust_timeout=5_000,
        )
        fresh = folders - before if before is not None else frozenset[str]()
        coming = asyncio.ensure_future(anext(batches))
        try:
            await asyncio.sleep(0)  # from here on it watches: what was saved before is looked for
            if coming.done():
                coming.result()
            unheard = await in_thread(lambda: contents.look(_files(globs, folders), fresh), "hel-saves")  # noqa: B023
            before, why = folders, ""
            if unheard:
                yield tuple(unheard)
            while True:
                paths = {path for _, path in await coming}
                found = await in_thread(lambda: contents.changed(paths), "hel-saves")  # noqa: B023
                if found:
                    yield tuple(found)
                if paths & (steps | folders) or any(map(_is_folder, paths)):
                    refused -= paths
                    break
                coming = asyncio.ensure_future(anext(batches))
        except OSError as error:
            named = _NAMED.search(str(error))
            if named is not None and named[1] in folders:
                if _is_folder(named[1]):
                    refused |= {named[1]}
                continue  # without it, or it is gone
            if str(error) != why:
                why = str(error)
                told(f"Saves are not followed until it works again: {error}")
            await asyncio.sleep(AGAIN)
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
            await batches.aclose()


def _is_folder(path: str) -> bool:
    return Path(path).is_dir()


def _missing(base: Path) -> Path:
    """The topmost folder on the way to `base` that is not there."""
    while not base.parent.is_dir() and base.parent != base:
        base = base.parent
    return base


def _folders(globs: Sequence[Watched], refused: Collection[str]) -> tuple[frozenset[str], list[str]]:
    """The folders that files of these globs can be in, and those of them that cannot be read.

    Links are followed, each folder once.
    """
    found: set[str] = set()
    unread: list[str] = []
    for one in globs:
        waiting, known = [str(one.base)], set[tuple[int, int]]()
        while waiting and len(found) < MOST_FOLDERS:
            path = waiting.pop()
            if path in refused:
                continue
            try:
                here = os.stat(path)  # noqa: PTH116
                if (here.st_dev, here.st_ino) in known:
                    continue
                known.add((here.st_dev, here.st_ino))
                with os.scandir(path) as entries:
                    below = [entry.path for entry in entries if one.deep and entry.is_dir()]
            except PermissionError:
                unread.append(path)
                continue
            except OSError:  # gone meanwhile
                continue
            found.add(path)
            waiting += [inner for inner in below if one.leads(inner)]
    return frozenset(found), unread


def _files(globs: Sequence[Watched], folders: Iterable[str]) -> Iterator[str]:
    """The files in these folders that are meant."""
    for folder in sorted(folders):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if any(one.holds(entry.path) for one in globs):
                    yield entry.path
