"""A server process spoken to by hand: requests and answers, and everything else it writes counted.

Without the client of the SDK, so that nothing it does is smoothed over. Not here: what is asked (behaviour).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hel_tui import __version__
from hel_tui.core.guard import Guard
from hel_tui.core.mcp.framing import LineSplitter, TooLong
from hel_tui.core.mcp.messages import Answer, Ask, Noise, parse_line
from hel_tui.core.mcp.process import EXIT_FOLLOWS, ServerProcess, spawn
from hel_tui.core.store.redact import head
from hel_tui.core.vocabulary import Json

STATELESS = "2026-07-28"
HANDSHAKE = "2025-11-25"
MOST_NOISE = 20
MOST_WORDS = 5
"""Last lines of stderr that are kept."""
LONGEST_LINE = 64 * 1024


class NoAnswer(Exception):
    """The server did not answer, or is gone; the text says which."""


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code, self.message = code, message


class RawServer:
    """One process. Use within one task: `start`, requests, `close`."""

    def __init__(self, guard: Guard, name: str, mask: Callable[[str], str]) -> None:
        self._guard, self._name, self._mask = guard, name, mask
        self.process: ServerProcess | None = None
        self.noise: list[str] = []
        """Lines on stdout that are no protocol, secrets taken out; the first ones."""
        self.noises = 0
        self.stderr_lines = 0
        self.stderr_bytes = 0
        self.last_words: list[str] = []
        self.is_stateless = False
        self._is_over = False
        """Nothing comes any more."""
        self._answers: dict[Any, asyncio.Future[Answer]] = {}
        self._ids = 0
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, program: str, args: tuple[str, ...], env: Mapping[str, str], cwd: Path) -> None:
        """Start it. Raises ServerFault."""
        marked = {**env, self._guard.variable: self._guard.mark(self._name)}
        self.process = spawn(program, args, marked, cwd)
        self._guard.watch(self.process.pid)
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._drain())]

    async def close(self) -> None:
        """End it in order, with all it started."""
        if self.process is not None:
            await self.process.stop()
            self._guard.forget(self.process.pid)
            self.process.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---------------------------------------------------------------- in

    async def _read(self) -> None:
        assert self.process is not None
        splitter = LineSplitter()
        while True:
            chunk = await self.process.stdout.read()
            for line in splitter.feed(chunk) if chunk else splitter.close():
                self._take(line)
            if not chunk:
                break
        self._is_over = True
        for future in self._answers.values():
            future.cancel()

    def _take(self, line: bytes | TooLong) -> None:
        for message in parse_line(line):
            match message:
                case Answer():
                    future = self._answers.pop(message.id, None)
                    if future is not None and not future.done():
                        future.set_result(message)
                case Ask():
                    self._refuse(message)
                case Noise(text):
                    self.noises += 1
                    if len(self.noise) < MOST_NOISE:
                        self.noise.append(head(text.strip(), 300, self._mask))
                case _:
                    pass

    def _refuse(self, ask: Ask) -> None:
        """A server that asks is told that nothing is served, but for ping."""
        answer: Json = {"jsonrpc": "2.0", "id": ask.id}
        if ask.method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "hel's doctor serves nothing"}
        self._tasks.append(asyncio.create_task(self._send(answer)))

    async def _drain(self) -> None:
        assert self.process is not None
        rest = b""  # of a line: a secret may come in two pieces
        while data := await self.process.stderr.read():
            self.stderr_bytes += len(data)
            self.stderr_lines += data.count(b"\n")
            *lines, rest = (rest + data).split(b"\n")
            if len(rest) > LONGEST_LINE:
                lines, rest = [*lines, rest], b""
            self._said(lines)
        self._said([rest])

    def _said(self, lines: list[bytes]) -> None:
        words = [self._mask(one.decode("utf-8", "replace")) for one in lines[-MOST_WORDS:] if one.strip()]
        self.last_words = [*self.last_words, *words][-MOST_WORDS:]

    # --------------------------------------------------------------- out

    async def _send(self, *messages: Json) -> None:
        assert self.process is not None
        data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        with contextlib.suppress(OSError):
            await self.process.stdin.write(data)

    async def write(self, data: bytes) -> None:
        """Send bytes as they are; a server that does not read loses them."""
        assert self.process is not None
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(2.0):
                await self.process.stdin.write(data)

    async def tell(self, method: str, params: Json | None = None) -> None:
        """Send a notification."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": self._stamped(params or {})})

    async def ask(self, method: str, params: Json, timeout: float) -> Json:
        """Send a request and return its result. Raises NoAnswer and Refused."""
        identity, answer = await self.begin(method, params)
        return await self.finish(identity, answer, method, timeout)

    async def begin(self, method: str, params: Json) -> tuple[int, asyncio.Future[Answer]]:
        """Send a request; return its id and what will hold the answer."""
        identity, future = self._expected()
        await self._send(self._request(identity, method, params))
        return identity, future

    async def take_back(self, method: str, params: Json, reason: str) -> asyncio.Future[Answer]:
        """Send a request and cancel it in one write, so that it is cancelled before it is answered.

        Return what holds the answer if the server gives one nevertheless.
        """
        identity, future = self._expected()
        told = self._stamped({"requestId": identity, "reason": reason})
        await self._send(
            self._request(identity, method, params),
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": told},
        )
        return future

    def _expected(self) -> tuple[int, asyncio.Future[Answer]]:
        self._ids += 1
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[self._ids] = future
        if self._is_over:
            future.cancel()
        return self._ids, future

    def _request(self, identity: int, method: str, params: Json) -> Json:
        return {"jsonrpc": "2.0", "id": identity, "method": method, "params": self._stamped(params)}

    async def finish(
        self, identity: int, future: asyncio.Future[Answer], method: str, timeout: float
    ) -> Json:
        """Wait for an answer. Raises NoAnswer and Refused."""
        assert self.process is not None
        try:
            await asyncio.wait({future}, timeout=timeout)
        finally:
            self._answers.pop(identity, None)
        if not future.done():
            raise NoAnswer(f"it did not answer {method} within {timeout:g} s")
        if future.cancelled():  # its stdout has ended
            await self.process.wait(EXIT_FOLLOWS)
            how = f"ended ({self.process.exit})" if self.process.exit is not None else "closed its stdout"
            raise NoAnswer(f"it {how} before it answered {method}")
        answer = future.result()
        if answer.error is not None:
            raise Refused(answer.error["code"], head(str(answer.error["message"]), 300, self._mask))
        return answer.result if isinstance(answer.result, dict) else {}

    def _stamped(self, params: Json) -> Json:
        """In the stateless era every request says who asks (specification 2026-07-28, lifecycle)."""
        if not self.is_stateless:
            return params
        prefix = "io.modelcontextprotocol/"
        meta = {
            f"{prefix}protocolVersion": STATELESS,
            f"{prefix}clientInfo": {"name": "hel", "version": __version__},
            f"{prefix}clientCapabilities": {},
        }
        return {**params, "_meta": {**meta, **params.get("_meta", {})}}

    async def greet(self, timeout: float) -> tuple[Json, float]:
        """Open a session, in the older era where the server speaks it; return what it said and the seconds.

        Raises NoAnswer and Refused.
        """
        assert self.process is not None
        hello: Json = {
            "protocolVersion": HANDSHAKE,
            "capabilities": {},
            "clientInfo": {"name": "hel", "version": __version__},
        }
        try:
            said = await self.ask("initialize", hello, timeout)
        except Refused:
            self.is_stateless = True
            try:
                said = await self.ask("server/discover", {}, timeout)
            except (Refused, NoAnswer):
                self.is_stateless = False
                raise
        else:
            await self.tell("notifications/initialized")
        return said, time.monotonic() - self.process.started

    async def greet_as_hosted(self, timeout: float, probe: float) -> bool:
        """Open a session as hel does where it hosts the server: the newer era first, for `probe` seconds.

        Return whether that was answered. Raises NoAnswer and Refused.
        """
        assert self.process is not None
        self.is_stateless = True
        try:
            await self.ask("server/discover", {}, probe)
        except (Refused, NoAnswer):
            self.is_stateless = False
            await self.greet(timeout)
        return self.is_stateless
