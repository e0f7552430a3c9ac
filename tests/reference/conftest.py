"""The official servers, started as a person would configure them, and a host over them.

`python tests/reference/install.py` puts them in place; without them the tests here are skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.asking import Sample, Sampled, SampleRequest
from hel_tui.core.mcp.connection import Connection
from hel_tui.core.mcp.contents import contents_of
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.protocol import (
    Answer,
    FormAnswer,
    FormQuestion,
    Question,
    ResourceContent,
    SamplingAnswer,
    SamplingQuestion,
    UrlQuestion,
)
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.vocabulary import AssistantMessage, Json
from tests.core.mcp.conftest import Bench
from tests.reference.install import folder, is_there

LIMIT = 60.0
EVERYTHING = ("stdio", "http", "sse")
"""The transports that server-everything speaks."""
_ARGUMENTS = {"stdio": "stdio", "http": "streamableHttp", "sse": "sse"}
_PATHS = {"http": "/mcp", "sse": "/sse"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.reference)


def need(name: str) -> Path:
    """The folder of what is installed under this name; skips the test when it is not."""
    if not is_there(name):
        pytest.skip(f"{name} servers are not installed: run python tests/reference/install.py")
    if name == "node" and shutil.which("node") is None:
        pytest.skip("node is not there")
    return folder() / name


def npm_server(package: str) -> str:
    """The program of an official npm server."""
    return str(need("node") / "node_modules" / "@modelcontextprotocol" / package / "dist" / "index.js")


def python_server(name: str, place: str = "python") -> str:
    """The program of an official Python server."""
    return str(need(place) / "bin" / name)


@dataclass
class Reference(Bench):
    """A host whose person and model answer every question the same way, and remember it."""

    asked: list[Question] = field(default_factory=list)
    sampled: list[SampleRequest] = field(default_factory=list)
    form: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        async def run(request: SampleRequest) -> Sampled:
            self.sampled.append(request)
            return Sampled(AssistantMessage("Forty-two."), "scripted/scripted", "endTurn")

        sample = Sample(lambda: "scripted/scripted", run)
        self.options |= {"ask": self.answer, "answerable": True, "sample": lambda: sample}

    async def answer(self, question: Question) -> Answer:
        """Accept whatever is asked."""
        self.asked.append(question)
        match question:
            case FormQuestion():
                return FormAnswer("accept", self.form)
            case UrlQuestion():
                return FormAnswer("accept")
            case SamplingQuestion():
                return SamplingAnswer(True)
        raise AssertionError(f"nobody expected {question}")

    def of(self, kind: type[Any]) -> list[Any]:
        """The questions of a kind."""
        return [one for one in self.asked if isinstance(one, kind)]

    async def up(self, transport: str = "stdio", **given: Any) -> None:
        """Start one server and wait until it is ready."""
        entry = ServerEntry(
            name="ref",
            scope="user",
            file=self.folder / "mcp.json",
            transport=transport,  # type: ignore[arg-type]
            definition={"given": str(given)},
            default_cwd=self.folder,
            sampling=True,
            **given,
        )
        self.host.start([entry])
        async with asyncio.timeout(LIMIT):
            await self.host.settled()
        assert self.status("ref").phase == "ready", self.log("ref")

    async def run(self, raw: str, **arguments: Any) -> str:
        """Call a tool that must succeed; returns its text as a person reads it."""
        outcome = await self.call(raw, "ref", **arguments)
        assert not outcome.failed, outcome.text
        return outcome.full or outcome.text

    async def through(self, work: Callable[[Connection], Awaitable[Any]]) -> Any:
        """Ask something of the server's connection."""
        server = self.host.server("ref")
        assert server is not None
        return await server.through(work)

    async def read(self, uri: str) -> tuple[ResourceContent, ...]:
        """The contents of a resource."""
        result: Json = await self.through(lambda connection: connection.read(uri))
        return contents_of(result, SessionFiles(self.folder / "files"))

    async def prompt(self, name: str, **arguments: str) -> Json:
        """The raw result of a prompt."""
        result: Json = await self.through(lambda connection: connection.prompt(name, arguments))
        return result

    async def complete(self, ref: Json, argument: str, value: str, **given: str) -> list[str]:
        """How an argument may go on."""
        result = await self.through(lambda one: one.complete(ref, argument, value, given))
        values: list[str] = result["completion"]["values"]
        return values


@pytest.fixture
async def reference(tmp_path: Path) -> AsyncIterator[Reference]:
    bench = Reference(tmp_path)
    yield bench
    for host in bench.hosts:
        await host.aclose()


def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.asynccontextmanager
async def serving(*command: str, **env: str) -> AsyncIterator[int]:
    """A server that listens on the port of its variable PORT, ended with the test."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **env, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(LIMIT):
            while process.returncode is None:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.02)
        assert process.returncode is None, "it ended before it listened"
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.fixture(params=EVERYTHING)
async def everything(request: pytest.FixtureRequest, reference: Reference) -> AsyncIterator[Reference]:
    """server-everything, ready, over each of its transports."""
    program = npm_server("server-everything")
    word = _ARGUMENTS[request.param]
    if request.param == "stdio":
        await reference.up(command="node", args=(program, word))
        yield reference
        return
    async with serving("node", program, word) as port:
        await reference.up(request.param, url=f"http://127.0.0.1:{port}{_PATHS[request.param]}")
        yield reference
        for host in reference.hosts:
            await host.aclose()
        reference.hosts.clear()
