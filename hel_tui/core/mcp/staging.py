"""The next generation of a server, started while the one before still answers.

It is a life of its own, whose news are dropped until it is ready; at that moment its owner takes it over, at
once. Who waits for a start hears here what came of it. Not here: what becomes of the one before (supervisor),
what makes a renewal due (session).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.life import Life, LifeHooks
from hel_tui.core.mcp.starting import watch_start
from hel_tui.core.protocol import ServerFailure

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import ConnectionHooks
    from hel_tui.core.mcp.handshake import Hello
    from hel_tui.core.mcp.listing import Listing


@dataclass(frozen=True, slots=True)
class Renewed:
    """What came of a renewal."""

    failure: ServerFailure | None = None
    """Why the new generation did not come up; None when it did."""
    still_up: bool = False
    """The one before goes on answering."""
    refused: str = ""
    """Why nothing was started, as a phrase; empty when something was."""


class Awaited:
    """What starts come to, for who waits for it: the one under way, and the next one."""

    def __init__(self) -> None:
        self._next: asyncio.Future[Renewed] | None = None
        self._under_way: asyncio.Future[Renewed] | None = None

    def expect(self) -> asyncio.Future[Renewed]:
        """Is done when the next start has come to something. In the place of an earlier one for it."""
        self._next = asyncio.get_running_loop().create_future()
        return self._next

    def is_newest(self, one: asyncio.Future[Renewed]) -> bool:
        """Whether nobody waits for a later start."""
        return (self._next or self._under_way) is one

    def begin(self) -> None:
        """The next start is under way."""
        self._under_way, self._next = self._next, None

    def came_to(self, what: Renewed) -> None:
        """The start that is under way came to that."""
        _tell(self._under_way, what)

    def all_came_to(self, what: Renewed) -> None:
        """There is no other start: who waits for any hears that."""
        _tell(self._under_way, what)
        _tell(self._next, what)


def _tell(waiting: asyncio.Future[Renewed] | None, what: Renewed) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(what)


def only_while(is_open: Callable[[], bool], tell: Callable[..., None]) -> Callable[..., None]:
    """`tell`, heard only while `is_open` says so."""

    def told(*args: Any) -> None:
        if is_open():
            tell(*args)

    return told


def gated(hooks: LifeHooks, is_open: Callable[[], bool]) -> LifeHooks:
    """The same hooks, heard only while `is_open` says so; `connection` ones too, but for `on_ready`."""

    def connection() -> ConnectionHooks:
        from hel_tui.core.mcp.connection import ConnectionHooks

        inner = hooks.connection()
        told: dict[str, Any] = {
            one.name: only_while(is_open, getattr(inner, one.name)) for one in fields(ConnectionHooks)
        }
        return ConnectionHooks(**{**told, "on_ready": inner.on_ready})

    return LifeHooks(
        connection,
        only_while(is_open, hooks.on_started),
        only_while(is_open, hooks.on_lost),
        hooks.limits,
        on_noise=only_while(is_open, hooks.on_noise),
        on_latency=only_while(is_open, hooks.on_latency),
        trace=hooks.trace,
    )


class Stage:
    """One candidate on its way. `run` once."""

    def __init__(
        self,
        make: Callable[[Callable[[Hello, Listing], None]], Life],
        take_over: Callable[[Life, asyncio.Task[ServerFault], Hello, Listing], bool],
        limit: float,
    ) -> None:
        """`make` builds the life, which tells the function given to it when it is ready. `limit`: seconds
        without a sign of life after which a start is given up.
        """
        self._take_over = take_over
        self._limit = limit
        self._is_taken = asyncio.Event()
        self.life = make(self._ready)
        self._task: asyncio.Task[ServerFault] | None = None

    async def run(self) -> ServerFault | None:
        """Start it; None once it was taken over, else why it did not come up. Cancelling ends it."""
        task = self._task = asyncio.create_task(self.life.run(), name=f"mcp-next-{self.life.entry.name}")
        watching = asyncio.create_task(watch_start(self.life, self._limit, lambda _reason: None))
        taken = asyncio.create_task(self._is_taken.wait())
        try:
            await asyncio.wait({task, taken}, return_when=asyncio.FIRST_COMPLETED)
            return None if self._is_taken.is_set() else task.result()
        except asyncio.CancelledError:
            await self.end()
            raise
        finally:
            watching.cancel()
            taken.cancel()

    async def end(self) -> None:
        """It is not wanted any more. Nothing was asked of it yet: it gets no time to say goodbye."""
        if self._is_taken.is_set() or self._task is None:
            return
        self.life.give_up()
        self.life.kill()
        await asyncio.wait({self._task})

    def _ready(self, hello: Hello, listing: Listing) -> None:
        if self._task is None or not self.life.is_wanted:
            return
        if self._take_over(self.life, self._task, hello, listing):
            self._is_taken.set()
