"""Files that only grow, line by line: private, whole lines or nothing, also on a disk that is full.

Not here: what the lines say (record, sessions), files that are replaced whole (atomic).
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from hel_tui.core.store.atomic import PRIVATE_FILE
from hel_tui.core.store.places import make_private

_PIECE = 1 << 20
"""Bytes that are copied at a time."""


class LineFile:
    """One such file, opened by the first write and again by the next one after a failure. One writer.

    A file that somebody took away while it was open is written anew, with all that was in it: until it is
    closed the system still has that.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        """Bytes, as far as they are known: 0 before the first write."""
        self._handle: int | None = None
        self._torn = False
        """It does not end in a whole line."""
        self.returned = 0
        """How often it was written anew because it had been taken away."""

    def hold(self) -> bool:
        """Open a file that is there, so that it can be written anew; False for none. Raises OSError."""
        if self._handle is None:
            try:
                self._open(os.O_RDWR | os.O_APPEND)
            except FileNotFoundError:
                return False
        return True

    @property
    def is_gone(self) -> bool:
        """It was taken away, or has become another file, since it was opened."""
        if self._handle is None:
            return False
        try:
            now = self.path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return not os.path.samestat(now, os.fstat(self._handle))

    def append(self, data: bytes) -> None:
        """Write `data`, whole lines, with one call to the system. Raises OSError; then nothing of it is there
        and the file is closed, unless it was taken away and cannot be written anew.
        """
        if self.is_gone:
            self._return()
        try:
            if self._handle is None:
                self._create()
            self._put(b"\n" + data if self._torn else data)
        except OSError:
            self.close()
            raise

    def empty(self) -> None:
        """Take out all that is in it. Raises OSError."""
        if self._handle is None:
            if not self.path.exists():
                return
            self._create()
        assert self._handle is not None
        os.ftruncate(self._handle, 0)
        self.size, self._torn = 0, False

    def close(self) -> None:
        """Let go of the file; the next write opens it again."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _create(self) -> None:
        make_private(self.path.parent)
        self._open(os.O_RDWR | os.O_CREAT | os.O_APPEND)

    def _open(self, flags: int) -> None:
        self._handle = os.open(self.path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
        self.size = os.fstat(self._handle).st_size
        self._torn = self.size > 0 and os.pread(self._handle, 1, self.size - 1) != b"\n"

    def _return(self) -> None:
        """Put what was in the file into a new one. One that somebody put there is written on as it is."""
        old, size, self._handle = self._handle, self.size, None
        assert old is not None
        try:
            self._create()
            if self.size == 0 and size:
                self._copy(old)
                self.returned += 1
        except OSError:
            self.close()
            self._handle, self.size = old, size
            raise
        os.close(old)

    def _copy(self, old: int) -> None:
        """Take over what is in another file, whole or not at all. Raises OSError."""
        assert self._handle is not None
        at = 0
        try:
            while piece := os.pread(old, _PIECE, at):
                at += os.write(self._handle, piece)
        except OSError:
            os.ftruncate(self._handle, 0)
            raise
        self.size = at
        self._torn = at > 0 and os.pread(old, 1, at - 1) != b"\n"

    def _put(self, data: bytes) -> None:
        """Write `data` whole or, when the disk is full, nothing of it."""
        handle = self._handle
        assert handle is not None
        done = 0
        try:
            done = os.write(handle, data)
            while done < len(data):  # a signal or the end of the disk came between
                done += os.write(handle, data[done:])
        except OSError:
            if done:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, self.size)
            raise
        self.size += done
        self._torn = False
