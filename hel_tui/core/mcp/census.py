"""Which processes of this machine belong to a server: one look serves all who asked before it began.

Looking takes milliseconds for each process there is, and fifty servers start and end in the same moment.
Not here: signals (process), what a killed hel left behind (reaper, leftovers).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from hel_tui.core.guard import SERVER
from hel_tui.core.reaper import find_marked
from hel_tui.core.threads import in_thread

Found = TypeVar("Found")
Born = dict[int, tuple[int, float]]
"""pid -> the pid of its parent and the Unix time at which it was created."""


class Shared(Generic[Found]):
    """Something slow to look at, by many. Used in one event loop."""

    def __init__(self, look: Callable[[], Found]) -> None:
        self._look = look
        self._running: asyncio.Task[Found] | None = None
        self._next: asyncio.Task[Found] | None = None

    async def now(self) -> Found:
        """What a look showed that began after this was called."""
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._running))
        return await asyncio.shield(self._next)

    async def _after(self, before: asyncio.Task[Found] | None) -> Found:
        if before is not None:
            await asyncio.wait({before})
        self._running, self._next = self._next, None
        try:
            return await in_thread(self._look, "hel-census")
        finally:
            if self._next is None:
                self._running = None


_families: WeakKeyDictionary[asyncio.AbstractEventLoop, Shared[Born]] = WeakKeyDictionary()
_marks: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Shared[dict[int, str]]]] = WeakKeyDictionary()


async def descendants(pid: int) -> dict[int, float]:
    """The processes that `pid`, a child of hel, has started: pid and when each was created."""
    loop = asyncio.get_running_loop()
    shared = _families.setdefault(loop, Shared(_family))
    born = await shared.now()
    found: dict[int, float] = {}
    parents = {pid}
    while parents:
        children = {one for one, (parent, _) in born.items() if parent in parents and one not in found}
        found |= {one: born[one][1] for one in children}
        parents = children
    return found


async def marked(mark: str) -> list[int]:
    """The processes whose environment has this mark of a server (see `guard`)."""
    run = mark.partition("/")[0] + "/"
    shared = _marks.setdefault(asyncio.get_running_loop(), {})
    if run not in shared:
        shared[run] = Shared(lambda: find_marked(SERVER, run))
    return [pid for pid, its in (await shared[run].now()).items() if its == mark]


def _family() -> Born:
    """All that hel has started and all that these have."""
    import psutil

    born: Born = {}
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                born[child.pid] = (child.ppid(), child.create_time())
    return born
