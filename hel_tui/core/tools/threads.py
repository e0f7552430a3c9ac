"""Blocking work beside the loop, in daemon threads: a hung file system never holds up the end of hel.

Not here: what the work is.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Run `work` in a thread of its own and return what it returns, or raise what it raises.

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

    threading.Thread(target=run, name="hel-tool", daemon=True).start()
    return await future
