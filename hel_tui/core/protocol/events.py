"""What comes out of the core: facts of a few hundred bytes, in the order in which they happened.

Not here: those of a turn (turns), long things, which are read when a screen shows them (reading).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.protocol.attaching import FilesFound, Pasted
from hel_tui.core.protocol.checkpoints import Rewound
from hel_tui.core.protocol.context import Compacted, Compacting
from hel_tui.core.protocol.drafts import DraftFound
from hel_tui.core.protocol.models import ModelLoading, ModelsListed
from hel_tui.core.protocol.questions import Question
from hel_tui.core.protocol.sessions import (
    SavingChanged,
    SessionDone,
    SessionLookedAt,
    SessionRestored,
    SessionsListed,
    SessionTitled,
)
from hel_tui.core.protocol.todos import TodosChanged
from hel_tui.core.protocol.turns import (
    CallChanged,
    CallProgress,
    CallStarted,
    Joined,
    PromptSent,
    Queued,
    ReasoningDelta,
    Retrying,
    StepStarted,
    TextDelta,
    TextDone,
    TurnEnded,
    TurnStarted,
    Unqueued,
    UsageChanged,
)
from hel_tui.core.protocol.words import AccessLevel, Phase, Severity
from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class SessionStarted:
    session_id: str
    project: str
    access: AccessLevel
    version: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """What answers now. `label` is empty when there is no model: then `note` says how to get one."""

    label: str
    note: str = ""
    is_demo: bool = False
    window: int = 0
    """Context window in tokens; 0 when unknown."""
    effort: str = ""
    """How hard it is asked to think; empty leaves it to its provider."""
    efforts: tuple[str, ...] = ()
    """What it can be asked for, least first; empty when unknown or when there is no choice."""
    sees: bool | None = None
    """Whether it takes images; None while nobody knows."""
    stands_in: bool = False
    """It answers the rest of a turn in the place of the one that was chosen."""


@dataclass(frozen=True, slots=True)
class AccessChanged:
    level: AccessLevel


@dataclass(frozen=True, slots=True)
class ServerChanged:
    """The whole visible state of one server."""

    name: str
    phase: Phase
    reason: str = ""
    scope: str = ""
    transport: str = "stdio"
    tools: int = 0
    protocol: str = ""
    """Negotiated revision, such as 2025-11-25."""
    latency: float = 0.0
    """Seconds the last answered request took; 0 before the first."""
    pid: int = 0
    since: float = 0.0
    """Unix time at which this phase began."""
    restarts: int = 0
    noise: int = 0
    """Lines on stdout that were not protocol."""
    offers: tuple[str, ...] = ()
    """What it declared, of: tools, resources, prompts, completions, logging, subscriptions."""
    dropped: int = 0
    """Notifications that were dropped because they came faster than they could be kept."""


@dataclass(frozen=True, slots=True)
class ServerRemoved:
    """No file names the server any more, and it was ended: it is not listed."""

    name: str


@dataclass(frozen=True, slots=True)
class ServerFailed:
    """A server, or a call on the way to it, failed: read `Runtime.failed(number)`."""

    server: str
    number: int
    sentence: str
    """The cause in short, at most 200 characters."""
    retried: bool = False
    """hel tries to bring it back by itself."""
    again: bool = False
    """It was told already; more is known of it now."""


@dataclass(frozen=True, slots=True)
class ListChanged:
    """The tools of a server are others now: read `Runtime.list_change(number)`."""

    server: str
    number: int
    added: int
    removed: int
    changed: int
    loaded: int
    """How many of the removed and changed ones the model has loaded."""


@dataclass(frozen=True, slots=True)
class ServerRenewed:
    """A watched server was renewed after a save, or could not be: read `Runtime.renewal(number)`.

    Told again with the same number when the calls that were made again are over.
    """

    server: str
    number: int
    state: Literal["renewed", "broken"]
    sentence: str
    failed: int = 0
    """How many of the calls that were made again failed."""
    told_as: int = 0
    """Number of the `ServerFailed` that told already why the new one did not come up; 0 where none did."""


@dataclass(frozen=True, slots=True)
class ChecksChanged:
    """The saved checks are others: read `Runtime.checks()`."""

    count: int


@dataclass(frozen=True, slots=True)
class ChecksRan:
    """Checks were run: read `Runtime.check_results()`."""

    passed: int
    failed: int
    """Failed and without a result."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """A doctor found more, or is done: read `Runtime.diagnosis(server)`."""

    server: str
    running: bool


@dataclass(frozen=True, slots=True)
class ResourcesChanged:
    """Lists of resources and templates were read, or left with their server; read `Runtime.resources()`."""

    version: int


@dataclass(frozen=True, slots=True)
class PromptsChanged:
    """The list of prompts changed; read `Runtime.prompts()`."""

    version: int


@dataclass(frozen=True, slots=True)
class ResourceRead:
    """A resource that was asked for can be looked at (`Runtime.resource`), or `problem` says why not."""

    server: str
    uri: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PromptRead:
    """What a prompt becomes with these arguments, or `problem` says why it could not be had."""

    server: str
    prompt: str
    messages: tuple[tuple[str, str], ...] = ()
    """(user or assistant, text), long texts cut."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ResourceUpdated:
    """A subscribed resource changed on its server."""

    server: str
    uri: str


@dataclass(frozen=True, slots=True)
class AttachmentsChanged:
    """What joins the next message, in order."""

    attachments: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class Attachment:
    server: str
    """Empty for a file of the person's."""
    uri: str
    name: str
    mime: str
    size: int
    """Bytes of the content."""
    tokens: int
    """Estimated cost in the next request."""
    in_part: bool = False
    """It is too long for a message: only its head and its tail go along."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The answer to `CompleteArgument`."""

    request: str
    values: tuple[str, ...] = ()
    total: int = 0
    """How many there are in all, where the server says so."""


@dataclass(frozen=True, slots=True)
class LoginStep:
    """One step of an authorization, credentials masked. `end` tells how it came out."""

    server: str
    text: str
    end: Literal["", "done", "failed"] = ""


@dataclass(frozen=True, slots=True)
class ToolsChanged:
    """The tool list or what is loaded changed; read `Runtime.tools()`."""

    version: int
    loaded: int
    total: int
    loaded_tokens: int
    """Estimated cost of what is loaded, in every request."""
    total_tokens: int = 0
    """What all on offer would cost."""
    listed: int = 0
    """Tools in the next request: built-in ones, the loader and those loaded."""
    limit: int = 0
    """How many the provider takes in one request; 0 when no limit is known."""


@dataclass(frozen=True, slots=True)
class Searched:
    """A search over the tools was made; read `Runtime.searches()`."""

    number: int


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """Server files changed on disk; nothing was done about it yet. All empty: they are as in force again.

    `ApplyConfig` carries it out. Names of servers, sorted.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What is wrong in the files now, a sentence each."""


@dataclass(frozen=True, slots=True)
class Asked:
    question: Question


@dataclass(frozen=True, slots=True)
class QuestionClosed:
    """The question was answered or is moot: take its dialog down."""

    question_id: str


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence the person should see. `source` says whose: a server's name, a file, or empty."""

    severity: Severity
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Cleared:
    """The conversation was emptied (a new session began)."""

    session_id: str
    restoring: bool = False
    """A kept session is open: up to `SessionRestored` come the events of its turns, told again."""


@dataclass(frozen=True, slots=True)
class CoreFailed:
    """A bug ended the core. `report` is readable text without values of variables."""

    report: str


@dataclass(frozen=True, slots=True)
class Closing:
    """Servers are being closed; `waiting` are those still alive."""

    waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stopped:
    """The last event: the core has ended and left nothing behind."""


Event = (
    SessionStarted
    | ModelChanged
    | ModelLoading
    | ModelsListed
    | AccessChanged
    | Queued
    | Unqueued
    | DraftFound
    | Joined
    | TurnStarted
    | PromptSent
    | StepStarted
    | TextDelta
    | ReasoningDelta
    | TextDone
    | CallStarted
    | CallChanged
    | CallProgress
    | TurnEnded
    | Retrying
    | UsageChanged
    | Compacting
    | Compacted
    | ServerChanged
    | ServerRemoved
    | ServerFailed
    | ListChanged
    | ServerRenewed
    | ChecksChanged
    | ChecksRan
    | Diagnosed
    | ToolsChanged
    | Searched
    | ConfigChanged
    | ResourcesChanged
    | PromptsChanged
    | ResourceRead
    | PromptRead
    | ResourceUpdated
    | AttachmentsChanged
    | FilesFound
    | Pasted
    | Completed
    | LoginStep
    | Asked
    | QuestionClosed
    | Notice
    | Cleared
    | SavingChanged
    | Rewound
    | TodosChanged
    | SessionDone
    | SessionLookedAt
    | SessionRestored
    | SessionTitled
    | SessionsListed
    | CoreFailed
    | Closing
    | Stopped
)
