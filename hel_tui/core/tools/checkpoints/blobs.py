"""Contents of files, kept by their hash in a private folder, each once and compressed.

What must not be written down is held in memory only. Not here: whose contents they are (keeper).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from hel_tui.core.store.atomic import PRIVATE_FILE
from hel_tui.core.store.places import make_private
from hel_tui.core.store.remains import part_name, sweep_parts
from hel_tui.core.tools.checkpoints.states import hash_of

MOST_ON_DISK = 256 << 20
"""Bytes that are kept on disk, compressed."""
MOST_IN_MEMORY = 16 << 20
"""Bytes that are kept in memory because they hold a secret."""
_NAME = 64


class Blobs:
    """One folder of contents. Used by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sizes: dict[str, int] | None = None
        self._size = 0
        self._is_made = False
        self._held: dict[str, bytes] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._held or name in self._on_disk()

    def put(self, data: bytes, *, in_memory: bool = False) -> bool:
        """Keep a content; say whether there was room. Raises OSError."""
        name = hash_of(data)
        if name in self:
            return True
        if in_memory:
            if sum(map(len, self._held.values())) + len(data) > MOST_IN_MEMORY:
                return False
            self._held[name] = data
            return True
        sizes, packed = self._on_disk(), zlib.compress(data, 1)
        if self._size + len(packed) > MOST_ON_DISK:
            return False
        self._write(name, packed)
        sizes[name] = len(packed)
        self._size += len(packed)
        return True

    def get(self, name: str) -> bytes | None:
        """A content that is kept whole; None when it is not."""
        if name in self._held:
            return self._held[name]
        if name not in self._on_disk():
            return None
        try:
            data = zlib.decompress((self._folder / name).read_bytes())
        except (OSError, zlib.error):
            return None
        return data if hash_of(data) == name else None

    def look_again(self) -> None:
        """Somebody may have taken the folder away: what is kept there is told from the disk again."""
        if self._is_made and not self._folder.is_dir():
            self._sizes, self._is_made = None, False

    def keep_only(self, names: Collection[str]) -> None:
        """Let go of all others."""
        sizes = self._on_disk()
        for name in [name for name in sizes if name not in names]:
            with suppress(OSError):
                (self._folder / name).unlink(missing_ok=True)
                self._size -= sizes.pop(name)

    def _on_disk(self) -> dict[str, int]:
        if self._sizes is None:
            try:
                with os.scandir(self._folder) as entries:
                    self._sizes = {one.name: one.stat().st_size for one in entries if len(one.name) == _NAME}
            except OSError:
                self._sizes = {}
            self._size = sum(self._sizes.values())
        return self._sizes

    def _write(self, name: str, packed: bytes) -> None:
        if not self._is_made:
            make_private(self._folder)
            self._is_made = True
            sweep_parts(self._folder)
        part = self._folder / part_name()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            with os.fdopen(handle, "wb") as file:
                os.fchmod(handle, PRIVATE_FILE)
                file.write(packed)
            part.replace(self._folder / name)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
