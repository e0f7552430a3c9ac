"""Keeps one server alive: starts it, starts it again, gives it up, and says what is true of it.

One task a server lives here for as long as hel does. Not here: calls and what the server tells (contact),
whether to try again (recovery), a single life (life), all servers (host).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING

from hel_tui.core.mcp.calling import Answer
from hel_tui.core.mcp.catalogue import Catalogue
from hel_tui.core.mcp.contact import Contact, Ready
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.life import Ground, Life
from hel_tui.core.mcp.listing import Listing
from hel_tui.core.mcp.recovery import Recovery
from hel_tui.core.mcp.reports import Reports
from hel_tui.core.mcp.shelf import Shelf
from hel_tui.core.mcp.staging import Awaited, Renewed, Stage
from hel_tui.core.mcp.starting import watch_start
from hel_tui.core.mcp.status import Status
from hel_tui.core.mcp.stores import Stores
from hel_tui.core.mcp.succession import Succession
from hel_tui.core.protocol import Event, ServerFailure

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import Connection
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
        self._reports = Reports(self.status, stores, catalogue, shelf, emit, ground.mask, ground.known)
        self._reports.is_live = self._is_live
        self._on_settled = on_settled
        self._wake = asyncio.Event()
        self._recovery = Recovery(self.status, self._reports, ground.clock, self._wake, self._settle)
        self._due = False
        """True when a start is asked for."""
        self._closing = asyncio.Event()
        self._lives = Succession(self._background, self._closing)
        self.contact = Contact(
            entry.name, self.status, ground, shelf, stores, self._reports, self._lives, self._background
        )
        """What goes to it while it is there."""
        self.is_switched_off = False
        """The person switched it off, for this run."""
        self._ready_at: float | None = None
        self._starts = 0
        self._awaited = Awaited()
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
        self._recovery.begin_anew()
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
        self.contact.close()
        self._end_life()
        self._awaited.all_came_to(Renewed(refused="it was switched off"))
        self._rest()
        self._wake.set()

    async def close(self) -> None:
        """End it for good."""
        self._closing.set()
        self._end_life()
        self._awaited.all_came_to(Renewed(refused="hel is closing"))
        self._wake.set()
        if self._task is not None:
            await asyncio.shield(self._task)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.status.close()

    def retire(self) -> None:
        """Another has its name now: its tools leave, and it touches the list no more. Close it then."""
        self._reports.retire()

    def kill(self) -> None:
        """End its processes at once."""
        self._lives.kill()

    async def renew(self) -> Renewed:
        """Start a new generation; it takes the place of the one that answers as soon as it is ready.

        Where none answers it is simply started. At most one call at a time; cancelling it ends what was
        started and is not ready yet.
        """
        is_over = self._closing.is_set() or self._reports.is_retired
        if is_over or self.is_switched_off or not self.entry.enabled:
            return Renewed(refused="it is switched off")
        if self._ready_at is None or not self._is_live():
            awaited = self._awaited.expect()
            self._reports.cause = RENEWAL
            self.restart()
            try:
                return await awaited
            except asyncio.CancelledError:
                # it is on its way, and no later one is
                if awaited.cancelled() and self._awaited.is_newest(awaited):
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
        failure = stage.life.failure(fault)
        if self._is_live():  # who asked for it tells of it: the server itself did not fail
            return Renewed(self._reports.kept(failure), still_up=True)
        return Renewed(self._reports.failed(failure, fault.sentence))

    async def through(self, work: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        """Do something with its connection. Raises CallFault with a sentence when it has none."""
        return await self.contact.through(work)

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
        return self._reports.failure

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
                self._awaited.came_to(Renewed(refused="it was restarted or switched off"))
                if not self._due:
                    self._rest()
                continue
            if await self._recovery.after(fault, self.entry, was_ready=self._ready_at is not None):
                self._due = True
            self._awaited.came_to(Renewed(self.failure))
        self._reports.forget()
        self.status.enter("stopped")

    def _rest(self) -> None:
        self._reports.forget()
        self.status.enter("off", "stopping" if self._life is not None else "")
        self._settle()

    async def _one_life(self) -> ServerFault:
        self._starts += 1
        self._ready_at = None
        self.status.restarts = self._starts - 1
        again = self._recovery.is_outage or self.status.phase == "restarting"
        self.status.enter("restarting" if again else "starting", self.status.reason if again else "")
        self._reports.begin()
        self._awaited.begin()
        life = self._new_life(self._ready)
        self._watching = asyncio.create_task(watch_start(life, self.entry.startup_timeout, self._slow))
        try:
            life, fault = await self._lives.live(life)
        finally:
            self._watching.cancel()
            self.contact.close()
            self.status.pid = 0
        self._recovery.lived(self._seconds_ready())
        self._reports.matters(life.failure(fault))
        return fault

    def _new_life(self, on_ready: Ready) -> Life:
        return self.contact.life(
            self.entry, on_ready, on_started=self._started, on_lost=self._lost, on_gone=self._gone
        )

    def _take_over(self, life: Life, run: asyncio.Task[ServerFault], hello: Hello, listing: Listing) -> bool:
        """A new generation is ready: calls go to it from now on, and the one before ends in order."""
        if not self._lives.follow(life, run, self.contact.idle):
            return False
        self._starts += 1
        self.status.restarts = self._starts - 1
        self.status.renewed(life.pid)
        self._reports.begin()
        self._reports.cause = RENEWAL
        self._ready(hello, listing)
        return True

    def _seconds_ready(self) -> float:
        """How long the last connection was ready; 0 if it never was."""
        return self._ground.clock.monotonic() - self._ready_at if self._ready_at is not None else 0.0

    # -------------------------------------------------------------- what life tells

    def _is_live(self) -> bool:
        return self._life is not None and self._life.is_wanted and not self._reports.is_retired

    def _started(self, pid: int) -> None:
        self.status.pid = pid
        self.status.enter(self.status.phase, self.status.reason)

    def _lost(self) -> None:
        self.contact.close()
        if self.status.phase in ("ready", "degraded") and not self._closing.is_set():
            self.status.enter("restarting" if self.entry.reconnect else "failed", "disconnected")

    def _slow(self, reason: str) -> None:
        if self._life is not None and self._life.is_wanted:
            self.status.enter(self.status.phase, reason)
            self._settle()

    def _gone(self, problem: str) -> None:
        """It could not be reached any more for so long that trying is over."""
        if self._is_live():
            self._recovery.give_up()
            self._end_life(problem)

    def _ready(self, hello: Hello, listing: Listing) -> None:
        life = self._life
        if life is None or not self._is_live():
            return
        if self._watching is not None:
            self._watching.cancel()
        self._ready_at = self._ground.clock.monotonic()
        self._awaited.came_to(Renewed())
        self._background(life.remember(hello))
        self.stores.failures.well(self.entry.name)
        self.contact.open(life, hello, listing, again=self._starts > 1)
        self._settle()

    def _settle(self) -> None:
        if not self.settled.is_set():
            self.settled.set()
            self._on_settled()
