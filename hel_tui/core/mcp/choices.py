"""What a person decided about single tools of a project: kept loaded, or switched off.

Held in a file that only hel writes. Not here: what follows from it (catalogue).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hel_tui.core.store.atomic import Document, read_toml, update_toml

PINNED, OFF = "pinned", "off"
Name = tuple[str, str]
"""(server, raw name)."""


class Choices:
    """The choices of one project. `load` and what `change` returns touch the disk: run them in a thread."""

    def __init__(self, file: Path | None = None) -> None:
        """Without a file they last as long as the object."""
        self._file = file
        self.pinned: frozenset[Name] = frozenset()
        self.off: frozenset[Name] = frozenset()

    def load(self) -> str:
        """Read what was kept. A sentence when it could not be read; then nothing is chosen."""
        if self._file is None:
            return ""
        document, problem = read_toml(self._file)
        self.pinned, self.off = _names(document, PINNED), _names(document, OFF)
        return problem

    def pin(self, names: frozenset[Name], on: bool) -> Callable[[], str]:
        """Keep these loaded, or no longer. Returns what writes it down; a sentence when it cannot."""
        self.pinned = self.pinned | names if on else self.pinned - names
        return self._keep(PINNED, names, on)

    def switch(self, name: Name, on: bool) -> Callable[[], str]:
        """Offer a tool, or no longer; otherwise as `pin`."""
        self.off = self.off - {name} if on else self.off | {name}
        return self._keep(OFF, frozenset({name}), not on)

    def _keep(self, what: str, names: frozenset[Name], on: bool) -> Callable[[], str]:
        file = self._file

        def change(document: Document) -> None:
            kept = _names(document, what)
            kept = kept | names if on else kept - names
            document["version"] = 1
            document[what] = [list(name) for name in sorted(kept)]

        def write() -> str:
            failed = update_toml(file, change) if file is not None else None
            return f"Remembered for this run only. {failed.sentence}" if failed is not None else ""

        return write


def _names(document: Document, what: str) -> frozenset[Name]:
    rows = document.get(what)
    pairs = rows if isinstance(rows, list) else []
    return frozenset(
        (pair[0], pair[1])
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)
    )
