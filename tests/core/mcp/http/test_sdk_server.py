"""Servers made with the MCP SDK, over both transports and in both eras, through the whole host."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.protocol import Answer, FormAnswer, FormQuestion, NotAnswered, Question
from hel_tui.core.vocabulary import Invocation
from tests.core.mcp.conftest import Bench
from tests.core.mcp.http.driving import SERVER

LIMIT = 60.0


@pytest.fixture(scope="module", params=["streamable-http", "sse"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A running server; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(SERVER.with_name("sdk_http.py")), request.param, str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr is not None
    for line in process.stderr:
        if b"Uvicorn running" in line:
            break
    yield f"http://127.0.0.1:{port}/{'mcp' if request.param == 'streamable-http' else 'sse'}"
    process.kill()
    process.wait()
    process.stderr.close()


@pytest.fixture
async def bench(tmp_path: Path, url: str) -> AsyncIterator[Bench]:
    async def ask(question: Question) -> Answer:
        if isinstance(question, FormQuestion):
            return FormAnswer("accept", (("colour", "blue"),))
        return NotAnswered("not in this test")

    bench = Bench(tmp_path, options={"ask": ask, "answerable": True})
    yield bench
    for host in bench.hosts:
        await host.aclose()


async def connect(bench: Bench, url: str, **more: Any) -> None:
    transport = "sse" if url.endswith("/sse") else "http"
    entry = ServerEntry(
        "fix",
        "user",
        bench.folder / "mcp.json",
        transport,
        {"url": url},
        default_cwd=bench.folder,
        url=url,
        **more,
    )
    bench.host.start([entry])
    async with asyncio.timeout(LIMIT):
        await bench.host.settled()
    assert bench.status().phase == "ready", bench.status().reason


@pytest.mark.parametrize("protocol", ["auto", "handshake"])
async def test_tools_progress_questions_and_resources_work(bench: Bench, url: str, protocol: Any) -> None:
    await connect(bench, url, protocol=protocol)
    assert "\n5\n" in (await bench.call("add", a=2, b=3)).text
    reports: list[tuple[float, str]] = []
    invocation = Invocation("id", lambda done, _total, words: reports.append((done, words)))
    outcome = await bench.tool("steps").run({"count": 3}, invocation)
    assert "3 steps" in outcome.text
    assert reports[0] == (1, "step 1") and {done for done, _ in reports} <= {1, 2, 3}
    if bench.status().protocol < "2026":  # later revisions have no questions of this kind
        assert "accept: blue" in (await bench.call("favourite")).text
    server = bench.host.server("fix")
    assert server is not None
    read = await server.through(lambda connection: connection.read("notes://today"))
    assert read["contents"][0]["text"] == "buy milk"
