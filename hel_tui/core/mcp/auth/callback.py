"""Where the browser comes back to: a listener on this machine that takes one answer and goes away.

Nothing of what comes is shown or kept but the fields of the answer. Not here: what they mean (flow).
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from hel_tui.core.mcp.auth.asking import Refusal
from hel_tui.core.mcp.auth.flow import read_fields
from hel_tui.core.mcp.auth.settings import OAuthSettings

PORTS = (27670, 27671, 27672, 27673, 27674)
"""Below those that systems hand out by themselves, so that they are free when they are wanted."""
PATH = "/callback"
HEAD = 32 * 1024
"""Bytes of a request's head."""
LIMIT = 10.0
"""Seconds for a request, and for taking the page."""

_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n"
)
_TAKEN = "hel has the answer. You may close this page and go back to hel."
_NOT_THIS = "This is not the answer hel waits for. Go back to hel and open the address it shows."

Fields = Mapping[str, str]


def redirects_of(settings: OAuthSettings) -> tuple[str, ...]:
    """The redirect URIs to use, in order. Raises Refusal when the configured one is none of this machine.

    A client that a person registered has `localhost` in them, as other MCP clients do; else the address,
    which no name service can change (RFC 8252 section 8.3).
    """
    if settings.redirect_uri:
        if not _is_of_this_machine(settings.redirect_uri):
            raise Refusal(
                "`oauth.redirectUri` must be an http URL of this machine, such as localhost, with a port"
            )
        return (settings.redirect_uri,)
    host = "localhost" if settings.client_id or settings.client_metadata_url else "127.0.0.1"
    ports = (settings.callback_port,) if settings.callback_port else PORTS
    return tuple(f"http://{host}:{port}{PATH}" for port in ports)


def _is_of_this_machine(redirect: str) -> bool:
    """Whether nobody but this machine can come back to it: 0.0.0.0 would be open to the whole network."""
    try:
        parts = urlsplit(redirect)
        host = parts.hostname or ""
        is_here = host in ("localhost", "::1") or ipaddress.IPv4Address(host).is_loopback
    except ValueError:
        return False
    return is_here and parts.scheme == "http" and _port(redirect) > 0


def _port(url: str) -> int:
    try:
        return urlsplit(url).port or 0
    except ValueError:
        return 0


class Listener:
    """Listens at one redirect URI. Close it when the login is over."""

    def __init__(self, redirect: str) -> None:
        self.redirect = redirect
        self.answer: asyncio.Future[Fields] = asyncio.get_running_loop().create_future()
        self._path = urlsplit(redirect).path or "/"
        self._is_answer: Callable[[Fields], bool] = lambda _fields: False
        self._servers: list[asyncio.Server] = []
        self._writers: set[asyncio.StreamWriter] = set()

    def expect(self, is_answer: Callable[[Fields], bool]) -> None:
        """Take the answer for which `is_answer` is true; others get a page that says so."""
        self._is_answer = is_answer

    async def open(self) -> bool:
        """Begin to listen; False when the port is taken."""
        host, port = urlsplit(self.redirect).hostname or "", _port(self.redirect)
        for address in ("127.0.0.1", "::1") if host == "localhost" else (host,):
            try:
                server = await asyncio.start_server(self._serve, address, port, limit=HEAD)
            except OSError:
                if not self._servers:
                    return False
                continue  # without IPv6 the browser takes the other address
            self._servers.append(server)
        return True

    def close(self) -> None:
        """Stop listening and let go of every connection."""
        for server in self._servers:
            server.close()
        for writer in list(self._writers):
            writer.close()
        self.answer.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        fields: Fields | None = None
        try:
            async with asyncio.timeout(LIMIT):
                head = await reader.readuntil(b"\r\n\r\n")
                status, text, fields = self._judge(head)
                writer.write(_page(status, text))
                await writer.drain()
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
            pass  # the browser changed its mind, or it was none
        finally:
            self._writers.discard(writer)
            writer.close()
            if fields is not None and not self.answer.done():
                self.answer.set_result(fields)
        with suppress(OSError):
            await writer.wait_closed()

    def _judge(self, head: bytes) -> tuple[str, str, Fields | None]:
        """The status and the text for a request, and the answer where it is one."""
        line = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(line) != 3 or line[0] != "GET":
            return "405 Method Not Allowed", _NOT_THIS, None
        path, _, query = line[1].partition("?")
        if path != self._path:
            return "404 Not Found", _NOT_THIS, None
        fields = read_fields(query)
        if self.answer.done() and not self.answer.cancelled() and self.answer.result() == fields:
            return "200 OK", _TAKEN, None  # a browser that asks twice
        if self.answer.done() or not self._is_answer(fields):
            return "400 Bad Request", _NOT_THIS, None
        return "200 OK", _TAKEN, fields


def _page(status: str, text: str) -> bytes:
    body = f'<!doctype html><html lang="en"><title>hel</title><p>{text}</p></html>\n'.encode()
    return f"HTTP/1.1 {status}\r\n{_HEADERS}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def listen(redirects: tuple[str, ...]) -> Listener | None:
    """Listen at the first of `redirects` whose port is free; None when none is."""
    for redirect in redirects:
        listener = Listener(redirect)
        if await listener.open():
            return listener
        listener.close()
    return None
