"""The one view state of the screen: data only.

Not here: how events change it (reducing), focus, scroll and filters (the widgets), anything that lives
in the core.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from hel_tui.core import protocol as p
from hel_tui.core.values import dataclass


@dataclass(slots=True)
class UserItem:
    key: str
    text: str
    attachments: tuple[str, ...] = ()
    """What was attached, as `server:uri`."""
    messages: tuple[tuple[str, str], ...] = ()
    """Of a prompt of a server: what it became, (role, text) each."""
    unsent: bool = False
    """The turn ended before anything went to the model."""


@dataclass(slots=True)
class AnswerItem:
    """Markdown that streams in. `version` grows with every delta."""

    key: str
    text: str = ""
    reasoning: bool = False
    done: bool = False
    version: int = 0


@dataclass(slots=True)
class CallItem:
    key: str
    """The call's id."""
    server: str
    tool: str
    summary: str
    by_hand: bool = False
    limit: float = 0.0
    """Seconds it may take without a sign of life; 0 where none are known."""
    state: p.CallState = "queued"
    seconds: float = 0.0
    preview: str = ""
    lines: int = 0
    progress: float | None = None
    total: float | None = None
    message: str = ""
    began: float = 0.0
    """time.monotonic() when it began to run; 0 before."""
    started: float = 0.0
    """Unix time when it began to run, as its server's log counts; 0 before."""
    ended: float = 0.0
    """Unix time when it ended; 0 before."""
    version: int = 0

    @property
    def is_task(self) -> bool:
        """Whether it is a part of the work with a conversation of its own."""
        return self.tool == "task" and not self.server

    @property
    def ran(self) -> bool:
        """Whether it began: what was refused, cancelled while it waited or could not be read did not."""
        return bool(self.began or self.seconds)


@dataclass(slots=True)
class NoticeItem:
    key: str
    severity: p.Severity
    text: str
    source: str = ""


@dataclass(slots=True)
class ServerItem:
    """What happened to a server: it failed, its tools changed, a save renewed it. A card that opens."""

    key: str
    kind: ServerItemKind
    server: str
    number: int
    """What the core keeps it under."""
    text: str
    """In one line; foreign text."""
    good: bool = True
    """Nothing about it needs the person."""


@dataclass(slots=True)
class CompactionItem:
    """The conversation was shortened here, or could not be. A card that opens."""

    key: str
    number: int
    """What the core keeps it under."""
    before: int
    """Tokens, before and after."""
    after: int
    summarised: int = 0
    shortened: int = 0
    dropped: int = 0
    problem: str = ""

    @property
    def did_something(self) -> bool:
        return bool(self.summarised or self.shortened or self.dropped)


ServerItemKind = Literal["failure", "change", "renewal"]
Item = UserItem | AnswerItem | CallItem | NoticeItem | ServerItem | CompactionItem


@dataclass(slots=True)
class Updated:
    """How a watched resource changed lately."""

    note: str
    """Key of the notice that says so."""
    since: float
    """time.monotonic() of the first change that the notice tells of."""
    count: int = 1


@dataclass(slots=True)
class ViewState:
    session_id: str = ""
    project: str = ""
    version: str = ""
    access: p.AccessLevel = "confirm"
    loading: p.ModelLoading | None = None
    """A model's file that is being loaded."""
    model: p.ModelChanged = field(default_factory=lambda: p.ModelChanged(label=""))
    usage: p.UsageChanged | None = None
    items: list[Item] = field(default_factory=list)
    by_key: dict[str, Item] = field(default_factory=dict)
    servers: dict[str, p.ServerChanged] = field(default_factory=dict)
    tools: p.ToolsChanged | None = None
    config: p.ConfigChanged | None = None
    """How the server files on disk differ from those in force; None when they do not."""
    questions: list[p.Question] = field(default_factory=list)
    queued: tuple[str, ...] = ()
    held: int = 0
    """So many of `queued`, the first ones, go only when the person says so."""
    joins: int = 0
    """So many of `queued`, behind those that are held, go into the turn that runs."""
    todos: tuple[tuple[str, str], ...] = ()
    """(state, text) of what is to do, as the model keeps it."""
    turn: int = 0
    busy: bool = False
    step: int = 0
    turn_began: float = 0.0
    retrying: p.Retrying | None = None
    compacting: bool = False
    """The model is asked for a summary."""
    closing: tuple[str, ...] | None = None
    failed: str = ""
    stopped: bool = False
    restoring: bool = False
    """A kept session is told again: nothing of it is news."""
    serial: int = 0
    attachments: tuple[p.Attachment, ...] = ()
    """What joins the next message."""
    logins: dict[str, list[p.LoginStep]] = field(default_factory=dict)
    """The steps of the latest login at each server, the newest `LOGIN_STEPS` of them."""
    updated: dict[tuple[str, str], Updated] = field(default_factory=dict)
    """By (server, uri): watched resources that changed and were not looked at since."""
    listed: int = 0
    """How often lists of resources came in; grows with each."""

    @property
    def calls_by_hand(self) -> list[CallItem]:
        """The person's own calls that are on their way."""
        under_way = ("queued", "waiting", "running")
        calls = (item for item in self.items[-50:] if isinstance(item, CallItem))
        return [call for call in calls if call.by_hand and call.state in under_way]


@dataclass(slots=True)
class Changes:
    """What a batch of events touched; the app repaints each part at most once."""

    items: set[str] = field(default_factory=set)
    """Keys of items that are new or changed."""
    header: bool = False
    servers: bool = False
    moved: set[str] = field(default_factory=set)
    """Servers whose state changed."""
    offerers: bool = False
    """Which servers answer, or what they offer: a counter that moved is not it."""
    tools: bool = False
    questions: bool = False
    queue: bool = False
    todos: bool = False
    turn: bool = False
    cleared: bool = False
    ended: bool = False
    resources: bool = False
    """The lists of resources, or what is known of one."""
    prompts: bool = False
    attachments: bool = False
    config: bool = False
    searched: list[int] = field(default_factory=list)
    """Numbers of searches over the tools that were made."""
    completed: list[p.Completed] = field(default_factory=list)
    read: list[p.ResourceRead] = field(default_factory=list)
    prompt_reads: list[p.PromptRead] = field(default_factory=list)
    toasts: list[p.Notice] = field(default_factory=list)
    news: list[p.Notice] = field(default_factory=list)
    """What else was added to the conversation, for who stands before another screen."""
    diagnosed: set[str] = field(default_factory=set)
    """Servers (or "" for hel) the doctor found more about."""
    checks: bool = False
    """Saved checks, or how they went."""
    models: bool = False
    """The list of all models."""
    sessions: list[p.SessionsListed | p.SessionLookedAt | p.SessionDone | p.SessionRestored] = field(
        default_factory=list
    )
    """What was told of kept sessions."""
    files: p.FilesFound | None = None
    """Files that were looked for."""
    pasted: str = ""
    """Text from the system's clipboard."""
    taken_back: str = ""
    """What waited and is to be written anew."""
    given_back: str = ""
    """A message that reached nobody."""
    rewound: list[int] = field(default_factory=list)
    """Turns before which the conversation goes on."""
