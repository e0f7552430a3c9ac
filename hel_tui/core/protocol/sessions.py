"""Sessions that are kept: going on with one, forks, names, search, and whether this one is being saved.

Not here: what is in a session (turns), the files (store).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.values import dataclass

ExportForm = Literal["markdown", "json"]
SessionAct = Literal["renamed", "deleted", "exported"]
Speaker = Literal["person", "model", "call", "note"]

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
    when `Runtime.sessions` and `Runtime.session_hits` have it. One that comes while another is carried out
    takes the place of those that wait: only the newest of them is answered.
    """

    text: str = ""
    everywhere: bool = False
    """Of all projects, not only of this one."""
    rows: bool = True
    """Whether to look which there are; without, only `text` is looked for."""


@dataclass(frozen=True, slots=True)
class LookAtSession:
    """Read what a kept session ends with, and which turns it has. `SessionLookedAt` tells when
    `Runtime.session_glance` has it; of several that wait only the newest is answered.
    """

    session_id: str
    turn: int = 0
    """Read this turn instead of the newest ones."""


@dataclass(frozen=True, slots=True)
class ExportSession:
    """Write a session as a file that people or programs read. A file that is there stays as it is."""

    path: str = ""
    """From the project on; empty for a name of hel's own there."""
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
    everywhere: bool = False
    rows: bool = True
    """Whether it was looked which sessions there are."""
    behind: int = 0
    """Older sessions that are not read yet; the same answer follows with more of them."""


@dataclass(frozen=True, slots=True)
class SessionLookedAt:
    """The answer to `LookAtSession`."""

    session_id: str
    turn: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SessionDone:
    """What came of a command about a kept session; the same sentence is told as a notice."""

    act: SessionAct
    session_id: str
    sentence: str
    done: bool = True
    """Whether it worked."""


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
    cost: float | None = None
    """Dollars, as far as prices are known; None where nothing was told of it."""
    damaged: int = 0
    """Lines of its file that cannot be read."""


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
    turns: int = 1
    """How many turns of the session have it."""


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of a turn as a glance shows it: its beginning, a few hundred characters."""

    turn: int
    who: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class SessionGlance:
    """What is seen of a kept session without opening it."""

    session_id: str
    turn: int
    """The turn that was asked for; 0 for the newest."""
    said: tuple[Said, ...]
    """Oldest first."""
    turns: tuple[tuple[int, str], ...] = ()
    """(number, beginning of what the person said) of every turn, oldest first."""
