"""Time as the supervisor sees it, so that a test can turn it.

Not here: deadlines of calls (the event loop's own time).
"""

from __future__ import annotations

import asyncio
import time


class Clock:
    """Real time."""

    def time(self) -> float:
        """Unix time in seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for `event`, at most `seconds`; True if it happened."""
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True
