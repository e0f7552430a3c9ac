"""Watches a start that takes long: says so, and ends one that shows no sign of life.

Not here: starting (life), what becomes of a server whose start was ended (supervisor).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hel_tui.core.mcp.life import Life

QUIET = 10.0
"""Seconds without a sign of life, at least, after which a slow start is given up."""
LOOK_EVERY = 1.0


async def watch_start(life: Life, limit: float, tell: Callable[[str], None]) -> None:
    """Call `tell` every second once the start took longer than `limit`; cancel it when the start is over.

    A server that moves is left alone however long it takes: a launcher may be downloading. One that has
    neither written to stderr nor used the processor for a whole `limit` again is ended.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.sleep(limit)
    moved, signs = loop.time(), await life.signs()
    while True:
        advice = f"; {life.advice}" if life.advice else ""
        tell(f"slow: {loop.time() - began:.0f} s{advice}")
        await asyncio.sleep(LOOK_EVERY)
        now = await life.signs()
        if now != signs:
            moved, signs = loop.time(), now
        elif loop.time() - moved > max(limit, QUIET):
            waited = f"{loop.time() - began:.0f} s"
            await life.stop(f"no answer to initialize within {waited} and no sign of life{advice}")
            return
