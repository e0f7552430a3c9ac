"""Finding the system's programs: never one that lies in the project or on a relative search path.

Not here: running them (processes).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def find_program(name: str, environ: Mapping[str, str], project: Path) -> str | None:
    """The absolute path of program `name` on PATH, or None. What a repository brings along is passed over."""
    for entry in (environ.get("PATH") or os.defpath).split(os.pathsep):
        folder = Path(entry)
        if not folder.is_absolute():
            continue
        candidate = folder / name
        real = Path(os.path.realpath(candidate))
        inside = candidate.is_relative_to(project) or real.is_relative_to(project)
        if not inside and real.is_file() and os.access(real, os.X_OK):
            return str(candidate)
    return None
