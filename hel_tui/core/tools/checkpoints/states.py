"""What is at a path of the project: nothing, a file, a link or a folder; looked at without following links.

Not here: where contents are kept (blobs), what changed (keeper).
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.tools.opening import Stamp, open_folder
from hel_tui.core.vocabulary import Json

Kind = Literal["none", "file", "link", "folder", "other"]
ANY_MODE = -1
"""The permissions are not known, and do not matter."""
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class State:
    """What is at a path. `other` is what hel leaves alone: devices, pipes, places behind a link."""

    kind: Kind
    mode: int = 0
    """Permission bits of a file or folder."""
    size: int = 0
    """Bytes of a file."""
    hash: str = ""
    """SHA-256 of a file's content; empty when it was not read."""
    target: str = ""
    """Where a link points."""
    stamp: Stamp | None = field(default=None, compare=False)
    owner: tuple[int, int] | None = field(default=None, compare=False)
    """User and group of a file or folder, where they are not this process's own."""
    shared: tuple[int, int] | None = field(default=None, compare=False)
    """Device and inode of a file that has other names, too (hard links)."""

    def is_same(self, other: State) -> bool:
        """Whether two looks found the same. Files whose content nobody read are told apart by stamps."""
        if self.kind != other.kind:
            return False
        if ANY_MODE not in (self.mode, other.mode) and self.mode != other.mode:
            return False
        if self.kind == "file" and not (self.hash and other.hash):
            return self.stamp is not None and self.stamp == other.stamp
        return (self.hash, self.target) == (other.hash, other.target)

    def as_json(self) -> Json:
        """For a line of a file; without the stamp."""
        facts = {"mode": self.mode, "size": self.size, "hash": self.hash, "target": self.target}
        pairs = {"owner": self.owner, "shared": self.shared}
        return {
            "kind": self.kind,
            **{name: value for name, value in facts.items() if value},
            **{name: list(pair) for name, pair in pairs.items() if pair is not None},
        }


ABSENT = State("none")


def state_from(record: Mapping[str, Any]) -> State | None:
    """The state that `as_json` gave; None when it is none."""
    kind = record.get("kind")
    numbers = [record.get("mode", 0), record.get("size", 0)]
    texts = [record.get("hash", ""), record.get("target", "")]
    if kind not in ("none", "file", "link", "folder", "other"):
        return None
    if not all(type(one) is int for one in numbers) or not all(isinstance(one, str) for one in texts):
        return None
    found = State(kind, *numbers, *texts)
    return replace(found, owner=_pair(record.get("owner")), shared=_pair(record.get("shared")))


def _pair(value: Any) -> tuple[int, int] | None:
    match value:
        case [int(one), int(other)] if one >= 0 and other >= 0:
            return one, other
        case _:
            return None


def hash_of(data: bytes) -> str:
    """The name of a content."""
    return hashlib.sha256(data).hexdigest()


def state_at(root: Path, parts: tuple[str, ...], most: int) -> tuple[State, bytes | None]:
    """What is at `parts` below `root` now, and its bytes where it is a file of at most `most` of them."""
    try:
        folder = open_folder(root, parts[:-1])
    except (FileNotFoundError, NotADirectoryError):
        return (State("other") if _is_behind_link(root, parts) else ABSENT), None
    except OSError:
        return State("other"), None
    try:
        return state_in(folder, parts[-1], most)
    except FileNotFoundError:
        return ABSENT, None
    except OSError:
        return State("other"), None
    finally:
        os.close(folder)


def state_in(folder: int, name: str, most: int) -> tuple[State, bytes | None]:
    """The same for a name in an open folder. Raises OSError."""
    found = described(folder, name)
    if found.kind != "file" or found.size > most:
        return found, None
    handle = os.open(name, _FILE, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return State("other"), None
        data = _read(handle, most + 1)
        now = os.fstat(handle)
    finally:
        os.close(handle)
    if Stamp.of(now) != Stamp.of(status):  # written while it was read: neither the old nor the new
        return _file(now), None
    if len(data) > most:
        return _file(status), None
    return replace(_file(status), size=len(data), hash=hash_of(data)), data


def described(folder: int, name: str) -> State:
    """What a name in an open folder is, without its content. Raises OSError."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISREG(status.st_mode):
        return _file(status)
    if stat.S_ISLNK(status.st_mode):
        return State("link", target=os.readlink(name, dir_fd=folder), stamp=Stamp.of(status))
    if stat.S_ISDIR(status.st_mode):
        return State("folder", mode, owner=_owner(status))
    return State("other")


def _file(status: os.stat_result) -> State:
    """A file as its status tells of it."""
    shared = (status.st_dev, status.st_ino) if status.st_nlink > 1 else None
    mode = stat.S_IMODE(status.st_mode)
    return State("file", mode, status.st_size, stamp=Stamp.of(status), owner=_owner(status), shared=shared)


def _owner(status: os.stat_result) -> tuple[int, int] | None:
    owner = (status.st_uid, status.st_gid)
    return None if owner == (os.geteuid(), os.getegid()) else owner


def _is_behind_link(root: Path, parts: tuple[str, ...]) -> bool:
    """Whether a folder on the way is a link: Linux reports one that is no folder as ENOTDIR."""
    path = root
    for part in parts[:-1]:
        path = path / part
        with suppress(OSError):
            if stat.S_ISLNK(path.lstat().st_mode):
                return True
    return False


def _read(handle: int, most: int) -> bytes:
    pieces: list[bytes] = []
    left = most
    while left > 0 and (piece := os.read(handle, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
