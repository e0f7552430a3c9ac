"""Files of the person's and the clipboard, for a message that is being written.

Not here: what is attached, whoever it comes from (`Attach`, `Detach`, `AttachmentsChanged`).
"""

from __future__ import annotations

from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class FindFiles:
    """Look for files of the project that have `word` in their paths; `FilesFound` follows."""

    word: str


@dataclass(frozen=True, slots=True)
class FilesFound:
    """The answer to `FindFiles`, the best first."""

    word: str
    paths: tuple[str, ...]
    """Relative to the project, with `/`."""


@dataclass(frozen=True, slots=True)
class PasteClipboard:
    """Attach the image in the system's clipboard, else hand on its text (`Pasted`)."""

    otherwise: str = ""
    """Text to hand on where the system's clipboard cannot be read or is empty: what was copied within hel."""


@dataclass(frozen=True, slots=True)
class Pasted:
    """Text from the system's clipboard, for the prompt."""

    text: str
