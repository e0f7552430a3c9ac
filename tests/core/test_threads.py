"""Work that hangs beside the loop, and an end that does not wait for it."""

import asyncio
import subprocess
import sys
import threading

import pytest

from hel_tui.core.threads import DaemonPool, Writes, in_thread

HUNG = """
import asyncio, threading
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime
from pathlib import Path

class Body:
    def __init__(self): self.over = asyncio.Event()
    async def run(self):
        asyncio.get_running_loop().run_in_executor(None, threading.Event().wait)
        asyncio.ensure_future(in_thread(threading.Event().wait))
        await self.over.wait()
    def post(self, command): self.over.set()
    def kill(self): pass

from hel_tui.core.threads import in_thread
core = Runtime(Options(Path.cwd()), lambda *_: Body())
core.start()
print("ended", core.stop(20.0), flush=True)
"""


async def test_what_work_returns_or_raises_reaches_who_waits() -> None:
    assert await in_thread(lambda: threading.current_thread().daemon) is True
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 // 0)
    loop = asyncio.get_running_loop()
    assert await loop.run_in_executor(DaemonPool(), divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await loop.run_in_executor(DaemonPool(), divmod, 7, 0)


def test_a_thread_that_hangs_holds_up_neither_the_core_nor_the_program() -> None:
    done = subprocess.run([sys.executable, "-c", HUNG], capture_output=True, text=True, timeout=60)
    assert done.stdout == "ended True\n", done.stderr
    assert done.returncode == 0


async def test_a_write_goes_on_when_its_caller_is_cancelled_and_the_end_waits_for_it() -> None:
    writes, go, written = Writes(), threading.Event(), threading.Event()

    def work() -> None:
        go.wait(20)
        written.set()

    caller = asyncio.ensure_future(writes.do(work))
    await asyncio.sleep(0)
    caller.cancel()
    await writes.done(0.01)
    assert not written.is_set(), "a lock that is held does not hold up the end for ever"
    go.set()
    await writes.done(20)
    assert written.is_set()
