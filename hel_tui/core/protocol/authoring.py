"""What a screen reads for people who write servers: saved checks and how they went, and what a doctor found.

Not here: the commands that ask for it (commands), the events that tell of it (events).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.values import dataclass

CheckKind = Literal["exact", "subset", "schema", "snapshot"]
"""How a result is compared: the same; holding at least what is expected; fitting a JSON Schema; the same text
but for what the masks hide."""
CheckState = Literal["passed", "failed", "error", "skipped"]
"""`error`: the call came to no result: its server is not there, or the check cannot be read."""
Health = Literal["ok", "info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A saved call with what is expected of it."""

    name: str
    server: str
    tool: str
    kind: CheckKind
    file: str
    """Where it is saved."""
    problem: str = ""
    """Why it cannot be run; empty when it can."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one check went."""

    check: CheckRow
    state: CheckState
    seconds: float
    message: str = ""
    """Why it did not pass, in one line."""
    diff: str = ""
    """Unified diff of what was expected and what came; empty when it passed."""


@dataclass(frozen=True, slots=True)
class Rerun:
    """One call that author mode made again after a restart."""

    tool: str
    arguments: str
    """Pretty JSON."""
    before: str
    """The text of the old result."""
    after: str
    """Of the new one."""
    same: bool
    failed: bool
    check: CheckResult | None = None
    """Where it was a saved check."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What came of one save while a server is watched."""

    number: int
    """From 1, in this run."""
    server: str
    time: float
    files: tuple[str, ...]
    """What was saved, relative to the project."""
    state: Literal["renewed", "broken"]
    """`broken`: the new one did not come up, and the old one still answers."""
    reason: str = ""
    failure: int = 0
    """Number of the failure that says why."""
    change: int = 0
    """Number of the change of its tools; 0 when they stayed."""
    reruns: tuple[Rerun, ...] = ()
    running: bool = False
    """More is being called again."""
    asking: int = 0
    """Calls by hand that are not made again, since the server asked the person or the model during them."""

    @property
    def failed(self) -> int:
        """How many of the calls that were made again failed."""
        return sum(one.failed for one in self.reruns)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a doctor found."""

    health: Health
    topic: str
    """What was looked at, such as `spawn`, `schema`, `names`, `cancel`."""
    sentence: str
    tool: str = ""
    path: str = ""
    """A JSON path into the tool's input schema."""
    profile: str = ""
    """The family of providers that would refuse it."""
    mend: str = ""
    """What helps, as a sentence; empty where nothing has to."""
    also: tuple[str, ...] = ()
    """Further places where the same was found, tool and path each."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a doctor found about hel itself (server empty) or one server."""

    server: str
    findings: tuple[Finding, ...]
    running: bool = False
    """More is being looked at."""
    seconds: float = 0.0
