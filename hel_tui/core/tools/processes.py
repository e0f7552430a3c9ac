"""Running a program with bounded output and a time limit, and ending it with everything it started.

The program leads a process group of its own; what left the group is found by a mark in its environment.
Not here: what is run (bash, grep).
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
from asyncio.subprocess import DEVNULL, Process, create_subprocess_exec
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.guard import COMMAND, Guard
from hel_tui.core.reaper import kill_marked
from hel_tui.core.threads import in_thread

TERM_GRACE = 1.0
"""Seconds between asking a group to end and ending it."""
_DRAIN_LIMIT = 1.0
_CHUNK = 1 << 16


@functools.cache
def command_guard() -> Guard:
    """The guard of all commands of this process: none outlives hel, not even one that is killed."""
    return Guard(COMMAND)


class Bounded:
    """Bytes of a stream, of which only the beginning and the end are kept."""

    def __init__(self, keep: int) -> None:
        self._half = keep // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take more of the stream."""
        self.total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._half:
            del self._tail[: len(self._tail) - self._half]

    def text(self) -> str:
        """What was kept, as text, with a line where the middle is missing."""
        tail = self._tail[-self._half :] if self._half else self._tail
        lost = self.total - len(self._head) - len(tail)
        if not lost:
            return bytes(self._head + tail).decode("utf-8", "replace")
        head, end = self._head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
        return f"{head}\n[{lost:,} bytes left out here]\n{end}"

    def last_line(self) -> str:
        """The last line that is not empty."""
        recent = bytes(self._tail[-1000:] or self._head[-1000:]).decode("utf-8", "replace").strip()
        return recent.rpartition("\n")[2].rpartition("\r")[2]


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `code` is None when the time limit ended it, negative for a signal."""

    code: int | None
    out: Bounded
    err: Bounded


@dataclass(slots=True)
class _Stream:
    """One pipe from the program, read as data comes."""

    handle: int
    ended: asyncio.Event
    take: Callable[[bytes], None]

    def read(self) -> None:
        try:
            data = os.read(self.handle, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.take(data)
        else:
            self.close()

    def close(self) -> None:
        if not self.ended.is_set():
            asyncio.get_running_loop().remove_reader(self.handle)
            os.close(self.handle)
            self.ended.set()


async def run_program(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limit: float,
    out: Callable[[bytes], None],
    err: Callable[[bytes], None],
    find_marked: bool = False,
    enough: asyncio.Event | None = None,
) -> int | None:
    """Run a program to its end and return its exit code; None when `limit` seconds were not enough.

    `out` and `err` get the bytes of its streams as they come. Whatever it started is ended with it, also
    when the task is cancelled and when `enough` is set; `find_marked` finds what left its process group
    too. Raises OSError.
    """
    marks = {COMMAND: command_guard().mark()} if find_marked else {}
    streams: list[_Stream] = []
    try:
        process = await _start(argv, cwd, {**env, **marks}, streams, (out, err))
        ending = process.pid
        try:
            async with asyncio.timeout(limit):
                return await _ended(process, enough)
        except TimeoutError:
            return None
        finally:
            await asyncio.shield(_end(process, ending, marks.get(COMMAND, "")))
            await _drain(streams)
    finally:
        for stream in streams:
            stream.close()


async def _start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    streams: list[_Stream],
    takers: Sequence[Callable[[bytes], None]],
) -> Process:
    """Start the program; pipes are hel's own, so that waiting for it never waits for who inherited them."""
    loop = asyncio.get_running_loop()
    ends: list[int] = []
    try:
        for take in takers:
            reading, writing = os.pipe()
            ends.append(writing)
            os.set_blocking(reading, False)
            stream = _Stream(reading, asyncio.Event(), take)
            streams.append(stream)
            loop.add_reader(reading, stream.read)
        return await create_subprocess_exec(
            *argv, stdin=DEVNULL, stdout=ends[0], stderr=ends[1], cwd=cwd, env=env, start_new_session=True
        )
    finally:
        for writing in ends:
            os.close(writing)


async def _ended(process: Process, enough: asyncio.Event | None) -> int | None:
    """Wait for the end, or for what makes waiting pointless."""
    if enough is None:
        return await process.wait()
    waits = [asyncio.ensure_future(process.wait()), asyncio.ensure_future(enough.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
    return process.returncode


async def _drain(streams: Sequence[_Stream]) -> None:
    """Wait until what was written before the end has been read."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_LIMIT):
            for stream in streams:
                await stream.ended.wait()


async def _end(process: Process, group: int, mark: str) -> None:
    """End the program if it still runs, and all that is left of its group or carries its mark."""
    if process.returncode is None:
        _signal_group(group, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TERM_GRACE):
                await process.wait()
    _signal_group(group, signal.SIGKILL)
    if mark:
        await in_thread(lambda: kill_marked(COMMAND, mark))
    await process.wait()


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
