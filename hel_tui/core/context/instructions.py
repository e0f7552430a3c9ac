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
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                continue
            data = file.read(MAX_BYTES + 1)
        text = data[:MAX_BYTES].decode("utf-8-sig", "replace").strip()
        if len(data) > MAX_BYTES:
            text += f"\n[{name} is longer; the rest is left out]"
        if text:
            return text
    return ""
