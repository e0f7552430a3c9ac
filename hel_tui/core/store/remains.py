"""What a killed hel had begun to write: told by its name alone, and taken away once it is old.

Parts of files lie beside the file they were to become, begun sessions among the others. Links are left alone,
and so is whatever has another name. Not here: writing (atomic, tools.opening, sessions.forking).
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path

OLD = 3600.0
"""Seconds since the last change, after which nobody writes it any more."""
MOST = 10_000
"""Names of a folder that are looked at: some hold millions."""
_PART = re.compile(r"\.hel-[0-9a-f]{16}\.part")
_SESSION = re.compile(r"\.new-\d{8}-\d{6}-[0-9a-f]{8}|\.deleted-.{1,200}-[0-9a-f]{6}", re.DOTALL)


def part_name() -> str:
    """A name for a file while it is written."""
    import secrets  # brings OpenSSL, and nothing is written before the first paint

    return f".hel-{secrets.token_hex(8)}.part"


def sweep_parts(folder: int | Path) -> None:
    """Take away old parts in a folder, given by its path or a descriptor. Never fails."""
    with suppress(OSError):
        handle = os.dup(folder) if isinstance(folder, int) else os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for name in _named(handle, _PART):
                with suppress(OSError):
                    state = os.stat(name, dir_fd=handle, follow_symlinks=False)
                    if stat.S_ISREG(state.st_mode) and _is_old(state):
                        os.unlink(name, dir_fd=handle)
        finally:
            os.close(handle)


def sweep_sessions(folder: Path) -> None:
    """Take away what was begun of forks and is left of deleted sessions, once it is old. Never fails."""
    with suppress(OSError):
        for name in _named(folder, _SESSION):
            if _is_old_folder(folder / name):
                shutil.rmtree(folder / name, ignore_errors=True)


def _named(folder: int | Path, pattern: re.Pattern[str]) -> list[str]:
    with os.scandir(folder) as entries:
        return [one.name for one in islice(entries, MOST) if pattern.fullmatch(one.name)]


def _is_old_folder(path: Path) -> bool:
    """Whether it is a folder, no link, in which nothing was changed for long."""
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            return False
        states = [path.lstat()]
        for inside, folders, files in os.walk(path):
            states += [os.lstat(os.path.join(inside, name)) for name in (*folders, *files)]  # noqa: PTH118
    except OSError:
        return False
    return all(map(_is_old, states))


def _is_old(state: os.stat_result) -> bool:
    """Neither written nor linked, moved or made for long: files of a fork keep the time of what they copy."""
    return time.time() - max(state.st_mtime, state.st_ctime) > OLD
