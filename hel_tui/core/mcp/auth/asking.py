"""Requests of an authorization: which addresses may be asked, within which limits, and telling each step.

A `Refusal` ends an authorization with a sentence. Not here: what is asked, and what an answer means.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hel_tui.core.addresses import host_of, is_loopback, origin_of
from hel_tui.core.mcp.authorizing import Challenge, Tell
from hel_tui.core.threads import in_thread
from hel_tui.foreign import plain_line, whole_characters

if TYPE_CHECKING:
    import httpx2

LARGEST = 256 * 1024
"""Bytes of an answer; metadata and tokens are far smaller."""
LIMIT = 20.0
"""Seconds for one request, its answer included."""
REDIRECTS = 3
TOLD = 200
"""Characters of what another side says that are shown."""

Form = Mapping[str, str]
OK = 200


class Refusal(Exception):
    """The authorization cannot go on. The text is hel's sentence, without a full stop."""


HINTS = {
    "invalid_scope": "; `oauth.scopes` of the entry may name others",
    "invalid_target": "; `oauth.resource` of the entry may name another, or none",
}
"""What a person can do about errors of an authorization server."""


class Unreachable(Refusal):
    """It was not refused: nobody answered, or the answer was an error of the other side that may pass."""


class OAuthError(Refusal):
    """The authorization server answered with an error (RFC 6749 section 5.2). `code` is its word."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its status and its JSON object, or None where the body is no JSON object."""

    status: int
    data: dict[str, Any] | None

    def text(self, key: str) -> str:
        """The text under `key`; empty when there is none."""
        value = (self.data or {}).get(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> float:
        """The number under `key`, which some servers send as text; 0 when there is none hel can use."""
        value = (self.data or {}).get(key)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return 0.0
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return 0.0
        return number if math.isfinite(number) else 0.0


def shown(url: str) -> str:
    """A URL for a step: without user name, query and fragment, on one line."""
    try:
        parts = urlsplit(url)
        if not parts.hostname:
            return foreign(url)
        return plain_line(f"{parts.scheme}://{host_of(url)}{parts.path}")[:TOLD]
    except ValueError:
        return "an address that is none"


def foreign(text: str) -> str:
    """What another side said, for a sentence: one line, cut."""
    line = plain_line(text[: 4 * TOLD])
    return line if len(line) <= TOLD else line[: TOLD - 1] + "…"


class Asker:
    """Sends the requests of one server's authorization and tells each."""

    def __init__(self, server: str, http: Callable[[str], httpx2.AsyncClient], tell: Tell) -> None:
        self._server = server
        self._http = http
        self.tell = tell

    def problem(self, url: str) -> str:
        """Why `url` must not be asked or opened; empty when it may.

        Only https; plain http on the server's own origin, or on this machine when the server is there. A
        server elsewhere does not get to send requests to this machine.
        """
        try:
            place, home = origin_of(url), origin_of(self._server)
            userinfo = urlsplit(url).username is not None
        except ValueError:
            return f"{shown(url)} is no http or https address"
        if any(character <= " " or character in "\x7f\\" for character in url) or userinfo:
            return f"{shown(url)} is not an address hel asks"
        if place == home:
            return ""
        if not url.isascii():
            return f"{shown(url)} is not an address hel asks"
        if is_loopback(url) and not is_loopback(self._server):
            return f"{shown(url)} is an address of this machine, named by a server elsewhere"
        if place[0] != "https" and not is_loopback(url):
            return f"{shown(url)} is not encrypted (https)"
        return ""

    async def get(self, url: str) -> Reply:
        """Ask for a JSON document; redirects are followed within its origin only. Raises Unreachable."""
        from mcp_types import LATEST_PROTOCOL_VERSION

        said = {"Accept": "application/json", "MCP-Protocol-Version": LATEST_PROTOCOL_VERSION}
        return await self._send("GET", url, headers=said)

    async def post_form(self, url: str, form: Form, headers: Mapping[str, str]) -> Reply:
        """Post a form; redirects that keep it are followed within its origin. Raises Refusal, Unreachable."""
        return await self._post(url, {"data": dict(form), "headers": dict(headers)})

    async def post_json(self, url: str, data: Mapping[str, Any]) -> Reply:
        """Post a JSON object, as `post_form`."""
        return await self._post(url, {"json": dict(data)})

    async def challenge(self, url: str) -> Challenge:
        """Ask the server itself without credentials, for the head of its answer. Raises Unreachable.

        The body may be an event stream and is not read. A server that keeps such a question waiting has
        status 0.
        """
        import httpx2

        try:
            async with asyncio.timeout(LIMIT), await self._client(url) as client:
                request = client.stream("GET", url, headers={"Accept": "text/event-stream"})
                async with request as response:
                    said = ", ".join(response.headers.get_list("www-authenticate"))
                    self.tell(f"asked {shown(url)} without credentials: {response.status_code}")
                    return Challenge(response.status_code, said)
        except TimeoutError:
            self.tell(f"asked {shown(url)} without credentials: no answer")
            return Challenge(0)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise _unreachable(url, error) from None

    async def _client(self, url: str) -> httpx2.AsyncClient:
        return await in_thread(lambda: self._http(url), "hel-http-client")  # it reads certificates

    async def _post(self, url: str, body: dict[str, Any]) -> Reply:
        if why := self.problem(url):
            raise Refusal(why)
        headers = {"Accept": "application/json", **body.pop("headers", {})}
        return await self._send("POST", url, headers=headers, **body)

    async def _send(self, method: str, url: str, **request: Any) -> Reply:
        import httpx2

        try:
            async with asyncio.timeout(LIMIT), await self._client(url) as client:
                status, body = await self._within_origin(client, method, url, request)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise _unreachable(url, error) from None
        reply = Reply(status, _object(body))
        note = "" if status != OK or reply.data is not None else ", but no JSON object"
        self.tell(f"asked {shown(url)}: {status}{note}")
        return reply

    async def _within_origin(
        self, client: httpx2.AsyncClient, method: str, url: str, request: dict[str, Any]
    ) -> tuple[int, bytes]:
        for _ in range(REDIRECTS + 1):
            async with client.stream(method, url, follow_redirects=False, **request) as response:
                following = response.next_request
                if following is None or following.method != method:
                    return response.status_code, await _body(response)
                place = str(following.url)
                if self.problem(place) or origin_of(place) != origin_of(url):
                    self.tell(f"{shown(url)} points to {shown(place)}: not followed")
                    return response.status_code, b""
            url = place
        self.tell(f"{shown(url)} redirects on and on")
        return response.status_code, b""


def _unreachable(url: str, error: Exception) -> Unreachable:
    if isinstance(error, TimeoutError):
        return Unreachable(f"{host_of(url)} did not answer within {LIMIT:.0f} s")
    return Unreachable(f"{host_of(url)} cannot be reached: {foreign(str(error)) or type(error).__name__}")


async def _body(response: httpx2.Response) -> bytes:
    """The body, or nothing when it is too large: what hel asks for never is."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > LARGEST:
            return b""
    return bytes(body)


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        data = _whole(json.loads(body))
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _whole(value: Any) -> Any:
    """JSON without lone surrogates: no request, file or keyring could take a text with them."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {whole_characters(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value
