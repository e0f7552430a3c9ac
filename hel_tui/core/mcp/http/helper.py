"""Headers made by a command (`headersHelper`): run without a shell, its output is a JSON object of strings.

It stands in the place of an authorizer: what it gave is kept until the server refuses it. Not here: whether
the command may run at all (trust), what else goes along (target).
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from hel_tui.core.mcp.authorizing import Challenge, NoCredentials
from hel_tui.core.mcp.http.target import checked_headers

LIMIT = 10.0
"""Seconds the command may take."""
MAX_OUTPUT = 64 * 1024
"""Bytes it may print."""


class HeadersHelper:
    """Gives headers to the requests of one server, as an Authorizer. Sentences never show its output."""

    def __init__(
        self,
        command: str,
        env: Mapping[str, str],
        cwd: Path,
        hide: Callable[..., None],
        *,
        limit: float = LIMIT,
    ) -> None:
        self._command = command
        self._env = env
        self._cwd = cwd
        self._hide = hide
        self._limit = limit
        self._kept: Mapping[str, str] | None = None
        self._running = asyncio.Lock()

    async def headers(self) -> Mapping[str, str]:
        """What the command printed last; runs it when there is nothing yet. Raises NoCredentials."""
        async with self._running:
            if self._kept is None:
                self._kept = await self._fresh()
            return self._kept

    async def refused(self, challenge: Challenge, sent: Mapping[str, str]) -> bool:
        """Run it again, once for all who were refused with the same; True if it gives something else now."""
        if challenge.status != 401:
            return False
        async with self._running:
            if self._kept is None or self._kept == sent:
                self._kept = None
                with suppress(NoCredentials):
                    self._kept = await self._fresh()
            return self._kept is not None and self._kept != sent

    async def _fresh(self) -> Mapping[str, str]:
        output = await self._output()
        try:
            value = json.loads(output)
        except (ValueError, RecursionError):
            raise NoCredentials("`headersHelper` printed something that is not JSON") from None
        if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
            raise NoCredentials("`headersHelper` must print a JSON object whose values are strings")
        self._hide(*value.values(), *(word for one in value.values() for word in one.split()))
        try:
            return dict(checked_headers(value.items()))
        except ValueError as error:
            raise NoCredentials(f"`headersHelper`: {error}") from None

    async def _output(self) -> bytes:
        try:
            words = shlex.split(self._command)
        except ValueError as error:
            raise NoCredentials(f"`headersHelper` is not a command: {error}") from None
        if not words:
            raise NoCredentials("`headersHelper` is empty")
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=dict(self._env),
                cwd=self._cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a command"
            raise NoCredentials(f"`headersHelper` could not be started: {words[0]}: {reason}") from None
        try:
            async with asyncio.timeout(self._limit):
                return await _result(process)
        except TimeoutError:
            raise NoCredentials(f"`headersHelper` did not end within {self._limit:g} s") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _result(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    output = bytearray()
    while chunk := await process.stdout.read(MAX_OUTPUT):
        output += chunk
        if len(output) > MAX_OUTPUT:
            raise NoCredentials(f"`headersHelper` printed more than {MAX_OUTPUT:,} bytes")
    code = await process.wait()
    if code:
        how = f"exit {code}" if code > 0 else f"killed by signal {-code}"
        raise NoCredentials(f"`headersHelper` failed ({how}); run it in a terminal to see why")
    return bytes(output)
