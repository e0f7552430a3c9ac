"""The older HTTP with SSE (specification 2024-11-05): a stream for what comes, an address for what goes.

When the stream ends the way is gone. Imports the SDK's types: import late. Not here: streamable HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from mcp_types import JSONRPCMessage, JSONRPCRequest

from hel_tui.core.addresses import origin_of
from hel_tui.core.mcp.authorizing import Authorizer, NoAuthorizer
from hel_tui.core.mcp.framing import MAX_LINE
from hel_tui.core.mcp.http.answers import look
from hel_tui.core.mcp.http.faults import LinkFailure, login_fault, media_type, named, status_fault
from hel_tui.core.mcp.http.outgoing import Outgoing
from hel_tui.core.mcp.http.sending import Answered, HttpHooks, Sender
from hel_tui.core.mcp.http.session import EVENT_STREAM, JSON, STREAM_HEADERS, VERSION
from hel_tui.core.mcp.http.target import Target
from hel_tui.core.mcp.link import Intake, LinkFault
from hel_tui.core.sse import EventStream, EventTooLarge
from hel_tui.core.store.redact import head

ENDPOINT_LIMIT = 10.0
"""Seconds the server has to say where messages go."""
PARTING = 1.0
"""Seconds the end waits for last notifications."""


@dataclass(frozen=True, slots=True)
class _Message:
    line: bytes
    headers: Mapping[str, str]
    about: str
    request: int | str | None = None
    """The id of a request."""


class SseLink:
    """A way to one server over the older transport."""

    def __init__(
        self,
        target: Target,
        authorizer: Authorizer | None = None,
        hooks: HttpHooks | None = None,
        *,
        endpoint_limit: float = ENDPOINT_LIMIT,
    ) -> None:
        self._target = target
        self._hooks = hooks or HttpHooks()
        self._sender = Sender(target, authorizer or NoAuthorizer(), self._hooks)
        self._endpoint_limit = endpoint_limit
        self._outgoing = Outgoing(self._hooks.on_remark)
        self._intake: Intake | None = None
        self._endpoint = ""
        self._fault: LinkFault | None = None
        """Why there is no way, or none any more."""
        self._decided = asyncio.Event()
        """There is an address for messages, or there will be none."""
        self._ending = asyncio.Event()
        self._end = "it was closed"
        self._version = ""

    @property
    def opened(self) -> bool:
        """Whether the server named an address: it does speak this transport."""
        return bool(self._endpoint)

    # ---------------------------------------------------------------------- life

    async def run(self, intake: Intake) -> None:
        """Bring what comes until the stream ends. Without a stream: tell requests why, until `finish`."""
        self._intake = intake
        reading = self._outgoing.start(self._stream())
        ending = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not self.opened:
                await ending
        finally:
            ending.cancel()
            is_orderly = self._ending.is_set() and not reading.done()
            self._ending.set()
            await self._outgoing.end(PARTING if is_orderly else 0)
            await self._sender.aclose()

    def finish(self) -> None:
        """Nothing more will be sent: end `run`."""
        self._ending.set()

    async def how_it_ended(self) -> str:
        """Why the link ended."""
        return self._end

    async def _stream(self) -> None:
        what = "it did not open its stream"
        try:
            async with (
                asyncio.timeout(self._endpoint_limit) as limit,
                self._sender.exchange("GET", STREAM_HEADERS) as answered,
            ):
                if answered.status != 200 or media_type(answered.headers) != EVENT_STREAM:
                    raise LinkFailure(await _no_stream(answered))
                what = "it opened a stream but did not say where messages go"
                await self._read(answered, limit)
            self._over(LinkFault("lost", "it ended its stream"))
        except LinkFailure as failure:
            self._over(failure.fault)
        except TimeoutError:
            self._over(LinkFault("timeout", f"{what} within {self._endpoint_limit:g} s"))
        except EventTooLarge:
            self._over(LinkFault("lost", f"it sent an event of over {MAX_LINE:,} bytes"))

    def _over(self, fault: LinkFault) -> None:
        self._fault = fault
        self._end = fault.sentence
        self._decided.set()

    async def _read(self, answered: Answered, limit: asyncio.Timeout) -> None:
        assert self._intake is not None
        events = EventStream(MAX_LINE)
        async with aclosing(answered.chunks()) as chunks:
            async for chunk in chunks:
                for event in events.feed(chunk):
                    if event.event == "endpoint":
                        self._endpoint = self._endpoint or self._address(answered.url, event.data.strip())
                        self._decided.set()
                        limit.reschedule(None)
                    elif event.event in ("", "message") and event.data.strip():
                        await self._intake.line(event.data.encode("utf-8", "replace"))

    def _address(self, url: str, named_by_server: str) -> str:
        """The address for messages. Raises LinkFailure for one of another origin."""
        try:
            address = urljoin(url, named_by_server)
            if origin_of(address) == origin_of(self._target.url) and "@" not in urlsplit(address).netloc:
                return address
        except ValueError:
            pass
        sentence = "it wants messages sent to another place than its own, which hel does not do"
        raise LinkFailure(
            LinkFault("refused", sentence, head(named_by_server, 300, self._sender.hooks.exchanges.mask))
        )

    # -------------------------------------------------------------------- sending

    async def send(self, message: JSONRPCMessage, line: bytes, headers: Mapping[str, str]) -> None:
        """Put a message on its way; answers come over the stream. Raises OSError once that has ended."""
        if self._ending.is_set() or (self.opened and self._fault is not None):
            raise OSError(self._end)
        self._version = headers.get(VERSION, self._version)
        about = getattr(message, "method", "an answer")
        if isinstance(message, JSONRPCRequest):
            if message.method == "initialize":
                self._version = ""
            sent = asyncio.Event()
            posted = _Message(line, dict(headers), about, message.id)
            self._outgoing.request(self._request(posted, sent), sent)
        else:
            await self._outgoing.note(self._note(_Message(line, dict(headers), about)))

    async def _request(self, message: _Message, sent: asyncio.Event) -> None:
        try:
            fault = await self._post(message, sent)
        except Exception as error:  # a bug must not leave the request waiting for ever
            fault = LinkFault("lost", f"hel failed at its answer ({type(error).__name__})")
        if fault is not None and message.request is not None and self._intake is not None:
            await self._intake.failed(message.request, fault)

    async def _note(self, message: _Message) -> None:
        if (fault := await self._post(message, asyncio.Event())) is not None:
            self._hooks.on_remark(f"it did not take {message.about}: {fault.sentence}")

    async def _post(self, message: _Message, sent: asyncio.Event) -> LinkFault | None:
        """Post it; None when it was taken, whatever the body says, except an answer given right there."""
        await self._decided.wait()
        if self._fault is not None:
            return self._fault
        headers = {"accept": f"{JSON}, {EVENT_STREAM}", "content-type": JSON, **message.headers}
        if self._version and message.about != "initialize":
            headers.setdefault(VERSION, self._version)
        try:
            async with self._sender.exchange(
                "POST", headers, message.line, url=self._endpoint, on_sent=sent.set
            ) as answered:
                if not 200 <= answered.status < 300:
                    return await _refusal(answered)
                if message.request is not None and media_type(answered.headers) == JSON:
                    await self._take_at_once(answered, message.request)
        except LinkFailure as failure:
            return failure.fault
        return None

    async def _take_at_once(self, answered: Answered, request: int | str) -> None:
        """Some servers answer in the body as well as, or in place of, over the stream."""
        body = bytearray()
        with suppress(LinkFailure):
            async with aclosing(answered.chunks()) as chunks:
                async for chunk in chunks:
                    body += chunk
                    if len(body) > MAX_LINE:
                        return
            seen = await look(bytes(body).strip(), request)
            if seen.is_answer and self._intake is not None:
                await self._intake.line(seen.line)


async def _no_stream(answered: Answered) -> LinkFault:
    """Why a GET gave no stream."""
    page = await answered.page()
    if 200 <= answered.status < 300:
        kind = media_type(answered.headers)[:60] or "nothing"
        sentence = f"it answered with {kind} ({named(answered.status)}) and not with an event stream"
        return LinkFault("refused", sentence, status=answered.status)
    return await _refusal(answered, page)


async def _refusal(answered: Answered, page: bytes | None = None) -> LinkFault:
    page = await answered.page() if page is None else page
    if answered.status in (401, 403):
        return login_fault(
            answered.status, answered.headers, page, answered.mask, gave=answered.gave_credentials
        )
    return status_fault(answered.status, answered.headers, page, answered.mask)
