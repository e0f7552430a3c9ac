"""Where the screen reads and remembers its own things; whoever opens the app says where that is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Places:
    """All optional: None means nothing is read or kept."""

    themes: Path | None = None
    """Folder with the person's own themes."""
    keymap: Path | None = None
    """The person's keymap.toml."""
    history: Path | None = None
    """File of sent messages, for the Up key."""
    looks: Path | None = None
    """File in which theme and sizes are remembered."""
    mask: Callable[[str], str] = str
    """Takes secrets out of a text that goes into a file."""
