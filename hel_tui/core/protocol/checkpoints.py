"""Going back: files as they were before a turn, and the conversation up to it.

Not here: what is kept and how (tools), the fork that the conversation goes on in (sessions).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.values import dataclass

FileChange = Literal["made", "changed", "removed"]


# ------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class Rewind:
    """Go back to before a turn. Asks where that would overwrite what somebody changed since."""

    turn: int = 0
    """0: the newest turn that changed files."""
    conversation: bool = False
    """Go on in a fork that ends before the turn."""
    files: bool = True
    """Give files back as they were before it, as far as hel's own tools changed them since."""


# --------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class Rewound:
    """What came of a `Rewind`; not told when it did not come to pass."""

    turn: int
    conversation: bool
    restored: int = 0
    """Files that are as they were."""
    kept: int = 0
    """Files that were left as somebody changed them since."""


# ------------------------------------------------------------------ questions


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that is not as hel's tools left it."""

    path: str
    diff: str
    """What giving it back would do: a unified diff of bounded size, or a phrase."""


@dataclass(frozen=True, slots=True)
class RestoreQuestion:
    """Are files to be given back though somebody changed them since?"""

    id: str
    turn: int
    changed: tuple[ChangedFile, ...]
    more: int = 0
    """How many more there are that are not shown."""
    others: int = 0
    """Files that can be given back without overwriting anything."""


@dataclass(frozen=True, slots=True)
class RestoreAnswer:
    """`keep` gives back the others only; `cancel` does nothing at all."""

    decision: Literal["overwrite", "keep", "cancel"]


# ----------------------------------------------------------------------- rows


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    path: str
    change: FileChange


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A turn in which hel's tools changed files."""

    turn: int
    files: tuple[CheckpointFile, ...]
    """The first of them."""
    count: int
    """How many there are."""
