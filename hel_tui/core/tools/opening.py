"""Opening a resolved path without following a link that came in between, and replacing a file whole.

Every step from the root is opened relative to the one before, with O_NOFOLLOW. Not here: which paths are
open at all (paths).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.store.remains import part_name, sweep_parts
from hel_tui.core.tools.paths import Refusal, ResolvedPath, Workspace, reason

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from another."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class Opened:
    """A regular file open for reading; `handle` belongs to whoever opened it."""

    handle: int
    stamp: Stamp
    mode: int


@dataclass(frozen=True, slots=True)
class Content:
    data: bytes
    stamp: Stamp
    mode: int


@contextmanager
def opened_folder(place: ResolvedPath) -> Iterator[int]:
    """Descriptor of the folder that holds `place` (or of the root itself). Raises OSError."""
    handle = open_folder(place.root, place.parts[:-1])
    try:
        yield handle
    finally:
        os.close(handle)


def open_folder(root: Path, parts: tuple[str, ...]) -> int:
    """A new descriptor of the folder `parts` below `root`. Raises OSError."""
    handle = os.open(root, _FOLDER)
    for part in parts:
        try:
            below = os.open(part, _FOLDER, dir_fd=handle)
        finally:
            os.close(handle)
        handle = below
    return handle


@contextmanager
def opened_file(place: ResolvedPath) -> Iterator[Opened | Refusal]:
    """The regular file at `place`, or why it is none. Never blocks on a pipe or device. Raises OSError."""
    if not place.parts:
        yield Refusal(_kind(place, stat.S_IFDIR))
        return
    with opened_folder(place) as folder:
        found = os.stat(place.parts[-1], dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            yield Refusal(_kind(place, found.st_mode))
            return
        handle = os.open(place.parts[-1], _FILE, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode):
            yield Opened(handle, Stamp.of(status), stat.S_IMODE(status.st_mode))
        else:
            yield Refusal(_kind(place, status.st_mode))
    finally:
        os.close(handle)


def read_whole(workspace: Workspace, place: ResolvedPath, limit: int) -> Content | Refusal:
    """The bytes of the file at `place`, at most `limit` of them, or why not."""
    try:
        with opened_file(place) as file:
            if isinstance(file, Refusal):
                return file
            data = _read_up_to(file.handle, limit + 1)
            if len(data) > limit:
                return Refusal(f"{place.shown} is larger than {limit:,} bytes.")
            return Content(data, file.stamp, file.mode)
    except FileNotFoundError:
        return Refusal(workspace.missing(place))
    except OSError as error:
        return Refusal(changed_to_link(place, error))


def size_of(place: ResolvedPath) -> int | Refusal | None:
    """The size in bytes of the file at `place`, readable or not; None where there is nothing."""
    if not place.parts:
        return Refusal(_kind(place, stat.S_IFDIR))
    try:
        with opened_folder(place) as folder:
            status = _status(place.parts[-1], folder)
    except OSError as error:
        return Refusal(changed_to_link(place, error))
    if status is None:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else Refusal(_kind(place, status.st_mode))


def replace_file(place: ResolvedPath, data: bytes, expected: Stamp | None) -> Refusal | None:
    """Replace (or, where `expected` is None, make or replace) the file at `place` by `data`, atomically.

    The mode of a file that was there stays. With `expected`, a file that has changed since is left alone.
    """
    if not place.parts:
        return Refusal(_kind(place, stat.S_IFDIR))
    name = place.parts[-1]
    part = part_name()
    try:
        with opened_folder(place) as folder:
            before = _status(name, folder)
            if before is not None and not stat.S_ISREG(before.st_mode):
                return Refusal(_kind(place, before.st_mode))
            if before is not None and not os.access(name, os.W_OK, dir_fd=folder):
                return Refusal(f"{place.shown} is write-protected.")
            try:
                _write_part(part, folder, data, before)
                now = _status(name, folder)
                if expected is not None and (now is None or Stamp.of(now) != expected):
                    return Refusal(f"{place.shown} was changed by something else meanwhile; read it again.")
                os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(part, dir_fd=folder)
            sweep_parts(folder)
    except FileNotFoundError:
        return Refusal(f"{place.shown} was not written: its folder does not exist.")
    except OSError as error:
        return Refusal(changed_to_link(place, error))
    return None


def changed_to_link(place: ResolvedPath, error: OSError) -> str:
    """A sentence for an error while opening; a link where none was before is named as such."""
    if error.errno == errno.ELOOP:
        return f"{place.shown} was turned into a link while it was opened; it is not followed."
    return reason(place, error)


def _write_part(part: str, folder: int, data: bytes, before: os.stat_result | None) -> None:
    handle = os.open(part, _NEW, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        if before is not None:
            with suppress(OSError):
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(handle, before.st_uid, before.st_gid)
            os.fchmod(handle, stat.S_IMODE(before.st_mode))
        file.write(data)
        file.flush()
        os.fsync(handle)


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _read_up_to(handle: int, limit: int) -> bytes:
    chunks: list[bytes] = []
    left = limit
    while left > 0 and (chunk := os.read(handle, min(left, 1 << 20))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _kind(place: ResolvedPath, mode: int) -> str:
    if stat.S_ISDIR(mode):
        return f"{place.shown} is a folder."
    if stat.S_ISLNK(mode):
        return f"{place.shown} was turned into a link while it was opened; it is not followed."
    return f"{place.shown} is not a regular file (a device, pipe or socket)."
