"""Sessions that are kept: going on with one, forks, names, search, and whether this one is being saved.

Not here: what is in a session (turns), the files (store).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.values import dataclass

ExportForm = Literal["markdown", "json"]

# ------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class ResumeSession:
    """Go on with another session: an id, the beginning of one, or `last` for the newest of the project."""

    session_id: str


@dataclass(frozen=True, slots=True)
class ForkSession:
    """Go on with a copy of a session up to the end of one of its turns."""

    session_id: str = ""
    """Empty for the session that is open."""
    turn: int = 0
    """0 for the last one that ended."""


@dataclass(frozen=True, slots=True)
class RenameSession:
    title: str
    """Empty: the first message is the title again."""
    session_id: str = ""
    """Empty for the session that is open."""


@dataclass(frozen=True, slots=True)
class DeleteSession:
    """Take a session away with all its files. One that is open, here or elsewhere, stays."""

    session_id: str


@dataclass(frozen=True, slots=True)
class ListSessions:
    """Look which sessions there are; with `text`, which of them have it in a turn. `SessionsListed` tells
    when `Runtime.sessions` and `Runtime.session_hits` have it.
    """

    text: str = ""
    everywhere: bool = False
    """Of all projects, not only of this one."""


@dataclass(frozen=True, slots=True)
class ExportSession:
    """Write a session as a file that people or programs read."""

    path: str
    form: ExportForm = "markdown"
    session_id: str = ""
    """Empty for the session that is open."""


# --------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class SessionRestored:
    """A kept session is open. The events of its newest turns came just before, as they were; older turns are
    read with `Runtime.earlier`.
    """

    session_id: str
    title: str
    turns: int
    """How many it has."""
    first_shown: int
    """Number of the oldest turn that was told; 0 when there is none."""
    parent: str = ""
    """The session it is a fork of."""


@dataclass(frozen=True, slots=True)
class SessionTitled:
    """The session that is open has this title: given by a person, or its first message."""

    title: str
    given: bool = False


@dataclass(frozen=True, slots=True)
class SavingChanged:
    """The session cannot be written since `since` (Unix time), or (0) all of it is written again."""

    since: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SessionsListed:
    """The answer to `ListSessions`."""

    text: str
    sessions: int
    hits: int
    problem: str = ""
    """Why not all could be looked at."""


# ----------------------------------------------------------------------- rows


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in a list."""

    session_id: str
    title: str
    project: str
    created: float
    """Unix time."""
    updated: float
    """Unix time."""
    turns: int
    size: int
    """Bytes of its file."""
    model: str = ""
    """What answered last."""
    parent: str = ""
    """The session it is a fork of."""
    is_open: bool = False
    """A process has it open."""


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A turn that has what was searched for."""

    session_id: str
    title: str
    turn: int
    excerpt: str
    """Around the first place, one line."""
    marks: tuple[tuple[int, int], ...]
    """(begin, end) in the excerpt of what was searched for."""
    updated: float
    """Unix time of the session's last line."""
