"""What the screen remembers between runs: the theme and the width of the right column.

A small TOML file that hel writes itself. Not here: settings a person writes.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from pathlib import Path

from hel_tui.core.values import dataclass

MIN_SIDE, MAX_SIDE = 30, 90


@dataclass(slots=True)
class Looks:
    theme: str = ""
    side: int = 38
    """Width of the right column in cells."""


def read(file: Path | None) -> Looks:
    """What was remembered; defaults for whatever is missing or strange."""
    looks = Looks()
    try:
        data = tomllib.loads(file.read_text("utf-8")) if file else {}
    except (OSError, ValueError, RecursionError):
        return looks
    if isinstance(theme := data.get("theme"), str):
        looks.theme = theme
    side = data.get("side")
    if isinstance(side, int) and MIN_SIDE <= side <= MAX_SIDE:
        looks.side = side
    return looks


def write(file: Path | None, looks: Looks) -> None:
    """Remember, atomically and for the person's eyes only; a disk that refuses costs the memory alone."""
    if file is None:
        return
    import tomli_w

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as out:
            tomli_w.dump({"theme": looks.theme, "side": looks.side}, out)
        Path(temporary).replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
