"""Messages on their way over HTTP, in the order that counts: what is said after something arrives after it.

A notification leaves after the requests before it, a request after the notifications before it; requests
among themselves run side by side. Not here: how one message is sent (posting, legacy).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

NOTE_LIMIT = 30.0
"""Seconds one notification may take."""
NOTE_PATIENCE = 5.0
"""Seconds that what comes behind a notification waits for it."""
MOST_NOTES = 64
"""Notifications on their way, beyond which sending waits."""

Work = Coroutine[Any, Any, None]


class Outgoing:
    """All tasks of one link. Nothing of them is left after `end`."""

    def __init__(self, on_bug: Callable[[str], None]) -> None:
        """`on_bug` hears of work that failed in a way it should not have."""
        self._on_bug = on_bug
        self._tasks: set[asyncio.Task[None]] = set()
        self._notes: list[asyncio.Task[None]] = []
        self._unsent: set[asyncio.Event] = set()

    def start(self, work: Work) -> asyncio.Task[None]:
        """Run `work` beside everything else."""
        task = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)

        def settled(_task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            work.close()  # it may have been cancelled before it began

        task.add_done_callback(settled)
        return task

    def request(self, work: Work, sent: asyncio.Event) -> asyncio.Task[None]:
        """Send a request. `sent` is set by `work` once the request has left, and here at its end."""
        self._unsent.add(sent)
        task = self.start(self._request(work, self._notes[-1:]))

        def settled(_task: asyncio.Task[None]) -> None:
            sent.set()
            self._unsent.discard(sent)
            work.close()

        task.add_done_callback(settled)
        return task

    async def note(self, work: Work) -> None:
        """Send a notification or an answer. Waits while too many are under way."""
        while len(self._notes) >= MOST_NOTES:
            await asyncio.wait(self._notes, return_when=asyncio.FIRST_COMPLETED)
        unsent = tuple(sent for sent in self._unsent if not sent.is_set())
        task = self.start(self._note(work, unsent, self._notes[-1:]))
        self._notes.append(task)

        def settled(_task: asyncio.Task[None]) -> None:
            self._notes.remove(task)
            work.close()

        task.add_done_callback(settled)

    async def end(self, grace: float) -> None:
        """Give notifications `grace` seconds to arrive; then cancel everything and wait for it."""
        if grace and self._notes:
            await asyncio.wait(self._notes, timeout=grace)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _guarded(self, work: Work) -> None:
        try:
            await work
        except Exception as error:
            self._on_bug(f"a message was lost: hel failed at it ({type(error).__name__})")

    async def _request(self, work: Work, notes: list[asyncio.Task[None]]) -> None:
        if notes:
            await asyncio.wait(notes, timeout=NOTE_PATIENCE)
        await work

    async def _note(
        self, work: Work, requests: tuple[asyncio.Event, ...], earlier: list[asyncio.Task[None]]
    ) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(NOTE_LIMIT):
                if earlier:
                    await asyncio.wait(earlier, timeout=NOTE_PATIENCE)
                for sent in requests:
                    await sent.wait()
                await work
