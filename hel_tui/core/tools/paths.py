"""Which paths the model's tools may touch: inside the project, and to read, the session's own folder.

Links are resolved before the check; `.hel` is closed at any depth and in any spelling. Not here: opening
what was resolved without following links again (opening).
"""

from __future__ import annotations

import difflib
import os
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hel_tui.core.store.atomic import why

CLOSED_NAME = ".hel"
MAX_PATH = 4096
_LOOKED_AT = 2_000
"""Names of a folder that are looked at for a near miss."""


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A place below one of the open roots, free of links when it was resolved."""

    root: Path
    parts: tuple[str, ...]
    shown: str
    """Relative to the project with `/`, or absolute outside it."""

    @property
    def path(self) -> Path:
        return self.root.joinpath(*self.parts)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something was not done, for the model to act on."""

    sentence: str


class Workspace:
    """The open roots. `closed` are further folders no tool may see, wherever they lie."""

    def __init__(
        self,
        project: Path,
        files: Path | None = None,
        closed: tuple[Path, ...] = (),
        hide: Callable[[str], str] = str,
    ) -> None:
        """`project` must exist; `files` (the session's own folder, read only) may come later. `hide` takes
        known secrets out of what is saved there.
        """
        self.hide = hide
        self.project = Path(os.path.realpath(project))
        self.files = Path(os.path.realpath(files)) if files is not None else None
        self.closed = tuple(Path(os.path.realpath(folder)) for folder in closed)
        self._spelled = Path(project).absolute()

    def turn_over(self, files: Path) -> None:
        """A new session began: its folder can be read, the old one's no more."""
        self.files = Path(os.path.realpath(files))

    def resolve(self, path: str, *, for_write: bool = False) -> ResolvedPath | Refusal:
        """Return where `path` (absolute, or relative to the project) leads, or why it is closed.

        Nothing needs to exist there. Touches the file system for links only.
        """
        if problem := _unusable(path):
            return Refusal(problem)
        wanted = self.project / path
        real = Path(os.path.realpath(wanted))
        if self.files is not None and real.is_relative_to(self.files):
            return self._own_file(real, self.files, path, for_write)
        if not real.is_relative_to(self.project):
            return Refusal(f"{path} is outside the project ({self.project}); only paths inside it are open.")
        parts = real.relative_to(self.project).parts
        if self._is_closed(real, parts) or _names_closed(self._below(wanted)):
            return Refusal(f"{path} is closed: {CLOSED_NAME} and what is in it are for hel only.")
        return ResolvedPath(self.project, parts, _readable("/".join(parts)) or ".")

    def is_open(self, root: Path, parts: tuple[str, ...]) -> bool:
        """Whether a path found below `root` without following links is open to the model."""
        if root == self.files:
            return not _names_closed(parts)
        return not self._is_closed(root.joinpath(*parts), parts)

    def missing(self, place: ResolvedPath) -> str:
        """A sentence for a path where nothing is, with near names from its folder."""
        folder = place.path.parent
        if not folder.is_dir():
            return f"There is no {place.shown}: its folder does not exist."
        try:
            with os.scandir(folder) as entries:
                names = [
                    entry.name for entry in islice(entries, _LOOKED_AT) if not is_closed_name(entry.name)
                ]
        except OSError:
            names = []
        near = difflib.get_close_matches(place.path.name, names, n=3, cutoff=0.6)
        parent = place.shown.rpartition("/")[0]
        hint = " or ".join(f"{parent}/{name}" if parent else name for name in near)
        return f"There is no {place.shown}." + (f" Did you mean {hint}?" if near else "")

    def _own_file(self, real: Path, files: Path, path: str, for_write: bool) -> ResolvedPath | Refusal:
        if for_write:
            return Refusal(f"{path} is in the session's own folder, which can only be read.")
        return ResolvedPath(files, real.relative_to(files).parts, _readable(str(real)))

    def _below(self, wanted: Path) -> tuple[str, ...]:
        """The parts of a path as it was written, below the project where it starts there."""
        for root in (self.project, self._spelled):
            if wanted.is_relative_to(root):
                return wanted.relative_to(root).parts
        return ()

    def _is_closed(self, real: Path, parts: tuple[str, ...]) -> bool:
        if _names_closed(parts):
            return True
        harness = Path(os.path.realpath(self.project / CLOSED_NAME))
        if harness != self.project and real.is_relative_to(harness):
            return True
        return any(real.is_relative_to(folder) for folder in self.closed)


def is_closed_name(name: str) -> bool:
    """Whether a file system could take `name` for `.hel`: other case, invisible signs in it."""
    if name == CLOSED_NAME:
        return True
    if len(name) < len(CLOSED_NAME):
        return False
    seen = "".join(char for char in name if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", seen).casefold().strip(" ") == CLOSED_NAME


def reason(place: ResolvedPath, error: OSError) -> str:
    """A sentence for what the system said about a place."""
    return f"{place.shown}: {why(error)}."


def _names_closed(parts: tuple[str, ...]) -> bool:
    return any(is_closed_name(part) for part in parts)


def _readable(path: str) -> str:
    """A path as valid text; names on disk may be no UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def _unusable(path: str) -> str:
    if not path:
        return "The path is empty."
    if "\0" in path:
        return "The path holds a NUL character."
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        return "The path holds characters that no file name can have."
    return f"The path is longer than {MAX_PATH} bytes." if length > MAX_PATH else ""
