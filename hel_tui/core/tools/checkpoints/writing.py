"""Puts single paths of the project back as they were: files, links, folders; never through a link.

A folder that may not be written in is opened to this process meanwhile, and has its permissions back at the
end, as folders that come back get theirs last. Not here: what is given back, and whether (restoring).
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hel_tui.core.store.atomic import why
from hel_tui.core.store.remains import part_name, sweep_parts
from hel_tui.core.tools.checkpoints.blobs import Blobs
from hel_tui.core.tools.checkpoints.states import ANY_MODE, State, state_at
from hel_tui.core.tools.opening import open_folder

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OVER = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN = stat.S_IRWXU

Parts = tuple[str, ...]


class Writer:
    """One going back. Its methods block and raise no OSError; `finish` ends it."""

    def __init__(self, root: Path, blobs: Blobs, most: int) -> None:
        """Files of more than `most` bytes are not read to compare them."""
        self._root = root
        self._blobs = blobs
        self._most = most
        self._modes: dict[Parts, int] = {}
        """What folders are to have at the end that are open meanwhile."""
        self._opened: dict[Parts, int] = {}
        """What those of them had that were there."""

    def put_back(self, parts: Parts, found: State, target: State) -> str:
        """Make `target` of what is at `parts`, if that is still `found`; why not, in a few words."""
        try:
            now, _ = state_at(self._root, parts, self._most)
            if now.kind == "folder" and parts in self._opened:
                now = replace(now, mode=self._opened[parts])
            if target.kind == "file" and target.hash and now.is_same(target):
                return ""  # another name of a file that was given back
            if not now.is_same(found):
                return "it was changed by something else meanwhile"
            if target.kind == "none":
                return self._take_away(parts, now)
            folder = self._made_folder(parts[:-1])
            try:
                return self._make(folder, parts, target, now)
            finally:
                os.close(folder)
        except OSError as error:
            return why(error)

    def finish(self) -> dict[str, str]:
        """Give folders their permissions, the deepest first; why not, in a few words, by path."""
        problems: dict[str, str] = {}
        for parts, mode in sorted(self._modes.items(), key=lambda one: -len(one[0])):
            try:
                handle = open_folder(self._root, parts)
                try:
                    os.fchmod(handle, mode)
                finally:
                    os.close(handle)
            except FileNotFoundError:  # it was taken away
                continue
            except OSError as error:
                problems["/".join(parts)] = f"its permissions were not given back: {why(error)}"
        return problems

    # ------------------------------------------------------------------- inside

    def _take_away(self, parts: Parts, now: State) -> str:
        if now.kind == "none":
            return ""
        if now.kind == "other":
            return "it is no file any more"
        folder = open_folder(self._root, parts[:-1])
        try:
            self._let_write(folder, parts[:-1])
            if now.kind == "folder":
                with suppress(OSError):  # not empty: somebody else's files are in it
                    os.rmdir(parts[-1], dir_fd=folder)
            else:
                os.unlink(parts[-1], dir_fd=folder)
        finally:
            os.close(folder)
        return ""

    def _let_write(self, folder: int, parts: Parts) -> None:
        """Let this process change what is in an open folder, if that is its to allow. Raises OSError."""
        if os.access(".", os.W_OK | os.X_OK, dir_fd=folder):
            return
        mode = stat.S_IMODE(os.fstat(folder).st_mode)
        os.fchmod(folder, mode | _OPEN)
        self._opened.setdefault(parts, mode)
        self._modes.setdefault(parts, mode)

    def _made_folder(self, parts: Parts) -> int:
        """A descriptor of a folder to write in, which is made where it is missing. Raises OSError."""
        handle = os.open(self._root, _FOLDER)
        for depth, part in enumerate(parts):
            try:
                try:
                    below = os.open(part, _FOLDER, dir_fd=handle)
                except FileNotFoundError:
                    self._let_write(handle, parts[:depth])
                    os.mkdir(part, dir_fd=handle)
                    below = os.open(part, _FOLDER, dir_fd=handle)
            finally:
                os.close(handle)
            handle = below
        try:
            self._let_write(handle, parts)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _make(self, folder: int, parts: Parts, target: State, now: State) -> str:
        if target.kind == "folder":
            self._make_folder(folder, parts, target, now)
            return ""
        data: bytes | None = b""
        if target.kind == "file" and (data := self._blobs.get(target.hash)) is None:
            return "what it was is not kept"
        assert data is not None
        name = parts[-1]
        if now.kind == "folder":
            os.rmdir(name, dir_fd=folder)
        if target.kind == "file" and target.shared is not None and target.shared == now.shared:
            with suppress(PermissionError):
                _write_over(folder, name, data, target)
                return ""
        part = part_name()
        try:
            if target.kind == "link":
                os.symlink(target.target, part, dir_fd=folder)
            else:
                _write_new(folder, part, data, target, now)
            os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=folder)
        sweep_parts(folder)
        return ""

    def _make_folder(self, folder: int, parts: Parts, target: State, now: State) -> None:
        """A folder comes back open to this process; `finish` gives it its permissions."""
        name = parts[-1]
        if now.kind not in ("none", "folder"):
            os.unlink(name, dir_fd=folder)
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        handle = os.open(name, _FOLDER, dir_fd=folder)
        try:
            if now.kind != "folder":
                _give_owner(handle, target)
            os.fchmod(handle, target.mode | _OPEN)
        finally:
            os.close(handle)
        self._modes[parts] = target.mode


def _write_new(folder: int, name: str, data: bytes, target: State, now: State) -> None:
    handle = os.open(name, _NEW, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        _give_owner(handle, now if now.kind == "file" else target)
        if target.mode != ANY_MODE:
            os.fchmod(handle, target.mode)
        file.write(data)
        file.flush()
        os.fsync(handle)


def _write_over(folder: int, name: str, data: bytes, target: State) -> None:
    """Write into the file itself, so that its other names stay names of it. Raises OSError."""
    handle = os.open(name, _OVER, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) != target.shared:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        os.ftruncate(handle, 0)
        file.write(data)
        file.flush()
        if target.mode != ANY_MODE:
            os.fchmod(handle, target.mode)
        os.fsync(handle)


def _give_owner(handle: int, state: State) -> None:
    """As far as this process may. Before the permissions: a change of owner takes some away."""
    if state.owner is not None:
        with suppress(OSError):
            os.fchown(handle, *state.owner)
