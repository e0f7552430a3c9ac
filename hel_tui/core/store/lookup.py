"""Where a server starts and which file its command is: one answer for the question and for the start.

Not here: filling in variables (expansion), starting anything (mcp).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hel_tui.core.store.expansion import expand_home

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def start_folder(written: str, default: Path, environ: Mapping[str, str]) -> Path:
    """Return the folder a server starts in, whole and without `..`: `written` seen from `default`."""
    return Path(os.path.normpath(default / expand_home(written, environ)))


def search_path(env: Mapping[str, str]) -> str:
    """Return the PATH a command is looked up on in a server's environment."""
    return env.get("PATH") or DEFAULT_PATH


def find_program(command: str, cwd: Path, path: str) -> str:
    """Return the absolute path of the program `command` starts in `cwd`; empty when there is none.

    A command with a slash and relative entries of `path` are seen from `cwd`, as the system would.
    """
    if os.sep in command:
        return _runnable(cwd / command)
    for folder in path.split(os.pathsep) if command else ():
        if found := _runnable(cwd / folder / command):
            return found
    return ""


def _runnable(path: Path) -> str:
    try:
        is_program = path.is_file() and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return ""
    return os.path.normpath(path) if is_program else ""
