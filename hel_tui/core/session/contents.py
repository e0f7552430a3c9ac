"""What watched files hold, so that only another content counts as a save.

Nothing here waits: what is no regular file is never read. Not here: which files are meant and when to look
(saves).
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

MAX_HASHED = 8 << 20
"""Bytes of a file that are compared; a larger one counts as another each time."""
MOST_FILES = 5_000
"""Files that are noted beforehand; of others the first save is told whatever they hold."""
MOST_BYTES = 64 << 20
"""Bytes of them together, for each look."""

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it was seen last."""

    mark: tuple[int, ...]
    """What the system says of it: the same mark is the same content."""
    digest: str
    """Of its content; empty for one that is too large or cannot be read."""


class Contents:
    """Files by their paths; for one thread at a time."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._since = time.time_ns()

    def changed(self, paths: Iterable[str]) -> list[Path]:
        """Those that do not hold what was seen last, or are gone; the system told that they were touched."""
        found = []
        for path in sorted(paths):
            before, now = self._seen.get(path), _look_at(path)
            if now is None:
                if self._seen.pop(path, None) is not None:
                    found.append(Path(path))
                continue
            self._seen[path] = now
            if not now.digest or before is None or before.digest != now.digest:
                found.append(Path(path))
        return found

    def look(self, paths: Iterable[str], fresh: Collection[str] = ()) -> list[Path]:
        """Note files as they are, and return those that changed unheard since this was made, or since they
        were seen; all that are new below folders that are `fresh`.
        """
        found, left = [], MOST_BYTES
        for path in paths:
            before, mark = self._seen.get(path), _mark(path)
            if mark is None or (before is not None and before.mark == mark):
                continue
            is_new = before is None and (mark[-1] >= self._since or str(Path(path).parent) in fresh)
            if before is None and not is_new and (len(self._seen) >= MOST_FILES or left <= 0):
                continue
            now = _look_at(path)
            if now is None:
                continue
            left -= mark[2]
            self._seen[path] = now
            if is_new or (before is not None and (not now.digest or now.digest != before.digest)):
                found.append(Path(path))
        return found


def _mark(path: str) -> tuple[int, ...] | None:
    """Device, number, size and times of a file; None when there is no regular one."""
    try:
        return _mark_of(os.stat(path))  # noqa: PTH116 - a name as the system told it
    except OSError:
        return None


def _mark_of(found: os.stat_result) -> tuple[int, ...] | None:
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _look_at(path: str) -> _Seen | None:
    """A file as it is; None when there is no regular one."""
    mark = _mark(path)  # before it is opened: opening a device may do something
    if mark is None:
        return None
    try:
        handle = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError:
        return _Seen(mark, "")
    with os.fdopen(handle, "rb") as file:
        try:
            mark = _mark_of(os.fstat(handle))
            data = file.read(MAX_HASHED + 1) if mark is not None else b""
        except OSError:
            return _Seen(mark or (), "")
    if mark is None:
        return None
    is_whole = data is not None and len(data) <= MAX_HASHED  # None: a device that has nothing just now
    return _Seen(mark, hashlib.sha256(data).hexdigest() if is_whole else "")
