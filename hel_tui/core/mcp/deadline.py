"""How long a request may take: an idle limit that progress resets, a hard one, none while a person thinks.

Not here: what happens when it is over (requesting).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator


class Deadline:
    """The limit of one request, in loop time."""

    def __init__(self, timeout: asyncio.Timeout, idle: float, hard: float) -> None:
        """`timeout` is entered already; `idle` and `hard` in seconds."""
        self._timeout = timeout
        self._idle = idle
        self._now = asyncio.get_running_loop().time
        self._latest = self._now() + hard
        self._paused: float | None = None

    @property
    def is_hard(self) -> bool:
        """True once the time of the whole request is used up, however much progress there was."""
        return self._now() >= self._latest

    def progressed(self) -> None:
        """The server showed that it is at it."""
        if self._paused is None and not self._timeout.expired():
            self._timeout.reschedule(min(self._now() + self._idle, self._latest))

    def pause(self) -> None:
        """A person is asked: time stands still."""
        if self._paused is None and not self._timeout.expired():
            self._paused = self._now()
            self._timeout.reschedule(None)

    def resume(self) -> None:
        """The person answered: the idle time begins anew."""
        if self._paused is not None:
            self._latest += self._now() - self._paused
            self._paused = None
            self.progressed()


class Deadlines:
    """Those of all requests to one server. While the server waits for a person none of them runs, but for
    those that began after it asked: they cannot be what it asks about.
    """

    def __init__(self) -> None:
        self._open: set[Deadline] = set()
        self._asking = 0

    @contextlib.asynccontextmanager
    async def limited(self, idle: float, hard: float) -> AsyncIterator[Deadline]:
        """Raises TimeoutError in the body once the limit is over; yields the `Deadline`."""
        async with asyncio.timeout(idle) as timeout:
            deadline = Deadline(timeout, idle, hard)
            self._open.add(deadline)
            try:
                yield deadline
            finally:
                self._open.discard(deadline)

    @property
    def is_paused(self) -> bool:
        """True while a person is asked."""
        return self._asking > 0

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While this is entered a person is asked something on behalf of the server."""
        self._asking += 1
        for deadline in self._open:
            deadline.pause()
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                for deadline in self._open:
                    deadline.resume()
