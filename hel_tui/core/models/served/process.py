"""The process that serves a GGUF file: started, watched while it loads, ended with all it holds.

Guarded as servers are: it does not outlive a hel that is killed. Not here: what runs in it (child), speaking
to its model (served).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hel_tui.core.guard import ENGINE, Guard
from hel_tui.core.models.faults import clean
from hel_tui.core.store.redact import looks_like_secret
from hel_tui.core.threads import in_thread

LOAD_LIMIT = 600.0
"""Seconds a file gets to be loaded: tens of gigabytes from a slow disk."""
LOOK = 0.5
"""Seconds between two looks at how much of it is loaded."""
GRACE = 2.0
"""Seconds between the end of stdin, SIGTERM and SIGKILL."""
MOMENT = 0.3
LAST_LINES = 20
PROGRAM = Path(__file__).with_name("child.py")

Progress = Callable[[int, int], None]
"""(bytes in memory, bytes of the file)."""


class NotServed(Exception):
    """It could not be started; the text is a sentence."""


@dataclass(slots=True)
class Engine:
    """A running engine. `base_url` and `key` are for a client."""

    base_url: str
    key: str
    _popen: subprocess.Popen[bytes]
    _guard: Guard
    _said: deque[str]

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    @property
    def last_words(self) -> str:
        """How it ended, and the last it said; for a person."""
        code = self._popen.poll()
        if code is None:
            return ""
        how = f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with status {code}"
        said = clean(" ".join(list(self._said)[-3:]))[-200:]
        return f"{how}{f': {said}' if said else ''}"

    async def ends_soon(self) -> None:
        """Wait a moment for an end that a broken connection tells of."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            await in_thread(lambda: self._popen.wait(MOMENT), "hel-engine-wait")

    async def aclose(self) -> None:
        """End it. A cancelled caller leaves it to the guard."""
        await _ended(self._popen, self._guard)


async def start_engine(
    path: Path, window: int, size: int, progress: Progress, program: Path = PROGRAM
) -> Engine:
    """Load a file and serve it on a free port of loopback.

    `size` in bytes; `window` in tokens, 0 for the file's own. Raises NotServed with a sentence. Cancelling
    ends the process.
    """
    guard = Guard(ENGINE)
    key = secrets.token_hex(16)  # other users of the machine have no business at this port
    popen = await in_thread(lambda: _spawn(guard, program), "hel-engine")
    said: deque[str] = deque(maxlen=LAST_LINES)
    assert popen.stdin and popen.stdout and popen.stderr
    try:
        wanted = {"path": str(path), "key": key, "window": window, "name": path.name}
        line = json.dumps(wanted).encode() + b"\n"
        stdin, stdout, stderr = popen.stdin, popen.stdout, popen.stderr
        listening = asyncio.ensure_future(in_thread(lambda: _told(stdin, line, stdout), "hel-engine-out"))
        following = asyncio.ensure_future(in_thread(lambda: _follow(stderr, said), "hel-engine-err"))
        following.add_done_callback(lambda done: done.cancelled() or done.exception())
        answer = await _loaded(popen, listening, size, progress)
    except BaseException:
        await asyncio.shield(_ended(popen, guard))
        raise
    if "address" not in answer:
        await popen_wait(popen)
        code = popen.poll()
        why = answer.get("problem") or (
            f"killed by {_signal_name(-code)}" if code and code < 0 else "it ended"
        )
        await _ended(popen, guard)
        words = clean(" ".join([why, *list(said)[-2:]]))[:300]
        raise NotServed(f"{path.name} could not be loaded: {words}")
    return Engine(f"{answer['address']}/v1", key, popen, guard, said)


def _spawn(guard: Guard, program: Path) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if not looks_like_secret(name, value)}
    environ = {**kept, "OMP_WAIT_POLICY": "passive", ENGINE: guard.mark("engine")}
    try:
        popen = subprocess.Popen(
            [sys.executable, "-P", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise NotServed(f"The engine could not be started: {error.strerror}.") from None
    guard.watch(popen.pid)
    return popen


async def _loaded(
    popen: subprocess.Popen[bytes], listening: asyncio.Future[dict[str, str]], size: int, progress: Progress
) -> dict[str, str]:
    """Its answer, telling meanwhile how much of the file is in memory."""
    try:
        async with asyncio.timeout(LOAD_LIMIT):
            while True:
                done, _ = await asyncio.wait([listening], timeout=LOOK)
                if done:
                    return listening.result()
                progress(min(await in_thread(lambda: _memory(popen.pid), "hel-engine-look"), size), size)
    except TimeoutError:
        raise NotServed(f"It was not loaded within {LOAD_LIMIT:g} seconds.") from None


def _told(stdin: IO[bytes], line: bytes, stdout: IO[bytes]) -> dict[str, str]:
    """The one line it answers; nothing when it ended before."""
    with contextlib.suppress(OSError, ValueError):
        stdin.write(line)
        stdin.flush()
        answer = json.loads(stdout.readline())
        if isinstance(answer, dict):
            return answer
    return {}


def _follow(stderr: IO[bytes], said: deque[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stderr.readline(4_096):
            if text := line.decode("utf-8", "replace").strip():
                said.append(text)


def _memory(pid: int) -> int:
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


async def popen_wait(popen: subprocess.Popen[bytes]) -> None:
    """Wait shortly for an end that is due."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        await in_thread(lambda: popen.wait(GRACE), "hel-engine-wait")


async def _ended(popen: subprocess.Popen[bytes], guard: Guard) -> None:
    """Stdin ends, SIGTERM, SIGKILL; then the guard may go."""
    if popen.stdin is not None:
        with contextlib.suppress(OSError):
            popen.stdin.close()
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        if popen.poll() is not None:
            break
        if number:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, number)
        await popen_wait(popen)
    guard.forget(popen.pid)
    await guard.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
