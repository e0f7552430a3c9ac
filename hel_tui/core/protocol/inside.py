"""What a screen reads of the inside of a server: frames on its wire, figures, its process, its entry.

Windows are bounded stores that another thread writes: a screen looks at `version` once a frame and reads only
what it shows. Not here: lists the server offers (reading), facts that tell of news (events).
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, Protocol

from hel_tui.core.protocol.words import LogLevel
from hel_tui.core.values import dataclass

Direction = Literal["out", "in"]
"""`out`: from hel to the server."""
FrameKind = Literal["request", "result", "error", "notification", "noise", "http"]
"""`http` is one exchange: a request of HTTP and the head of its answer; messages in it are frames too.
`noise` is what a server sent that is no protocol."""
Switch = Literal["roots", "elicitation", "sampling"]
"""What a server may ask of hel."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message on the wire of a server, without its body."""

    number: int
    """From 0, in this server's trace, for ever."""
    time: float
    """Unix time."""
    direction: Direction
    kind: FrameKind
    size: int
    """Bytes of the body as it was sent."""
    method: str = ""
    """Of a result or an error: that of its request. Of an exchange: GET, POST, DELETE."""
    id: str = ""
    """The JSON-RPC id as JSON text; empty for a notification."""
    pair: int = -1
    """Number of the frame that answers this one, or that it answers; -1 while there is none."""
    latency: float = 0.0
    """Seconds from the request to this answer; of an exchange, to the head of its answer."""
    tool: str = ""
    """Raw name of the tool of a `tools/call` and of its answer."""
    summary: str = ""
    """What matters of it, at most 200 characters: a tool, a URI, an error's code and message, a status."""
    call: str = ""
    """Id of the call (the card) that caused it; empty when none did."""
    exchange: int = -1
    """Number of the `http` frame that carried it; -1 over pipes."""
    life: int = 0
    """Which start of the server it belongs to, from 1."""


@dataclass(frozen=True, slots=True)
class FrameQuery:
    """Which frames are wanted; what is empty does not count."""

    text: str = ""
    """Stands in the method, the summary or the body, in any case."""
    is_regex: bool = False
    """`text` is a regular expression."""
    direction: Direction | Literal[""] = ""
    method: str = ""
    """Begins with this."""
    id: str = ""
    tool: str = ""
    call: str = ""
    errors: bool = False
    """Errors, results of tools with isError, failed statuses and noise only."""


@dataclass(frozen=True, slots=True)
class HttpExchange:
    """One request over HTTP and the head of its answer; credentials are taken out."""

    method: str
    url: str
    status: int
    """0 when there was no answer."""
    reason: str
    """Why there was none."""
    seconds: float
    """To the head of the answer."""
    request_headers: tuple[tuple[str, str], ...] = ()
    response_headers: tuple[tuple[str, str], ...] = ()
    sent: int = 0
    """Bytes of the request's body."""


class FrameWindow(Protocol):
    """The bounded trace of one server. All methods are safe from any thread; `matches` and `body` may take
    some milliseconds, the others none."""

    @property
    def version(self) -> int:
        """Grows with every change, also when a frame got its answer."""

    @property
    def first(self) -> int:
        """Number of the oldest frame kept."""

    @property
    def end(self) -> int:
        """Number after the newest frame."""

    def frames(self, start: int, stop: int) -> list[Frame]:
        """The frames numbered start..stop-1 that are still kept."""

    def matches(self, query: FrameQuery, start: int, stop: int) -> list[int]:
        """The numbers of those kept frames among start..stop-1 that `query` wants. Raises ValueError with a
        sentence for a regular expression that is none."""

    def body(self, number: int) -> str:
        """The body as it was on the wire, secrets taken out; cut where it was too long to keep, which is
        said in a last line. Empty when it is not kept any more."""

    def exchange(self, number: int) -> HttpExchange | None:
        """What is known of the `http` frame with this number."""

    def of_call(self, call_id: str) -> tuple[int, ...]:
        """Numbers of the kept frames that a call caused, in order."""


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which lines of a log are wanted; what is empty does not count."""

    text: str = ""
    is_regex: bool = False
    level: LogLevel | Literal[""] = ""
    """This level and above: that of a logging message, or the one a line of stderr seems to have."""


@dataclass(frozen=True, slots=True)
class MethodFigures:
    """How requests of one method went, since the server was first started in this run."""

    method: str
    direction: Direction
    count: int
    errors: int
    median: float
    """Seconds, over the last 500."""
    p95: float
    recent: tuple[float, ...] = ()
    """Seconds of the latest ones, oldest first, at most 32: for a sparkline."""


@dataclass(frozen=True, slots=True)
class Capability:
    """A row of the matrix of what both sides can."""

    name: str
    """Such as `tools`, `resources.subscribe`, `sampling.tools`."""
    side: Literal["server", "hel"]
    declared: bool
    note: str = ""
    """Such as `refused live; declared until the next start`."""


@dataclass(frozen=True, slots=True)
class ServerInside:
    """What the overview of a server shows besides its state (`ServerChanged`)."""

    server: str
    era: str = ""
    """`handshake` or `stateless`; empty before the first answer."""
    server_name: str = ""
    server_version: str = ""
    instructions: str = ""
    """What the server says of its use: foreign text, shown and never sent to the model."""
    capabilities: tuple[Capability, ...] = ()
    switches: tuple[tuple[Switch, bool], ...] = ()
    """What the server may ask of hel now."""
    methods: tuple[MethodFigures, ...] = ()
    """Most used first."""
    tokens: int = 0
    """Estimated cost of all its definitions."""
    loaded_tokens: int = 0
    breaker: str = ""
    """Such as `3 failures; calls are paused for 42 s`; empty while it is closed."""
    log_level: str = ""
    sessions: int = 0
    """Sessions of HTTP that were opened."""


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """One process of a server, or a leftover of an earlier run."""

    pid: int
    parent: int
    depth: int
    """0 for the server itself."""
    command: str
    """Secrets taken out."""
    cpu: float
    """Percent of one core since the last look."""
    memory: int
    """Resident bytes."""
    files: int
    """Open descriptors; -1 where the system does not say."""
    threads: int
    since: float
    """Unix time of its start."""
    leftover: bool = False
    """It belongs to nobody any more: `EndProcess` ends it."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable an entry uses."""

    name: str
    """As written, such as `TOKEN` or `keyring:TOKEN`."""
    where: str
    """Where the entry uses it, such as `env.API_KEY`."""
    value: str
    """What it expands to, masked where it may be a secret; empty when it is unset."""
    source: Literal["environment", "default", "keyring", "unset"]


@dataclass(frozen=True, slots=True)
class LoginDetail:
    """What a login at a remote server gave (OAuth 2.1). No token and no secret is in it."""

    issuer: str
    """The authorization server."""
    client: str
    """hel's client id there, or the end of it."""
    how: Literal["configured", "document", "dynamic"]
    """Where that is from: the entry, a metadata document (its URL is the id), or a registration."""
    resource: str = ""
    """What the tokens are for (RFC 8707)."""
    scopes: tuple[str, ...] = ()
    """Granted."""
    requested: tuple[str, ...] = ()
    """Asked for in all logins so far."""
    has_token: bool = False
    obtained: float = 0.0
    """Unix time."""
    expires: float = 0.0
    """Unix time; 0 when the server did not say."""
    renewable: bool = False
    """It came with a refresh token."""


@dataclass(frozen=True, slots=True)
class EntryDetail:
    """The configuration of one server."""

    server: str
    scope: str
    file: str
    text: str
    """The entry as pretty JSON, literals that look like credentials masked."""
    command_line: str = ""
    """With variables filled in, masked; the URL of a remote server."""
    resolved: str = ""
    """What the command resolves to on PATH."""
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    """All names the process gets."""
    variables: tuple[Variable, ...] = ()
    shadows: tuple[str, ...] = ()
    """Files with an entry of the same name that does not count."""
    watch: tuple[str, ...] = ()
    """Globs of author mode."""
    sha256: str = ""
    """Of the definition: what trust is bound to."""
    trust: str = ""
    """Such as `yours`, `approved for this project`, `for this run`, `not approved`."""
    login: LoginDetail | None = None
    problems: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ToolChange:
    """One tool in a change of a server's list."""

    tool: str
    kind: Literal["added", "removed", "changed"]
    diff: str = ""
    """Unified diff of description and schema; of a new or a removed tool, empty."""
    loaded: bool = False
    """It is, or was, loaded: the model is touched."""
    pinned: bool = False
    approvals: int = 0
    """Remembered approvals that were dropped."""


@dataclass(frozen=True, slots=True)
class ListChangeDetail:
    """A change of a server's tools, read when its card is opened."""

    number: int
    """From 1, in this run."""
    server: str
    time: float
    cause: str
    """Such as `list_changed`, `restart`, `author mode`."""
    tools: tuple[ToolChange, ...]
