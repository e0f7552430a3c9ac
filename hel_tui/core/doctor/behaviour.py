"""How a server that is a process behaves: started for looking, greeted, listed, disturbed, ended twice.

No tool is called: looking must change nothing. Each step yields findings as it goes. Not here: servers over
HTTP (remote), what its definitions are worth (definitions).
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hel_tui.core.counts import counted
from hel_tui.core.doctor.definitions import definitions
from hel_tui.core.doctor.raw import HANDSHAKE, STATELESS, NoAnswer, RawServer, Refused
from hel_tui.core.guard import Guard
from hel_tui.core.mcp.entries import ServerEntry, Unset
from hel_tui.core.mcp.expand import expand_launch
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.launching import advice_for, child_environment, find_command
from hel_tui.core.mcp.listing import read_listing, read_pages
from hel_tui.core.protocol import Finding, Health
from hel_tui.core.store.redact import head
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json

SLOW_START = 5.0
"""Seconds after which a start is told as slow."""
ANSWER = 10.0
"""Seconds a request may take."""
END = 2.0
"""Seconds a server may take to end by itself: what clients wait (specification, lifecycle: shutdown)."""
LOUD_LINES, LOUD_BYTES = 200, 64 * 1024
"""stderr before anything was asked of it that is a lot."""
METHOD_NOT_FOUND = -32601
LISTS = (
    ("resources", "resources/list", "resources"),
    ("resources", "resources/templates/list", "resourceTemplates"),
    ("prompts", "prompts/list", "prompts"),
)


@dataclass(slots=True)
class Bench:
    """What looking at one server takes along."""

    entry: ServerEntry
    environ: Mapping[str, str]
    mask: Callable[[str], str]
    """Takes secrets out of whatever is told."""
    keyring: Callable[[str], str | None]
    guard: Guard = field(default_factory=Guard)


async def behaviour(bench: Bench, tell: Callable[[Finding], None]) -> None:
    """Look at a server over stdio, step by step; `tell` hears of each finding. Ends what it started."""
    server = RawServer(bench.guard, bench.entry.name, bench.mask)

    async def through(step: AsyncIterator[Finding]) -> None:
        async for finding in step:
            tell(finding)

    try:
        launched: list[tuple[str, Any, dict[str, str]]] = []
        await through(_spawned(bench, server, launched))
        if not launched:
            return
        said: list[Json] = []
        await through(_greeted(bench, server, said))
        if said:
            await through(_listed(bench, server, said[0]))
            await through(_disturbed(server, said[0]))
        for finding in _printed(server):
            tell(finding)
        if said:
            await through(_ended(server))
            await through(_second(bench, said[0], *launched[0]))
    finally:
        await server.close()
        await bench.guard.close()


async def _spawned(
    bench: Bench, server: RawServer, launched: list[tuple[str, Any, dict[str, str]]]
) -> AsyncIterator[Finding]:
    launch = await in_thread(lambda: expand_launch(bench.entry, bench.environ, bench.keyring), "hel-expand")
    if isinstance(launch, Unset):
        yield Finding(
            "error", "entry", launch.fault().sentence, mend="set it, or give it a default: ${NAME:-value}"
        )
        return
    env = child_environment(launch, bench.environ)
    try:
        program = find_command(launch, env)
        server.start(program, launch.args, env, launch.cwd)
    except ServerFault as fault:
        mend = "give the absolute path of the program" if fault.stage == "find" else ""
        yield Finding("error", fault.stage, bench.mask(fault.sentence), mend=mend)
        return
    yield Finding("ok", "spawn", f"{bench.mask(program)} runs")
    if advice := advice_for(launch):
        yield Finding("warning", "spawn", advice, mend="npx -y PACKAGE")
    launched.append((program, launch, env))


async def _greeted(bench: Bench, server: RawServer, said: list[Json]) -> AsyncIterator[Finding]:
    try:
        hello, seconds = await server.greet(max(bench.entry.startup_timeout, ANSWER))
    except (NoAnswer, Refused) as problem:
        words = f" Its last words: {' / '.join(server.last_words[-3:])}" if server.last_words else ""
        yield Finding("error", "handshake", f"{bench.mask(str(problem))}.{words}", mend="see its log")
        return
    said.append(hello)
    health: Health = "warning" if seconds > SLOW_START else "ok"
    mend = "import late, open databases on first use" if health == "warning" else ""
    yield Finding(health, "start", f"it was ready {seconds:.2f} s after its start", mend=mend)
    if server.is_stateless:
        yield Finding("ok", "handshake", f"protocol {STATELESS} (stateless); a handshake is refused")
        return
    version, info = hello.get("protocolVersion"), hello.get("serverInfo")
    if not isinstance(version, str) or not isinstance(hello.get("capabilities"), dict):
        sentence = "its answer to initialize lacks protocolVersion or capabilities"
        yield Finding("error", "handshake", sentence, mend="specification, lifecycle: initialization")
    elif version != HANDSHAKE:
        sentence = f"a handshake gives {head(version, 40, bench.mask)}; the newest with one is {HANDSHAKE}"
        yield Finding("info", "handshake", sentence, mend="a newer SDK speaks it")
    else:
        yield Finding("ok", "handshake", f"a handshake gives protocol {version}")
    told = info if isinstance(info, dict) else {}
    if missing := [what for what in ("name", "version") if not told.get(what)]:
        sentence = f"it does not say its {' and '.join(missing)}"
        yield Finding("warning", "handshake", sentence, mend="send serverInfo with name and version")


async def _listed(bench: Bench, server: RawServer, hello: Json) -> AsyncIterator[Finding]:
    capabilities = hello.get("capabilities")
    offered: Json = capabilities if isinstance(capabilities, dict) else {}
    if "tools" in offered:
        began = time.monotonic()
        try:
            listing = await read_listing(lambda params: server.ask("tools/list", params, ANSWER))
        except (NoAnswer, Refused) as problem:
            yield Finding(
                "error", "lists", f"tools/list: {bench.mask(str(problem))}", mend="answer tools/list"
            )
        else:
            seconds = time.monotonic() - began
            health: Health = "info" if not listing.tools else "ok"
            tools = counted(len(listing.tools), "tool")
            yield Finding(health, "lists", f"{tools} in {seconds * 1000:.0f} ms")
            if listing.cut:
                yield Finding(
                    "warning",
                    "lists",
                    f"tools/list: {listing.cut}",
                    mend="end with a page without nextCursor",
                )
            for finding in await in_thread(
                lambda: list(definitions(bench.entry.name, listing.tools, bench.mask)), "hel-definitions"
            ):
                yield finding
    else:
        yield Finding("info", "lists", "it declares no tools")
    for capability, method, key in LISTS:
        if capability not in offered:
            continue
        try:
            entries, cut = await read_pages(
                lambda params, method=method: server.ask(method, params, ANSWER),  # type: ignore[misc]
                key,
                10_000,
            )
        except Refused as problem:
            is_optional = method == "resources/templates/list" and problem.code == METHOD_NOT_FOUND
            yield Finding(
                "info" if is_optional else "error",
                "lists",
                f"{method}: {bench.mask(str(problem))}",
                mend="" if is_optional else f"answer {method}, or do not declare {capability}",
            )
        except NoAnswer as problem:
            yield Finding("error", "lists", f"{method}: {problem}", mend=f"answer {method}")
        else:
            told = counted(len(entries), key.removesuffix("s"), key) + (f": {cut}" if cut else "")
            yield Finding("warning" if cut else "ok", "lists", told)


async def _disturbed(server: RawServer, hello: Json) -> AsyncIterator[Finding]:
    """What a client may do in the ordinary course of things: the server must still answer afterwards."""
    ping = _ping_of(server)
    began = time.monotonic()
    try:
        await server.ask(ping, {}, ANSWER)
    except (NoAnswer, Refused) as problem:
        yield Finding("error", "ping", str(problem), mend="answer ping with an empty result at any time")
    else:
        yield Finding("ok", "ping", f"answered in {(time.monotonic() - began) * 1000:.0f} ms")
    try:
        await server.ask("hel/unknown", {}, ANSWER)
    except Refused as problem:
        if problem.code == METHOD_NOT_FOUND:
            yield Finding("ok", "unknown", "an unknown method is refused with -32601")
        else:
            sentence = f"an unknown method is refused with {problem.code}, not -32601"
            yield Finding("warning", "unknown", sentence, mend="answer -32601 (JSON-RPC, method not found)")
    except NoAnswer as problem:
        yield Finding("error", "unknown", f"after an unknown method: {problem}", mend="answer -32601")
    else:
        yield Finding("warning", "unknown", "it answers a method that does not exist", mend="answer -32601")
    method = "tools/list" if "tools" in (hello.get("capabilities") or {}) else ping
    future = await server.take_back(method, {}, "hel's doctor")
    await server.tell("notifications/cancelled", {"requestId": "never-sent"})
    future.cancel()
    if problem_now := await _still_answers(server):
        sentence = f"after a request was cancelled: {problem_now}"
        yield Finding(
            "error", "cancel", sentence, mend="take notifications/cancelled for any id, known or not"
        )
    else:
        yield Finding("ok", "cancel", "it goes on after cancelled requests")


def _ping_of(server: RawServer) -> str:
    """What stands for ping: the stateless era has none."""
    return "server/discover" if server.is_stateless else "ping"


async def _still_answers(server: RawServer) -> str:
    """Why it does not answer any more; empty when it does, be it with an error."""
    try:
        await server.ask(_ping_of(server), {}, ANSWER)
    except Refused as problem:
        return "" if problem.code == METHOD_NOT_FOUND else str(problem)
    except NoAnswer as problem:
        return str(problem)
    return ""


def _printed(server: RawServer) -> list[Finding]:
    found: list[Finding] = []
    if server.noises:
        lines = counted(server.noises, "line")
        sentence = f"no protocol on stdout: {lines}, such as: {server.noise[0][:120]}"
        mend = "print to stderr; stdout is for the protocol alone"
        found.append(Finding("error", "stdout", sentence, mend=mend))
    else:
        found.append(Finding("ok", "stdout", "nothing but protocol on stdout"))
    told = (
        f"{counted(server.stderr_lines, 'line')}, {counted(server.stderr_bytes, 'byte')} on stderr without "
        "being asked anything"
    )
    if server.stderr_lines > LOUD_LINES or server.stderr_bytes > LOUD_BYTES:
        found.append(Finding("warning", "stderr", told, mend="log less by default"))
    else:
        found.append(Finding("ok", "stderr", told))
    return found


async def _ended(server: RawServer) -> AsyncIterator[Finding]:
    """Its stdin is closed: it should end by itself (specification, lifecycle: shutdown over stdio)."""
    process = server.process
    assert process is not None
    helpers = await process.look_for_helpers()
    process.stdin.close()
    began = time.monotonic()
    if not await process.wait(END):
        sentence = f"it does not end within {END:g} s after its stdin was closed"
        yield Finding("warning", "end", sentence, mend="end when stdin ends")
    else:
        seconds = time.monotonic() - began
        ended = process.exit
        health: Health = "ok" if ended is None or ended.code == 0 else "info"
        how = ended.how if ended is not None else "gone"
        yield Finding(health, "end", f"it ends {seconds:.2f} s after its stdin was closed ({how})")
    left = await in_thread(lambda: [pid for pid in helpers if _lives(pid)], "hel-left")
    if left and process.exit is not None:
        sentence = f"it leaves {counted(len(left), 'process', 'processes')} behind when it ends"
        yield Finding("warning", "end", sentence, mend="end what it started")


async def _second(
    bench: Bench, hello: Json, program: str, launch: Any, env: dict[str, str]
) -> AsyncIterator[Finding]:
    """A process of its own for the era that hel uses and for what may end it: garbage on stdin, SIGTERM.

    `hello` is what the first one said.
    """
    server = RawServer(bench.guard, bench.entry.name, bench.mask)
    try:
        server.start(program, launch.args, env, launch.cwd)
        patience = max(bench.entry.startup_timeout, ANSWER)
        if bench.entry.protocol == "handshake":
            await server.greet(patience)
        elif await server.greet_as_hosted(patience, ANSWER):
            yield Finding("ok", "protocol", f"hel uses protocol {STATELESS} (stateless)")
        if not server.is_stateless and isinstance(version := hello.get("protocolVersion"), str):
            used = head(version, 40, bench.mask)
            yield Finding("ok", "protocol", f"hel uses protocol {used} (initialize)")
        await server.write(b"this is no JSON\n")
        if problem := await _still_answers(server):
            sentence = f"after a line that is no JSON: {bench.mask(problem)}"
            yield Finding("warning", "garbage", sentence, mend="skip the line, or answer -32700")
            await server.close()
            server = RawServer(bench.guard, bench.entry.name, bench.mask)
            server.start(program, launch.args, env, launch.cwd)
            await server.greet(max(bench.entry.startup_timeout, ANSWER))
        else:
            yield Finding("ok", "garbage", "it goes on after a line that is no JSON")
        yield await _terminated(server)
    except (ServerFault, NoAnswer, Refused, ProcessLookupError) as problem:
        sentence = f"a second one of it does not come up: {bench.mask(str(problem))}"
        yield Finding("warning", "sigterm", sentence, mend="do not lock files or ports at start")
    finally:
        await server.close()


async def _terminated(server: RawServer) -> Finding:
    """How it takes SIGTERM. Raises ProcessLookupError when it is gone already."""
    assert server.process is not None
    began = time.monotonic()
    os.killpg(server.process.pid, signal.SIGTERM)
    if await server.process.wait(END):
        seconds = time.monotonic() - began
        how = server.process.exit.how if server.process.exit is not None else "gone"
        return Finding("ok", "sigterm", f"it ends {seconds:.2f} s after SIGTERM ({how})")
    sentence = f"it does not end within {END:g} s after SIGTERM, and is killed"
    return Finding("warning", "sigterm", sentence, mend="end on SIGTERM")


def _lives(pid: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
