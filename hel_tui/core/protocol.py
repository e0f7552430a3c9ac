"""The door between the core and whoever shows it: the app, `hel run`, a test.

Frozen dataclasses and nothing else: no behaviour. A `Command` goes in, an `Event`
comes out, a `Question` is an event that a `Reply` command answers by id. Events carry facts of a few
hundred bytes; long things (logs, tool lists, full results) are read from the runtime when a screen shows
them. Strings from servers, models and files are foreign: whoever draws them makes them safe first.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, Protocol

from hel_tui.core.values import dataclass

AccessLevel = Literal["read-only", "confirm", "auto"]
ACCESS_LEVELS: tuple[AccessLevel, ...] = ("read-only", "confirm", "auto")

Phase = Literal[
    "off", "untrusted", "starting", "ready", "degraded", "restarting", "needs login", "failed", "stopped"
]
CallState = Literal["queued", "waiting", "running", "ok", "failed", "refused", "cancelled"]
TurnEnd = Literal["done", "length", "refusal", "filter", "limit", "interrupted", "failed"]
Severity = Literal["info", "warning", "error"]
LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""Levels of a server's log messages (specification, logging; RFC 5424)."""


# ------------------------------------------------------------------ commands


@dataclass(frozen=True, slots=True)
class Submit:
    """A message for the model. While a turn runs it is queued and shown as queued."""

    text: str


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop the running call; with none running, the turn. What was received stays."""


@dataclass(frozen=True, slots=True)
class Unqueue:
    """Take back the newest queued message (it comes back as a `Queued` event without it)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to the question with this id. Answers to closed questions are ignored."""

    question_id: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class SetAccess:
    level: AccessLevel


@dataclass(frozen=True, slots=True)
class SetModel:
    """Switch to `PROVIDER/NAME`, optionally at a base URL."""

    model: str
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class RestartServer:
    server: str


@dataclass(frozen=True, slots=True)
class SwitchServer:
    """Turn a server on or off for this run."""

    server: str
    on: bool


@dataclass(frozen=True, slots=True)
class LoadTools:
    """Load tools by public name, as the model would with `load_mcp_tool`."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnloadTools:
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallTool:
    """A call by hand: the same hooks, permissions and cards as a call by the model.

    `target` is `server.tool` (the raw tool name, which may hold dots) or a built-in's name;
    `arguments` is JSON text of an object, empty for none.
    """

    target: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class RunShell:
    """`!command` typed by the person: runs as a bash call that needs no further approval."""

    command: str


@dataclass(frozen=True, slots=True)
class ReviewTrust:
    """Ask again about servers that are not trusted."""


@dataclass(frozen=True, slots=True)
class Login:
    """Authorize at a server that needs it (OAuth); steps come as `LoginStep`, then a `LoginQuestion`."""

    server: str


@dataclass(frozen=True, slots=True)
class Logout:
    """Forget the tokens of a server and end its session there."""

    server: str


@dataclass(frozen=True, slots=True)
class SetLogLevel:
    """Ask a server to send log messages of this level and above."""

    server: str
    level: LogLevel


@dataclass(frozen=True, slots=True)
class ChangeRoots:
    """Let servers take further folders for the person's work, or none but the project again.

    It changes what servers are told, not what hel's own tools may touch.
    """

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListResources:
    """Read the resource lists of a server, or of all ("" as name); `ResourcesChanged` follows."""

    server: str = ""


@dataclass(frozen=True, slots=True)
class ReadResource:
    """Read a resource to look at it; `ResourceRead` follows, the content is in `Runtime.resource`."""

    server: str
    uri: str


@dataclass(frozen=True, slots=True)
class WatchResource:
    """Subscribe to the updates of a resource, or end that; `ResourceUpdated` tells of each."""

    server: str
    uri: str
    on: bool = True


@dataclass(frozen=True, slots=True)
class Attach:
    """Read a resource and let it join the next message; `AttachmentsChanged` follows, or a notice."""

    server: str
    uri: str


@dataclass(frozen=True, slots=True)
class Detach:
    server: str
    uri: str


@dataclass(frozen=True, slots=True)
class UsePrompt:
    """Fetch a prompt of a server and send it as a turn. `arguments`: (name, value) as far as given."""

    server: str
    prompt: str
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CompleteArgument:
    """Ask a server how an argument of a prompt, or a variable of a URI template, may go on.

    `Completed` with the same `request` follows, with nothing in it when the server has nothing to say.
    """

    request: str
    server: str
    kind: Literal["prompt", "template"]
    name: str
    """The prompt's name, or the URI template."""
    argument: str
    value: str
    given: tuple[tuple[str, str], ...] = ()
    """The other arguments so far."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """Begin an empty conversation; servers stay, nothing is loaded."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """End in order: answer open questions with "not answered", close all servers, stop."""


# ------------------------------------------------------- questions and answers


@dataclass(frozen=True, slots=True)
class ServerClaim:
    """One server a configuration file wants started, as the trust dialog shows it."""

    name: str
    scope: str
    file: str
    command_line: str
    """Full command line or URL, untruncated; credentials masked."""
    resolved: str = ""
    """What the command resolves to on PATH; empty when it does not (or for a URL)."""
    cwd: str = ""
    env: tuple[tuple[str, str], ...] = ()
    """(name, value); dots in the place of a credential."""
    risks: tuple[str, ...] = ()
    changed: str = ""
    """A unified diff against the definition that was approved; empty at first sight."""
    program_changed: tuple[str, ...] = ()
    """Files inside the project that the command runs and whose content changed since approval."""


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    id: str
    project: str
    servers: tuple[ServerClaim, ...]


@dataclass(frozen=True, slots=True)
class TrustAnswer:
    """`servers` are the boxes left checked; the others count as refused."""

    decision: Literal["once", "remember", "refuse"]
    servers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ApprovalQuestion:
    """May this call run? `arguments` is the pretty JSON of exactly what would be sent."""

    id: str
    call_id: str
    server: str
    """Empty for a built-in."""
    tool: str
    arguments: str
    diff: str = ""
    """Unified diff of an edit; empty otherwise."""
    changed: str = ""
    """Unified diff against the arguments of the last call of this tool; empty at the first."""
    claims: tuple[str, ...] = ()
    """What the server says of the tool; never a ground for anything."""
    warnings: tuple[str, ...] = ()
    redefined: str = ""
    """Unified diff of what the tool says of itself against what was approved before; empty when the same."""
    session_rule: str = ""
    """The rule that `session` would add."""
    project_rule: str = ""
    """The rule that `project` would write."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """`stop` denies and ends the turn. `arguments`, if given, is edited JSON text to run instead."""

    decision: Literal["once", "session", "project", "deny", "stop"]
    comment: str = ""
    arguments: str | None = None


@dataclass(frozen=True, slots=True)
class ContinueQuestion:
    """The step limit was reached: go on for as many steps again?"""

    id: str
    steps: int


@dataclass(frozen=True, slots=True)
class ContinueAnswer:
    go_on: bool


@dataclass(frozen=True, slots=True)
class LeftoversQuestion:
    """Servers of an earlier run still run although their hel is gone: end them?"""

    id: str
    servers: tuple[str, ...]
    """A line each: name, pid and masked command line."""


@dataclass(frozen=True, slots=True)
class LeftoversAnswer:
    end: bool


FieldKind = Literal[
    "text", "email", "uri", "date", "date-time", "number", "integer", "boolean", "choice", "choices"
]
FieldValue = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormField:
    """One thing to fill in (specification, elicitation: the primitive schema definitions)."""

    name: str
    kind: FieldKind
    label: str = ""
    """Its title; the name when it has none."""
    description: str = ""
    required: bool = False
    default: FieldValue | None = None
    options: tuple[tuple[str, str], ...] = ()
    """(value, label) of a choice or of choices."""
    minimum: float | None = None
    """Of a number, of the length of a text, or of how many are chosen."""
    maximum: float | None = None
    pattern: str = ""
    """A regular expression the text must match, as the server gave it."""
    completes: bool = False
    """The server may know how it goes on: ask with `CompleteArgument`."""


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A server asks the person to fill in a form (elicitation, form mode)."""

    id: str
    server: str
    message: str
    fields: tuple[FormField, ...]
    tool: str = ""
    """Raw name of the tool whose call led to it, where that is known."""


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """`decline` is a no, `cancel` is no answer; `content` only with accept: (name, value) in field order."""

    action: Literal["accept", "decline", "cancel"]
    content: tuple[tuple[str, FieldValue], ...] = ()


@dataclass(frozen=True, slots=True)
class UrlQuestion:
    """A server asks the person to go to a URL (elicitation, URL mode). It was not fetched.

    The screen shows the whole URL, opens it on a key only, and answers with `FormAnswer`: accept once it
    was opened.
    """

    id: str
    server: str
    message: str
    url: str
    host: str
    """The part that decides where one lands."""
    warnings: tuple[str, ...] = ()
    """What is odd about the URL, such as a host in Punycode."""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class SamplingQuestion:
    """A server wants the model to answer something for it: first may it be asked, then may it go back."""

    id: str
    server: str
    stage: Literal["request", "answer"]
    text: str
    """What the model would be asked, or what it answered; readable, roles as headings."""
    system: str = ""
    """The system prompt the server wants."""
    model: str = ""
    """Label of the model that would answer."""
    max_tokens: int = 0
    tools: tuple[str, ...] = ()
    """Names of the server's own tools the model could ask for."""
    limits: str = ""
    """The limits in force, as a sentence."""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class SamplingAnswer:
    allow: bool


@dataclass(frozen=True, slots=True)
class LoginQuestion:
    """The person is to authorize hel at `url` (OAuth 2.1). Stays open until the browser came back to
    hel's own loopback address; a URL or code pasted here does as well.

    Whoever shows it opens the browser, on a key only.
    """

    id: str
    server: str
    url: str
    issuer: str
    """The authorization server, as its metadata names itself."""
    redirect: str
    """Where the browser is sent afterwards: a loopback address of this machine."""
    scopes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    """What was done so far, a line each, credentials masked."""


@dataclass(frozen=True, slots=True)
class LoginAnswer:
    """`pasted` is the URL the browser ended at, or its code; empty to give the login up."""

    pasted: str = ""


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """Nobody answered (headless, quitting, interrupted). Always means: not done."""

    why: str = ""


Question = (
    TrustQuestion
    | ApprovalQuestion
    | ContinueQuestion
    | LeftoversQuestion
    | FormQuestion
    | UrlQuestion
    | SamplingQuestion
    | LoginQuestion
)
Answer = (
    TrustAnswer
    | ApprovalAnswer
    | ContinueAnswer
    | LeftoversAnswer
    | FormAnswer
    | SamplingAnswer
    | LoginAnswer
    | NotAnswered
)

Command = (
    Submit
    | Interrupt
    | Unqueue
    | Reply
    | SetAccess
    | SetModel
    | RestartServer
    | SwitchServer
    | LoadTools
    | UnloadTools
    | CallTool
    | RunShell
    | ReviewTrust
    | Login
    | Logout
    | SetLogLevel
    | ChangeRoots
    | ListResources
    | ReadResource
    | WatchResource
    | Attach
    | Detach
    | UsePrompt
    | CompleteArgument
    | NewSession
    | Shutdown
)


# -------------------------------------------------------------------- events


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


@dataclass(frozen=True, slots=True)
class AccessChanged:
    level: AccessLevel


@dataclass(frozen=True, slots=True)
class Queued:
    """All messages that wait for the running turn to end, oldest first."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: int
    text: str
    """What the person wrote; empty for a call by hand."""
    attachments: tuple[str, ...] = ()
    """What was attached, as `server:uri`."""


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A request went to the model: step `step` of the turn (from 1)."""

    turn: int
    step: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Answer text that arrived. All deltas of one `item` make one block of Markdown."""

    turn: int
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    turn: int
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDone:
    """No more deltas for this item."""

    turn: int
    item: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool call appeared. Its state follows in `CallChanged`."""

    turn: int
    call_id: str
    server: str
    """Empty for a built-in."""
    tool: str
    """Raw name: what a person sees and what goes on the wire."""
    summary: str
    """The arguments that matter, one line, at most 200 characters."""
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class CallChanged:
    """State and short result of a call; the full ones are in `Runtime.call`."""

    call_id: str
    state: CallState
    seconds: float = 0.0
    """How long it ran; 0 until it ended."""
    preview: str = ""
    """The first lines of the result, at most 400 characters."""
    lines: int = 0
    """How many lines the whole result has."""


@dataclass(frozen=True, slots=True)
class CallProgress:
    call_id: str
    progress: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    turn: int
    reason: TurnEnd
    message: str = ""
    """A sentence for every reason but `done`."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Retrying:
    """The model's endpoint failed in a way that may pass; trying again after `delay` seconds."""

    turn: int
    attempt: int
    of: int
    delay: float
    why: str


@dataclass(frozen=True, slots=True)
class UsageChanged:
    context_tokens: int
    """Estimate of the next request."""
    messages_tokens: int
    tools_tokens: int
    window: int
    input_tokens: int
    """Sum over the session, as reported by the provider."""
    output_tokens: int
    cached_tokens: int = 0
    cost: float | None = None
    """US dollars over the session; None when the price is unknown."""


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
    uri: str
    name: str
    mime: str
    size: int
    """Bytes of the content."""
    tokens: int
    """Estimated cost in the next request."""


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
    | AccessChanged
    | Queued
    | TurnStarted
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
    | ServerChanged
    | ToolsChanged
    | ResourcesChanged
    | PromptsChanged
    | ResourceRead
    | ResourceUpdated
    | AttachmentsChanged
    | Completed
    | LoginStep
    | Asked
    | QuestionClosed
    | Notice
    | Cleared
    | CoreFailed
    | Closing
    | Stopped
)


# ----------------------------------------------------- what a screen reads


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
    stage: Literal["find", "spawn", "handshake", "list", "call", "run"]
    sentence: str
    command_line: str = ""
    resolved: str = ""
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    exit: str = ""
    """Such as `exit 1 after 0.4 s` or `killed by SIGSEGV after 3.1 s`."""
    stderr: tuple[str, ...] = field(default=())
    noise: tuple[str, ...] = field(default=())
