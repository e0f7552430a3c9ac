"""Opens a kept session in a thread, and lets go of one that nobody waits for any more.

Not here: how it is read (kept), what becomes of it (resuming, rewinding).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from hel_tui.core.session.kept import Opened
from hel_tui.core.threads import in_thread


async def opened_in_thread(work: Callable[[], Opened | str]) -> Opened | str:
    """What `work` opens, or its sentence; raises what it raises. Where the waiting is cancelled, the lock of
    what is opened all the same is released: another hel may want it.
    """
    unwanted = threading.Event()
    done: list[Opened] = []

    def let_go() -> None:
        with suppress(IndexError):  # the thread and whoever waited: one of them has it
            done.pop().lock.release()

    def run() -> Opened | str:
        opened = work()
        if isinstance(opened, Opened):
            done.append(opened)
            if unwanted.is_set():
                let_go()
        return opened

    try:
        return await in_thread(run, "hel-session")
    except asyncio.CancelledError:
        unwanted.set()
        let_go()
        raise
