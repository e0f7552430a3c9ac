"""Hosting: what hel does with servers beside the bare SDK client, in turns, each with servers of its own.

Calls over HTTP (those over stdio are in calls), connecting to one, ten and fifty servers at once, a result of ten megabytes, 20,000 log
messages. hel's side is the whole of it: schema checks, the result as text, its file, logs that are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.vocabulary import Invocation
from tests.bench.figures import Figure
from tests.bench.parts import SERVER, Place, place

FIXTURES = Path(__file__).parents[1] / "fixtures" / "servers"
LARGE = 10_000_000
NOTES = 20_000
"""Log messages of the fixture `wire.py chatty` in one call."""
AIM = "ratio 1"


def _entry(where: Place, name: str, *command: str, **more: Any) -> ServerEntry:
    given = {"transport": "stdio", "command": command[0], "args": command[1:]} if command else {}
    file = where.home / "mcp.json"
    return ServerEntry(
        **{"name": name, "scope": "user", "file": file, "definition": {"name": name}, **given, **more},
        default_cwd=where.project,
    )


@contextlib.asynccontextmanager
async def _hosting(where: Place, *entries: ServerEntry) -> AsyncIterator[Host]:
    """A host with these servers, all ready."""
    files = SessionFiles(where.home / "files")
    host = Host(where.project, dict(os.environ), lambda: files, where.home / "state", lambda _event: None)
    host.start(entries)
    try:
        await host.settled()
        bad = [one for one in host.statuses() if one.phase != "ready"]
        assert not bad, bad
        yield host
    finally:
        await host.aclose()


async def _ours(host: Host, server: str, arguments: dict[str, Any]) -> str:
    tool = host.catalogue.find(server, "echo")
    assert tool is not None
    outcome = await tool.run(arguments, Invocation("one"))
    assert not outcome.failed, outcome.text
    return outcome.full


async def _theirs(client: Any, arguments: dict[str, Any]) -> str:
    result = await client.call_tool("echo", arguments)
    assert not result.is_error
    return str(result.content[0].text)


async def _in_turns(host: Host, server: str, client: Any, times: int, said: int | None = None) -> Any:
    """Seconds of the same call through hel and through the SDK, in turns; the first ones do not count.

    `said`: how many characters the answer has; None for an echo."""
    ours, bare = [], []
    warm = 1 if said else 20
    for number in range(times + warm):
        arguments = {"text": f"number {number}"}
        began = time.perf_counter()
        mine = await _ours(host, server, arguments)
        middle = time.perf_counter()
        other = await _theirs(client, arguments)
        end = time.perf_counter()
        assert (len(mine) == len(other) == said) if said else (arguments["text"] in mine and mine == other)
        if number >= warm:
            ours.append((middle - began) * 1000)
            bare.append((end - middle) * 1000)
    return tuple(ours), tuple(bare)


# ------------------------------------------------------------------------ stdio


async def _over_stdio(
    where: Place, name: str, times: int, said: int | None, *command: str, **env: str
) -> Any:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def heard(_params: Any) -> None:
        """Nobody wants to know."""

    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=env)
    entry = _entry(where, name, *command, env=tuple(env.items()))
    async with (
        _hosting(where, entry) as host,
        Client(stdio_client(parameters), logging_callback=heard, mode="legacy") as client,
    ):
        return await _in_turns(host, name, client, times, said)


async def _connect_ours(where: Place, count: int) -> float:
    entries = [_entry(where, f"bench{number}", *SERVER) for number in range(count)]
    began = time.perf_counter()
    async with _hosting(where, *entries):
        return time.perf_counter() - began


async def _connect_bare(count: int) -> float:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    ready, over = asyncio.Semaphore(0), asyncio.Event()
    command, *args = SERVER

    async def one() -> None:
        async with Client(stdio_client(StdioServerParameters(command=command, args=args))) as client:
            await client.list_tools()
            ready.release()
            await over.wait()

    began = time.perf_counter()
    tasks = [asyncio.create_task(one()) for _ in range(count)]
    for _ in range(count):
        await ready.acquire()
    spent = time.perf_counter() - began
    over.set()
    await asyncio.gather(*tasks)
    return spent


async def _connecting(where: Place, count: int, times: int) -> Any:
    ours, bare = [], []
    for number in range(times + 1):
        pair = (await _connect_ours(where, count), await _connect_bare(count))
        if number:
            ours.append(pair[0] * 1000)
            bare.append(pair[1] * 1000)
    return tuple(ours), tuple(bare)


# ------------------------------------------------------------------------- HTTP


@contextlib.contextmanager
def _site(mode: str) -> Iterator[str]:
    """A server over HTTP; its URL."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-E", str(FIXTURES / "http_server.py"), mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "EVENTS": os.devnull},
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


async def _over_http(where: Place, mode: str, times: int) -> Any:
    from mcp import Client

    with _site(mode) as url:
        entry = _entry(where, "site", transport="http", url=url)
        async with _hosting(where, entry) as host, Client(url, mode="legacy") as client:
            return await _in_turns(host, "site", client, times)


def measure(quick: bool) -> list[Figure]:
    """hel and the SDK's client in turns."""
    wire = (sys.executable, "-S", "-E", str(FIXTURES / "wire.py"))
    figures: list[Figure] = []

    def add(name: str, pair: Any, note: str = "") -> None:
        figures.append(Figure(f"hosting: {name}", "ms", *pair, aim=AIM, note=note))

    with place() as where:
        add("a call over HTTP, JSON", asyncio.run(_over_http(where, "ok", 5 if quick else 200)))
        add("a call over HTTP, a stream", asyncio.run(_over_http(where, "sse", 5 if quick else 200)))
        for count in (1, 2) if quick else (1, 10, 50):
            pair = asyncio.run(_connecting(where, count, 1 if quick else 7))
            add(f"connecting to {count} at once", pair, "tools listed; all processes of this machine")
        large = 100_000 if quick else LARGE
        pair = asyncio.run(
            _over_stdio(where, "large", 2 if quick else 9, large, *wire, "big-line", BAD_SIZE=str(large))
        )
        add("a result of 10 MB", pair, "hel's is saved to a file too")
        pair = asyncio.run(_over_stdio(where, "chatty", 1 if quick else 9, None, *wire, "chatty"))
        add(f"{NOTES:,} log messages in a call", pair, "hel's log keeps 2,000 a second")
    return figures
