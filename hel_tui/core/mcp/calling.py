"""The way of a call to a server: refused while it is away or failing, judged by how it ended.

Not here: the call itself (connection), what the model reads of it (tool, results).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.life import Life
from hel_tui.core.mcp.patience import Breaker
from hel_tui.core.mcp.status import Status
from hel_tui.core.vocabulary import Json, ProgressFn

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import Connection

Answer = TypeVar("Answer")

HELPERS_GAP = 5.0
"""Seconds between two looks at what a server has started."""


class Calls:
    """Passes calls on to the life that is ready, if there is one."""

    def __init__(
        self, server: str, status: Status, clock: Clock, on_login: Callable[[str], None] = lambda _why: None
    ) -> None:
        """`on_login` hears that the server wants the person to log in."""
        self._on_login = on_login
        self._server = server
        self._status = status
        self._clock = clock
        self._breaker = Breaker()
        self._troubled = False
        """A call came to nothing in a way that says something about the server."""
        self._life: Life | None = None
        self._looked = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._under_way: dict[int, int] = {}
        """How many calls each life has, by its `id`."""
        self._finished = asyncio.Event()
        """Set whenever a life has none any more."""

    def open(self, life: Life) -> None:
        """The server is ready: calls go to this life, and earlier failures are forgotten."""
        self._life = life
        self._breaker = Breaker()

    def close(self) -> None:
        """The server is away."""
        self._life = None

    async def call(self, raw: str, arguments: Json, on_progress: ProgressFn) -> Json:
        """Call a tool and return its raw result. Raises CallFault with a sentence for the model."""
        return await self.through(lambda connection: connection.call(raw, arguments, on_progress))

    async def through(self, work: Callable[[Connection], Awaitable[Answer]]) -> Answer:
        """Do something with the connection, if there is one. Raises CallFault with a sentence."""
        life, now = self._life, self._clock.monotonic()
        connection = life.connection if life is not None else None
        if life is None or connection is None:
            raise CallFault("unavailable", self._why_not())
        left = self._breaker.seconds_left(now)
        if left > 0:
            raise CallFault(
                "unavailable",
                f'The server "{self._server}" failed {self._breaker.failures} times in a row; calls to it '
                f"are paused for {left:.0f} s more. The call was not made.",
            )
        answers = connection.answers
        self._under_way[id(life)] = self._under_way.get(id(life), 0) + 1
        try:
            result = await work(connection)
        except CallFault as fault:
            if life is self._life or self._life is None:
                self._judge(fault)
            raise
        except asyncio.CancelledError:
            self._breaker.abandoned()
            raise
        finally:
            self._left(life)
        if life is not self._life and self._life is not None:  # another has its place
            return result
        if connection.answers > answers:
            self._recovered()
        else:  # nothing was asked of the server: that says nothing about it
            self._breaker.abandoned()
        if now - self._looked > HELPERS_GAP:
            self._looked = now
            self._looking = asyncio.create_task(life.look_for_helpers())
        return result

    def _left(self, life: Life) -> None:
        """A call of this life is over."""
        self._under_way[id(life)] -= 1
        if not self._under_way[id(life)]:
            del self._under_way[id(life)]
            self._finished.set()

    async def idle(self, life: Life) -> None:
        """Wait until no call of this life is under way."""
        while id(life) in self._under_way:
            self._finished.clear()
            await self._finished.wait()

    def paused_for(self) -> str:
        """Why calls are refused now; empty when they are not."""
        now = self._clock.monotonic()
        if not self._breaker.is_open(now):
            return ""
        left = self._breaker.open_until - now
        return f"{self._breaker.failures} failures in a row; calls are paused for {left:.0f} s"

    def _judge(self, fault: CallFault) -> None:
        if fault.kind == "login":
            self._troubled = True
            self._on_login("it refused a call for want of credentials")
        if fault.kind not in ("timeout", "lost", "unreachable"):
            if fault.kind != "login":
                self._recovered()
            return
        now = self._clock.monotonic()
        self._troubled = True
        self._breaker.failed(now)
        if self._breaker.is_open(now) and self._status.phase == "ready":
            self._status.enter(
                "degraded", f"{self._breaker.failures} calls in a row failed; calls are paused"
            )

    def _recovered(self) -> None:
        if self._status.phase in ("degraded", "needs login") and self._troubled:
            self._status.enter("ready")
        self._troubled = False
        self._breaker.answered()

    def _why_not(self) -> str:
        """The reason is left out: it may quote the server, and the model could do nothing with it."""
        phase = self._status.phase
        state = "disconnected" if phase == "failed" else phase
        if phase == "needs login":
            return f'The server "{self._server}" needs the person to log in. The call was not made.'
        then = "Try again in a moment." if phase in ("restarting", "starting") else "The user can restart it."
        return f'The server "{self._server}" is {state}. The call was not made. {then}'
