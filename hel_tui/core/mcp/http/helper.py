"""Headers made by a command (`headersHelper`): run without a shell, its output is a JSON object of strings.

It stands in the place of an authorizer: what it gave is kept until the server refuses it. Not here: whether
the command may run at all (trust), what else goes along (target).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hel_tui.core.guard import Guard
from hel_tui.core.mcp.authorizing import Challenge, NoCredentials
from hel_tui.core.mcp.http.hiding import header_secrets
from hel_tui.core.mcp.http.target import checked_headers

LIMIT = 10.0
"""Seconds the command may take."""
FAILED_FOR = 5.0
"""Seconds in which a failure stands: each of many requests would run the command anew."""
MAX_OUTPUT = 64 * 1024
"""Bytes it may print."""


class HeadersHelper:
    """Gives headers to the requests of one server, as an Authorizer. Sentences never show its output."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        hide: Callable[..., None],
        *,
        guard: Guard | None = None,
        limit: float = LIMIT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`command` are its words, variables filled in. With `guard` it does not outlive a killed hel."""
        self._command = command
        self._env = env
        self._cwd = cwd
        self._hide = hide
        self._guard = guard
        self._limit = limit
        self._clock = clock
        self._failure: tuple[str, float] | None = None
        """Why it failed, and until when that stands."""
        self._kept: Mapping[str, str] | None = None
        self._running = asyncio.Lock()

    async def headers(self) -> Mapping[str, str]:
        """What the command printed last; runs it when there is nothing yet. Raises NoCredentials."""
        async with self._running:
            if self._kept is None:
                self._kept = await self._given()
            return self._kept

    async def refused(self, challenge: Challenge, sent: Mapping[str, str]) -> bool:
        """Run it again, once for all who were refused with the same; True if it gives something else now."""
        if challenge.status != 401:
            return False
        async with self._running:
            if self._kept is None or self._kept == sent:
                self._kept = None
                with suppress(NoCredentials):
                    self._kept = await self._given()
            return self._kept is not None and self._kept != sent

    async def _given(self) -> Mapping[str, str]:
        """Run it, unless it failed a moment ago."""
        if self._failure is not None and self._clock() < self._failure[1]:
            raise NoCredentials(self._failure[0])
        try:
            return await self._fresh()
        except NoCredentials as failure:
            self._failure = (str(failure), self._clock() + FAILED_FOR)
            raise

    async def _fresh(self) -> Mapping[str, str]:
        output = await self._output()
        try:
            value = json.loads(output)
        except (ValueError, RecursionError):
            raise NoCredentials("`headersHelper` printed something that is not JSON") from None
        if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
            raise NoCredentials("`headersHelper` must print a JSON object whose values are strings")
        self._hide(*header_secrets(value.items()))
        try:
            return dict(checked_headers(value.items()))
        except ValueError as error:
            raise NoCredentials(f"`headersHelper`: {error}") from None

    async def _output(self) -> bytes:
        words, env = self._command, dict(self._env)
        if not words or not words[0]:
            raise NoCredentials("`headersHelper` is empty")
        if self._guard is not None:
            env[self._guard.variable] = self._guard.mark(env.get("HEL_MCP_SERVER_NAME", ""))
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=env,
                cwd=self._cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a command"
            raise NoCredentials(f"`headersHelper` could not be started: {words[0]}: {reason}") from None
        if self._guard is not None:
            self._guard.watch(process.pid)
        try:
            async with asyncio.timeout(self._limit):
                return await _result(process)
        except TimeoutError:
            raise NoCredentials(f"`headersHelper` did not end within {self._limit:g} s") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            if self._guard is not None:
                self._guard.forget(process.pid)


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
