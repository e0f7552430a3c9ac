"""One HTTP request and the head of its answer: credentials, redirects, the client's life.

httpx2 is imported with the first request. Not here: what requests mean and which are sent again
(posting, legacy), what is in answers (answers) and in streams (resuming, listening).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from hel_tui.core.addresses import host_of, origin_of
from hel_tui.core.mcp.authorizing import Authorizer, Challenge, NoCredentials
from hel_tui.core.mcp.causes import EXCHANGE
from hel_tui.core.mcp.exchanges import Exchanges
from hel_tui.core.mcp.http.faults import (
    LinkFailure,
    named,
    network_fault,
    speaks_of_lost_session,
    told_by,
)
from hel_tui.core.mcp.http.target import Target, acknowledge, open_client
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.store.redact import head
from hel_tui.core.threads import in_thread
from hel_tui.foreign import plain_line

if TYPE_CHECKING:
    import httpx2

MAX_REDIRECTS = 5
MAX_PAGE = 64 * 1024
"""Bytes of a refusal that are read."""
PAGE_LIMIT = 5.0
"""Seconds the body of a refusal may take."""
PIECE = 16 * 1024
"""Bytes of a body between two turns of the loop: a small answer may unpack to a flood that never waits."""

_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(slots=True)
class HttpHooks:
    """What the owner of a link wants to know. All are called on the loop and must be quick."""

    on_unreachable: Callable[[str], None] = lambda _sentence: None
    """It could not be reached any more; the link goes on all the same."""
    on_session_renewed: Callable[[], None] = lambda: None
    """The server had forgotten the session and a new one was opened: lists may have changed."""
    on_remark: Callable[[str], None] = lambda _sentence: None
    """Something for the log: a stream that is not offered, one that was resumed, a message not taken."""
    exchanges: Exchanges = field(default_factory=Exchanges)
    """Hears of each request."""


class Answered:
    """The head of an answer, and its body as it comes."""

    def __init__(
        self,
        response: httpx2.Response,
        target: Target,
        mask: Callable[[str], str],
        *,
        gave_credentials: bool,
    ) -> None:
        """`mask` takes secrets out of what is told of it."""
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.url = str(response.url)
        self._response = response
        self._target = target
        self.mask = mask
        self.gave_credentials = gave_credentials
        self._page: bytes | None = None
        """The body, where it was read already."""

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body, decompressed, in small pieces. Raises LinkFailure when it breaks off."""
        if self._page is not None:
            yield self._page
            return
        try:
            async for chunk in self._response.aiter_bytes():
                for start in range(0, len(chunk), PIECE):
                    yield chunk[start : start + PIECE]
                    await asyncio.sleep(0)
        except Exception as error:  # whatever the client raises, the body is not whole
            raise LinkFailure(network_fault(error, self._target, was_sent=True)) from error

    async def page(self) -> bytes:
        """The body of a refusal, as much of it as is worth reading. Never raises for the network."""
        if self._page is None:
            page = bytearray()
            with suppress(LinkFailure, TimeoutError):
                async with asyncio.timeout(PAGE_LIMIT), aclosing(self.chunks()) as chunks:
                    async for chunk in chunks:
                        page += chunk
                        if len(page) >= MAX_PAGE:
                            break
            self._page = bytes(page[:MAX_PAGE])
        return self._page


class _Progress:
    """How far one request came: what it means when it fails then."""

    def __init__(self, on_sent: Callable[[], None]) -> None:
        self.was_sent = False
        self._is_own = False
        self._on_sent = on_sent

    async def trace(self, name: str, info: dict[str, Any]) -> None:
        """Heard by the client (httpcore's `trace` extension); a proxy's CONNECT is not the request itself."""
        if name.endswith(".send_request_headers.started"):
            self._is_own = info["request"].method != b"CONNECT"
            self.was_sent = self.was_sent or self._is_own
        elif name.endswith(".send_request_body.complete") and self._is_own:
            self._on_sent()


class Sender:
    """Sends requests to one target. Open until `aclose`."""

    def __init__(self, target: Target, authorizer: Authorizer, hooks: HttpHooks) -> None:
        self.target = target
        self.hooks = hooks
        self._authorizer = authorizer
        self._opening: asyncio.Task[httpx2.AsyncClient] | None = None
        self._is_unreachable = False
        """Whether it could not be reached the last time, which was told."""

    @asynccontextmanager
    async def exchange(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        url: str = "",
        has_session: bool = False,
        on_sent: Callable[[], None] = lambda: None,
    ) -> AsyncIterator[Answered]:
        """Send a request and yield its answer, of any status but redirects; it is closed at the end.

        Credentials go along, and once more with new ones when those were refused and there are new ones.
        With `has_session`, a 401 that speaks of the session is not about credentials. `on_sent` is called
        when the whole request has left. Raises LinkFailure.
        """
        url = url or self.target.url
        for is_last in (False, True):
            try:
                given = await self._authorizer.headers()
            except NoCredentials as error:
                raise LinkFailure(LinkFault("login", str(error))) from None
            all_headers = {name.lower(): value for name, value in given.items()} | dict(headers)
            response = await self._send(method, url, all_headers, body, on_sent)
            try:
                gave = "authorization" in response.request.headers
                mask = self.hooks.exchanges.mask
                answered = Answered(response, self.target, mask, gave_credentials=gave)
                if answered.status not in (401, 403):
                    yield answered
                    return
                page = await answered.page()
                of_session = has_session and speaks_of_lost_session(page.decode("utf-8", "replace"))
                # Also the last refusal is heard: the next login asks for what it wants.
                again = not of_session and await self._authorizer.refused(_challenge(answered, page), given)
                if not again or is_last:
                    yield answered
                    return
            finally:
                EXCHANGE.set(-1)
                await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        if self._opening is not None:
            with suppress(Exception):
                await (await self._opening).aclose()

    async def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        on_sent: Callable[[], None],
    ) -> httpx2.Response:
        client = await self._client()
        merged = self._merged(headers)
        for _ in range(MAX_REDIRECTS):
            progress, trace = _Progress(on_sent), self.hooks.exchanges
            number = trace.begin(method, url, [(one.decode(), two.decode()) for one, two in merged], body)
            try:
                request = client.build_request(
                    method, url, headers=merged, content=body, extensions={"trace": progress.trace}
                )
                response = await client.send(request, stream=True, follow_redirects=False)
            except asyncio.CancelledError:
                trace.failed(number, "it was taken back")
                raise
            except Exception as error:  # nothing of hel's runs in there
                fault = network_fault(error, self.target, was_sent=progress.was_sent)
                trace.failed(number, fault.sentence)
                if fault.kind == "unreachable":
                    self._unreached(fault.sentence)
                raise LinkFailure(fault) from error
            trace.answered(
                number, response.status_code, response.request.headers.items(), response.headers.multi_items()
            )
            acknowledge(response)
            self._is_unreachable = False
            location = response.headers.get("location")
            if response.status_code not in _REDIRECTS or not location:
                return response
            await response.aclose()
            url = self._followed(method, response.status_code, url, location)
        raise LinkFailure(LinkFault("refused", f"it redirected {MAX_REDIRECTS} times, which is too often"))

    async def _client(self) -> httpx2.AsyncClient:
        if self._opening is None:
            self._opening = asyncio.ensure_future(
                in_thread(lambda: open_client(self.target), "hel-http-client")
            )
        try:
            return await asyncio.shield(self._opening)
        except (ValueError, ImportError) as error:
            self._unreached(str(error))
            raise LinkFailure(LinkFault("unreachable", str(error))) from error

    def _merged(self, headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
        """The entry's headers and those of the request, which win. Values go out as UTF-8."""
        own = {name.lower() for name in headers}
        kept = [(name, value) for name, value in self.target.headers if name.lower() not in own]
        return [(name.encode(), value.encode()) for name, value in (*kept, *headers.items())]

    def _followed(self, method: str, status: int, url: str, location: str) -> str:
        """Where to send it again. Raises LinkFailure for any place that is not the same origin."""
        try:
            target = urljoin(url, location)
            is_same = origin_of(target) == origin_of(url) and "@" not in urlsplit(target).netloc
        except ValueError:
            target, is_same = location, False
        if is_same and (method == "GET" or status in (307, 308)):
            return target
        parts = urlsplit(target) if "://" in target else urlsplit("")
        place = f"{parts.scheme}://{host_of(target)}{parts.path}" if parts.scheme else location
        why = "it would lose what is sent" if is_same else "it is another place"
        sentence = (
            f"it redirects ({named(status)}) and hel did not follow, for {why}; "
            "if that is where the server is, use it as url"
        )
        raise LinkFailure(
            LinkFault("refused", sentence, head(plain_line(place), 300, self.hooks.exchanges.mask), status)
        )

    def _unreached(self, sentence: str) -> None:
        if not self._is_unreachable:
            self._is_unreachable = True
            self.hooks.on_unreachable(sentence)


def _challenge(answered: Answered, page: bytes) -> Challenge:
    told = told_by(page, answered.headers.get("content-type", ""), answered.mask)
    return Challenge(answered.status, answered.headers.get("www-authenticate", ""), told)
