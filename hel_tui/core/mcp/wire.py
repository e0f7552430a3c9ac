"""Messages over the pipes of one process: the transport under the SDK's client, with the border in it.

Everything a server can send in quantity is handled here without a task for each message: notifications,
progress, pings, requests nobody may ask, answers nobody waits for. Only answers and the few requests hel
serves go on. Imports the SDK: import late. Not here: what messages mean (connection).
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from hel_tui.core.mcp.framing import LineSplitter, TooLong
from hel_tui.core.mcp.large import LARGE
from hel_tui.core.mcp.messages import (
    INTERNAL_ERROR,
    Answer,
    Ask,
    Id,
    Noise,
    Note,
    Parsed,
    coerce_id,
    parse_line,
)
from hel_tui.core.mcp.process import ServerProcess
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json, ProgressFn

MOST_WAITING = 2000
"""Messages that may wait for a server that does not read; answers to it beyond that are dropped."""
MOST_ASKS = 16
"""Requests of one server that hel serves at a time."""


@dataclass(slots=True)
class WireHooks:
    """What the owner of a wire wants to know. All are called on the loop and must be quick."""

    on_noise: Callable[[str], None]
    """A line on stdout that is not protocol."""
    on_note: Callable[[str, Json], None]
    """A notification, except progress."""
    on_stray: Callable[[str], None]
    """A remark on an answer nobody waits for."""
    on_latency: Callable[[float], None] = lambda _seconds: None
    """A request was answered after so many seconds."""


@dataclass(slots=True)
class Wire:
    """The two directions between hel and one process. `run` moves messages until the server is gone."""

    process: ServerProcess
    hooks: WireHooks
    served: frozenset[str] = frozenset()
    """Methods that a server may ask of hel besides `ping`."""
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once nothing can be sent or received any more; all waiting requests then fail."""
    progress: dict[Id, ProgressFn] = field(default_factory=dict)
    """Who wants the progress of which token."""
    from_server: MemoryObjectReceiveStream[SessionMessage | Exception] = field(init=False)
    to_server: MemoryObjectSendStream[SessionMessage] = field(init=False)
    _inbound: MemoryObjectSendStream[SessionMessage | Exception] = field(init=False)
    _outbound: MemoryObjectReceiveStream[SessionMessage] = field(init=False)
    _replies: MemoryObjectSendStream[SessionMessage] = field(init=False)
    _pending: dict[Id, float] = field(default_factory=dict)
    """Requests that were sent and not answered: when each was sent."""
    _asked: set[Id] = field(default_factory=set)
    """Requests of the server that hel is serving."""

    def __post_init__(self) -> None:
        self._inbound, self.from_server = anyio.create_memory_object_stream[SessionMessage | Exception](64)
        self.to_server, self._outbound = anyio.create_memory_object_stream[SessionMessage](math.inf)
        self._replies = self.to_server.clone()

    async def run(self) -> None:
        """Move messages both ways until the server closed its stdout, its stdin or itself."""
        writing = asyncio.create_task(self._write(), name=f"mcp-write-{self.process.pid}")
        try:
            await self._read()
        finally:
            self.lost.set()
            self._inbound.close()
            self._replies.close()
            self.process.stdin.close()
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            self._outbound.close()

    # ------------------------------------------------------------ from the server

    async def _read(self) -> None:
        splitter = LineSplitter()
        while not self.lost.is_set():
            chunk = await self.process.stdout.read()
            lines = splitter.feed(chunk) if chunk else splitter.close()
            for line in lines:
                await self._take_line(line)
            if not chunk:
                return
            await asyncio.sleep(0)

    async def _take_line(self, line: bytes | TooLong) -> None:
        """Whatever a line says, the next one is read."""
        try:
            messages = await self._parsed(line)
        except Exception as error:
            self.hooks.on_stray(f"a line could not be read and was dropped ({type(error).__name__})")
            return
        for message in messages:
            try:
                await self._take(message)
            except Exception as error:
                self.hooks.on_stray(f"a message was dropped: hel failed at it ({type(error).__name__})")

    async def _parsed(self, line: bytes | TooLong) -> list[Parsed]:
        """What the line says; a large one is read beside the loop."""
        if isinstance(line, bytes) and len(line) > LARGE:
            return await in_thread(lambda: parse_line(line), "hel-large-answer")
        return parse_line(line)

    async def _take(self, message: Answer | Ask | Note | Noise) -> None:
        match message:
            case Noise(text):
                self.hooks.on_noise(text)
            case Answer():
                await self._take_answer(message)
            case Ask():
                await self._take_ask(message)
            case Note("notifications/progress", params):
                self._take_progress(params)
            case Note("notifications/cancelled", params):
                await self._take_cancel(params)
            case Note(method, params):
                self.hooks.on_note(method, params)

    async def _take_answer(self, answer: Answer) -> None:
        key = coerce_id(answer.id) if answer.id is not None else None
        if key is None and len(self._pending) == 1:
            key = next(iter(self._pending))
        sent = self._pending.pop(key, None) if key is not None else None
        if key is None or sent is None:
            which = "without an id" if answer.id is None else f"with the unknown id {answer.id!r:.60}"
            self.hooks.on_stray(f"an answer {which} was dropped ({len(self._pending)} waiting)")
            return
        self.hooks.on_latency(time.monotonic() - sent)
        reply: JSONRPCMessage
        if answer.error is None:
            reply = JSONRPCResponse(jsonrpc="2.0", id=key, result=answer.result)
        else:
            error = ErrorData(
                code=answer.error["code"], message=answer.error["message"], data=answer.error.get("data")
            )
            reply = JSONRPCError(jsonrpc="2.0", id=key, error=error)
        await self._pass_on(reply)

    async def _take_ask(self, ask: Ask) -> None:
        if ask.method == "ping":
            self._reply(JSONRPCResponse(jsonrpc="2.0", id=ask.id, result={}))
        elif ask.method not in self.served:
            error = ErrorData(code=METHOD_NOT_FOUND, message=f"hel does not serve {ask.method:.100}")
            self._reply(JSONRPCError(jsonrpc="2.0", id=ask.id, error=error))
        elif len(self._asked) >= MOST_ASKS:
            error = ErrorData(code=INTERNAL_ERROR, message="too many requests at a time")
            self._reply(JSONRPCError(jsonrpc="2.0", id=ask.id, error=error))
        else:
            self._asked.add(ask.id)
            await self._pass_on(
                JSONRPCRequest(jsonrpc="2.0", id=ask.id, method=ask.method, params=ask.params)
            )

    async def _take_cancel(self, params: Json) -> None:
        """A server takes a request back; only one that is being served concerns anybody."""
        if params.get("requestId") in self._asked:
            await self._pass_on(
                JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=params)
            )

    def _take_progress(self, params: Json) -> None:
        token, progress, total = params.get("progressToken"), params.get("progress"), params.get("total")
        listener = self.progress.get(token) if isinstance(token, int | str) else None
        done = _number(progress)
        if listener is None or done is None:
            return
        message = params.get("message")
        listener(done, _number(total), message if isinstance(message, str) else "")

    async def _pass_on(self, message: JSONRPCMessage) -> None:
        try:
            await self._inbound.send(SessionMessage(message=message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.lost.set()

    def _reply(self, message: JSONRPCMessage) -> None:
        if self._outbound.statistics().current_buffer_used < MOST_WAITING:
            self._replies.send_nowait(SessionMessage(message=message))

    # -------------------------------------------------------------- to the server

    async def _write(self) -> None:
        try:
            async for item in self._outbound:
                message = item.message
                self._note_sent(message)
                line = message.model_dump_json(by_alias=True, exclude_unset=True)
                await self.process.stdin.write(line.encode("utf-8", "replace") + b"\n")
        except OSError:
            if not self.process.stopping and self.process.exit is None:
                self.hooks.on_stray("the server closed its stdin")
        # Without a way to the server no request can ever be answered: end the reading too.
        self.process.stdout.finish()

    def _note_sent(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._pending[coerce_id(message.id)] = time.monotonic()
        elif isinstance(message, JSONRPCNotification):
            if message.method == "notifications/cancelled":
                self._pending.pop((message.params or {}).get("requestId", ""), None)
        else:
            self._asked.discard(message.id if message.id is not None else "")


def _number(value: object) -> float | None:
    """A number that can be shown and compared; None for anything else, such as one of 400 digits."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
