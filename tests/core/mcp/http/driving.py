"""A link with a real server on loopback: what the tests of this folder share."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from hel_tui.core.mcp.authorizing import Authorizer
from hel_tui.core.mcp.framing import TooLong
from hel_tui.core.mcp.http.sending import HttpHooks
from hel_tui.core.mcp.http.streamable import StreamableLink
from hel_tui.core.mcp.http.target import Target
from hel_tui.core.mcp.link import Link, LinkFault
from hel_tui.core.mcp.messages import Answer, Id, Note, Parsed, coerce_id, parse_line

SERVER = Path(__file__).parents[3] / "fixtures" / "servers" / "http_server.py"
LIMIT = 30.0
"""Seconds a condition may take on a busy machine before a test fails."""
VERSION = "2025-11-25"


async def until(condition: Callable[[], Any]) -> Any:
    """Wait for a condition and return what made it true."""
    async with asyncio.timeout(LIMIT):
        while not (found := condition()):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return found


@dataclass
class Collector:
    """An intake that keeps what comes."""

    messages: list[Parsed] = field(default_factory=list)
    faults: dict[Id, LinkFault] = field(default_factory=dict)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is not set, whoever brings a line waits."""

    async def line(self, line: bytes | TooLong) -> None:
        await self.gate.wait()
        self.messages += parse_line(line)

    async def failed(self, request: Id, fault: LinkFault) -> None:
        self.faults[request] = fault

    def outcome(self, request: Id) -> Answer | LinkFault | None:
        for message in self.messages:
            if isinstance(message, Answer) and message.id is not None and coerce_id(message.id) == request:
                return message
        return self.faults.get(request)

    def notes(self) -> list[Note]:
        return [message for message in self.messages if isinstance(message, Note)]


@dataclass
class Peer:
    """hel's side: a link with its intake, in the place of the wire."""

    link: Link
    intake: Collector = field(default_factory=Collector)
    told: list[str] = field(default_factory=list)
    """What the hooks were told, in words."""
    waits: list[float] = field(default_factory=list)
    """How long the link wanted to wait, each time; it did not have to."""
    version: str = ""
    next_id: int = 0
    running: asyncio.Task[None] | None = None

    def run(self) -> None:
        self.intake.gate.set()
        self.running = asyncio.create_task(self.link.run(self.intake))

    async def send(self, method: str, params: Any = None, headers: Mapping[str, str] | None = None) -> int:
        """Send a request and return its id."""
        self.next_id += 1
        message = JSONRPCRequest(jsonrpc="2.0", id=self.next_id, method=method, params=params or {})
        await self.link.send(message, line(message), self.headers(headers))
        return self.next_id

    async def ask(self, method: str, params: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Send a request and wait for its answer or fault."""
        request = await self.send(method, params, headers)
        return await until(lambda: self.intake.outcome(request))

    async def call(self, name: str = "echo", **arguments: Any) -> Any:
        return await self.ask("tools/call", {"name": name, "arguments": arguments})

    async def tell(self, method: str, params: Any = None) -> None:
        message = JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
        await self.link.send(message, line(message), self.headers(None))

    async def reply(self, request: Id) -> None:
        message = JSONRPCResponse(jsonrpc="2.0", id=request, result={})
        await self.link.send(message, line(message), {})

    async def greet(self) -> Answer:
        """Open a session as the client does."""
        hello = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        answer = await self.ask("initialize", hello)
        assert isinstance(answer, Answer) and answer.error is None, answer
        self.version = answer.result["protocolVersion"]
        await self.tell("notifications/initialized")
        return answer

    def headers(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {**({"mcp-protocol-version": self.version} if self.version else {}), **(more or {})}

    def remarks(self) -> list[str]:
        return self.told

    async def end(self) -> None:
        self.link.finish()
        if self.running is not None:
            async with asyncio.timeout(LIMIT):
                await self.running


def line(message: Any) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def text_of(answer: Any) -> str:
    """The text of a call's result."""
    assert isinstance(answer, Answer) and answer.error is None, answer
    return answer.result["content"][0]["text"]


@dataclass
class Site:
    """A running fixture server."""

    mode: str
    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    port: int = 0
    process: subprocess.Popen[str] | None = None

    def start(self) -> Site:
        environ = {**os.environ, "EVENTS": str(self.events), **self.environ}
        command = [sys.executable, "-S", "-E", str(SERVER), self.mode, str(self.port)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        return self

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
            self.process = None

    @property
    def events(self) -> Path:
        return self.folder / f"{self.mode}.events"

    @property
    def url(self) -> str:
        scheme = "https" if "CERT" in self.environ else "http"
        return f"{scheme}://127.0.0.1:{self.port}/mcp"

    def received(self, method: str = "", about: str = "") -> list[dict[str, Any]]:
        """Requests it got: by HTTP method, by protocol method."""
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        found = [one for one in map(json.loads, lines) if one.get("method", "") == method or not method]
        return [one for one in found if not about or f'"method":"{about}"' in one.get("body", "")]

    def noted(self, key: str) -> list[Any]:
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        return [one[key] for one in map(json.loads, lines) if key in one]


@dataclass
class Bench:
    """Starts servers and links, and ends them."""

    folder: Path
    sites: list[Site] = field(default_factory=list)
    peers: list[Peer] = field(default_factory=list)

    def serve(self, mode: str, **environ: str) -> Site:
        site = Site(mode, self.folder, environ)
        self.sites.append(site)
        return site.start()

    def peer(
        self,
        target: Target | Site,
        authorizer: Authorizer | None = None,
        make: Callable[..., Link] = StreamableLink,
        **options: Any,
    ) -> Peer:
        """A running link to a server, without waiting between tries."""
        target = target if isinstance(target, Target) else Target(target.url)
        told: list[str] = []
        waits: list[float] = []

        async def pause(seconds: float) -> None:
            waits.append(seconds)
            await asyncio.sleep(0)

        hooks = HttpHooks(
            on_unreachable=lambda sentence: told.append(f"unreachable: {sentence}"),
            on_session_renewed=lambda: told.append("renewed"),
            on_remark=told.append,
        )
        peer = Peer(make(target, authorizer, hooks, **{"pause": pause, **options}), told=told, waits=waits)
        peer.run()
        self.peers.append(peer)
        return peer

    async def greeted(self, mode: str, **options: Any) -> tuple[Peer, Site]:
        """A link with an open session to a fresh server of a mode."""
        site = self.serve(mode)
        peer = self.peer(site, **options)
        await peer.greet()
        return peer, site

    async def close(self) -> None:
        for peer in self.peers:
            await peer.end()
        for site in self.sites:
            site.stop()
