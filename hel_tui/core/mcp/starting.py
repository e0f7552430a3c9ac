"""Watches a start that takes long: says so, and ends one that shows no sign of life.

Not here: starting (life), what becomes of a server whose start was ended (supervisor).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hel_tui.core.mcp.life import Life
from hel_tui.core.threads import in_thread

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
    moved, signs = loop.time(), await _signs(life)
    while True:
        tell(f"slow: {loop.time() - began:.0f} s")
        await asyncio.sleep(LOOK_EVERY)
        now = await _signs(life)
        if now != signs:
            moved, signs = loop.time(), now
        elif loop.time() - moved > max(limit, QUIET):
            waited = f"{loop.time() - began:.0f} s"
            await life.stop(f"no answer to initialize within {waited} and no sign of life")
            return


async def _signs(life: Life) -> tuple[int, float]:
    """What moves when a starting server does something: bytes on stderr, processor time."""
    process = life.process
    if process is None:
        return life.stderr_bytes, 0.0
    seconds = await in_thread(lambda: _processor_seconds(process.pid), "hel-signs")
    return life.stderr_bytes, round(seconds, 1)


def _processor_seconds(pid: int) -> float:
    """Processor time of a process and all it started."""
    import psutil

    total = 0.0
    try:
        leader = psutil.Process(pid)
        for process in (leader, *leader.children(recursive=True)):
            times = process.cpu_times()
            total += times.user + times.system
    except psutil.Error:
        return total
    return total
