"""What the core asks, and what may be answered: trust, approval, forms, logins and their like.

A `Question` comes as an event and is answered by its id. Not here: who answers (a dialog, a policy, a test).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.protocol.checkpoints import RestoreAnswer, RestoreQuestion
from hel_tui.core.values import dataclass


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
    kind: Literal["server", "settings"] = "server"
    """`settings`: the project's settings file, as far as it loosens what the person set; `command_line` holds
    those lines of it, and nothing is started.
    """


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    id: str
    project: str
    servers: tuple[ServerClaim, ...]


@dataclass(frozen=True, slots=True)
class TrustAnswer:
    """`servers` are the boxes left checked; the others count as refused.

    `never` refuses the checked ones as they are now for good: they are not asked about at a start again.
    """

    decision: Literal["once", "remember", "refuse", "never"]
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
    task: str = ""
    """What the task is to do that asks; empty when the conversation itself does."""


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
    reply: str = ""
    """At `answer`: the model's words alone, to be changed."""


@dataclass(frozen=True, slots=True)
class SamplingAnswer:
    allow: bool
    text: str | None = None
    """With `allow`: what goes back in the person's words; a model that was not asked yet is not."""


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
    | RestoreQuestion
)
Answer = (
    TrustAnswer
    | ApprovalAnswer
    | ContinueAnswer
    | LeftoversAnswer
    | FormAnswer
    | SamplingAnswer
    | LoginAnswer
    | RestoreAnswer
    | NotAnswered
)
