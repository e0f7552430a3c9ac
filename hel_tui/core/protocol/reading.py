"""What a screen reads from the runtime when it shows it: logs, rows of lists, contents, details.

Not here: the facts that tell that there is something new (events).
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, Protocol

from hel_tui.core.protocol.questions import FormField
from hel_tui.core.protocol.words import CallState
from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class LogLine:
    time: float
    """Unix time of arrival."""
    text: str
    stream: Literal["stderr", "stdout", "hel"] = "stderr"
    """`hel` lines are remarks of the host: starts, exits, lines skipped."""


class LogWindow(Protocol):
    """A bounded log that another thread writes. All methods are safe from any thread and quick."""

    @property
    def version(self) -> int:
        """Grows with every change."""

    @property
    def first(self) -> int:
        """Number of the oldest line kept: lines are numbered from 0 for ever."""

    @property
    def end(self) -> int:
        """Number after the newest line."""

    def lines(self, start: int, stop: int) -> list[LogLine]:
        """The lines numbered start..stop-1 that are still kept."""


@dataclass(frozen=True, slots=True)
class ToolRow:
    server: str
    raw: str
    public: str
    description: str
    tokens: int
    """Estimated cost of the definition in every request once loaded."""
    loaded: bool
    reason: str = ""
    """Why it is not offered to the model; empty when it is."""
    blank: str = "{}"
    """JSON of the arguments it requires, with an empty value of its type each: for a call by hand."""


@dataclass(frozen=True, slots=True)
class ResourceRow:
    """A resource of a server, or a template of resources."""

    server: str
    uri: str
    """Of a template: with variables in braces (RFC 6570)."""
    name: str
    description: str = ""
    mime: str = ""
    size: int = 0
    """Bytes as the server says; 0 when it does not."""
    template: bool = False
    variables: tuple[str, ...] = ()
    """Of a template, in order."""
    watched: bool = False
    """Its updates are subscribed to."""


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """One content of a resource that was read."""

    uri: str
    mime: str
    text: str = ""
    """Empty for binary content."""
    size: int = 0
    """Bytes."""
    measure: str = ""
    """Of an image: such as `640×480`."""
    saved: str = ""
    """File of the session that holds binary content."""


@dataclass(frozen=True, slots=True)
class PromptRow:
    server: str
    name: str
    command: str
    """What a person types, without the slash: `mcp__server__prompt`."""
    title: str = ""
    description: str = ""
    fields: tuple[FormField, ...] = ()
    """Its arguments, all of kind `text`."""


@dataclass(frozen=True, slots=True)
class CallDetail:
    """Everything about one call, read when its card is opened."""

    call_id: str
    server: str
    tool: str
    arguments: str
    """Pretty JSON, as sent."""
    result: str
    """Full text as the model got it (or the whole text, when the model got a part)."""
    state: CallState
    diff: str = ""
    saved: tuple[str, ...] = ()
    """Files of the session that hold large or binary parts."""
    images: tuple[str, ...] = ()
    """Those of `saved` that are images."""
    warnings: tuple[str, ...] = ()
    """What is odd about the result: phrases."""


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """What is known about why a server failed."""

    server: str
    stage: Literal["entry", "find", "spawn", "handshake", "list", "call", "run"]
    sentence: str
    command_line: str = ""
    resolved: str = ""
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    exit: str = ""
    """Such as `exit 1 after 0.4 s` or `killed by SIGSEGV after 3.1 s`."""
    stderr: tuple[str, ...] = field(default=())
    noise: tuple[str, ...] = field(default=())
