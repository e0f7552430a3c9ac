"""One life of one server: greet, list, serve calls, until the process or the pipes are gone.

Owned by one task (`live`); calls come from any task of the same loop and are not serialised.
Imports the SDK: import late. Not here: starting processes and starting again (supervisor).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hel_tui.core.mcp.client import MCPError, Session, open_session, roots_result
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault, ServerFault
from hel_tui.core.mcp.handshake import PROBE_TIMEOUT, Hello, greet
from hel_tui.core.mcp.listing import Listing, read_listing
from hel_tui.core.mcp.process import EXIT_FOLLOWS, ServerProcess
from hel_tui.core.mcp.wire import Wire, WireHooks
from hel_tui.core.vocabulary import Json, ProgressFn

METHOD_NOT_FOUND = -32601
LIST_TIMEOUT = 60.0
"""Seconds all pages of a tool list may take together."""
HARD_LIMIT = 4.0
"""How many times its idle limit a call may take in all, however much progress it reports."""
MOST_ROUNDS = 10
"""How often one call may ask for input before it is given up."""
PROGRESS_GAP = 0.05
"""Seconds between two reports of progress of one call; those between are merged."""
REFRESH_FIRST = 0.3
REFRESH_GAP = 30.0
"""Seconds a refresh of the tool list waits: first and, in a storm, at most."""
REFRESH_QUIET = 60.0
"""Seconds without a change after which the wait is short again."""


@dataclass(slots=True)
class ConnectionHooks:
    """What the owner wants to know of a connection."""

    on_ready: Callable[[Hello, Listing], None]
    on_listing: Callable[[Listing], None]
    """The tool list was read again."""
    on_list_failed: Callable[[str], None]
    """It could not be read again; the old one stays."""
    on_log: Callable[[str, str], None]
    """(level, text) of a logging message of the server."""


class Connection:
    """The protocol side of a running server process."""

    def __init__(
        self,
        entry: ServerEntry,
        process: ServerProcess,
        root: Path,
        hooks: ConnectionHooks,
        wire_hooks: WireHooks,
        *,
        probe_timeout: float = PROBE_TIMEOUT,
    ) -> None:
        self._entry = entry
        self._process = process
        self._root = root if entry.roots else None
        self._hooks = hooks
        self._probe_timeout = probe_timeout
        wire_hooks.on_note = self._take_note
        served = frozenset({"roots/list"}) if entry.roots else frozenset[str]()
        self._wire = Wire(process, wire_hooks, served)
        self._session: Session | None = None
        self._stale = asyncio.Event()
        self._next_token = 0

    # ---------------------------------------------------------------------- life

    async def live(self, *, skip_probe: bool) -> None:
        """Open the session and stay until the server is gone. Raises ServerFault if it never got ready.

        To end it, end the process: everything here falls with it, `initialize` is never cancelled.
        """
        moving = asyncio.create_task(self._wire.run(), name=f"mcp-wire-{self._entry.name}")
        background: list[asyncio.Task[None]] = []
        fault: ServerFault | None = None
        try:
            async with open_session(self._wire, self._root) as session:
                # A fault is carried out by hand: leaving the session with it would wrap it in a group.
                fault = await self._serve(session, skip_probe, background)
        finally:
            self._session = None
            for task in background:
                task.cancel()
            self._process.stdout.finish()
            ends = await asyncio.gather(moving, *background, return_exceptions=True)
        if fault is not None:
            raise fault
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def _serve(
        self, session: Session, skip_probe: bool, background: list[asyncio.Task[None]]
    ) -> ServerFault | None:
        try:
            hello = await self._greet(session, skip_probe)
            listing = await self._first_listing(session, hello)
        except ServerFault as fault:
            # How it ends when its pipes are closed now says nothing about why it failed.
            self._process.stopping = self._process.stopping or not self._wire.lost.is_set()
            return fault
        self._session = session
        background.append(asyncio.create_task(self._refresh_for_ever(session)))
        if hello.era == "stateless" and hello.tells_changes("tools"):
            background.append(asyncio.create_task(self._listen(session)))
        self._hooks.on_ready(hello, listing)
        await self._wire.lost.wait()
        return None

    async def _greet(self, session: Session, skip_probe: bool) -> Hello:
        try:
            return await greet(session, skip_probe=skip_probe, probe_timeout=self._probe_timeout)
        except MCPError as error:
            raise ServerFault("handshake", await self._why(error, "initialize")) from error

    async def _first_listing(self, session: Session, hello: Hello) -> Listing:
        if not hello.offers("tools"):
            return Listing()
        try:
            return await self._list(session)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and not self._wire.lost.is_set():
                return Listing()
            raise ServerFault("list", await self._why(error, "tools/list")) from error
        except TimeoutError as error:
            sentence = f"it did not answer tools/list within {LIST_TIMEOUT:.0f} s"
            raise ServerFault("list", sentence) from error

    async def _why(self, error: MCPError, method: str) -> str:
        if not self._wire.lost.is_set():
            return f"it refused {method}: {error.message:.300} ({error.code})"
        how = await self._how_it_ended()
        return f"{how} before it answered {method}"

    async def _how_it_ended(self) -> str:
        """Wait a moment for the exit status: the pipes often close first."""
        await self._process.wait(EXIT_FOLLOWS)
        return f"it ended ({self._process.exit})" if self._process.exit else "it closed its stdout"

    # ---------------------------------------------------------------- tool lists

    async def _list(self, session: Session) -> Listing:
        async with asyncio.timeout(LIST_TIMEOUT):
            return await read_listing(lambda params: session.ask("tools/list", params))

    async def _refresh_for_ever(self, session: Session) -> None:
        """Read the list again when the server says it changed: one at a time, slower in a storm."""
        gap, last = REFRESH_FIRST, -REFRESH_QUIET
        while True:
            await self._stale.wait()
            now = time.monotonic()
            gap = REFRESH_FIRST if now - last > REFRESH_QUIET else min(gap * 2, REFRESH_GAP)
            await asyncio.sleep(gap)
            self._stale.clear()
            try:
                self._hooks.on_listing(await self._list(session))
            except MCPError as error:
                if not self._wire.lost.is_set():
                    self._hooks.on_list_failed(f"{error.message:.300} ({error.code})")
            except TimeoutError:
                self._hooks.on_list_failed(f"no answer within {LIST_TIMEOUT:.0f} s")
            last = time.monotonic()

    async def _listen(self, session: Session) -> None:
        """Keep the one long request open over which a stateless server tells changes."""
        params: Json = {"notifications": {"toolsListChanged": True}}
        with contextlib.suppress(MCPError):
            await session.ask("subscriptions/listen", params, request_id="listen-tools")

    # --------------------------------------------------------------- from the server

    def _take_note(self, method: str, params: Json) -> None:
        if method == "notifications/tools/list_changed":
            self._stale.set()
        elif method == "notifications/message":
            level, logger, data = (params.get(key) for key in ("level", "logger", "data"))
            origin = f"{logger}: " if isinstance(logger, str) and logger else ""
            self._hooks.on_log(str(level or "info")[:20], f"{origin}{_plain(data)}")

    # ----------------------------------------------------------------------- calls

    async def call(self, raw: str, arguments: Json, on_progress: ProgressFn) -> Json:
        """Call a tool and return the raw result. Raises CallFault; cancelling tells the server.

        The idle limit is the entry's `timeout`; progress resets it, up to `HARD_LIMIT` times of it.
        """
        session = self._session
        if session is None or self._wire.lost.is_set():
            raise CallFault("unavailable", f'The server "{self._entry.name}" is not connected.')
        loop = asyncio.get_running_loop()
        idle = self._entry.timeout
        latest = loop.time() + idle * HARD_LIMIT
        report = _Throttle(on_progress)
        self._next_token += 1
        token = f"call-{self._next_token}"
        try:
            async with asyncio.timeout(idle) as deadline:

                def progressed(progress: float, total: float | None, message: str) -> None:
                    if not deadline.expired():
                        deadline.reschedule(min(loop.time() + idle, latest))
                    report(progress, total, message)

                self._wire.progress[token] = progressed
                return await self._rounds(session, raw, arguments, token)
        except TimeoutError:
            raise self._timed_out(raw, loop.time() >= latest) from None
        except MCPError as error:
            raise await self._call_fault(error) from error
        finally:
            self._wire.progress.pop(token, None)
            report.close()

    async def _rounds(self, session: Session, raw: str, arguments: Json, token: str) -> Json:
        params: Json = {"name": raw, "arguments": arguments, "_meta": {"progressToken": token}}
        for _ in range(MOST_ROUNDS):
            result = await session.ask("tools/call", params)
            if result.get("resultType") != "input_required":
                return result
            params = {**params, "inputResponses": self._inputs(result.get("inputRequests"))}
            if "requestState" in result:
                params["requestState"] = result["requestState"]
        raise CallFault("protocol", f"The tool asked for input {MOST_ROUNDS} times; it was given up.")

    def _inputs(self, requests: Any) -> Json:
        """Answer what a stateless server asks in the middle of a call: the roots; nothing else is served."""
        answers: Json = {}
        for key, request in requests.items() if isinstance(requests, dict) else ():
            method = request.get("method") if isinstance(request, dict) else None
            if method == "roots/list" and self._root is not None:
                answers[key] = roots_result(self._root)
            elif method == "elicitation/create":
                answers[key] = {"action": "decline"}
            else:
                sentence = "The tool asked in the middle of the call for something hel does not serve."
                raise CallFault("protocol", sentence, str(method or ""))
        return answers

    def _timed_out(self, raw: str, is_hard: bool) -> CallFault:
        idle = self._entry.timeout
        limit = f"{idle * HARD_LIMIT:g} s in all" if is_hard else f"{idle:g} s"
        return CallFault(
            "timeout",
            f'"{raw}" of the server "{self._entry.name}" did not answer within {limit}. It was told to stop, '
            "but the server may still be working: the call may or may not have taken effect.",
        )

    async def _call_fault(self, error: MCPError) -> CallFault:
        if not self._wire.lost.is_set():
            sentence = f"The server refused the call with an error (code {error.code})."
            return CallFault("protocol", sentence, error.message)
        how = await self._how_it_ended()
        return CallFault(
            "lost",
            f'The server "{self._entry.name}" disconnected during the call: {how}. The outcome is unknown; '
            "the call was not repeated.",
        )


class _Throttle:
    """Passes on the newest progress, at most every `PROGRESS_GAP` seconds."""

    def __init__(self, target: ProgressFn) -> None:
        self._target = target
        self._newest: tuple[float, float | None, str] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, progress: float, total: float | None, message: str) -> None:
        if self._timer is not None:
            self._newest = (progress, total, message)
            return
        self._target(progress, total, message)
        self._timer = asyncio.get_running_loop().call_later(PROGRESS_GAP, self._again)

    def _again(self) -> None:
        self._timer = None
        if self._newest is not None:
            newest, self._newest = self._newest, None
            self(*newest)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _plain(data: Any) -> str:
    """The data of a logging message as one line."""
    if isinstance(data, str):
        return data
    import json

    return json.dumps(data, ensure_ascii=False, default=str)
