"""Reading and writing where whoever gave an end away may have set it not to wait.

Not here: what passes (between, replaying).
"""

from __future__ import annotations

import os
import select

CHUNK = 1 << 16
"""Bytes that are read at once, at most."""


def read(source: int) -> bytes:
    """Wait for what comes; empty at the end. Raises OSError."""
    while True:
        try:
            return os.read(source, CHUNK)
        except BlockingIOError:
            select.select([source], [], [])


def deliver(target: int, data: bytes) -> None:
    """Write all of it, however long the other side takes. Raises OSError when that is gone."""
    while data:
        try:
            data = data[os.write(target, data) :]
        except BlockingIOError:
            select.select([], [target], [])
