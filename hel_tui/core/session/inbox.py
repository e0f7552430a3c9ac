"""The commands of a session in the order in which they came, also while something takes its time.

Not here: what they do (conversation).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from hel_tui.core import protocol as p

Result = TypeVar("Result")
AT_ONCE = (p.Interrupt, p.Reply, p.CancelCall, p.SetAccess)
"""Commands that never wait: they stop something, or something waits for them."""
_STOPS = (p.Interrupt, p.CancelCall)
_WORK = (p.Submit, p.UsePrompt, p.Compact, p.RunShell, p.CallTool)
"""What the others may be meant to stop."""


class Inbox:
    """Lives in the core's loop."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[p.Command] = asyncio.Queue()
        self._later: deque[p.Command] = deque()

    def put(self, command: p.Command) -> None:
        """Take a command."""
        self._queue.put_nowait(command)

    async def next(self) -> p.Command:
        """The oldest that was not carried out."""
        return self._later.popleft() if self._later else await self._queue.get()

    async def meanwhile(
        self, work: Coroutine[Any, Any, Result], obey: Callable[[p.Command], None]
    ) -> Result | None:
        """Wait for `work`, and hand what cannot wait to `obey`; the rest comes after it, in its order. What
        stops something stops what runs at once, and what was sent before it and still waits in its turn.

        None where the end of the session came first: the work is cancelled then.
        """
        working = asyncio.ensure_future(work)
        try:
            while not working.done():
                heard = asyncio.ensure_future(self._queue.get())
                try:
                    await asyncio.wait((working, heard), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    heard.cancel()  # what is still in the queue stays there
                if not heard.done() or heard.cancelled():
                    continue
                if isinstance(command := heard.result(), p.Shutdown) and not working.done():
                    self._later.appendleft(command)
                    return None
                if isinstance(command, AT_ONCE):
                    obey(command)
                if not isinstance(command, AT_ONCE) or self._is_for_later(command):
                    self._later.append(command)
            return working.result()
        finally:
            working.cancel()

    def _is_for_later(self, command: p.Command) -> bool:
        """Whether it may be meant for something that was sent before it and has not begun."""
        return isinstance(command, _STOPS) and any(isinstance(one, _WORK) for one in self._later)
