"""The file of what was in the prompt and not sent, in a session's folder: replaced whole, gone when empty.

It is to outlast a hel that is killed, not the machine: nothing is forced onto the disk. Not here: when it is
written (session.drafting), what was sent (journal).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hel_tui.core.store.atomic import PRIVATE_FILE
from hel_tui.core.store.remains import part_name, sweep_parts
from hel_tui.core.store.sessions.own import read_own

FILE = "draft"
MOST = 4_000_000
"""Bytes that are kept of it: its beginning."""


def write_draft(folder: Path, text: str) -> None:
    """Keep `text` in the folder of a session, which is there. Raises OSError; the old one is there then."""
    path = folder / FILE
    if not text:
        path.unlink(missing_ok=True)
        return
    part = folder / part_name()
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace")[:MOST])
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sweep_parts(folder)


def read_draft(folder: Path) -> str:
    """What is kept there; empty for nothing, and for what cannot be read."""
    with suppress(OSError):
        return read_own(folder, folder / FILE, MOST).decode("utf-8", "ignore")
    return ""
