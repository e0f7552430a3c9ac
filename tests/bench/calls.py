"""Calls: what hel adds to an MCP call, to the way from a call's last byte to the next request, and its size."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.options import Options
from hel_tui.core.protocol import Submit, TurnEnded
from hel_tui.core.runtime import Runtime
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.vocabulary import Invocation
from tests.bench.figures import Figure
from tests.bench.parts import SERVER, Model, Place, place
from tests.bench.program import LIMIT, environment

CALLS = 500
ROUNDS = 60
TOOL = "mcp__bench__echo"


# ------------------------------------------------------------- against the SDK


def _host(where: Place) -> Host:
    files = SessionFiles(where.home / "files")
    host = Host(where.project, dict(os.environ), lambda: files, where.home / "state", lambda event: None)
    command, *args = SERVER
    entry = ServerEntry(
        name="bench",
        scope="user",
        file=where.home / "mcp.json",
        transport="stdio",
        definition={},
        command=command,
        args=tuple(args),
        default_cwd=where.project,
    )
    host.start([entry])
    return host


async def _call_times(where: Place, calls: int) -> tuple[list[float], list[float]]:
    """Seconds of the same call through hel and through the bare SDK, in turns, each with its own server."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    host = _host(where)
    await host.settled()
    tool = host.catalogue.find("bench", "echo")
    assert tool is not None
    ours: list[float] = []
    bare: list[float] = []
    command, *args = SERVER
    async with Client(stdio_client(StdioServerParameters(command=command, args=args))) as client:
        for number in range(calls + 20):
            arguments = {"text": f"number {number}"}
            began = time.perf_counter()
            outcome = await tool.run(arguments, Invocation(str(number)))
            middle = time.perf_counter()
            result = await client.call_tool("echo", arguments)
            end = time.perf_counter()
            assert arguments["text"] in outcome.text and not result.is_error
            if number >= 20:
                ours.append(middle - began)
                bare.append(end - middle)
    await host.aclose()
    return ours, bare


# ------------------------------------------------------------- in the whole core


@contextmanager
def _core(where: Place, model: Model, mcp: bool) -> Iterator[Runtime]:
    config = tuple(Path(one) for one in where.servers("one", 1)[1:]) if mcp else ()
    core = Runtime(
        Options(
            project=where.project,
            environ=environment(where.home, HEL_API_KEY="none"),
            model="scripted/scripted",
            base_url=model.url,
            access="auto",
            max_steps=10_000,
            mcp=mcp,
            mcp_config=config,
        )
    )
    core.start()
    try:
        yield core
    finally:
        core.stop()


def _turn(core: Runtime, text: str) -> None:
    """Run one turn to its end."""
    core.send(Submit(text))
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        core.wait(1.0)
        if any(isinstance(event, TurnEnded) for event in core.drain()):
            return
    raise TimeoutError(text)


def _turnaround(model: Model, core: Runtime, name: str, rounds: int) -> list[float]:
    """Seconds from the last streamed byte of each call of `name` to the arrival of the next request."""
    _turn(core, f"call {name} {rounds}")
    facts = [model.fact() for _ in range(2 * (rounds + 1))]
    sent = [fact["sent"] for fact in facts if "sent" in fact]
    arrived = [fact["arrived"] for fact in facts if "arrived" in fact]
    return [later - earlier for earlier, later in zip(sent[:-1], arrived[1:], strict=True)]


def _first_request(model: Model, core: Runtime) -> int:
    """Bytes of the first request of a session."""
    _turn(core, "say 0 done")
    size: int = model.fact()["bytes"]
    model.fact()
    return size


def measure(quick: bool) -> list[Figure]:
    """Overhead of a call, turnaround between requests, size of the first request."""
    calls, rounds = (20, 3) if quick else (CALLS, ROUNDS)
    with place() as where, Model() as model:
        ours, bare = asyncio.run(_call_times(where, calls))
        with _core(where, model, mcp=False) as core:
            plain = _first_request(model, core)
        with _core(where, model, mcp=True) as core:
            while not core.tools():
                core.wait(0.1)
                core.drain()
            size = _first_request(model, core)
            _turnaround(model, core, "load_mcp_tool", 1)
            pairs = [
                (_turnaround(model, core, "glob", rounds // 3), _turnaround(model, core, TOOL, rounds // 3))
                for _ in range(3)
            ]
    builtin = tuple(one * 1000 for first, _ in pairs for one in first)
    server = tuple(one * 1000 for _, second in pairs for one in second)
    added = tuple((one - other) * 1000 for one, other in zip(ours, bare, strict=True))
    milliseconds = [tuple(one * 1000 for one in side) for side in (ours, bare)]
    return [
        Figure(
            "calls: one MCP call", "ms", milliseconds[0], milliseconds[1], note="baseline: the SDK's client"
        ),
        Figure("calls: added to an MCP call", "ms", added),
        Figure("calls: last byte to next request, built-in", "ms", builtin, aim="10 ms"),
        Figure("calls: last byte to next request, MCP", "ms", server, aim="10 ms"),
        Figure("calls: first request, one server with 2 tools", "B", (float(size),), aim="8 kB"),
        Figure("calls: first request, no MCP", "B", (float(plain),), aim="8 kB"),
    ]
