"""What a project tells agents in AGENTS.md, else CLAUDE.md, at its root.

Not here: trust of programs (permissions) - these files are text and run nothing.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

FILES = ("AGENTS.md", "CLAUDE.md")
MAX_BYTES = 32_768


def project_instructions(project: Path) -> str:
    """Text of the first of the files that is there, cut at 32 KiB; "" without one.

    Regular files only, and no symlink: a cloned repository could point one at a person's own files.
    """
    for name in FILES:
        try:
            handle = os.open(project / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                continue
            data = _read(handle, MAX_BYTES + 1)
        except OSError:
            continue
        finally:
            os.close(handle)
        text = data[:MAX_BYTES].decode("utf-8-sig", "replace").strip()
        if len(data) > MAX_BYTES:
            text += f"\n[{name} is longer; the rest is left out]"
        if text:
            return text
    return ""


def _read(handle: int, most: int) -> bytes:
    data = b""
    while len(data) < most and (more := os.read(handle, most - len(data))):
        data += more
    return data
