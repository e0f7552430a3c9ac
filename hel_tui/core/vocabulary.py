"""Words the inside of the core shares: messages, tool definitions, calls and what came of them.

Pure data and one protocol, so that models, tools, mcp, permissions and context need not know each other.
Not here: what crosses the door to a screen (protocol).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

Json = dict[str, Any]

Access = Literal["read", "write", "execute"]
"""Permission class of a tool: what the access levels decide on (see permissions)."""

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimated tokens of `text`: characters / 4, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


# --------------------------------------------------------------------- images


@dataclass(frozen=True, slots=True)
class Image:
    """An image a model can look at: type and size are those of the bytes, not of any claim."""

    mime: str
    """One of image/png, image/jpeg, image/gif, image/webp."""
    data: bytes = field(repr=False)
    path: Path | None = None
    """File of the session that holds it."""
    width: int = 0
    """Pixels."""
    height: int = 0

    @property
    def label(self) -> str:
        """Such as `png 640×480`."""
        return f"{self.mime.removeprefix('image/')} {self.width}×{self.height}"


# ------------------------------------------------------------------- messages


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asked for. `arguments` is JSON text as received ("{}" for none)."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class SystemMessage:
    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str
    images: tuple[Image, ...] = ()
    """For models that see; `text` has a marker for each."""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Provider fields that must go back unchanged with this message."""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call, as the model reads it."""

    call_id: str
    name: str
    text: str
    failed: bool = False
    images: tuple[Image, ...] = ()
    """For models that see; `text` has a marker for each."""


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


# ---------------------------------------------------------------------- tools


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What a model is told of a tool: `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Json


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool call came to. `text` is for the model: a result, or a sentence it can act on."""

    text: str
    failed: bool = False
    cancelled: bool = False
    full: str | None = None
    """The whole text where `text` is only head and tail of it."""
    saved: tuple[Path, ...] = ()
    """Files of the session that hold large or binary parts."""
    images: tuple[Image, ...] = ()
    """For models that see; `text` has a marker for each."""
    warnings: tuple[str, ...] = ()
    """What is odd about the result, for the person: phrases."""
    raw: str = ""
    """The result as its server sent it, compact JSON; empty when there is none or it is too large to keep."""


@runtime_checkable
class Mixed(Protocol):
    """A tool of which some calls change nothing and others do."""

    def only_reads(self, arguments: Json) -> bool:
        """Whether this call changes nothing, so that it may run beside others."""


@runtime_checkable
class Foreseeing(Protocol):
    """A tool of which it can be told beforehand that a call would fail."""

    async def obstacle(self, arguments: Json) -> str:
        """Why a call would fail as things are, or would change nothing: a sentence; else empty."""


@runtime_checkable
class Shaped(Protocol):
    """A tool that can tell at once whether a call has arguments it takes."""

    def misfit(self, arguments: Json) -> str:
        """What is wrong with them: a sentence for the model, "not executed" included; else empty."""


ProgressFn = Callable[[float, float | None, str], None]
"""(progress, total or None, message)."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """The surroundings of one call."""

    call_id: str
    on_progress: ProgressFn = lambda _progress, _total, _message: None


class Tool(Protocol):
    """Anything the model can call: a built-in, a loader, a tool of an MCP server."""

    @property
    def server(self) -> str:
        """Name of the server; empty for a built-in."""

    @property
    def raw(self) -> str:
        """The name a person sees; on a server, the name on the wire."""

    @property
    def identity(self) -> str:
        """A hash of how the server it runs on is configured; empty for a built-in. Approvals hold for it."""

    @property
    def access(self) -> Access: ...

    @property
    def parallel(self) -> bool:
        """Calls of it may run together although they are no reads."""

    @property
    def lacks_sandbox(self) -> bool:
        """It should run in a sandbox and the system has none: a person is asked in every level."""

    @property
    def limit(self) -> float:
        """Seconds a call may take without a sign of life; 0 where none are known."""

    @property
    def definition(self) -> ToolDefinition: ...

    @property
    def claims(self) -> tuple[str, ...]:
        """What the server says of the tool (annotations), as short phrases."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before approving."""

    def subject(self, arguments: Json) -> str:
        """What a permission rule's pattern is matched against: a path, a command line, else ""."""

    def summary(self, arguments: Json) -> str:
        """The arguments that matter, one line."""

    async def preview(self, arguments: Json) -> str:
        """A unified diff of what the call would change; empty when it is no edit. Never raises."""

    async def run(self, arguments: Json, invocation: Invocation) -> Outcome:
        """Do it. Failures are outcomes. Cancelling the task cancels the call."""
