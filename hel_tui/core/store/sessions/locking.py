"""One process writes a session: a lock that ends with the process, however it ends.

Not here: what a second process does instead (it opens a fork).
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from hel_tui.core.store.atomic import PRIVATE_FILE
from hel_tui.core.store.places import make_private

FILE = "lock"
LOOKS = 0.05
"""Seconds a lock is waited for: somebody may only be looking whether it is free."""


class Lock:
    """The lock of one session's folder (flock): other processes cannot take it while it is held."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handle: int | None = None

    def take(self) -> None:
        """Hold it, from now on. Raises BlockingIOError when another process does, OSError."""
        if self._handle is not None:
            return
        make_private(self._folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(self._folder / FILE, flags, PRIVATE_FILE)
        try:
            _hold(handle)
        except OSError:
            os.close(handle)
            raise
        self._handle = handle

    def renew(self) -> None:
        """Let go of a lock whose file was taken away: it keeps nobody out, and is to be taken again."""
        if self._handle is None:
            return
        try:
            is_there = os.path.samestat((self._folder / FILE).lstat(), os.fstat(self._handle))
        except OSError:
            is_there = False
        if not is_there:
            self.release()

    def release(self) -> None:
        """Let it go."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _hold(handle: int) -> None:
    end = time.monotonic() + LOOKS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.005)
        else:
            return


def is_open(folder: Path) -> bool:
    """Whether a process has this session open, as far as can be told."""
    try:
        handle = os.open(folder / FILE, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False
