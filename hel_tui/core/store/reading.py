"""Reading files that a person named, and configuration that may come from anybody's repository.

Only regular files: a FIFO or a device is never waited for. Inside a project no link is followed at any step.
Not here: what is in them (settings, mcp.config).
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from hel_tui.core.store.atomic import why
from hel_tui.core.values import dataclass

MAX_CONFIGURATION = 1 << 20
"""Bytes a configuration file may have."""

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_LINK = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """There is something of that name that is not read. `sentence` says why, without the path."""

    sentence: str


def read_plain(
    path: Path, *, within: Path | None = None, limit: int = MAX_CONFIGURATION
) -> bytes | Unreadable | None:
    """Return the bytes of `path`; None when there is no such file.

    With `within`, a folder above `path`, no part below that folder may be a link: what is read lies inside.
    Without it links are followed, since the person put them there. FIFOs and devices are never waited for.
    """
    try:
        handle = os.open(path, _FLAGS) if within is None else _open_inside(within, path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except _IsLink as link:
        return Unreadable(f"{link} is a link; only plain files and folders of the project are read.")
    except OSError as error:
        return Unreadable(f"it cannot be read: {why(error)}.")
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return Unreadable("it is not a regular file.")
        data = _read(handle, limit + 1)
    except OSError as error:
        return Unreadable(f"it cannot be read: {why(error)}.")
    finally:
        os.close(handle)
    if len(data) > limit:
        return Unreadable(f"it is larger than {limit >> 20} MiB.")
    return data


def open_plain(path: Path) -> BufferedReader:
    """Open a file that a person named for reading; links are followed. Raises OSError, also for what is no
    regular file.
    """
    handle = os.open(path, _FLAGS)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


class _IsLink(Exception):
    """A part of the path is a link."""


def _open_inside(folder: Path, path: Path) -> int:
    """Open `path` step by step from `folder`, following no link. Raises OSError, _IsLink."""
    *folders, name = path.relative_to(folder).parts
    at = os.open(folder, _FLAGS | os.O_DIRECTORY)
    try:
        for part in folders:
            below = _step(at, part, _FLAGS | os.O_DIRECTORY)
            os.close(at)
            at = below
        return _step(at, name, _FLAGS)
    finally:
        os.close(at)


def _step(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in _LINK and stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
            raise _IsLink(name) from None
        raise


def _read(handle: int, most: int) -> bytes:
    parts: list[bytes] = []
    while most > 0 and (part := os.read(handle, min(most, 1 << 16))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)
