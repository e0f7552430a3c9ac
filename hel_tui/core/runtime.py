"""The core's own thread: an asyncio loop, commands in, events out, an orderly end within a bound.

A plain daemon thread, so that nothing in it can delay or keep the program from ending. Not here: what
commands do (session), who draws the events (tui, cli).
"""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable
from typing import Protocol

from hel_tui.core.options import Options
from hel_tui.core.outbox import Outbox
from hel_tui.core.protocol import (
    CallDetail,
    CheckpointRow,
    CheckResult,
    CheckRow,
    Command,
    CompactionDetail,
    ContextPicture,
    CoreFailed,
    Diagnosis,
    EntryDetail,
    Event,
    FrameWindow,
    ListChangeDetail,
    LogWindow,
    ModelList,
    ProcessRow,
    PromptRow,
    Renewal,
    ResourceContent,
    ResourceRow,
    SearchTrace,
    ServerFailure,
    ServerInside,
    SessionGlance,
    SessionHit,
    SessionRow,
    Shutdown,
    Spending,
    Stopped,
    TaskWindow,
    ToolDetail,
    ToolRow,
)
from hel_tui.core.threads import DaemonPool

END_TIME = 10.0
"""Seconds an orderly end may take (servers get 2 s, SIGTERM, 2 s, SIGKILL, all in parallel)."""


class Body(Protocol):
    """The conversation that runs in the thread."""

    async def run(self) -> None:
        """Until `Shutdown` was carried out."""

    def post(self, command: Command) -> None:
        """Take a command; called in the loop."""

    def kill(self) -> None:
        """End every server at once; safe from any thread, never waits."""

    def kept(self) -> str:
        """Id of the session that is open, if anything of it is kept; else empty."""

    def redact(self, text: str) -> str:
        """`text` without the secrets this session knows and without what looks like one."""

    def log(self, server: str) -> LogWindow | None: ...

    def tools(self) -> tuple[ToolRow, ...]: ...

    def tool(self, server: str, raw: str) -> ToolDetail | None: ...

    def searches(self) -> tuple[SearchTrace, ...]: ...

    def call(self, call_id: str) -> CallDetail | None: ...

    def task(self, call_id: str, after: int) -> TaskWindow | None: ...

    def earlier(self, before_turn: int, count: int) -> tuple[Event, ...]: ...

    def sessions(self) -> tuple[SessionRow, ...]: ...

    def session_hits(self) -> tuple[SessionHit, ...]: ...

    def session_glance(self) -> SessionGlance | None: ...

    def resources(self) -> tuple[ResourceRow, ...]: ...

    def resource(self, server: str, uri: str) -> tuple[ResourceContent, ...]: ...

    def prompts(self) -> tuple[PromptRow, ...]: ...

    def failure(self, server: str) -> ServerFailure | None: ...

    def frames(self, server: str) -> FrameWindow | None: ...

    def inside(self, server: str) -> ServerInside | None: ...

    def processes(self, server: str) -> tuple[ProcessRow, ...]: ...

    def entry(self, server: str) -> EntryDetail | None: ...

    def failed(self, number: int) -> ServerFailure | None: ...

    def list_change(self, number: int) -> ListChangeDetail | None: ...

    def renewal(self, number: int) -> Renewal | None: ...

    def checks(self) -> tuple[CheckRow, ...]: ...

    def check_results(self) -> tuple[CheckResult, ...]: ...

    def models(self) -> ModelList: ...

    def context(self) -> ContextPicture: ...

    def compaction(self, number: int) -> CompactionDetail | None: ...

    def spending(self) -> Spending: ...

    def checkpoints(self) -> tuple[CheckpointRow, ...]: ...

    def diagnosis(self, server: str) -> Diagnosis | None: ...


def _session(options: Options, emit: Callable[[Event], None]) -> Body:
    from hel_tui.core.session import Session

    return Session(options, emit)


class Runtime:
    """The core, seen from outside. All methods are safe from any thread and return at once,
    but for `wait` and `stop`."""

    def __init__(
        self, options: Options, build: Callable[[Options, Callable[[Event], None]], Body] = _session
    ) -> None:
        self._options = options
        self._build = build
        self._outbox = Outbox()
        self._lock = threading.Lock()
        self._early: list[Command] = []
        """Commands sent before the body was there."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._body: Body | None = None
        self._thread = threading.Thread(target=self._main, name="hel-core", daemon=True)

    # ---------------------------------------------------------------- life

    def start(self) -> None:
        """Start the thread. Once."""
        self._thread.start()

    def stop(self, timeout: float = END_TIME) -> bool:
        """End in order, within `timeout` seconds; past that kill the servers. True if it ended by itself."""
        if self._thread.ident is None:
            return True
        self.send(Shutdown())
        self._thread.join(timeout)
        if self._thread.is_alive():
            self.kill()
            return False
        return True

    @property
    def is_running(self) -> bool:
        """Whether the thread is there."""
        return self._thread.is_alive()

    def kill(self) -> None:
        """End every server at once, without waiting for anything."""
        if self._body is not None:
            self._body.kill()

    def _main(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as error:
            self._outbox.put(CoreFailed(report(error, self.redact)))
            self.kill()
        finally:
            self._outbox.put(Stopped())

    def redact(self, text: str) -> str:
        """`text` without what the body knows of secrets; the environment's and shapes while it is not there.
        Safe from any thread.
        """
        from hel_tui.core.store.redact import Redactor, secrets_in

        text = Redactor(secrets_in(self._options.environ))(text)
        return self._body.redact(text) if self._body is not None else text

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonPool())
        body = self._build(self._options, self._outbox.put)
        with self._lock:
            self._loop = loop
            self._body = body
            early, self._early = self._early, []
        for command in early:
            body.post(command)
        await body.run()

    # ------------------------------------------------------------- in and out

    def send(self, command: Command) -> None:
        """Post a command. After the end it is dropped."""
        with self._lock:
            loop, body = self._loop, self._body
            if loop is None or body is None:
                self._early.append(command)
                return
        try:
            loop.call_soon_threadsafe(body.post, command)
        except RuntimeError:  # the loop is closed: nobody is there to take it
            return

    def drain(self) -> list[Event]:
        """All events since the last time, merged."""
        return self._outbox.drain()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for events (seconds); say whether there are any."""
        return self._outbox.wait(timeout)

    # ---------------------------------------------------------------- reading

    def log(self, server: str) -> LogWindow | None:
        """The server's log; None for an unknown server."""
        return self._body.log(server) if self._body is not None else None

    def tools(self) -> tuple[ToolRow, ...]:
        """All server tools, by name."""
        return self._body.tools() if self._body is not None else ()

    def tool(self, server: str, raw: str) -> ToolDetail | None:
        """Everything about one tool; None when the server does not list it."""
        return self._body.tool(server, raw) if self._body is not None else None

    def searches(self) -> tuple[SearchTrace, ...]:
        """The searches over the tools in this session, oldest first."""
        return self._body.searches() if self._body is not None else ()

    def call(self, call_id: str) -> CallDetail | None:
        """Everything about one call."""
        return self._body.call(call_id) if self._body is not None else None

    def task(self, call_id: str, after: int) -> TaskWindow | None:
        """What the task that a call is does in its own conversation, from the event `after` on; None when
        that is not kept.
        """
        return self._body.task(call_id, after) if self._body is not None else None

    def kept(self) -> str:
        """Id of the session that is or was open, if anything of it is kept: it can be gone on with."""
        return self._body.kept() if self._body is not None else ""

    def earlier(self, before_turn: int, count: int) -> tuple[Event, ...]:
        """The events of the newest `count` turns before the turn `before_turn`, as the session that is open
        had them when it was opened.
        """
        return self._body.earlier(before_turn, count) if self._body is not None else ()

    def sessions(self) -> tuple[SessionRow, ...]:
        """The sessions that `ListSessions` listed last, the one written last first."""
        return self._body.sessions() if self._body is not None else ()

    def session_hits(self) -> tuple[SessionHit, ...]:
        """The turns that `ListSessions` found last, those of the newest sessions first."""
        return self._body.session_hits() if self._body is not None else ()

    def session_glance(self) -> SessionGlance | None:
        """What `LookAtSession` read last; None before."""
        return self._body.session_glance() if self._body is not None else None

    def resources(self) -> tuple[ResourceRow, ...]:
        """What was listed of all servers' resources and templates."""
        return self._body.resources() if self._body is not None else ()

    def resource(self, server: str, uri: str) -> tuple[ResourceContent, ...]:
        """The contents of a resource that was read lately; empty when it was not."""
        return self._body.resource(server, uri) if self._body is not None else ()

    def prompts(self) -> tuple[PromptRow, ...]:
        """All servers' prompts, in order of server and name."""
        return self._body.prompts() if self._body is not None else ()

    def failure(self, server: str) -> ServerFailure | None:
        """Why the server failed last; None when it did not."""
        return self._body.failure(server) if self._body is not None else None

    def frames(self, server: str) -> FrameWindow | None:
        """The trace of a server's wire; None for an unknown server."""
        return self._body.frames(server) if self._body is not None else None

    def inside(self, server: str) -> ServerInside | None:
        """What the overview of a server shows; None for an unknown server."""
        return self._body.inside(server) if self._body is not None else None

    def processes(self, server: str) -> tuple[ProcessRow, ...]:
        """The processes of a server as they were at the last look (`WatchProcesses`)."""
        return self._body.processes(server) if self._body is not None else ()

    def entry(self, server: str) -> EntryDetail | None:
        """How a server is configured; None when nothing names it."""
        return self._body.entry(server) if self._body is not None else None

    def failed(self, number: int) -> ServerFailure | None:
        """One failure of this run; None when it is not kept."""
        return self._body.failed(number) if self._body is not None else None

    def list_change(self, number: int) -> ListChangeDetail | None:
        """One change of a list of tools; None when it is not kept."""
        return self._body.list_change(number) if self._body is not None else None

    def renewal(self, number: int) -> Renewal | None:
        """What came of one save (author mode); None when it is not kept."""
        return self._body.renewal(number) if self._body is not None else None

    def checks(self) -> tuple[CheckRow, ...]:
        """The saved checks of this project, by name."""
        return self._body.checks() if self._body is not None else ()

    def check_results(self) -> tuple[CheckResult, ...]:
        """How the checks went that were run last."""
        return self._body.check_results() if self._body is not None else ()

    def models(self) -> ModelList:
        """All models that can be chosen, as far as known; `ListModels` asks for them."""
        return self._body.models() if self._body is not None else ModelList()

    def context(self) -> ContextPicture | None:
        """What the next request would be made of; None before there is a session."""
        return self._body.context() if self._body is not None else None

    def compaction(self, number: int) -> CompactionDetail | None:
        """Everything about one shortening of the conversation; None when it is not kept."""
        return self._body.compaction(number) if self._body is not None else None

    def spending(self) -> Spending | None:
        """What the session took of its models; None before there is a session."""
        return self._body.spending() if self._body is not None else None

    def checkpoints(self) -> tuple[CheckpointRow, ...]:
        """The turns in which hel's tools changed files that can be given back, oldest first."""
        return self._body.checkpoints() if self._body is not None else ()

    def diagnosis(self, server: str) -> Diagnosis | None:
        """What a doctor found about a server, about hel itself (""); None before it looked."""
        return self._body.diagnosis(server) if self._body is not None else None


def report(error: BaseException, redact: Callable[[str], str]) -> str:
    """A readable account of a bug: where and what, without a credential."""
    errors = _flat(error)
    parts = []
    for one in errors:
        frames = traceback.extract_tb(one.__traceback__)
        where = "\n".join(f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
        parts.append(f"{type(one).__name__}: {one}\n{where}")
    return redact("\n\n".join(parts))


def _flat(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for inner in error.exceptions for leaf in _flat(inner)]
    return [error]
