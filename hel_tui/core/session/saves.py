"""Tells when files that match some globs were saved, once for each save.

Editors replace files, write several at once, and touch what they did not change: what counts is that the
content is another. Not here: what is done about it (author).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.threads import in_thread
from hel_tui.core.tools.wildcards import ANY_FOLDERS, Wildcard, WildcardError

QUIET = 150
"""Milliseconds without a further change after which a save is told."""
LONGEST = 1_600
"""Milliseconds after which it is told although changes go on."""
MAX_HASHED = 8 << 20
"""Bytes of a file that are compared; a larger one counts as another each time."""
IGNORED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", "site-packages"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".idea", ".vscode", ".DS_Store"}
)
"""Names that are never meant, unless a glob spells them out."""
_SIGNS = frozenset("*?[{")


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


async def saves(globs: Sequence[Watched]) -> AsyncIterator[tuple[Path, ...]]:
    """Yield the files that were saved, until cancelled. A folder that comes later is watched from then on.

    Raises OSError when the system cannot watch so much.
    """
    from watchfiles import awatch

    seen: dict[str, str] = {}
    while True:
        missing = {str(_missing(one.base)) for one in globs if not one.base.is_dir()}
        folders = {one.base if one.base.is_dir() else _missing(one.base).parent for one in globs}
        moved = False
        async for batch in awatch(
            *sorted(folders),
            watch_filter=lambda _change, path: path in missing or any(one.holds(path) for one in globs),  # noqa: B023
            debounce=LONGEST,
            step=QUIET,
            recursive=any(one.deep for one in globs),
            rust_timeout=5_000,
        ):
            paths = {path for _, path in batch}
            moved = bool(paths & missing)
            found = [] if moved else await in_thread(lambda: _changed(paths, seen), "hel-saves")  # noqa: B023
            if found:
                yield tuple(found)
            if moved:
                break
        if not moved:
            return
        if found := await in_thread(lambda: _changed(_there(globs), seen), "hel-saves"):
            yield tuple(found)


def _missing(base: Path) -> Path:
    """The topmost folder on the way to `base` that is not there."""
    while not base.parent.is_dir() and base.parent != base:
        base = base.parent
    return base


def _there(globs: Sequence[Watched]) -> Iterable[str]:
    """Files right in the folders that came just now: they may have been written before anybody looked."""
    for one in globs:
        if one.base.is_dir():
            yield from (str(path) for path in one.base.iterdir() if one.holds(str(path)))


def _changed(paths: Iterable[str], seen: dict[str, str]) -> list[Path]:
    """Those whose content is not what was seen last."""
    found = []
    for path in sorted(paths):
        digest = _digest(path)
        if digest and seen.get(path) == digest:
            continue
        seen[path] = digest
        found.append(Path(path))
    return found


def _digest(path: str) -> str:
    """A hash of the content; empty for a file that is gone, too large or unreadable."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a name as the system told it
            data = file.read(MAX_HASHED + 1)
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest() if len(data) <= MAX_HASHED else ""
