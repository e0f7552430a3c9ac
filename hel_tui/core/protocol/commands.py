"""What goes into the core: all a person, a policy or a test can want of it.

Not here: what comes back (events), answers to questions but for the command that brings them (questions).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.protocol.attaching import FindFiles, PasteClipboard
from hel_tui.core.protocol.authoring import CheckKind
from hel_tui.core.protocol.checkpoints import Rewind
from hel_tui.core.protocol.context import Compact
from hel_tui.core.protocol.drafts import Draft
from hel_tui.core.protocol.inside import FrameQuery, LogQuery, Switch
from hel_tui.core.protocol.models import ListModels, SetEffort
from hel_tui.core.protocol.questions import Answer
from hel_tui.core.protocol.sessions import (
    DeleteSession,
    ExportSession,
    ForkSession,
    ListSessions,
    LookAtSession,
    RenameSession,
    ResumeSession,
)
from hel_tui.core.protocol.words import AccessLevel, LogLevel
from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Submit:
    """A message for the model. While a turn runs it waits, and goes into it before its next request."""

    text: str
    later: bool = False
    """It waits until the turn is over, and is a turn of its own."""
    behind: str = ""
    """What goes to the model behind it and is nobody's words: it is no title, no search finds it, and what it
    seems to mention is not attached."""
    names: tuple[str, ...] = ()
    """What that is, as attachments are named."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop the running call; with none running, the turn. What was received stays."""

    whole: bool = False
    """The turn, whatever runs in it."""
    why: str = ""
    """Who or what wants it, behind "cancelled by"; empty for the person."""


@dataclass(frozen=True, slots=True)
class Unqueue:
    """Take back the newest that waits: `Unqueued` brings its text, and nothing does where it runs already."""

    text: str = ""
    """The newest with this text; empty for any."""


@dataclass(frozen=True, slots=True)
class SendQueue:
    """What is held since a turn was stopped goes on."""


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
class PinTools:
    """Keep tools (public names) loaded in every conversation of this project, or no longer."""

    names: tuple[str, ...]
    on: bool = True


@dataclass(frozen=True, slots=True)
class SwitchTool:
    """Offer one tool of a server to the model, or stop to; remembered for the project."""

    server: str
    tool: str
    """Raw name."""
    on: bool


@dataclass(frozen=True, slots=True)
class SearchTools:
    """Search all tools as the model can; `Searched` follows, the trace is in `Runtime.searches`."""

    query: str


@dataclass(frozen=True, slots=True)
class SeenTool:
    """The person looked at how the definition of a tool changed."""

    server: str
    tool: str


@dataclass(frozen=True, slots=True)
class ApplyConfig:
    """Read the server files anew and carry out what changed: new servers start, after the question of trust
    where it is due, removed ones end, changed ones start anew, all others keep their process.
    """


@dataclass(frozen=True, slots=True)
class CallTool:
    """A call by hand: the same hooks, permissions and cards as a call by the model.

    `target` is `server.tool` (the raw tool name, which may hold dots) or a built-in's name;
    `arguments` is JSON text of an object, empty for none.
    """

    target: str
    arguments: str = ""
    share: bool = False
    """The model gets the result too, as something the person did."""
    seen: bool = False
    """The person filled in the arguments in a form and sent them: where only the access level would ask, that
    was the answer."""
    meta: str = ""
    """JSON text of an object that goes along as `_meta`; empty for none."""
    key: str = ""
    """Chosen by who asks, to find the call again: the card's id is `hand-` and this. Empty: hel chooses."""


@dataclass(frozen=True, slots=True)
class CancelCall:
    """Stop one running call, and nothing else."""

    call_id: str


@dataclass(frozen=True, slots=True)
class ShareResult:
    """Hand the result of a call that only the person has to the model, with the next message."""

    call_id: str


@dataclass(frozen=True, slots=True)
class SetSwitch:
    """Let a server ask for roots, forms or the model, or no longer; for this run.

    Off holds at once. What was not declared when it started can be asked for from its next start on.
    """

    server: str
    what: Switch
    on: bool


@dataclass(frozen=True, slots=True)
class WatchProcesses:
    """Look at the processes of a server once a second (`Runtime.processes`), or no longer."""

    server: str
    on: bool


@dataclass(frozen=True, slots=True)
class EndProcess:
    """End a process that an earlier life of a server left behind; any other is refused."""

    server: str
    pid: int


@dataclass(frozen=True, slots=True)
class SaveLog:
    """Write the log of a server ("" for all together) to a file the person named; a notice tells how it went.

    Never over a file that is there.
    """

    server: str
    path: str
    query: LogQuery | None = None


@dataclass(frozen=True, slots=True)
class ExportFrames:
    """Write frames to a file the person named, never over one that is there; a notice tells how it went."""

    server: str
    path: str
    form: Literal["jsonl", "har", "cassette"]
    query: FrameQuery | None = None


@dataclass(frozen=True, slots=True)
class SaveCheck:
    """Keep a call by its card, with its result as what is expected, in `.hel/checks`.

    `ChecksChanged` follows.
    """

    call_id: str
    name: str
    kind: CheckKind = "exact"
    masks: tuple[str, ...] = ()
    """Regular expressions whose matches do not count (snapshot)."""


@dataclass(frozen=True, slots=True)
class RunChecks:
    """Run the saved checks of a server ("" for all servers'); `ChecksRan` follows."""

    server: str = ""
    name: str = ""
    """Only the one of this name."""


@dataclass(frozen=True, slots=True)
class Diagnose:
    """Look whether hel (empty) or one server is well; `Diagnosed` follows, more than once."""

    server: str = ""


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
    """Read a resource, or a file, and let it join the next message.

    `AttachmentsChanged` follows, or a notice.
    """

    server: str
    """Empty for a file of the person's."""
    uri: str
    """The file's path, relative to the project or in full."""


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
class LookAtPrompt:
    """Fetch a prompt of a server to look at it; nothing is sent to the model. `PromptRead` follows."""

    server: str
    prompt: str
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PingServer:
    """Ask a server whether it is there; a notice tells how long the answer took."""

    server: str


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


Command = (
    Submit
    | Compact
    | Interrupt
    | Unqueue
    | Draft
    | SendQueue
    | Reply
    | SetAccess
    | SetModel
    | SetEffort
    | ListModels
    | RestartServer
    | SwitchServer
    | LoadTools
    | UnloadTools
    | PinTools
    | SwitchTool
    | SearchTools
    | SeenTool
    | ApplyConfig
    | CallTool
    | CancelCall
    | ShareResult
    | SetSwitch
    | WatchProcesses
    | EndProcess
    | SaveLog
    | ExportFrames
    | SaveCheck
    | RunChecks
    | Diagnose
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
    | FindFiles
    | PasteClipboard
    | UsePrompt
    | LookAtPrompt
    | PingServer
    | CompleteArgument
    | NewSession
    | DeleteSession
    | ExportSession
    | ForkSession
    | ListSessions
    | LookAtSession
    | RenameSession
    | ResumeSession
    | Rewind
    | Shutdown
)
