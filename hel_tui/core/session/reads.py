"""What a screen reads of a session: each method asks the part that has it.

All are quick and safe from any thread. Not here: the parts (their modules), what is commanded (conversation).
"""

from __future__ import annotations

from dataclasses import replace

from hel_tui.core import protocol as p
from hel_tui.core.session.parts import Parts
from hel_tui.core.session.resuming import Resuming


class Reads:
    """Base of the session."""

    _parts: Parts
    _resuming: Resuming

    def log(self, server: str) -> p.LogWindow | None:
        """The server's log."""
        return self._parts.host.log(server)

    def tools(self) -> tuple[p.ToolRow, ...]:
        """All server tools, by name."""
        return self._parts.host.catalogue.rows()

    def tool(self, server: str, raw: str) -> p.ToolDetail | None:
        """Everything about one tool."""
        return self._parts.tools.detail(server, raw)

    def searches(self) -> tuple[p.SearchTrace, ...]:
        """The searches over the tools in this session."""
        return self._parts.searches.traces()

    def call(self, call_id: str) -> p.CallDetail | None:
        """Everything about one call."""
        return self._parts.ledger.detail(call_id) or self._parts.crew.detail(call_id)

    def task(self, call_id: str, after: int) -> p.TaskWindow | None:
        """What the task that this call is does in its own conversation."""
        return self._parts.crew.logs.window(call_id, after)

    def earlier(self, before_turn: int, count: int) -> tuple[p.Event, ...]:
        """The events of up to `count` turns before one, as they were."""
        return self._resuming.earlier(before_turn, count)

    def sessions(self) -> tuple[p.SessionRow, ...]:
        """The sessions that were listed last."""
        return self._resuming.archive.rows

    def session_hits(self) -> tuple[p.SessionHit, ...]:
        """The turns that were found last."""
        return self._resuming.archive.hits

    def session_glance(self) -> p.SessionGlance | None:
        """The session that was looked at last."""
        return self._resuming.archive.glance

    def resources(self) -> tuple[p.ResourceRow, ...]:
        """What was listed of all servers' resources."""
        return self._parts.host.shelf.resources()

    def resource(self, server: str, uri: str) -> tuple[p.ResourceContent, ...]:
        """The contents of a resource that was read lately."""
        return self._parts.offerings.contents(server, uri)

    def prompts(self) -> tuple[p.PromptRow, ...]:
        """All servers' prompts."""
        return self._parts.host.shelf.prompts()

    def failure(self, server: str) -> p.ServerFailure | None:
        """Why the server failed last."""
        return self._parts.host.failure(server)

    def frames(self, server: str) -> p.FrameWindow | None:
        """The trace of a server's wire; None for an unknown server."""
        return self._parts.inside.frames(server)

    def inside(self, server: str) -> p.ServerInside | None:
        """What the overview of a server shows; None for an unknown server."""
        return self._parts.inside.inside(server)

    def processes(self, server: str) -> tuple[p.ProcessRow, ...]:
        """The processes of a server as they were at the last look (`WatchProcesses`)."""
        return self._parts.inside.processes(server)

    def entry(self, server: str) -> p.EntryDetail | None:
        """How a server is configured; None when nothing names it."""
        return self._parts.inside.entry(server)

    def failed(self, number: int) -> p.ServerFailure | None:
        """One failure of this run; None when it is not kept."""
        return self._parts.inside.failed(number)

    def list_change(self, number: int) -> p.ListChangeDetail | None:
        """One change of a list of tools; None when it is not kept."""
        return self._parts.inside.list_change(number)

    def renewal(self, number: int) -> p.Renewal | None:
        """What came of one save (author mode); None when it is not kept."""
        return self._parts.authoring.renewal(number)

    def checks(self) -> tuple[p.CheckRow, ...]:
        """The saved checks of this project, by name."""
        return self._parts.authoring.checks()

    def check_results(self) -> tuple[p.CheckResult, ...]:
        """How the checks went that were run last."""
        return self._parts.authoring.check_results()

    def models(self) -> p.ModelList:
        """All models that can be chosen, as far as known."""
        return self._parts.models.told()

    def context(self) -> p.ContextPicture:
        """What the next request would be made of."""
        return self._parts.agent.context.picture(self._parts.model.current)

    def compaction(self, number: int) -> p.CompactionDetail | None:
        """Everything about one shortening of the conversation; None when it is not kept."""
        detail = self._parts.agent.context.compactor.detail(number)
        if detail is None:
            return None
        hide = self._parts.redactor
        return replace(detail, summary=hide(detail.summary), focus=hide(detail.focus))

    def spending(self) -> p.Spending:
        """What the session took of its models."""
        return self._parts.agent.context.accounts.told()

    def checkpoints(self) -> tuple[p.CheckpointRow, ...]:
        """The turns that changed files."""
        return self._parts.checkpoints.rows

    def diagnosis(self, server: str) -> p.Diagnosis | None:
        """What a doctor found about a server, about hel itself (""); None before it looked."""
        return self._parts.doctor.diagnosis(server)
