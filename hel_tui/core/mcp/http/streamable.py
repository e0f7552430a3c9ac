"""Streamable HTTP as a link: order of messages, cancelling, the server's own stream, an orderly end.

Imports the SDK's types: import late. Not here: the life of one request (posting), one HTTP request (sending).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from hel_tui.core.mcp.authorizing import Authorizer, NoAuthorizer
from hel_tui.core.mcp.http.faults import LinkFailure
from hel_tui.core.mcp.http.listening import Listener
from hel_tui.core.mcp.http.posting import Poster
from hel_tui.core.mcp.http.sending import HttpHooks, Sender
from hel_tui.core.mcp.http.session import VERSION, Message, OpenRequest, Session
from hel_tui.core.mcp.http.target import Target
from hel_tui.core.mcp.link import Intake, LinkFault

PARTING = 2.0
"""Seconds the end may take: last notifications out, the session closed at the server."""
NOTE_LIMIT = 30.0
"""Seconds one notification may take."""
NOTE_PATIENCE = 5.0
"""Seconds that what comes behind a notification waits for it."""
MOST_NOTES = 64
"""Notifications on their way, beyond which sending waits."""
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
        self._sender = Sender(target, authorizer or NoAuthorizer(), self._hooks, clock=clock)
        self._session = Session()
        self._poster = Poster(self._sender, self._session, pause)
        self._poster.on_session = self._listen
        self._poster.on_expired = self._expire
        self._pause = pause
        self._clock = clock
        self._running = asyncio.Event()
        self._ending = asyncio.Event()
        self._end = "it was closed"
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests: dict[int | str, asyncio.Task[None]] = {}
        self._notes: list[asyncio.Task[None]] = []
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
        """End everything within `PARTING` seconds; nothing is left."""
        self._ending.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                if is_orderly and self._notes:
                    await asyncio.wait(self._notes, timeout=PARTING / 2)
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)
                if is_orderly:
                    await self._delete()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._sender.aclose()

    async def _delete(self) -> None:
        if self._session.id is None or self._session.is_lost:
            return
        headers = self._session.headers({}, method="DELETE")
        with suppress(LinkFailure):
            async with self._sender.exchange("DELETE", headers, about="the end of the session"):
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
        if isinstance(message, JSONRPCNotification):
            if message.method == "notifications/cancelled" and self._cancelled(message):
                return
            if message.method == "notifications/initialized":
                self._session.initialized = Message(line, dict(headers))
        while len(self._notes) >= MOST_NOTES:
            await asyncio.wait(self._notes, return_when=asyncio.FIRST_COMPLETED)
        is_initialized = getattr(message, "method", "") == "notifications/initialized"
        before = [request.sent for request in self._poster.open.values() if not request.sent.is_set()]
        note = Message(line, dict(headers))
        task = self._start(self._note(note, is_initialized, before, self._notes[-1:]))
        self._notes.append(task)
        task.add_done_callback(self._notes.remove)

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
        task = self._start(self._request(request, self._notes[-1:]))
        self._requests[message.id] = task

    async def _request(self, request: OpenRequest, notes: list[asyncio.Task[None]]) -> None:
        try:
            await self._running.wait()
            if notes:
                await asyncio.wait(notes, timeout=NOTE_PATIENCE)
            await self._poster.request(request)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # a bug must not leave the request waiting for ever
            fault = LinkFault("lost", f"hel failed at its answer ({type(error).__name__})")
            await self._poster.intake.failed(request.id, fault)
        finally:
            request.sent.set()
            if self._poster.open.get(request.id) is request:
                del self._poster.open[request.id]
                self._requests.pop(request.id, None)

    async def _note(
        self,
        note: Message,
        is_initialized: bool,
        requests: list[asyncio.Event],
        earlier: list[asyncio.Task[None]],
    ) -> None:
        await self._running.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(NOTE_LIMIT):
                if earlier:
                    await asyncio.wait(earlier, timeout=NOTE_PATIENCE)
                for sent in requests:
                    await sent.wait()
                if await self._poster.note(note) and is_initialized:
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
        self._listener = self._start(self._listening())

    async def _listening(self) -> None:
        listener = Listener(
            self._sender, self._session, self._poster.intake, pause=self._pause, clock=self._clock
        )
        generation = self._session.generation
        if await listener.run():
            await self._poster.renew(generation)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
