"""Keeps one server alive: starts it, starts it again, gives it up, and says what is true of it.

One task a server lives here for as long as hel does. Not here: a single life (life), all servers (host).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hel_tui.core.mcp.arguments import warm_up
from hel_tui.core.mcp.calling import Answer, Calls
from hel_tui.core.mcp.catalogue import Catalogue
from hel_tui.core.mcp.causes import CALL
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault, ServerFault
from hel_tui.core.mcp.life import Ground, Life, LifeHooks
from hel_tui.core.mcp.limits import Limits
from hel_tui.core.mcp.listing import Listing
from hel_tui.core.mcp.local import LocalLife
from hel_tui.core.mcp.patience import Backoff
from hel_tui.core.mcp.remote import RemoteLife
from hel_tui.core.mcp.reports import Reports
from hel_tui.core.mcp.shelf import Shelf
from hel_tui.core.mcp.staging import Renewed, Stage, gated
from hel_tui.core.mcp.starting import watch_start
from hel_tui.core.mcp.status import Status
from hel_tui.core.mcp.stores import Stores
from hel_tui.core.mcp.succession import Succession
from hel_tui.core.mcp.trace import Trace
from hel_tui.core.mcp.utility import use_utility
from hel_tui.core.protocol import Event, LogLevel, ServerFailure, Switch
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json, ProgressFn

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import Connection, ConnectionHooks
    from hel_tui.core.mcp.handshake import Hello

RENEWAL = "author mode"
"""Why a list changed, where a save led to it."""
GIVEN_UP = "its start after a save was given up"


class Supervisor:
    """One server of this run."""

    def __init__(
        self,
        entry: ServerEntry,
        ground: Ground,
        catalogue: Catalogue,
        shelf: Shelf,
        stores: Stores,
        emit: Callable[[Event], None],
        on_settled: Callable[[], None],
    ) -> None:
        self.entry = entry
        self.status = Status(entry, emit, ground.clock)
        self.stores = stores
        self.log = stores.log
        self.settled = asyncio.Event()
        """Set once the first start came to something: ready, failed, off or slow."""
        self._ground = ground
        self._shelf = shelf
        self._reports = Reports(self.status, stores, catalogue, shelf, emit, ground.mask, ground.known)
        self._reports.is_live = self._is_live
        self._on_settled = on_settled
        self._backoff = Backoff()
        self._calls = Calls(entry.name, self.status, ground.clock, self._wants_login)
        self._limits = Limits()
        self._wake = asyncio.Event()
        self._due = False
        """True when a start is asked for."""
        self._closing = asyncio.Event()
        self._lives = Succession(self._background, self._closing)
        self.is_switched_off = False
        """The person switched it off, for this run."""
        self._is_retired = False
        self._is_given_up = False
        """True when its address could not be reached for too long."""
        self._ready_at: float | None = None
        self._starts = 0
        self._renewal: asyncio.Future[Renewed] | None = None
        """Waits for what the next start comes to."""
        self._awaited: asyncio.Future[Renewed] | None = None
        """The same of the start that is under way."""
        self._watching: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ commands

    def open(self) -> None:
        """Begin: start the server if it is on."""
        self.stores.failures.well(self.entry.name)
        self._due = self.entry.enabled
        if self._due:
            self.status.enter("starting")
        else:
            self.status.enter("off", "off in its configuration")
            self._settle()
        self._task = asyncio.create_task(self._supervise(), name=f"mcp-{self.entry.name}")

    def adopt(self, entry: ServerEntry) -> None:
        """Use this definition from the next start on."""
        self.entry = self.status.entry = entry

    def restart(self) -> None:
        """End it if it runs and start it, whatever happened before."""
        if self._closing.is_set():
            return
        self._due = True
        self.is_switched_off = False
        self._backoff = Backoff()
        self._end_life()
        self.status.enter("restarting" if self._life is not None else "starting", "by hand")
        self._wake.set()

    def authorized(self) -> None:
        """The person has logged in: a connection that is up goes on with the new token, else it starts."""
        connection = self._life.connection if self._life is not None and self._is_live() else None
        if connection is None or self._ready_at is None:
            self.restart()
        elif self.status.phase == "needs login":
            self.status.enter("ready")

    def switch(self, on: bool) -> None:
        """Turn it on or off for this run. It is off at once, although its process may take a while to end."""
        if on:
            if self.status.phase in ("off", "stopped", "failed", "untrusted", "needs login"):
                self.restart()
            return
        self._due = False
        self.is_switched_off = True
        self._calls.close()
        self._end_life()
        self._came_to(Renewed(refused="it was switched off"))
        self._rest()
        self._wake.set()

    async def close(self) -> None:
        """End it for good."""
        self._closing.set()
        self._end_life()
        self._came_to(Renewed(refused="hel is closing"))
        self._wake.set()
        if self._task is not None:
            await asyncio.shield(self._task)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.status.close()

    def retire(self) -> None:
        """Another has its name now: its tools leave, and it touches the list no more. Close it then."""
        self._forget()
        self._is_retired = True

    def kill(self) -> None:
        """End its processes at once."""
        self._lives.kill()

    async def renew(self) -> Renewed:
        """Start a new generation; it takes the place of the one that answers as soon as it is ready.

        Where none answers it is simply started. At most one call at a time; cancelling it ends what was
        started and is not ready yet.
        """
        if self._closing.is_set() or self._is_retired or self.is_switched_off or not self.entry.enabled:
            return Renewed(refused="it is switched off")
        if self._ready_at is None or not self._is_live():
            awaited: asyncio.Future[Renewed] = asyncio.get_running_loop().create_future()
            self._renewal = awaited
            self._reports.cause = RENEWAL
            self.restart()
            try:
                return await awaited
            except asyncio.CancelledError:
                newest = self._renewal or self._awaited
                if awaited.cancelled() and newest is awaited:  # on its way, and no later one is
                    self._due = False
                    self._end_life(GIVEN_UP)
                raise
        stage = self._lives.stage = Stage(self._new_life, self._take_over, self.entry.startup_timeout)
        try:
            fault = await stage.run()
        finally:
            self._lives.stage = None
        if fault is None:
            return Renewed()
        if not stage.life.is_wanted:
            return Renewed(refused="it was restarted or switched off")
        failure = self._reports.failed(stage.life.failure(fault), fault.sentence)
        return Renewed(failure, still_up=self._is_live())

    async def through(self, work: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        """Do something with its connection. Raises CallFault with a sentence when it has none."""
        return await self._calls.through(work)

    async def roots_changed(self) -> None:
        """Tell the server, however it fared lately, that there are other roots."""
        connection = self._life.connection if self._life is not None else None
        if connection is not None:
            await connection.roots_changed()

    def doubt(self) -> None:
        """Its connection is not to be believed without an answer."""
        if self._life is not None and self._life.connection is not None:
            self._life.connection.doubt()

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes of its lives: the one that answers, those on their way out or in."""
        return tuple(life.pid for life in self._lives.all if life.pid)

    @property
    def hello(self) -> Hello | None:
        """What it said of itself last; None before it ever did."""
        return self._reports.hello

    @property
    def failure(self) -> ServerFailure | None:
        """What is the matter with it; None while it is well."""
        return None if self._is_retired else self.stores.failures.current(self.entry.name)

    @property
    def breaker(self) -> str:
        """Such as `3 failures in a row; calls are paused for 42 s`; empty while calls go out."""
        return self._calls.paused_for()

    @property
    def log_level(self) -> str:
        """What it was asked last to log; empty when it was not."""
        connection = self._life.connection if self._life is not None else None
        return connection.log_level if connection is not None else ""

    def allow(self, what: Switch, on: bool) -> None:
        """Let it ask for that from now on, or no longer."""
        self.stores.switches.set(what, on)
        connection = self._life.connection if self._life is not None else None
        if connection is not None:
            connection.declare()

    @property
    def is_alive(self) -> bool:
        """True while a process of it may run."""
        return bool(self._lives.all)

    @property
    def _life(self) -> Life | None:
        """The one that lives."""
        return self._lives.life

    def _end_life(self, why: str = "") -> None:
        self._lives.drop_stage()
        if self._life is not None:
            self._life.give_up(why)
            self._background(self._life.stop(why))

    def _background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # ---------------------------------------------------------------------- loop

    async def _supervise(self) -> None:
        while not self._closing.is_set():
            if not self._due:
                await self._wake.wait()
                self._wake.clear()
                if not self._due and not self._closing.is_set():
                    self._rest()
                continue
            self._due = False
            self._wake.clear()
            fault = await self._one_life()
            if self._closing.is_set():
                break
            if self._wake.is_set():  # restarted or switched off meanwhile
                self._came_to(Renewed(refused="it was restarted or switched off"), self._awaited)
                if not self._due:
                    self._rest()
                continue
            await self._after(fault)
            self._came_to(Renewed(self.failure), self._awaited)
        self._forget()
        self.status.enter("stopped")

    def _rest(self) -> None:
        self._forget()
        self.status.enter("off", "stopping" if self._life is not None else "")
        self._settle()

    def _forget(self) -> None:
        if not self._is_retired:
            self._reports.forget()

    async def _one_life(self) -> ServerFault:
        self._starts += 1
        self._ready_at = None
        self.status.restarts = self._starts - 1
        again = self._backoff.attempt > 0 or self.status.phase == "restarting"
        self.status.enter("restarting" if again else "starting", self.status.reason if again else "")
        self._reports.begin()
        self._awaited, self._renewal = self._renewal, None
        life = self._new_life(self._ready)
        self._watching = asyncio.create_task(watch_start(life, self.entry.startup_timeout, self._slow))
        try:
            life, fault = await self._lives.live(life)
        finally:
            self._watching.cancel()
            self._calls.close()
            self.status.pid = 0
        self._backoff.lived(self._seconds_ready())
        self._matters(life.failure(fault))
        return fault

    def _matters(self, failure: ServerFailure) -> None:
        if not self._is_retired:
            self.stores.failures.matter(failure)

    def _new_life(self, on_ready: Callable[[Hello, Listing], None]) -> Life:
        """A life of this server. Nothing it tells counts while another has its place, but for `on_ready`."""
        tell = self._reports

        def connection_hooks() -> ConnectionHooks:
            return replace(self._connection_hooks(), on_ready=on_ready)

        hooks = LifeHooks(
            connection_hooks,
            self._started,
            self._lost,
            self._limits,
            on_noise=tell.noise,
            on_latency=tell.latency,
            trace=Trace(self.stores.frames, self.stores.figures, self.stores.frames.begin()),
        )
        kind = LocalLife if self.entry.transport == "stdio" else RemoteLife
        life = kind(self.entry, self._ground, self.log, gated(hooks, lambda: self._life is life))
        return life

    def _take_over(self, life: Life, run: asyncio.Task[ServerFault], hello: Hello, listing: Listing) -> bool:
        """A new generation is ready: calls go to it from now on, and the one before ends in order."""
        if not self._lives.follow(life, run, self._calls.idle):
            return False
        self._starts += 1
        self.status.restarts = self._starts - 1
        self.status.renewed(life.pid)
        self._reports.begin()
        self._reports.cause = RENEWAL
        self._ready(hello, listing)
        return True

    def _came_to(self, what: Renewed, *waiting: asyncio.Future[Renewed] | None) -> None:
        """Tell who waits for a start, this one or (none given) any."""
        for one in waiting or (self._awaited, self._renewal):
            if one is not None and not one.done():
                one.set_result(what)

    def _seconds_ready(self) -> float:
        """How long the last connection was ready; 0 if it never was."""
        return self._ground.clock.monotonic() - self._ready_at if self._ready_at is not None else 0.0

    async def _after(self, fault: ServerFault) -> None:
        """Try again or give up."""
        reason = self.failure.exit if self.failure is not None and self.failure.exit else fault.sentence
        if fault.needs_login:
            self._forget()
            self._backoff = Backoff()
            self.status.enter("needs login", fault.sentence)
            self._reports.notice("warning", f"It needs you to log in: {fault.sentence}.")
            self._settle()
            return
        is_outage = self._ready_at is not None or self._backoff.attempt > 0 or fault.unreachable
        if self._is_given_up:
            fault = replace(fault, lasting=True)
            self._is_given_up = False
        if is_outage and self.entry.reconnect and not fault.lasting:
            delay = self._backoff.next_delay()
            if delay is not None:
                count = f"attempt {self._backoff.attempt} of {self._backoff.of}"
                if self._backoff.attempt == 1 and self.failure is not None:
                    self._reports.failed(self.failure, f"{reason}; hel tries to bring it back", retried=True)
                self.status.enter("restarting", f"{reason}; {count} in {delay:g} s")
                if fault.unreachable:
                    self._settle()
                if await self._ground.clock.wait(self._wake, delay):
                    return
                self._due = True
                return
            reason = f"gave up after {self._backoff.of} attempts: {reason}"
        if not is_outage or self.entry.reconnect:
            self._forget()
        self._backoff = Backoff()
        self.status.enter("failed", reason)
        if self.failure is not None:
            told = fault.sentence if not is_outage else reason
            self._matters(self._reports.failed(self.failure, told))
        self._settle()

    # -------------------------------------------------------------- what life tells

    def _connection_hooks(self) -> ConnectionHooks:
        from hel_tui.core.mcp.connection import ConnectionHooks

        tell = self._reports
        return ConnectionHooks(
            on_ready=self._ready,
            on_listing=self._relisted,
            on_list_failed=tell.not_relisted,
            on_list_ignored=tell.ignored,
            on_resources=tell.resources,
            on_prompts=tell.prompts,
            on_updated=tell.updated,
            on_log=tell.logged,
            on_dropped=tell.dropped,
            on_pulse=tell.pulse,
            on_gone=self._gone,
            on_note=tell.note,
        )

    def _is_live(self) -> bool:
        return self._life is not None and self._life.is_wanted and not self._is_retired

    def _started(self, pid: int) -> None:
        self.status.pid = pid
        self.status.enter(self.status.phase, self.status.reason)

    def _lost(self) -> None:
        self._calls.close()
        if self.status.phase in ("ready", "degraded") and not self._closing.is_set():
            self.status.enter("restarting" if self.entry.reconnect else "failed", "disconnected")

    def _slow(self, reason: str) -> None:
        if self._life is not None and self._life.is_wanted:
            self.status.enter(self.status.phase, reason)
            self._settle()

    def _gone(self, problem: str) -> None:
        """It could not be reached any more for so long that trying is over."""
        if self._is_live():
            self._is_given_up = True
            self._end_life(problem)

    def _ready(self, hello: Hello, listing: Listing) -> None:
        life = self._life
        if life is None or not self._is_live():
            return
        if self._watching is not None:
            self._watching.cancel()
        self._ready_at = self._ground.clock.monotonic()
        self._calls.open(life)
        self._came_to(Renewed(), self._awaited)
        self._background(life.remember(hello))
        self.stores.failures.well(self.entry.name)
        # the entry its life began with: another may have been adopted for the next start
        self._reports.ready(hello, listing, life.entry, self._call, again=self._starts > 1)
        self._background(life.look_for_helpers())
        self._background(in_thread(warm_up, "hel-import-schema"))
        self._background(self._ask_again(life.entry))
        self._settle()

    async def _ask_again(self, entry: ServerEntry) -> None:
        """Level of log messages and subscriptions do not outlive a connection: ask for them anew."""
        if (level := entry.log_level) is not None:
            with contextlib.suppress(CallFault):
                await self._calls.through(partial(_set_level, level))
        for uri in self._shelf.watched(self.entry.name):
            with contextlib.suppress(CallFault):
                await self._calls.through(partial(_watch, uri))

    async def _call(self, raw: str, arguments: Json, on_progress: ProgressFn) -> Json:
        life, began = self._life, self.log.end
        try:
            if raw in self._reports.utility:
                return await use_utility(raw, arguments, self._calls.through)
            return await self._calls.call(raw, arguments, on_progress)
        except CallFault as fault:
            if life is not None and fault.kind in ("timeout", "lost", "unreachable"):
                known = life.failure(ServerFault("call", str(fault)))
                self._reports.call_failed(replace(known, tool=raw, call=CALL.get()), began)
            raise

    def _relisted(self, listing: Listing) -> None:
        life = self._life
        if life is not None and self._is_live():
            self._reports.relisted(self._reports.offer(listing, life.entry, self._call))

    def _wants_login(self, why: str) -> None:
        if self._is_live() and self._life is not None:
            self.status.enter("needs login" if self._life.can_log_in else "degraded", why)

    def _settle(self) -> None:
        if not self.settled.is_set():
            self.settled.set()
            self._on_settled()


async def _set_level(level: LogLevel, connection: Connection) -> None:
    await connection.set_log_level(level)


async def _watch(uri: str, connection: Connection) -> None:
    await connection.watch(uri, True)
