"""One run of an agent: under way from its start, followed by its events or not, over with a result.

Not here: the core (wire), how a result is gathered (tally), what fits a schema (shape).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, suppress
from typing import Any

from hel_tui.api.results import NotOpen, Result, Status
from hel_tui.api.shape import NAME, TRIES, Fits, Shape
from hel_tui.api.tally import Tally
from hel_tui.api.wire import Wire
from hel_tui.core import protocol as p


class Turn:
    """One run, begun as soon as those before it are over. `await` it for its result; iterate over it for its
    events first, if wanted: leaving them in the middle ends it, and so does cancelling who waits for it.
    """

    def __init__(self, wire: Wire, prompt: str, shape: Shape | None, timeout: float | None) -> None:
        """`timeout` in seconds, from when those before it are over and there is a model."""
        self._wire = wire
        self._prompt = prompt
        self._shape = shape
        self._timeout = timeout
        self._is_under_way = False
        self._stopped = asyncio.Event()
        self._timed_out = False
        self._events: asyncio.Queue[p.Event | None] = asyncio.Queue()
        self._keeps = True
        """Whether somebody may still go through the events."""
        self._taken = False
        self.task = asyncio.ensure_future(self._run())
        """The run itself."""

    def __await__(self) -> Generator[Any, None, Result]:
        if not self._taken:
            self._taken = True
            self._keep_no_more()
        return self.task.__await__()

    async def __aiter__(self) -> AsyncGenerator[p.Event, None]:
        """The events of the run, as they come. Once."""
        if self._taken:
            raise NotOpen("a run is gone through once")
        self._taken = True
        over = False
        try:
            while (event := await self._events.get()) is not None:
                yield event
            over = True
        finally:
            self._keep_no_more()
            if not over:
                self.interrupt()
        await self.task

    def interrupt(self) -> None:
        """End this run, also one that has not begun; its result comes with status `interrupted`."""
        self._stopped.set()
        if self._is_under_way:
            self._wire.interrupt()

    def _keep_no_more(self) -> None:
        self._keeps = False
        self._events = asyncio.Queue()

    async def _run(self) -> Result:
        try:
            async with self._wire.turn:
                return await self._bounded()
        finally:
            self._events.put_nowait(None)

    async def _bounded(self) -> Result:
        await self._until_ready()
        clock = self._start_clock(asyncio.get_running_loop())
        try:
            result = await self._shaped(Tally(self._wire.call, self._wire.usage))
        finally:
            if clock is not None:
                clock.cancel()
        raised, self._wire.raised = self._wire.raised, None
        if raised is not None:
            raise raised
        return result

    async def _until_ready(self) -> None:
        """Wait for the model, which may have to be loaded first, or for an interrupt."""
        ready = asyncio.ensure_future(self._wire.ready())
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait((ready, stopped), return_when=asyncio.FIRST_COMPLETED)
            if ready.done():
                await ready
        finally:
            ready.cancel()
            stopped.cancel()

    async def _shaped(self, tally: Tally) -> Result:
        """The turns of the run: one, or some more until an answer fits."""
        shape = self._shape
        asked = p.Submit(self._prompt)
        if shape is not None:
            asked = p.Submit(self._prompt, behind=shape.instruction(), names=(NAME,))
        result = tally.result()
        for attempt in range(1, TRIES + 1):
            if self._is_over:
                return self._cut_off(tally)
            await self._one(asked, tally)
            if self._timed_out and tally.ended is not None and tally.ended.reason == "interrupted":
                return self._cut_off(tally)
            result = tally.result()
            if shape is None or tally.ended is None or tally.ended.reason != "done":
                return result
            found = shape.look(tally.text)
            if isinstance(found, Fits):
                return tally.result(data=found.data)
            result = tally.result(status="failed", message=shape.gave_up(found, attempt))
            asked = p.Submit("", behind=shape.again(found), names=(NAME,))
            tally.text = ""  # an answer that was found wanting is not looked at twice
        return result

    @property
    def _is_over(self) -> bool:
        """Whether nothing more of it is to begin."""
        return self._stopped.is_set() or self._timed_out or self._wire.raised is not None

    async def _one(self, asked: p.Submit, tally: Tally) -> None:
        """One turn of the core, to its end."""
        self._is_under_way = True
        try:
            async with aclosing(self._wire.events(asked)) as events:  # it ends before the next run begins
                async for event in events:
                    tally.take(event)
                    if self._keeps:
                        self._events.put_nowait(event)
        finally:
            self._is_under_way = False
        tally.untrusted = len(self._wire.untrusted)

    def _cut_off(self, tally: Tally) -> Result:
        """What came of a run that was ended from outside."""
        status: Status = "limit" if self._timed_out else "interrupted"
        message = "Interrupted."
        if self._timed_out:
            message = f"Stopped after {self._timeout:g} seconds, the time limit."
        return tally.result(status=status, message=message)

    def _start_clock(self, loop: asyncio.AbstractEventLoop) -> threading.Timer | None:
        """Begin to count the time of the run, in a thread: the caller's loop may be busy with other things,
        and what runs in the core has to end all the same.
        """
        if self._timeout is None:
            return None
        clock = threading.Timer(self._timeout, self._time_is_up, (loop,))
        clock.daemon = True
        clock.start()
        return clock

    def _time_is_up(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timed_out = True
        if self._is_under_way:
            self._wire.interrupt(f"the time limit of {self._timeout:g} seconds")
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(self.interrupt)
