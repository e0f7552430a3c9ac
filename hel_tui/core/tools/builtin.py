"""What the built-ins have in common: they are tools without a server, and check arguments the same way.

Not here: the tools themselves, one module each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from hel_tui.core.threads import in_thread
from hel_tui.core.tools.checking import check
from hel_tui.core.tools.paths import Refusal, Workspace
from hel_tui.core.vocabulary import Access, Invocation, Json, Outcome, ToolDefinition

_SHOWN = 200


class Builtin(ABC):
    """Base of the built-ins. A subclass gives its definition and `perform`."""

    access: ClassVar[Access] = "read"
    definition: ClassVar[ToolDefinition]
    server = ""
    identity = ""
    parallel = False
    claims: tuple[str, ...] = ()

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    @property
    def raw(self) -> str:
        """The name a person sees."""
        return self.definition.name

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before approving."""
        return ()

    @property
    def lacks_sandbox(self) -> bool:
        """Only commands need one."""
        return False

    @property
    def limit(self) -> float:
        """Files are quick, and a command has a limit among its arguments."""
        return 0.0

    def subject(self, arguments: Json) -> str:
        """The path the call is about, relative to the project and free of links, or as given if closed."""
        path = arguments.get("path")
        if not isinstance(path, str):
            return ""
        place = self.workspace.resolve(path)
        return path if isinstance(place, Refusal) else place.shown

    def summary(self, arguments: Json) -> str:
        """One line of what matters."""
        return one_line(str(arguments.get("path", "")))

    async def preview(self, arguments: Json) -> str:  # noqa: ARG002 - for the tools that edit
        """A unified diff of what the call would change; here nothing."""
        return ""

    def misfit(self, arguments: Json) -> str:
        """What is wrong with the arguments by its definition: a sentence; else empty."""
        checked = check(self.raw, self.definition.parameters, arguments)
        return checked if isinstance(checked, str) else ""

    async def run(self, arguments: Json, invocation: Invocation) -> Outcome:
        """Check the arguments and do it."""
        checked = check(self.raw, self.definition.parameters, arguments)
        if isinstance(checked, str):
            return Outcome(checked, failed=True)
        return await self.perform(checked, invocation)

    @abstractmethod
    async def perform(self, arguments: Json, invocation: Invocation) -> Outcome:
        """The work, with arguments that fit the schema."""


class FileTool(Builtin):
    """A built-in whose work is short and blocking: it is done in a thread."""

    async def perform(self, arguments: Json, invocation: Invocation) -> Outcome:  # noqa: ARG002
        """Do `work` beside the loop."""
        return await in_thread(lambda: self.work(arguments))

    @abstractmethod
    def work(self, arguments: Json) -> Outcome:
        """The work; blocking."""


def refused(refusal: Refusal | str) -> Outcome:
    """The outcome of something that could not be done."""
    return Outcome(refusal if isinstance(refusal, str) else refusal.sentence, failed=True)


def one_line(text: str) -> str:
    """The first line of `text`, cut to what fits a list."""
    first, newline, _ = text.strip().partition("\n")
    return first[:_SHOWN] + ("…" if newline or len(first) > _SHOWN else "")
