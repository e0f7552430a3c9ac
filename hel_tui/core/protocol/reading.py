"""What a screen reads from the runtime when it shows it: logs, rows of lists, contents, details.

Not here: the facts that tell that there is something new (events).
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, Protocol

from hel_tui.core.protocol.inside import LogQuery
from hel_tui.core.protocol.questions import FormField
from hel_tui.core.protocol.words import CallState, LogLevel
from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class LogLine:
    time: float
    """Unix time of arrival."""
    text: str
    stream: Literal["stderr", "stdout", "hel", "message", "start"] = "stderr"
    """`hel` lines are remarks of the host: exits, lines skipped. `message`: a logging message of the server.
    `start`: the server was started, with its pid; drawn as a rule."""
    level: LogLevel | Literal[""] = ""
    """Of a logging message; of a line on stderr, the level it seems to have; empty when it shows none."""
    server: str = ""
    """Whose line it is."""


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

    def matches(self, query: LogQuery, start: int, stop: int) -> list[int]:
        """The numbers of those kept lines among start..stop-1 that `query` wants: some milliseconds for ten
        thousand lines. Raises ValueError with a sentence for a regular expression that is none."""

    def clear(self) -> None:
        """Forget all lines of this log; numbers go on.

        As one pane of a terminal is cleared: the log of all servers and those of single ones are windows of
        their own, and what one forgets the other still has.
        """


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
    pinned: bool = False
    """The person keeps it loaded, in every conversation of this project."""
    off: bool = False
    """The person switched it off."""
    changed: bool = False
    """Its definition is not the one that was known before, and nobody has looked at the difference yet."""
    warnings: int = 0
    """How many things are suspicious about its definition."""
    adapted: int = 0
    """How many changes its schema needs for the model that answers now."""


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """One definition a tool had. `diff` is a unified diff against the one before; empty for the first."""

    time: float
    """Unix time at which hel first saw it."""
    sha256: str
    """Of description and schema, in hex."""
    diff: str = ""


@dataclass(frozen=True, slots=True)
class ToolDetail:
    """Everything about one tool, read when its view is opened."""

    row: ToolRow
    description: str
    """As the server sent it, whole."""
    sent: str
    """Its input schema as the server sent it, pretty JSON."""
    given: str = ""
    """What the model gets, pretty JSON; empty when it gets nothing."""
    output: str = ""
    """The schema of its structured results, pretty JSON; empty when it has none."""
    profile: str = ""
    """The family of providers whose rules the schema was adapted to."""
    adaptations: tuple[str, ...] = ()
    """Each change as a sentence that begins with the place, such as `properties.a: ...`."""
    diff: str = ""
    """Unified diff of `sent` and `given`; empty when they say the same."""
    claims: tuple[str, ...] = ()
    """What the server says of it (annotations)."""
    warnings: tuple[str, ...] = ()
    """What is suspicious about its definition, as phrases."""
    history: tuple[DefinitionChange, ...] = ()
    """Its definitions, oldest first; the last one is in force."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    public: str
    server: str
    raw: str
    score: float
    words: tuple[str, ...] = ()
    """The words of the query that it was found by."""


@dataclass(frozen=True, slots=True)
class SearchTrace:
    """One search over the tools, as it went."""

    number: int
    """From 1, in this session."""
    time: float
    """Unix time."""
    query: str
    by: Literal["model", "person"]
    hits: tuple[SearchHit, ...]
    """The best ones, best first."""
    matched: int
    """How many tools matched in all."""
    searched: int
    """How many tools were looked at."""
    absent: tuple[tuple[str, str], ...] = ()
    """(server, why nothing of it is among the hits): starting, off, failed, no match."""


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
    """What was converted in the arguments, and what is odd about the result: phrases."""
    shared: bool = True
    """The model has the result, or will have it with the next message; False: only the person has."""
    raw: str = ""
    """The result of an MCP tool as the server sent it, compact JSON; empty when it is too large to keep."""


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """What is known about why a server failed."""

    server: str
    stage: Literal["entry", "find", "spawn", "handshake", "list", "call", "run"]
    sentence: str
    """The innermost cause, unwrapped."""
    command_line: str = ""
    resolved: str = ""
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    exit: str = ""
    """Such as `exit 1 after 0.4 s` or `killed by SIGSEGV after 3.1 s`."""
    stderr: tuple[str, ...] = field(default=())
    noise: tuple[str, ...] = field(default=())
    number: int = 0
    """From 1, in this run; `Runtime.failed(number)` reads it again."""
    time: float = 0.0
    """Unix time."""
    tool: str = ""
    """Raw name of the tool of a call that failed on the way."""
    call: str = ""
    """Id of that call (the card)."""
    retried: bool = False
    """hel tries to bring it back by itself."""
