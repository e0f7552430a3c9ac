"""Files that only hel writes: replaced whole, private, safe with several processes.

What can go wrong is a `NotWritten` with a sentence; the old file is then as it was. Not here: what is in
the files, append-only records (record), files a person wrote (hel does not rewrite those).
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hel_tui.core.store.places import make_private
from hel_tui.core.store.remains import part_name, sweep_parts
from hel_tui.core.values import dataclass

PRIVATE_FILE = 0o600
LOCK_LIMIT = 5.0
"""Seconds to wait for another process that is writing the same file."""

Document = dict[str, Any]

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOENT: "no such file or folder",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.EISDIR: "there is a folder of that name",
}


@dataclass(frozen=True, slots=True)
class NotWritten:
    """A file could not be written; what was there is untouched."""

    path: Path
    sentence: str


def why(error: OSError) -> str:
    """Return the reason in `error` in a few words, without the path."""
    return _REASONS.get(error.errno or 0) or (error.strerror or str(error)).lower()


def write_atomic(
    path: Path, data: bytes, mode: int = PRIVATE_FILE, *, follow: bool = True
) -> NotWritten | None:
    """Replace `path` by `data`: temporary file, fsync, rename. Readers see the old or the new, never a part.

    A link is followed, so that a linked file stays linked; without `follow` one is left alone and nothing is
    written: in a project it may have come with somebody's files. Missing folders are made private. None when
    done.
    """
    if not follow and path.is_symlink():
        return NotWritten(path, f"{path} was not saved: it is a link.")
    target = Path(os.path.realpath(path)) if follow else path.absolute()
    part = target.with_name(part_name())
    try:
        make_private(target.parent)
        try:
            _write_new(part, data, mode)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        return NotWritten(path, f"{path} was not saved: {why(error)}.")
    sweep_parts(target.parent)
    return None


def write_new(path: Path, data: bytes, mode: int = PRIVATE_FILE) -> NotWritten | None:
    """Write a file that is not there yet, whole or not at all. One that is there, a link too, stays as it is.
    None when done.
    """
    try:
        _write_new(path, data, mode)
    except FileExistsError:
        return NotWritten(path, f"{path} is there already and was not overwritten.")
    except OSError as error:
        return NotWritten(path, f"{path} was not saved: {why(error)}.")
    return None


def _write_new(path: Path, data: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, mode)
            file.write(data)
            file.flush()
            os.fsync(handle)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path, limit: float = LOCK_LIMIT) -> Iterator[None]:
    """Hold the lock that guards changes of `path` (a file beside it). Raises OSError, TimeoutError."""
    make_private(path.parent)
    beside = path.with_name(f".{path.name}.lock")
    handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        deadline = time.monotonic() + limit
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise TimeoutError(
                        errno.ETIMEDOUT, "another process is holding its lock", str(path)
                    ) from None
                time.sleep(0.005)
        yield
    finally:
        os.close(handle)


def read_toml(path: Path) -> tuple[Document, str]:
    """Return the document at `path` and a sentence when it cannot be used (then it is empty).

    A file that is not there is an empty document and nothing to say.
    """
    try:
        return _load(path), ""
    except OSError as error:
        return {}, f"{path} cannot be read: {why(error)}."
    except (ValueError, RecursionError) as error:
        return {}, f"{path} is damaged and was left out: {error}."


def update_toml(path: Path, change: Callable[[Document], None]) -> NotWritten | None:
    """Change the document at `path` under a lock: read again, let `change` edit it, replace the file.

    Nothing another process wrote before is lost. A damaged file is kept beside as `….damaged` and begun
    anew. An unchanged document is not written. None when done.
    """
    import copy

    import tomli_w

    try:
        with locked(path):
            try:
                before = _load(path)
            except (ValueError, RecursionError):
                path.replace(path.with_name(path.name + ".damaged"))
                before = {}
            after = copy.deepcopy(before)
            change(after)
            if after == before:
                return None
            return write_atomic(path, tomli_w.dumps(after).encode())
    except OSError as error:
        return NotWritten(path, f"{path} was not saved: {why(error)}.")


def _load(path: Path) -> Document:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
