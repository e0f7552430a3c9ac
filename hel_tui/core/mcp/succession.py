"""The lives of one server: the one that lives, the one that may follow, those that finish their calls.

Not here: when one begins (supervisor), a candidate on its way (staging).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.life import Life
from hel_tui.core.mcp.staging import Stage

LEAVING = 10.0
"""Seconds calls that run on a replaced life may still take."""


class Succession:
    """Lives in one loop; `kill` is safe from any thread."""

    def __init__(self, spawn: Callable[[Coroutine[None, None, None]], None], closing: asyncio.Event) -> None:
        """`spawn` runs work beside; `closing` is set when nothing may take its time any more."""
        self._spawn = spawn
        self._closing = closing
        self.life: Life | None = None
        """The one that lives."""
        self.stage: Stage | None = None
        """The one that may follow."""
        self._run: asyncio.Task[ServerFault] | None = None
        self._replaced = asyncio.Event()
        self._leaving: list[Life] = []

    @property
    def all(self) -> tuple[Life, ...]:
        """The one that answers, those on their way out, the one on its way in."""
        coming = self.stage.life if self.stage is not None else None
        return tuple(life for life in (self.life, *self._leaving, coming) if life is not None)

    async def live(self, life: Life) -> tuple[Life, ServerFault]:
        """Run a life, and those that take its place; return the last one and why it ended."""
        self.life = life
        run = self._run = asyncio.create_task(life.run(), name=f"mcp-life-{life.entry.name}")
        try:
            while True:
                self._replaced.clear()
                replaced = asyncio.create_task(self._replaced.wait())
                await asyncio.wait({run, replaced}, return_when=asyncio.FIRST_COMPLETED)
                replaced.cancel()
                if self._run is run:
                    return self.life, run.result()
                run = self._run
        finally:
            self.life = self._run = None

    def follow(
        self, life: Life, run: asyncio.Task[ServerFault], idle: Callable[[Life], Awaitable[None]]
    ) -> bool:
        """Let a life that is ready take the place of the one that lives, which ends once it is `idle`.

        False, and the new one ends, when nothing wants to be followed any more.
        """
        old, old_run = self.life, self._run
        if old is None or old_run is None or not old.is_wanted or self._closing.is_set():
            life.give_up()
            self._spawn(life.stop())
            return False
        self.life, self._run = life, run
        self._leaving.append(old)
        self._spawn(self._let_go(old, old_run, idle))
        self._replaced.set()
        return True

    async def _let_go(
        self, life: Life, run: asyncio.Task[ServerFault], idle: Callable[[Life], Awaitable[None]]
    ) -> None:
        waiting = asyncio.ensure_future(idle(life))
        closing = asyncio.create_task(self._closing.wait())
        await asyncio.wait({waiting, closing, run}, timeout=LEAVING, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        closing.cancel()
        await life.stop()
        await asyncio.wait({run})
        self._leaving = [one for one in self._leaving if one is not life]

    def drop_stage(self) -> None:
        """The person wants something else: what was to follow is ended."""
        if self.stage is not None:
            self._spawn(self.stage.end())

    def kill(self) -> None:
        """End all processes at once."""
        for life in self.all:
            life.kill()
