"""Streamable HTTP as a link: order of messages, cancelling, the server's own stream, an orderly end.

Imports the SDK's types: import late. Not here: the life of one request (posting), one HTTP request (sending).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from hel_tui.core.mcp.authorizing import Authorizer, NoAuthorizer
from hel_tui.core.mcp.http.faults import LinkFailure
from hel_tui.core.mcp.http.listening import Listener
from hel_tui.core.mcp.http.outgoing import Outgoing
from hel_tui.core.mcp.http.posting import Poster
from hel_tui.core.mcp.http.sending import HttpHooks, Sender
from hel_tui.core.mcp.http.session import VERSION, Message, OpenRequest, Session
from hel_tui.core.mcp.http.target import Target
from hel_tui.core.mcp.link import Intake, LinkFault
from hel_tui.core.mcp.messages import Id

PARTING = 2.0
"""Seconds the end may take: last notifications out, the session closed at the server."""
LINGER = 10.0
"""Seconds the stream of a request stays open after the server was told that it is cancelled."""


class StreamableLink:
    """A way to one server over streamable HTTP, of both eras. Failures of the network end only requests."""

    def __init__(
        self,
        target: Target,
        authorizer: Authorizer | None = None,
        hooks: HttpHooks | None = None,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hooks = hooks or HttpHooks()
        self._sender = Sender(target, authorizer or NoAuthorizer(), self._hooks)
        self._session = Session()
        self._poster = Poster(self._sender, self._session, pause)
        self._poster.on_session = self._listen
        self._poster.on_expired = self._expire
        self._pause = pause
        self._clock = clock
        self._running = asyncio.Event()
        self._ending = asyncio.Event()
        self._end = "it was closed"
        self._outgoing = Outgoing(self._hooks.on_remark)
        self._requests: dict[Id, asyncio.Task[None]] = {}
        self._listener: asyncio.Task[None] | None = None

    # ---------------------------------------------------------------------- life

    async def run(self, intake: Intake) -> None:
        """Bring answers until `finish` or until the session is lost for good."""
        self._poster.intake = intake
        self._running.set()
        is_orderly = False
        try:
            await self._ending.wait()
            is_orderly = True
        finally:
            await self._close(is_orderly)

    def finish(self) -> None:
        """Nothing more will be sent: close the session at the server and end `run`."""
        self._ending.set()

    async def how_it_ended(self) -> str:
        """Why the link ended."""
        return self._end

    def _expire(self, fault: LinkFault) -> None:
        self._end = fault.sentence
        self._ending.set()

    async def _close(self, is_orderly: bool) -> None:
        """End everything, within `PARTING` seconds; nothing is left."""
        self._ending.set()
        until = asyncio.get_running_loop().time() + PARTING
        await self._outgoing.end(PARTING / 2 if is_orderly else 0)
        if is_orderly:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._delete()
        await self._sender.aclose()

    async def _delete(self) -> None:
        if self._session.id is None or self._session.is_lost:
            return
        headers = self._session.headers({}, method="DELETE")
        with suppress(LinkFailure):
            async with self._sender.exchange("DELETE", headers):
                pass

    # -------------------------------------------------------------------- sending

    async def send(self, message: JSONRPCMessage, line: bytes, headers: Mapping[str, str]) -> None:
        """Put a message on its way. Waits only while many notifications are under way.

        A notification leaves after the requests before it, a request after the notifications before it.
        """
        if self._ending.is_set():
            raise OSError(self._end)
        if isinstance(message, JSONRPCRequest):
            self._send_request(message, line, headers)
            return
        if version := headers.get(VERSION):
            self._session.version = version
        note = Message(line, dict(headers), getattr(message, "method", "an answer"))
        if isinstance(message, JSONRPCNotification):
            if message.method == "notifications/cancelled" and self._cancelled(message):
                return
            if message.method == "notifications/initialized":
                self._session.initialized = note
        await self._outgoing.note(self._note(note))

    def _send_request(self, message: JSONRPCRequest, line: bytes, headers: Mapping[str, str]) -> None:
        version = headers.get(VERSION)
        is_hello = message.method == "initialize"
        if version and not is_hello:
            self._session.version = version
        is_stateless = not is_hello and self._session.version in MODERN_PROTOCOL_VERSIONS
        request = OpenRequest(message.id, message.method, line, dict(headers), is_stateless)
        if is_hello:
            self._session.begin(request)
        if (earlier := self._requests.pop(message.id, None)) is not None:
            earlier.cancel()
        self._poster.open[message.id] = request
        task = self._requests[message.id] = self._outgoing.request(self._request(request), request.sent)
        task.add_done_callback(lambda _task: self._forget(request))

    async def _request(self, request: OpenRequest) -> None:
        await self._running.wait()
        try:
            await self._poster.request(request)
        except Exception as error:  # a bug must not leave the request waiting for ever
            fault = LinkFault("lost", f"hel failed at its answer ({type(error).__name__})")
            await self._poster.intake.failed(request.id, fault)

    def _forget(self, request: OpenRequest) -> None:
        if self._poster.open.get(request.id) is request:
            del self._poster.open[request.id]
            del self._requests[request.id]

    async def _note(self, note: Message) -> None:
        await self._running.wait()
        if await self._poster.note(note) and note.about == "notifications/initialized":
            self._listen()

    def _cancelled(self, message: JSONRPCNotification) -> bool:
        """Take back a request. True when closing its stream says it: without sessions there is no message."""
        wanted = (message.params or {}).get("requestId")
        request = self._poster.open.get(wanted) if isinstance(wanted, int | str) else None
        if request is None:
            return self._session.is_stateless
        request.is_cancelled = True
        task = self._requests[request.id]
        if request.is_stateless:
            task.cancel()
            return True
        asyncio.get_running_loop().call_later(LINGER, task.cancel)
        return False

    # ------------------------------------------------------------------ listening

    def _listen(self) -> None:
        """Open the server's own stream, in place of that of an earlier session."""
        if self._listener is not None and self._listener is not asyncio.current_task():
            self._listener.cancel()
        if self._session.is_stateless or self._ending.is_set():
            return
        self._listener = self._outgoing.start(self._listening())

    async def _listening(self) -> None:
        listener = Listener(
            self._sender, self._session, self._poster.intake, pause=self._pause, clock=self._clock
        )
        generation = self._session.generation
        if await listener.run():
            await self._poster.renew(generation)
