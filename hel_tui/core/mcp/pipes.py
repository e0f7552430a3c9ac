"""Pipe ends driven by the event loop: read what is there, write all of it.

Own code instead of asyncio's streams so that a reader can be told "the process is gone, take what is
left", and a writer never drops half a line. Not here: whose pipes they are (process).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

CHUNK = 256 * 1024


class _End:
    """One file descriptor and the task that may wait for it."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._waiter: asyncio.Future[None] | None = None
        self.closed = False

    async def _wait(
        self, add: Callable[[int, Callable[[], None]], None], remove: Callable[[int], bool]
    ) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiter = waiter
        add(self._fd, self._wake)
        try:
            await waiter
        finally:
            self._waiter = None
            if not self.closed:
                remove(self._fd)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _forget(self, remove: Callable[[int], bool]) -> None:
        if self.closed:
            return
        remove(self._fd)
        self.closed = True
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self._wake()


class PipeReader(_End):
    """The reading end of a pipe."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self._finishing = False

    async def read(self) -> bytes:
        """Return the next bytes as they come; b"" at the end, or after `finish` when nothing is left."""
        loop = asyncio.get_running_loop()
        while not self.closed:
            try:
                return os.read(self._fd, CHUNK)
            except BlockingIOError:
                if self._finishing:
                    return b""
            except OSError:
                return b""
            await self._wait(loop.add_reader, loop.remove_reader)
        return b""

    def finish(self) -> None:
        """Stop at the first moment nothing is left, although others may hold the writing end."""
        self._finishing = True
        self._wake()

    def close(self) -> None:
        """Let go of the pipe; a waiting `read` returns b""."""
        self._forget(asyncio.get_running_loop().remove_reader)


class PipeWriter(_End):
    """The writing end of a pipe. One `write` at a time."""

    async def write(self, data: bytes) -> None:
        """Write all of `data`, waiting as long as the reader takes. Raises OSError when it is gone."""
        loop = asyncio.get_running_loop()
        rest = memoryview(data)
        while rest:
            if self.closed:
                raise BrokenPipeError("the pipe is closed")
            try:
                rest = rest[os.write(self._fd, rest[:CHUNK]) :]
            except BlockingIOError:
                await self._wait(loop.add_writer, loop.remove_writer)

    def close(self) -> None:
        """Close the pipe; a waiting `write` raises BrokenPipeError."""
        self._forget(asyncio.get_running_loop().remove_writer)
