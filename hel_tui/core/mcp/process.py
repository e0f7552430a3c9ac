"""One server process: start, watch, end, with everything it started.

Own session and process group; stdin, stdout and stderr are pipes, never the terminal.
Not here: what travels through the pipes (wire), whether to start again (supervisor).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.guard import SERVER
from hel_tui.core.mcp.census import descendants, marked
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.pipes import PipeReader, PipeWriter
from hel_tui.core.reaper import PASSES

GRACE = 2.0
"""Seconds between closing stdin, SIGTERM and SIGKILL."""
DRAIN = 0.2
"""Seconds its pipes may still be read after a process has ended."""
EXIT_FOLLOWS = 0.3
"""Seconds to wait for the exit status of a process whose pipes have closed."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended. `code` is negative for a signal, as in subprocess."""

    code: int
    seconds: float

    def __str__(self) -> str:
        """Such as `exit 1 after 0.4 s` or `killed by SIGSEGV after 3.1 s`."""
        return f"{self.how} after {self.seconds:.1f} s"

    @property
    def how(self) -> str:
        """Such as `exit 1` or `killed by SIGSEGV`."""
        if self.code >= 0:
            return f"exit {self.code}"
        try:
            name = signal.Signals(-self.code).name
        except ValueError:
            name = f"signal {-self.code}"
        return f"killed by {name}"


class ServerProcess:
    """A running server. Must be created and used on one event loop; `kill` works from any thread."""

    def __init__(self, popen: subprocess.Popen[bytes], mark: str = "") -> None:
        """`mark` is what its environment has as `SERVER`, and with it all it starts."""
        assert popen.stdin and popen.stdout and popen.stderr
        self.pid = popen.pid
        self._mark = mark
        self.started = time.monotonic()
        self.exit: Exit | None = None
        self.exited = asyncio.Event()
        self.stopping = False
        """True once hel itself ends it: how it ends is then no news."""
        self.stdin = PipeWriter(os.dup(popen.stdin.fileno()))
        self.stdout = PipeReader(os.dup(popen.stdout.fileno()))
        self.stderr = PipeReader(os.dup(popen.stderr.fileno()))
        for file in (popen.stdin, popen.stdout, popen.stderr):
            file.close()
        self._helpers: dict[int, float] = {}
        """Descendants seen so far: pid and the time at which each was created."""
        self._ending: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        threading.Thread(
            target=self._watch, args=(popen, loop), name=f"hel-wait-{self.pid}", daemon=True
        ).start()

    def _watch(self, popen: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
        code = popen.wait()
        with contextlib.suppress(RuntimeError):  # the loop may be gone by then
            loop.call_soon_threadsafe(self._on_exit, code)

    def _on_exit(self, code: int) -> None:
        self.exit = Exit(code, time.monotonic() - self.started)
        self.exited.set()
        self.stdin.close()
        asyncio.get_running_loop().call_later(DRAIN, self._finish_reading)

    def _finish_reading(self) -> None:
        """Helpers may hold the pipes open for ever: take what is there and let go."""
        self.stdout.finish()
        self.stderr.finish()

    async def look_for_helpers(self) -> frozenset[int]:
        """Note the processes this one started, so that none outlives it. Returns their pids."""
        if self.exit is None:
            self._helpers.update(await descendants(self.pid))
        return frozenset(self._helpers)

    async def stop(self, grace: float = GRACE) -> None:
        """End it: close stdin, wait, SIGTERM to the group, wait, SIGKILL; then whatever it left behind.

        May be called by several tasks; all wait for the same end. A cancelled caller does not stop it.
        """
        if self._ending is None:
            self.stopping = self.stopping or self.exit is None
            self._ending = asyncio.create_task(self._end(grace), name=f"end-{self.pid}")
        await asyncio.shield(self._ending)

    async def _end(self, grace: float) -> None:
        await self.look_for_helpers()
        self.stdin.close()
        if not await self.wait(grace):
            await self.look_for_helpers()
            self._signal(signal.SIGTERM)
            if not await self.wait(grace):
                await self.look_for_helpers()
        self.kill()
        await self.wait(grace)
        if self._mark:  # what made itself a daemon has neither its group nor its parent
            await self._kill_marked()
        self._finish_reading()

    async def _kill_marked(self) -> None:
        """SIGKILL to every process with its mark; again for what was forked meanwhile."""
        for _ in range(PASSES):
            found = await marked(self._mark)
            for pid in found:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not found:
                return

    async def wait(self, seconds: float) -> bool:
        """Wait at most so long for its end; True if it has ended."""
        try:
            async with asyncio.timeout(seconds):
                await self.exited.wait()
        except TimeoutError:
            return False
        return True

    def kill(self) -> None:
        """SIGKILL to the group and to every helper seen; harmless when they are gone."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
        for pid, created in list(self._helpers.items()):
            _signal_same(pid, created, number)

    def close(self) -> None:
        """Let go of the pipes."""
        self.stdin.close()
        self.stdout.close()
        self.stderr.close()


def spawn(program: str, args: Sequence[str], env: Mapping[str, str], cwd: Path) -> ServerProcess:
    """Start `program` in its own session. Raises ServerFault with a sentence when it cannot be."""
    try:
        popen = subprocess.Popen(
            [program, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            bufsize=0,
        )
    except FileNotFoundError as error:
        sentence = f"{program} could not be started: the interpreter its first line names does not exist"
        raise ServerFault("spawn", sentence, resolved=program, lasting=True) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ServerFault(
            "spawn", f"{program} could not be started: {reason}", resolved=program, lasting=True
        ) from error
    return ServerProcess(popen, env.get(SERVER, ""))


def _signal_same(pid: int, created: float, number: signal.Signals) -> None:
    """Signal `pid` if it is still the process created then: numbers are used again."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        if abs(process.create_time() - created) < 1.0:
            process.send_signal(number)
