"""Files that only grow, line by line: private, whole lines or nothing, also on a disk that is full.

Not here: what the lines say (record, sessions), files that are replaced whole (atomic).
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from hel_tui.core.store.atomic import PRIVATE_FILE
from hel_tui.core.store.places import make_private


class LineFile:
    """One such file, opened by the first write and again by the next one after a failure. One writer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        """Bytes, as far as they are known: 0 before the first write."""
        self._handle: int | None = None
        self._torn = False
        """It does not end in a whole line."""

    def append(self, data: bytes) -> None:
        """Write `data`, whole lines, with one call to the system. Raises OSError; then nothing of it is there
        and the file is closed.
        """
        try:
            if self._handle is None:
                self._open()
            self._put(b"\n" + data if self._torn else data)
        except OSError:
            self.close()
            raise

    def empty(self) -> None:
        """Take out all that is in it. Raises OSError."""
        if self._handle is None:
            if not self.path.exists():
                return
            self._open()
        assert self._handle is not None
        os.ftruncate(self._handle, 0)
        self.size, self._torn = 0, False

    def close(self) -> None:
        """Let go of the file; the next write opens it again."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> None:
        make_private(self.path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._handle = os.open(self.path, flags, PRIVATE_FILE)
        self.size = os.fstat(self._handle).st_size
        self._torn = self.size > 0 and os.pread(self._handle, 1, self.size - 1) != b"\n"

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
