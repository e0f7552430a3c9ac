"""What goes to one server while it is there, and what it tells: calls, its lists, its news.

Outlives its lives: calls go to the one that is ready. Not here: when it starts and ends (supervisor), whether
a call may go out and what its end says (calling), how news are shown (reports).
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hel_tui.core.mcp.arguments import warm_up
from hel_tui.core.mcp.calling import Answer, Calls
from hel_tui.core.mcp.causes import CALL
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault, ServerFault
from hel_tui.core.mcp.life import Ground, Life, LifeHooks
from hel_tui.core.mcp.limits import Limits
from hel_tui.core.mcp.listing import Listing
from hel_tui.core.mcp.local import LocalLife
from hel_tui.core.mcp.remote import RemoteLife
from hel_tui.core.mcp.reports import Reports
from hel_tui.core.mcp.shelf import Shelf
from hel_tui.core.mcp.staging import gated
from hel_tui.core.mcp.status import Status
from hel_tui.core.mcp.stores import Stores
from hel_tui.core.mcp.succession import Succession
from hel_tui.core.mcp.trace import Trace
from hel_tui.core.mcp.utility import use_utility
from hel_tui.core.protocol import LogLevel, Switch
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json, ProgressFn

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import Connection, ConnectionHooks
    from hel_tui.core.mcp.handshake import Hello

Ready = Callable[["Hello", Listing], None]
"""Hears that a life is ready: what the server said of itself, and its tools."""


class Contact:
    """That of one server. Lives in the core's loop."""

    def __init__(
        self,
        name: str,
        status: Status,
        ground: Ground,
        shelf: Shelf,
        stores: Stores,
        reports: Reports,
        lives: Succession,
        spawn: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        """`spawn` runs work beside. What `reports` says is live is heard, nothing else."""
        self._name = name
        self._status = status
        self._ground = ground
        self._shelf = shelf
        self._stores = stores
        self._reports = reports
        self._lives = lives
        self._spawn = spawn
        self._calls = Calls(name, status, ground.clock, self._wants_login)
        self._limits = Limits()
        self.idle = self._calls.idle
        """Waits until no call to a life is under way."""

    # --------------------------------------------------------------------- lives

    def life(
        self,
        entry: ServerEntry,
        on_ready: Ready,
        *,
        on_started: Callable[[int], None],
        on_lost: Callable[[], None],
        on_gone: Callable[[str], None],
    ) -> Life:
        """A new life of the server. Nothing it tells counts while another has its place, but for `on_ready`.

        `on_started` hears the pid of its process, `on_lost` that the connection is over, `on_gone` why it
        could not be reached any more for so long that trying is over.
        """
        tell = self._reports
        hooks = LifeHooks(
            lambda: self._connection_hooks(on_ready, on_gone),
            on_started,
            on_lost,
            self._limits,
            on_noise=tell.noise,
            on_latency=tell.latency,
            trace=Trace(self._stores.frames, self._stores.figures, self._stores.frames.begin()),
        )
        kind = LocalLife if entry.transport == "stdio" else RemoteLife
        life = kind(entry, self._ground, self._stores.log, gated(hooks, lambda: self._lives.life is life))
        return life

    def _connection_hooks(self, on_ready: Ready, on_gone: Callable[[str], None]) -> ConnectionHooks:
        from hel_tui.core.mcp.connection import ConnectionHooks

        tell = self._reports
        return ConnectionHooks(
            on_ready=on_ready,
            on_listing=self._relisted,
            on_list_failed=tell.not_relisted,
            on_list_ignored=tell.ignored,
            on_resources=tell.resources,
            on_prompts=tell.prompts,
            on_updated=tell.updated,
            on_log=tell.logged,
            on_dropped=tell.dropped,
            on_pulse=tell.pulse,
            on_gone=on_gone,
            on_note=tell.note,
        )

    def open(self, life: Life, hello: Hello, listing: Listing, *, again: bool) -> None:
        """This life is ready: calls go to it, and its tools are offered. `again`: it is not the first one."""
        self._calls.open(life)
        # the entry its life began with: another may have been adopted for the next start
        self._reports.ready(hello, listing, life.entry, self._call, again=again)
        self._spawn(life.look_for_helpers())
        self._spawn(in_thread(warm_up, "hel-import-schema"))
        self._spawn(self._ask_again(life.entry))

    def close(self) -> None:
        """The server is away: calls are refused from now on."""
        self._calls.close()

    async def _ask_again(self, entry: ServerEntry) -> None:
        """Level of log messages and subscriptions do not outlive a connection: ask for them anew."""
        if (level := entry.log_level) is not None:
            with contextlib.suppress(CallFault):
                await self._calls.through(partial(_set_level, level))
        for uri in self._shelf.watched(self._name):
            with contextlib.suppress(CallFault):
                await self._calls.through(partial(_watch, uri))

    # --------------------------------------------------------------------- calls

    async def through(self, work: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        """Do something with its connection. Raises CallFault with a sentence when it has none."""
        return await self._calls.through(work)

    async def _call(self, raw: str, arguments: Json, on_progress: ProgressFn) -> Json:
        life, began = self._lives.life, self._stores.log.end
        try:
            if raw in self._reports.utility:
                return await use_utility(raw, arguments, self._calls.through)
            return await self._calls.call(raw, arguments, on_progress)
        except CallFault as fault:
            if life is not None and fault.kind in ("timeout", "lost", "unreachable"):
                known = life.failure(ServerFault("call", str(fault)))
                self._reports.call_failed(replace(known, tool=raw, call=CALL.get()), began)
            raise

    @property
    def breaker(self) -> str:
        """Such as `3 failures in a row; calls are paused for 42 s`; empty while calls go out."""
        return self._calls.paused_for()

    # ------------------------------------------------------------ beside the calls

    @property
    def connection(self) -> Connection | None:
        """That of the life that is there, ready or not."""
        life = self._lives.life
        return life.connection if life is not None else None

    async def roots_changed(self) -> None:
        """Tell the server, however it fared lately, that there are other roots."""
        if (connection := self.connection) is not None:
            await connection.roots_changed()

    def doubt(self) -> None:
        """Its connection is not to be believed without an answer."""
        if (connection := self.connection) is not None:
            connection.doubt()

    def allow(self, what: Switch, on: bool) -> None:
        """Let the server ask for that from now on, or no longer."""
        self._stores.switches.set(what, on)
        if (connection := self.connection) is not None:
            connection.declare()

    @property
    def log_level(self) -> str:
        """What the server was asked last to log; empty when it was not."""
        connection = self.connection
        return connection.log_level if connection is not None else ""

    # ---------------------------------------------------------------- what it tells

    def _relisted(self, listing: Listing) -> None:
        life = self._lives.life
        if life is not None and self._reports.is_live():
            self._reports.relisted(self._reports.offer(listing, life.entry, self._call))

    def _wants_login(self, why: str) -> None:
        life = self._lives.life
        if life is not None and self._reports.is_live():
            self._status.enter("needs login" if life.can_log_in else "degraded", why)


async def _set_level(level: LogLevel, connection: Connection) -> None:
    await connection.set_log_level(level)


async def _watch(uri: str, connection: Connection) -> None:
    await connection.watch(uri, True)
