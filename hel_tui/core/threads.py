"""Blocking work beside the loop, in daemon threads: what hangs there never holds up the end of hel.

Not the loop's pool, whose threads are waited for at the end. Not here: what the work is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result], name: str = "hel-work") -> Result:
    """Run `work` in a daemon thread of its own and return what it returns, or raise what it raises.

    When the waiting task is cancelled the work goes on unheard, so it should be short or watch a limit.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: Result | None = None
        failure: BaseException | None = None
        try:
            result = work()
        except BaseException as error:  # handed to the waiting task, whatever it is
            failure = error
        with suppress(RuntimeError):  # the loop is gone, and nobody waits
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await future


class Writes:
    """What is being written beside the loop and should not be lost by an end that comes right behind."""

    def __init__(self) -> None:
        self._open: set[asyncio.Future[Any]] = set()

    async def do(self, work: Callable[[], Result]) -> Result:
        """Run `work` in a thread; cancelling the caller does not take it back."""
        writing = asyncio.ensure_future(in_thread(work, "hel-write"))
        self._open.add(writing)
        writing.add_done_callback(self._open.discard)
        return await asyncio.shield(writing)

    async def done(self, limit: float) -> None:
        """Wait until all is written, at most `limit` seconds: a lock may be held by another process."""
        if self._open:
            await asyncio.wait(self._open, timeout=limit)


class DaemonPool(ThreadPoolExecutor):
    """A pool for the loop whose threads nobody waits for: name lookups of libraries may hang for minutes."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it in a daemon thread of its own."""
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:  # handed to whoever waits
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, name="hel-pool", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing to wait for."""
