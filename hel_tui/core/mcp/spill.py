"""Files of a session that bodies of frames are written to: append-only, 0600, bounded.

Several files follow each other; when there are too many bytes the oldest file goes, those of earlier runs of
the session first: nobody looks into these. Not here: what is written (bodies).
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MOST = 64 * 1024 * 1024
"""Bytes in all files of one server, those of earlier runs of the session included."""
FILE = MOST // 4
"""Bytes of one of them."""


@dataclass(slots=True)
class _File:
    path: Path
    fd: int
    base: int
    """Where it begins, counted over all files."""
    size: int = 0


class Spill:
    """Bytes at offsets counted over all files. All methods are safe from any thread."""

    def __init__(self, folder: Callable[[], Path | None], name: str) -> None:
        self._folder = folder
        self._name = name
        self._files: list[_File] = []
        self._end = 0
        self._is_closed = False
        self.dropped = False
        """Whether a file had to go."""
        self._lock = threading.Lock()

    def append(self, data: bytes) -> int | None:
        """Write and return where it begins; None when it could not be written."""
        with self._lock:
            folder = self._folder() if not self._is_closed else None
            if folder is None:
                return None
            try:
                file = self._file_for(folder, len(data))
                offset = file.base + file.size
                file.size += _written(file.fd, data)
                self._end = file.base + file.size
            except OSError:
                return None
            return offset if self._end == offset + len(data) else None

    def read(self, offset: int, length: int) -> bytes:
        """The bytes there; none when that file is gone."""
        with self._lock:
            for file in self._files:
                if file.base <= offset < file.base + file.size:
                    try:
                        return os.pread(file.fd, length, offset - file.base)
                    except OSError:
                        return b""
        return b""

    def has(self, offset: int) -> bool:
        """Whether that file is still there."""
        with self._lock:
            return any(file.base <= offset < file.base + file.size for file in self._files)

    def close(self) -> None:
        """Close all files; what is in them can be read no more from here."""
        with self._lock:
            self._is_closed = True
            for file in self._files:
                os.close(file.fd)
            self._files.clear()

    def _file_for(self, folder: Path, length: int) -> _File:
        """The file that takes so many bytes. Raises OSError."""
        newest = self._files[-1] if self._files else None
        if newest is not None and newest.path.parent == folder and newest.size + length <= FILE:
            return newest
        file = _opened(folder, self._name, self._end)
        self._files.append(file)
        own = sum(one.size for one in self._files)
        _remove_earlier(folder, self._name, MOST - FILE - own, {one.path for one in self._files})
        while sum(one.size for one in self._files) > MOST - FILE and len(self._files) > 1:
            oldest = self._files.pop(0)
            self.dropped = True
            os.close(oldest.fd)
            oldest.path.unlink(missing_ok=True)
        return file


def _remove_earlier(folder: Path, name: str, room: int, but: Container[Path]) -> None:
    """Remove files of earlier runs, the oldest first, until those that are left fit into `room` bytes."""
    ours = re.compile(rf"{re.escape(name)}(\.\d+)?\.frames")
    found: list[tuple[float, int, Path]] = []
    with suppress(OSError):
        for path in folder.iterdir():
            if ours.fullmatch(path.name) and path not in but:
                facts = path.stat()
                found.append((facts.st_mtime, facts.st_size, path))
    left = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if left <= room:
            return
        with suppress(OSError):
            path.unlink(missing_ok=True)
        left -= size


def _written(fd: int, data: bytes) -> int:
    """Write all of it and return how much it was. Raises OSError when nothing can be written."""
    done = 0
    while done < len(data):
        try:
            done += os.write(fd, data[done:])
        except OSError:
            if not done:
                raise
            break
    return done


def _opened(folder: Path, name: str, base: int) -> _File:
    number = 1
    while True:
        path = folder / (f"{name}.frames" if number == 1 else f"{name}.{number}.frames")
        try:
            fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        return _File(path, fd, base)
