"""A check: one call of a tool and what its result must be.

Data, and the words of the file format. Not here: files (reading, saving), comparing, running.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hel_tui.core.protocol import CheckKind, CheckRow
from hel_tui.core.vocabulary import Json

FOLDER = Path(".hel") / "checks"
"""Where a project keeps its checks."""
SNAPSHOTS = "snapshots"
"""Folder in it with the expected texts of snapshots, a file each."""
DEFAULT_TIMEOUT = 60.0
"""Seconds a call of a check may take."""
MAX_DEPTH = 100
"""Levels of objects and lists that arguments, expectations and results may be nested."""
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"


class _Nothing:
    """Nothing is expected; null can be."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()


@dataclass(frozen=True, slots=True)
class Expected:
    """What a result must be. What is `NOTHING` is not looked at."""

    kind: CheckKind = "exact"
    text: str | None = None
    """The text blocks, joined by newlines; of a subset, what stands somewhere in them."""
    value: Any = NOTHING
    """The structured content; where there is none, the JSON that the text is."""
    content: Any = NOTHING
    """The content blocks as the server sent them."""
    schema: Any = NOTHING
    """A JSON Schema that the value fits."""
    snapshot: str = ""
    """Name of the file in the folder of snapshots that holds the expected text."""
    is_error: bool = False
    """The tool reports a failure."""
    masks: tuple[str, ...] = ()
    """Regular expressions: what they match counts as the same, wherever it stands."""
    ignore: tuple[str, ...] = ()
    """JSON paths in the value (or the blocks) that do not count, such as `items[*].id`."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check as it is saved. `problem` says why it cannot be run."""

    name: str
    server: str
    tool: str
    file: Path
    """In the project."""
    arguments: Json = field(default_factory=dict)
    """Variables not filled in."""
    expected: Expected = Expected()
    timeout: float = DEFAULT_TIMEOUT
    problem: str = ""
    digest: str = ""
    """SHA-256 of the file it was read from, in hex: what a person agreed to is bound to it."""

    @property
    def row(self) -> CheckRow:
        """What a screen shows of it."""
        return CheckRow(
            self.name, self.server, self.tool, self.expected.kind, str(self.file), problem=self.problem
        )


def slug(name: str) -> str:
    """A file name (without extension) for a check: what can be read of its name, told apart by a hash.

    Letters of every language stay as they are.
    """
    words = re.sub(r"[^\w.-]+", "-", name.strip().lower()).strip("-._")[:60]
    if words and words == name:
        return words
    return f"{words or 'check'}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
