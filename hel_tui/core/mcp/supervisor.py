"""Keeps one server alive: starts it, starts it again, gives it up, and says what is true of it.

One task a server lives here for as long as hel does. Not here: a single life (life), all servers (host).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from hel_tui.core.mcp.arguments import warm_up
from hel_tui.core.mcp.calling import Calls
from hel_tui.core.mcp.catalogue import Catalogue, ListChange
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.life import Ground, Life, LifeHooks
from hel_tui.core.mcp.listing import Listing
from hel_tui.core.mcp.logs import LINE_LENGTH, LogStore
from hel_tui.core.mcp.patience import Backoff
from hel_tui.core.mcp.starting import watch_start
from hel_tui.core.mcp.status import Status
from hel_tui.core.protocol import Event, Notice, ServerFailure, Severity
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import ConnectionHooks
    from hel_tui.core.mcp.handshake import Hello


class Supervisor:
    """One server of this run."""

    def __init__(
        self,
        entry: ServerEntry,
        ground: Ground,
        catalogue: Catalogue,
        emit: Callable[[Event], None],
        on_settled: Callable[[], None],
    ) -> None:
        self.entry = entry
        self.status = Status(entry, emit, ground.clock)
        self.log = LogStore()
        self.failure: ServerFailure | None = None
        self.settled = asyncio.Event()
        """Set once the first start came to something: ready, failed, off or slow."""
        self._ground = ground
        self._catalogue = catalogue
        self._emit = emit
        self._on_settled = on_settled
        self._life: Life | None = None
        self._backoff = Backoff()
        self._calls = Calls(entry.name, self.status, ground.clock)
        self._wake = asyncio.Event()
        self._due = False
        """True when a start is asked for."""
        self._closing = asyncio.Event()
        self._is_retired = False
        self._ready_at: float | None = None
        self._starts = 0
        self._watching: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ commands

    def open(self) -> None:
        """Begin: start the server if it is on."""
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
        self._backoff = Backoff()
        self._end_life()
        self.status.enter("restarting" if self._life is not None else "starting", "by hand")
        self._wake.set()

    def switch(self, on: bool) -> None:
        """Turn it on or off for this run. It is off at once, although its process may take a while to end."""
        if on:
            if self.status.phase in ("off", "stopped", "failed", "untrusted"):
                self.restart()
            return
        self._due = False
        self._calls.close()
        self._end_life()
        self._rest()
        self._wake.set()

    async def close(self) -> None:
        """End it for good."""
        self._closing.set()
        self._end_life()
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
        life = self._life
        if life is not None and life.process is not None:
            life.process.kill()

    @property
    def is_alive(self) -> bool:
        """True while a process of it may run."""
        return self._life is not None

    def _end_life(self, why: str = "") -> None:
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
                if not self._due:
                    self._rest()
                continue
            await self._after(fault)
        self._forget()
        self.status.enter("stopped")

    def _rest(self) -> None:
        self._forget()
        self.status.enter("off", "stopping" if self._life is not None else "")
        self._settle()

    def _forget(self) -> None:
        self.status.tools = 0
        if not self._is_retired:
            self._catalogue.remove(self.entry.name)

    async def _one_life(self) -> ServerFault:
        self._starts += 1
        self._ready_at = None
        self.status.restarts = self._starts - 1
        again = self._backoff.attempt > 0 or self.status.phase == "restarting"
        self.status.enter("restarting" if again else "starting", self.status.reason if again else "")
        hooks = LifeHooks(self._connection_hooks, self._started, self._lost, self._noise, self._latency)
        life = self._life = Life(self.entry, self._ground, self.log, hooks)
        self._watching = asyncio.create_task(watch_start(life, self.entry.startup_timeout, self._slow))
        try:
            fault = await life.run()
        finally:
            self._watching.cancel()
            self._calls.close()
            self._life = None
            self.status.pid = 0
        self._backoff.lived(self._seconds_ready())
        self.failure = life.failure(fault)
        return fault

    def _seconds_ready(self) -> float:
        """How long the last connection was ready; 0 if it never was."""
        return self._ground.clock.monotonic() - self._ready_at if self._ready_at is not None else 0.0

    async def _after(self, fault: ServerFault) -> None:
        """Try again or give up."""
        reason = self.failure.exit if self.failure is not None and self.failure.exit else fault.sentence
        is_outage = self._ready_at is not None or self._backoff.attempt > 0
        if is_outage and self.entry.reconnect and not fault.lasting:
            delay = self._backoff.next_delay()
            if delay is not None:
                count = f"attempt {self._backoff.attempt} of {self._backoff.of}"
                self.status.enter("restarting", f"{reason}; {count} in {delay:g} s")
                if await self._ground.clock.wait(self._wake, delay):
                    return
                self._due = True
                return
            reason = f"gave up after {self._backoff.of} attempts: {reason}"
        if not is_outage or self.entry.reconnect:
            self._forget()
        self._backoff = Backoff()
        self.status.enter("failed", reason)
        sentence = fault.sentence if not is_outage else reason
        self._notice("error", f"{sentence[:1].upper()}{sentence[1:]}".rstrip(".") + ".")
        self._settle()

    # -------------------------------------------------------------- what life tells

    def _connection_hooks(self) -> ConnectionHooks:
        from hel_tui.core.mcp.connection import ConnectionHooks

        return ConnectionHooks(self._ready, self._relisted, self._not_relisted, self._logged)

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

    def _ready(self, hello: Hello, listing: Listing) -> None:
        life = self._life
        if life is None or not life.is_wanted or self._is_retired:
            return
        if self._watching is not None:
            self._watching.cancel()
        self._ready_at = self._ground.clock.monotonic()
        self._calls.open(life)
        self._background(life.remember(hello))
        self.status.protocol = hello.version
        change = self._offer(listing)
        if self._starts > 1:
            self._tell_change(change)
        self.failure = None
        self.log.remark(f"ready: {hello.name or 'a server without a name'}, protocol {hello.version}")
        self.status.enter("ready", _cut(listing))
        self._background(life.look_for_helpers())
        self._background(in_thread(warm_up, "hel-import-schema"))
        self._settle()

    def _relisted(self, listing: Listing) -> None:
        if self._is_retired or self._life is None or not self._life.is_wanted:
            return
        self._tell_change(self._offer(listing))
        if self.status.phase in ("ready", "degraded"):
            self.status.enter("ready", _cut(listing))

    def _not_relisted(self, why: str) -> None:
        if self._life is None or not self._life.is_wanted:
            return
        self.status.enter("degraded", f"the changed tool list could not be read: {why}")

    def _offer(self, listing: Listing) -> ListChange:
        if self._life is None:
            return ListChange()
        # the entry its process was started with: another may have been adopted for the next start
        change = self._catalogue.replace(self._life.entry, listing, self._calls.call)
        rows = self._catalogue.rows()
        self.status.tools = sum(1 for row in rows if row.server == self.entry.name and not row.reason)
        return change

    def _tell_change(self, change: ListChange) -> None:
        if not change:
            return
        parts = [
            f"{word}: {', '.join(names[:5])}{' …' if len(names) > 5 else ''}"
            for word, names in (
                ("added", change.added),
                ("removed", change.removed),
                ("changed", change.changed),
                ("of these loaded", change.loaded),
            )
            if names
        ]
        self._notice("warning" if change.loaded else "info", f"Its tools changed. {'; '.join(parts)}.")

    def _logged(self, level: str, text: str) -> None:
        self.log.remark(self._ground.mask(f"[{level}] {text[: 2 * LINE_LENGTH]}"))

    def _noise(self, text: str) -> None:
        self.status.noise += 1
        if self.status.noise == 1:
            self._notice("warning", f"Prints on stdout, which is for the protocol: {text.strip()[:200]}")
        self.status.counted()

    def _latency(self, seconds: float) -> None:
        self.status.latency = seconds
        self.status.counted()

    def _notice(self, severity: Severity, text: str) -> None:
        self._emit(Notice(severity, self._ground.mask(text), self.entry.name))

    def _settle(self) -> None:
        if not self.settled.is_set():
            self.settled.set()
            self._on_settled()


def _cut(listing: Listing) -> str:
    return f"list cut: {listing.cut}" if listing.cut else ""
