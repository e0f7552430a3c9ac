"""Notices that the machine slept: wall time went on while the process stood still.

Not here: what is to be done then (host).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hel_tui.core.mcp.clock import Clock

LOOK_EVERY = 5.0
JUMP = 10.0
"""Seconds by which wall time must have run ahead. Setting the clock does it too; a needless ping is cheap."""


async def watch_sleep(clock: Clock, woke: Callable[[], None]) -> None:
    """Call `woke` after each sleep, for ever."""
    wall, steady = clock.time(), clock.monotonic()
    never = asyncio.Event()
    while True:
        await clock.wait(never, LOOK_EVERY)
        wall_now, steady_now = clock.time(), clock.monotonic()
        # A suspended process also sees its steady clock jump where that counts sleep.
        if max(wall_now - wall, steady_now - steady) - LOOK_EVERY > JUMP:
            woke()
        wall, steady = wall_now, steady_now
