"""Messages over one link: the transport under the SDK's client, with the border in it.

Everything a server can send in quantity is handled here without a task for each message: notifications,
progress, pings, requests nobody may ask, answers nobody waits for. Only answers go on to the SDK; requests
that hel serves go to whoever serves them. Imports the SDK: import late. Not here: what messages mean
(connection), how they travel (link).
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    METHOD_NOT_FOUND,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from hel_tui.core.mcp.causes import SENDING
from hel_tui.core.mcp.framing import TooLong
from hel_tui.core.mcp.large import LARGE
from hel_tui.core.mcp.link import Link, LinkFault
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
from hel_tui.core.mcp.trace import Trace
from hel_tui.core.store.redact import head
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json, ProgressFn

MOST_WAITING = 2000
"""Messages that may wait for a server that does not read; answers to it beyond that are dropped."""
MOST_ASKS = 16
"""Requests of one server that hel serves at a time."""
LINK_FAILED = -32000
"""Code of an answer made up for a request whose link failed; its data is the `LinkFault`."""

Serve = Callable[[Json], Awaitable[Json]]
"""Answers a request of the server from its params. Raises AskRefused."""


@dataclass(slots=True)
class AskRefused(Exception):
    """A request of a server is answered with this error."""

    code: int
    message: str


@dataclass(slots=True)
class WireHooks:
    """What the owner of a wire wants to know. All are called on the loop and must be quick."""

    on_noise: Callable[[str], None]
    """A line on stdout that is not protocol."""
    on_note: Callable[[str, Json], None]
    """A notification, except progress and cancellation."""
    on_stray: Callable[[str], None]
    """Something odd that was dropped, as a sentence."""
    on_latency: Callable[[float], None]
    """Seconds from sending a request to its answer."""
    trace: Trace = field(default_factory=Trace)
    """Hears every message."""


@dataclass(slots=True)
class Wire:
    """Moves messages between one link and an SDK session. `run` once."""

    link: Link
    hooks: WireHooks
    serves: Mapping[str, Serve] = field(default_factory=dict)
    """Requests a server may make, besides ping."""
    from_server: MemoryObjectReceiveStream[SessionMessage | Exception] = field(init=False)
    to_server: MemoryObjectSendStream[SessionMessage] = field(init=False)
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the link is gone: nothing will come any more."""
    progress: dict[str | int, ProgressFn] = field(default_factory=dict)
    """Who listens to which progress token."""
    waited: float = 0.0
    """Seconds in all that the server waited for a person: no part of anything's latency."""
    heard: float = 0.0
    """When the server last sent a message (time.monotonic)."""
    _inbound: MemoryObjectSendStream[SessionMessage | Exception] = field(init=False)
    _outbound: MemoryObjectReceiveStream[SessionMessage] = field(init=False)
    _replies: MemoryObjectSendStream[SessionMessage] = field(init=False)
    _pending: dict[Id, float] = field(default_factory=dict)
    """Requests that were sent and not answered: when each was sent, waiting for a person taken off."""
    _asked: dict[Id, asyncio.Task[None]] = field(default_factory=dict)
    """Requests of the server that are being served."""

    def __post_init__(self) -> None:
        self._inbound, self.from_server = anyio.create_memory_object_stream[SessionMessage | Exception](64)
        self.to_server, self._outbound = anyio.create_memory_object_stream[SessionMessage](math.inf)
        self._replies = self.to_server.clone()
        self.hooks.trace.waited = lambda: self.waited

    async def run(self) -> None:
        """Move messages both ways until the link is gone."""
        writing = asyncio.create_task(self._write(), name="mcp-write")
        try:
            await self.link.run(self)
        finally:
            self.lost.set()
            self._inbound.close()
            self._replies.close()
            serving = list(self._asked.values())
            for task in (writing, *serving):
                task.cancel()
            await asyncio.gather(writing, *serving, return_exceptions=True)
            self._outbound.close()

    # ------------------------------------------------------------ from the server

    async def line(self, line: bytes | TooLong) -> None:
        """Whatever a line says, the next one is read."""
        try:
            messages = await self._parsed(line)
        except Exception as error:
            self.hooks.on_stray(f"a line could not be read and was dropped ({type(error).__name__})")
            return
        self._trace_came(messages, line)
        for message in messages:
            try:
                await self._take(message)
            except Exception as error:
                self.hooks.on_stray(f"a message was dropped: hel failed at it ({type(error).__name__})")

    async def failed(self, request: Id, fault: LinkFault) -> None:
        """A request that was sent will not be answered: end it, its fault as the data of the error."""
        key = coerce_id(request)
        if self._pending.pop(key, None) is None:
            return
        self.hooks.trace.failed(key)
        error = ErrorData(code=LINK_FAILED, message=fault.sentence, data=fault)
        await self._pass_on(JSONRPCError(jsonrpc="2.0", id=key, error=error))

    def _trace_came(self, messages: list[Parsed], line: bytes | TooLong) -> None:
        """Put it down; a fault in there must not cost the message."""
        try:
            if isinstance(line, bytes):
                self.hooks.trace.came(messages, line)
            else:
                self.hooks.trace.came(messages, line.head + line.tail, line.size)
        except Exception as error:
            self.hooks.on_stray(f"a message is missing in the trace ({type(error).__name__})")

    async def _parsed(self, line: bytes | TooLong) -> list[Parsed]:
        """What the line says; a large one is read beside the loop."""
        if isinstance(line, bytes) and len(line) > LARGE:
            return await in_thread(lambda: parse_line(line), "hel-large-answer")
        return parse_line(line)

    async def _take(self, message: Parsed) -> None:
        if isinstance(message, Noise):
            self.hooks.on_noise(message.text)
            return
        self.heard = time.monotonic()
        match message:
            case Answer():
                await self._take_answer(message)
            case Ask():
                self._take_ask(message)
            case Note("notifications/progress", params):
                self._take_progress(params)
            case Note("notifications/cancelled", params):
                self._take_cancel(params)
            case Note(method, params):
                self.hooks.on_note(method, params)

    async def _take_answer(self, answer: Answer) -> None:
        key = coerce_id(answer.id) if answer.id is not None else None
        if key is None and len(self._pending) == 1:
            key = next(iter(self._pending))
        sent = self._pending.pop(key, None) if key is not None else None
        if key is None or sent is None:
            which = "without an id" if answer.id is None else f"with the unknown id {self._shown(answer.id)}"
            self.hooks.on_stray(f"an answer {which} was dropped ({len(self._pending)} waiting)")
            return
        self.hooks.on_latency(time.monotonic() - self.waited - sent)
        reply: JSONRPCMessage
        if answer.error is None:
            reply = JSONRPCResponse(jsonrpc="2.0", id=key, result=answer.result)
        else:
            error = ErrorData(
                code=answer.error["code"], message=answer.error["message"], data=answer.error.get("data")
            )
            reply = JSONRPCError(jsonrpc="2.0", id=key, error=error)
        await self._pass_on(reply)

    def _shown(self, name: Id) -> str:
        """What a server calls something, in a remark."""
        return head(repr(name), 60, self.hooks.trace.store.mask)

    def _take_ask(self, ask: Ask) -> None:
        if ask.method == "ping":
            self._reply(JSONRPCResponse(jsonrpc="2.0", id=ask.id, result={}))
            return
        serve = self.serves.get(ask.method)
        if serve is None:
            self._refuse(ask.id, METHOD_NOT_FOUND, f"hel does not serve {ask.method:.100}")
        elif len(self._asked) >= MOST_ASKS:
            self._refuse(ask.id, INTERNAL_ERROR, "too many requests at a time")
        elif ask.id in self._asked:
            self.hooks.on_stray(f"a second request with the id {self._shown(ask.id)} was dropped")
        else:
            task = asyncio.create_task(self._serve(serve, ask), name=f"mcp-serve-{ask.method:.60}")
            self._asked[ask.id] = task
            task.add_done_callback(lambda _task: self._asked.pop(ask.id, None))

    async def _serve(self, serve: Serve, ask: Ask) -> None:
        try:
            result = await serve(ask.params)
        except AskRefused as refusal:
            self._refuse(ask.id, refusal.code, refusal.message)
        except Exception as error:
            self.hooks.on_stray(f"hel failed at {self._shown(ask.method)} ({type(error).__name__}: {error})")
            self._refuse(ask.id, INTERNAL_ERROR, "hel failed at it")
        else:
            self._reply(JSONRPCResponse(jsonrpc="2.0", id=ask.id, result=result))

    def _refuse(self, request: Id, code: int, message: str) -> None:
        self._reply(JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=message)))

    def _take_cancel(self, params: Json) -> None:
        """A server takes a request back: what serves it stops, and nothing is answered."""
        request = params.get("requestId")
        task = self._asked.get(request) if isinstance(request, int | str) else None
        if task is not None:
            task.cancel()

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
        if self.lost.is_set() or self._outbound.statistics().current_buffer_used >= MOST_WAITING:
            return
        self._replies.send_nowait(SessionMessage(message=message))

    # -------------------------------------------------------------- to the server

    async def _write(self) -> None:
        try:
            async for item in self._outbound:
                message = item.message
                self._note_sent(message)
                line = message.model_dump_json(by_alias=True, exclude_unset=True)
                metadata = item.metadata
                headers = metadata.headers if isinstance(metadata, ClientMessageMetadata) else None
                body = line.encode("utf-8", "replace")
                SENDING.set(self._trace_sent(message, body))
                await self.link.send(message, body, headers or {})
        except OSError:
            pass
        # Without a way to the server no request can ever be answered: end the reading too.
        self.link.finish()

    def _trace_sent(self, message: JSONRPCMessage, body: bytes) -> int:
        """Put it down; the number of its frame."""
        try:
            return self.hooks.trace.sent(message, body)
        except Exception as error:
            self.hooks.on_stray(f"a message is missing in the trace ({type(error).__name__})")
            return -1

    def _note_sent(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._pending[coerce_id(message.id)] = time.monotonic() - self.waited
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._pending.pop((message.params or {}).get("requestId", ""), None)


def _number(value: object) -> float | None:
    """A number that can be shown and compared; None for anything else, such as one of 400 digits."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
