"""The screen's side of the door: what the app needs of a core, and one place that drains it.

Not here: threads (the core's), and what an event means (state).
"""

from __future__ import annotations

from typing import Protocol

from hel_tui.core import protocol as p
from hel_tui.tui.reducing import reduce
from hel_tui.tui.state import Changes, ViewState


class Core(Protocol):
    """What the screen asks of a running core. Every method is quick and safe from the screen's thread."""

    def start(self) -> None:
        """Start the core's thread; called once, after the first paint."""

    def send(self, command: p.Command) -> None:
        """Hand a command in; never waits."""

    def drain(self) -> list[p.Event]:
        """Take all events that wait, merged; an empty list at once when there is none."""

    def log(self, server: str) -> p.LogWindow | None:
        """The stderr log of a server."""

    def tools(self) -> tuple[p.ToolRow, ...]:
        """All tools of all servers, in name order."""

    def tool(self, server: str, raw: str) -> p.ToolDetail | None:
        """Everything about one tool; None when its server does not list it."""

    def searches(self) -> tuple[p.SearchTrace, ...]:
        """The searches over the tools in this session, oldest first."""

    def resources(self) -> tuple[p.ResourceRow, ...]:
        """All resources and templates that were listed, in the order of servers and lists."""

    def prompts(self) -> tuple[p.PromptRow, ...]:
        """All prompts of all servers."""

    def resource(self, server: str, uri: str) -> tuple[p.ResourceContent, ...]:
        """The contents of a resource that was read; empty when it was not, or is no longer kept."""

    def call(self, call_id: str) -> p.CallDetail | None:
        """Everything about one call."""

    def task(self, call_id: str, after: int) -> p.TaskWindow | None:
        """What the task that a call is did from the event `after` on; None when that is not kept."""

    def earlier(self, before_turn: int, count: int) -> tuple[p.Event, ...]:
        """Events of turns before one."""

    def sessions(self) -> tuple[p.SessionRow, ...]:
        """The sessions that were listed last."""

    def session_hits(self) -> tuple[p.SessionHit, ...]:
        """The turns that were found last."""

    def session_glance(self) -> p.SessionGlance | None:
        """The session that was looked at last; None before."""

    def failure(self, server: str) -> p.ServerFailure | None:
        """Why a server failed, if it did."""

    def frames(self, server: str) -> p.FrameWindow | None:
        """The trace of a server's wire; None for an unknown server."""

    def inside(self, server: str) -> p.ServerInside | None:
        """What the overview of a server shows; None for an unknown server."""

    def processes(self, server: str) -> tuple[p.ProcessRow, ...]:
        """The processes of a server as they were at the last look (`WatchProcesses`)."""

    def entry(self, server: str) -> p.EntryDetail | None:
        """How a server is configured; None when nothing names it."""

    def failed(self, number: int) -> p.ServerFailure | None:
        """One failure of this run; None when it is not kept."""

    def list_change(self, number: int) -> p.ListChangeDetail | None:
        """One change of a list of tools; None when it is not kept."""

    def renewal(self, number: int) -> p.Renewal | None:
        """What came of one save (author mode); None when it is not kept."""

    def checks(self) -> tuple[p.CheckRow, ...]:
        """The saved checks of this project, by name."""

    def check_results(self) -> tuple[p.CheckResult, ...]:
        """How the checks went that were run last."""

    def models(self) -> p.ModelList:
        """All models that can be chosen, as far as known."""

    def context(self) -> p.ContextPicture | None:
        """What the next request would be made of; None before there is a session."""

    def compaction(self, number: int) -> p.CompactionDetail | None:
        """Everything about one shortening of the conversation; None when it is not kept."""

    def checkpoints(self) -> tuple[p.CheckpointRow, ...]:
        """The turns in which hel's tools changed files that can be given back, oldest first."""

    def spending(self) -> p.Spending | None:
        """What the session took of its models; None before there is a session."""

    def diagnosis(self, server: str) -> p.Diagnosis | None:
        """What a doctor found about a server, about hel itself (""); None before it looked."""

    def stop(self, timeout: float) -> bool:
        """End in order within `timeout` seconds; say whether that worked."""

    def kill(self) -> None:
        """End at once: every server process is killed."""


class Bridge:
    """Holds the core and the one view state."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.state = ViewState()
        self.started = False

    def start(self) -> None:
        self.started = True
        self.core.start()

    def send(self, command: p.Command) -> None:
        self.core.send(command)

    def pull(self) -> Changes | None:
        """Apply what arrived; None when nothing did."""
        events = self.core.drain() if self.started else []
        return reduce(self.state, events) if events else None
