"""What stands between a call and its execution: hooks and permissions, as the agent sees them.

Protocols and plain data, so that the agent runs the same with the real policy, with none, or with a
test's. Not here: the rules themselves (permissions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hel_tui.core.store.record import RecordKind
from hel_tui.core.vocabulary import Json, Outcome, Tool


class Verdict(Protocol):
    """The policy's word on one call."""

    @property
    def action(self) -> Literal["run", "ask", "refuse"]: ...

    @property
    def sentence(self) -> str:
        """Names the tool, the level or rule, and what would allow it."""

    @property
    def by_level(self) -> bool:
        """The level alone wants to be asked."""


class Policy(Protocol):
    """Access level and rules."""

    def decide(self, tool: Tool, arguments: Json) -> Verdict: ...

    def session_rule(self, tool: Tool, arguments: Json) -> str:
        """The rule an "allow for this session" would add."""

    def project_rule(self, tool: Tool, arguments: Json) -> str:
        """The rule an "always in this project" would write."""

    def change(self, tool: Tool) -> str:
        """A diff of what was approved of a tool and what it is now; empty when it is the same."""

    def saw(self, tool: Tool, *, asked: bool) -> Callable[[], str] | None:
        """The tool is let run as it is now. Returns what writes that down, to be run in a thread, if
        anything; it gives a sentence when it could not.
        """

    def remember(self, rule: str, scope: Literal["session", "project", "user"], tool: Tool) -> str:
        """Add the rule; a sentence when it could not be saved, else ""."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A call that was looked up and whose arguments were parsed."""

    call_id: str
    name: str
    tool: Tool
    arguments: Json


class Hooks(Protocol):
    """Programs of the person that see every call."""

    async def before(self, call: Checked) -> str:
        """The reason one of them blocks the call, or ""."""

    async def after(self, call: Checked, outcome: Outcome) -> Outcome:
        """The outcome as the model gets it."""


class NoHooks:
    """Nothing configured."""

    async def before(self, call: Checked) -> str:  # noqa: ARG002 - the protocol's
        return ""

    async def after(self, call: Checked, outcome: Outcome) -> Outcome:  # noqa: ARG002
        return outcome


class Record(Protocol):
    """The session's record; redacts what it writes and never raises."""

    def write(self, kind: RecordKind, **facts: Any) -> None: ...
