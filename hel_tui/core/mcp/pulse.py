"""Whether a server that says nothing is still there.

A ping after long silence, after a call that came to nothing and after the machine slept; any answer proves
life. A server that never answered a ping is not asked again out of the blue: some drop what they do not know.
Not here: how to ping (connection), restarting (supervisor).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from hel_tui.core.mcp.patience import DELAYS

SILENCE = 180.0
"""Seconds without a message after which a quiet server is asked."""
ANSWER = 10.0
"""Seconds it has for the answer; whatever it says meanwhile counts as well."""
FIRST_TRY = 5.0
"""Seconds a request waits for that answer after the machine slept."""


class Unreachable(Exception):
    """A ping could not even be sent; the text is a sentence without a full stop."""


class Pulse:
    """Watches over one connection."""

    def __init__(
        self,
        ping: Callable[[], Awaitable[None]],
        is_busy: Callable[[], bool],
        heard: Callable[[], float],
        tell: Callable[[str], None],
        give_up: Callable[[str], None],
        *,
        silence: float = SILENCE,
        answer: float = ANSWER,
    ) -> None:
        """`ping` returns once there is any answer, or raises Unreachable; `heard`: when the server last sent
        anything (time.monotonic); `tell` hears a sentence when it does not answer, "" when it does again;
        `give_up` hears the sentence after ten tries to reach it in a row."""
        self._ping = ping
        self._is_busy = is_busy
        self._heard = heard
        self._tell = tell
        self._give_up = give_up
        self._silence = silence
        self._answer = answer
        self._doubt = asyncio.Event()
        self._before_next = False
        self._answers_pings: bool | None = None
        """None until it is known."""
        self._problem = ""
        self._failures = 0
        """Tries to reach it in a row that came to nothing."""

    def doubt(self, *, before_next: bool = False) -> None:
        """Something hints that it may be gone. With `before_next` the next request waits for the answer."""
        self._before_next = self._before_next or before_next
        self._doubt.set()

    async def run(self) -> None:
        """Until the server is given up."""
        while True:
            hinted = await self._hint()
            self._doubt.clear()
            if not hinted and not self._is_due():
                continue
            await self._ask(hinted)
            while self._problem:
                if self._failures >= len(DELAYS):
                    self._give_up(self._problem)
                    return
                await asyncio.sleep(DELAYS[self._failures])
                await self._ask(hinted)

    async def _hint(self) -> bool:
        """Wait for a doubt, or for a long silence: False."""
        try:
            async with asyncio.timeout(self._silence):
                await self._doubt.wait()
        except TimeoutError:
            return False
        return True

    def _is_due(self) -> bool:
        quiet = time.monotonic() - self._heard() >= self._silence
        return quiet and not self._is_busy() and self._answers_pings is not False

    async def _ask(self, hinted: bool) -> None:
        began = time.monotonic()
        problem = ""
        try:
            async with asyncio.timeout(self._answer):
                await self._ping()
        except TimeoutError:
            if self._heard() <= began:
                if not self._answers_pings:  # perhaps it cannot: silence proves nothing then
                    self._answers_pings = None if hinted else False
                    return
                problem = f"it has not answered a ping for {self._answer:.0f} s"
        except Unreachable as error:
            problem = str(error)
            self._failures += 1
        self._before_next = False
        if not problem:
            self._answers_pings = True
            self._failures = 0
        if problem != self._problem:
            self._problem = problem
            self._tell(problem)

    async def sure(self) -> None:
        """Wait for the answer if there is a doubt that calls for it; at most `FIRST_TRY` seconds."""
        if not self._before_next:
            return
        self._before_next = False
        with contextlib.suppress(TimeoutError, Unreachable):
            async with asyncio.timeout(FIRST_TRY):
                await self._ping()
