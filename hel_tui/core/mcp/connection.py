"""One connection to one server: greet, list, serve requests, until the link is gone.

Owned by one task (`live`); requests come from any task of the same loop and are not serialised.
Imports the SDK: import late. Not here: processes and addresses (life), starting again (supervisor), limits
and faults of a request (requesting).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from hel_tui.core.mcp.changes import Listening
from hel_tui.core.mcp.client import MCPError, Session, open_session
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault, ServerFault
from hel_tui.core.mcp.handshake import PROBE_TIMEOUT, Hello, greet
from hel_tui.core.mcp.link import Link, LinkFault
from hel_tui.core.mcp.listing import Listing
from hel_tui.core.mcp.lists import LIST_TIMEOUT, METHOD_NOT_FOUND, Lists
from hel_tui.core.mcp.notes import Notes
from hel_tui.core.mcp.offers import Prompts, Resources
from hel_tui.core.mcp.pulse import Pulse, Unreachable
from hel_tui.core.mcp.requesting import Requests, no_progress
from hel_tui.core.mcp.serving import Serving
from hel_tui.core.mcp.wire import Wire, WireHooks
from hel_tui.core.protocol import LogLevel
from hel_tui.core.store.redact import head
from hel_tui.core.vocabulary import Json, ProgressFn

COMPLETION_TIMEOUT = 5.0
PING_TIMEOUT = 10.0
QUOTED = 300
"""Characters of an error of the server in a sentence."""


@dataclass(slots=True)
class ConnectionHooks:
    """What the owner wants to know of a connection."""

    on_ready: Callable[[Hello, Listing], None]
    on_listing: Callable[[Listing], None]
    """The tool list was read again."""
    on_list_failed: Callable[[str], None]
    """It could not be read again; the old one stays."""
    on_list_ignored: Callable[[], None]
    """It changed, and the entry keeps the list of the start."""
    on_resources: Callable[[Resources], None]
    on_prompts: Callable[[Prompts], None]
    on_updated: Callable[[str], None]
    """The URI of a subscribed resource that changed."""
    on_log: Callable[[str, str], None]
    """(level, text) of a logging message of the server."""
    on_dropped: Callable[[int], None]
    """How many notifications were dropped since the last time this was told."""
    on_pulse: Callable[[str], None]
    """It does not answer (a sentence), or does again ("")."""
    on_gone: Callable[[str], None]
    """It could not be reached for so long that it is given up."""
    on_note: Callable[[str], None]
    """A sentence for the person about what the server asked."""


class Connection:
    """The protocol side of a server that is there."""

    def __init__(
        self,
        entry: ServerEntry,
        link: Link,
        serving: Serving,
        hooks: ConnectionHooks,
        wire_hooks: WireHooks,
        *,
        probe_timeout: float = PROBE_TIMEOUT,
        refreshes: bool = True,
    ) -> None:
        self._entry = entry
        self._link = link
        self._hooks = hooks
        self._serving = serving
        self._probe_timeout = probe_timeout
        self._wire = Wire(link, wire_hooks, serving.methods())
        self._requests = Requests(entry, self._wire, serving, link.how_it_ended)
        serving.paused = self._requests.paused
        serving.current = self._requests.current
        serving.causes = self._requests.causes
        self._notes = Notes(hooks.on_log, hooks.on_dropped, hooks.on_updated, wire_hooks.on_stray)
        wire_hooks.on_note = self._notes.take
        self._session: Session | None = None
        self._hello: Hello | None = None
        self.log_level = ""
        """What the server was asked last to log."""
        self._lists = Lists(entry, hooks, lambda: self.is_lost, mask=serving.mask, refreshes=refreshes)
        self._notes.on_change = self._lists.on_change
        self._listening: Listening | None = None
        self._pulse = Pulse(
            self._ping,
            lambda: self._requests.is_busy,
            lambda: self._wire.heard,
            hooks.on_pulse,
            hooks.on_gone,
        )

    # ---------------------------------------------------------------------- life

    @property
    def answers(self) -> int:
        """How often the server answered a request, if only with an error."""
        return self._requests.answers

    @property
    def is_lost(self) -> bool:
        """True once the link is gone."""
        return self._wire.lost.is_set()

    async def live(self, *, skip_probe: bool) -> None:
        """Open the session and stay until the server is gone. Raises ServerFault if it never got ready.

        To end it, end the link: everything here falls with it, `initialize` is never cancelled.
        """
        moving = asyncio.create_task(self._wire.run(), name=f"mcp-wire-{self._entry.name}")
        background: list[asyncio.Task[None]] = []
        fault: ServerFault | None = None
        try:
            async with open_session(self._wire, self._serving.capabilities()) as session:
                # A fault is carried out by hand: leaving the session with it would wrap it in a group.
                fault = await self._serve(session, skip_probe, background)
                self._link.finish()
        finally:
            self._session = None
            for task in background:
                task.cancel()
            self._link.finish()
            ends = await asyncio.gather(moving, *background, return_exceptions=True)
            self._notes.close()
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
            fault.was_there = not self.is_lost
            return fault
        self._session, self._hello = session, hello
        self._watch(session, hello, background)
        self._hooks.on_ready(hello, listing)
        self._lists.begin()
        await self._wire.lost.wait()
        return None

    def _watch(self, session: Session, hello: Hello, background: list[asyncio.Task[None]]) -> None:
        """Begin what goes on beside requests: lists that change, the one long request, the pulse."""

        def begin(work: Coroutine[Any, Any, None], name: str) -> None:
            background.append(asyncio.create_task(work, name=f"mcp-{name}-{self._entry.name}"))

        self._lists.open(session, hello)
        for work in self._lists.work():
            begin(work, "lists")
        begin(self._pulse.run(), "pulse")
        if hello.era == "stateless":
            self._listening = Listening(session, hello, self._lists.doubt)
            begin(self._listening.run(), "listen")

    async def _greet(self, session: Session, skip_probe: bool) -> Hello:
        try:
            return await greet(
                session,
                skip_probe=skip_probe,
                protocol=self._entry.protocol,
                probe_timeout=self._probe_timeout,
            )
        except MCPError as error:
            raise await self._server_fault(error, "handshake", "initialize") from error

    async def _first_listing(self, session: Session, hello: Hello) -> Listing:
        if not hello.offers("tools"):
            return Listing()
        try:
            return await self._lists.tools(session)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and not self.is_lost:
                return Listing()
            raise await self._server_fault(error, "list", "tools/list") from error
        except TimeoutError as error:
            sentence = f"it did not answer tools/list within {LIST_TIMEOUT:.0f} s"
            raise ServerFault("list", sentence) from error

    async def _server_fault(self, error: MCPError, stage: Any, method: str) -> ServerFault:
        fault = error.error.data
        if isinstance(fault, LinkFault):
            told = f": {fault.told}" if fault.told else ""
            return ServerFault(
                stage,
                f"{fault.sentence}{told}",
                needs_login=fault.kind == "login",
                unreachable=fault.kind == "unreachable",
                status=fault.status,
                lasting=fault.kind == "refused"
                and 400 <= fault.status < 500
                and fault.status not in (408, 429),
            )
        if not self.is_lost:
            return ServerFault(stage, f"it refused {method}: {self._quoted(error)}")
        return ServerFault(stage, f"{await self._link.how_it_ended()} before it answered {method}")

    def _quoted(self, error: MCPError) -> str:
        """What an error of the server says, cut once secrets are out."""
        return f"{head(error.message, QUOTED, self._serving.mask)} ({error.code})"

    # --------------------------------------------------------------------- lists

    def lists_doubtful(self) -> None:
        """What was listed may have changed without a word: read it again."""
        self._lists.doubt()

    async def list_resources(self) -> None:
        """Read the lists of resources and templates now, if it has any. Raises CallFault."""
        if self._hello is not None and self._hello.offers("resources"):
            await self.resources()

    async def resources(self) -> Resources:
        """Its resources and templates, read now. Raises CallFault."""
        self._ready()
        return await self._lists.resources()

    async def prompts(self) -> Prompts:
        """Its prompts, read now. Raises CallFault."""
        self._ready()
        return await self._lists.prompts()

    # ------------------------------------------------------------------ requests

    def _ready(self) -> Session:
        if self._session is None or self.is_lost:
            raise CallFault("unavailable", f'The server "{self._entry.name}" is not connected.')
        return self._session

    async def call(self, raw: str, arguments: Json, on_progress: ProgressFn) -> Json:
        """Call a tool and return the raw result; see `Requests.request`."""
        params: Json = {"name": raw, "arguments": arguments}
        return await self._asked("tools/call", params, raw, on_progress)

    async def read(self, uri: str) -> Json:
        """Read a resource and return the raw result. Raises CallFault."""
        return await self._asked("resources/read", {"uri": uri}, uri)

    async def prompt(self, name: str, arguments: dict[str, str]) -> Json:
        """Get a prompt and return the raw result. Raises CallFault."""
        return await self._asked("prompts/get", {"name": name, "arguments": arguments}, name)

    async def ask(self, method: str, params: Json, idle: float) -> Json:
        """Send any request and return the raw result; see `Requests.request`. Raises CallFault.

        For looking at a server: what it answers changes nothing here, and its silence casts no doubt on it.
        """
        return await self._requests.request(self._ready(), method, params, what=method, idle=idle)

    async def _asked(
        self, method: str, params: Json, what: str, on_progress: ProgressFn = no_progress
    ) -> Json:
        session = self._ready()
        await self._pulse.sure()
        try:
            return await self._requests.request(session, method, params, what=what, on_progress=on_progress)
        except CallFault as fault:
            if fault.kind in ("timeout", "unreachable", "lost"):
                self._pulse.doubt()
            raise

    async def complete(self, ref: Json, argument: str, value: str, given: dict[str, str]) -> Json:
        """Ask how an argument may go on; {} where the server does not complete. Raises CallFault."""
        if self._hello is None or not self._hello.offers("completions"):
            return {}
        params: Json = {"ref": ref, "argument": {"name": argument, "value": value}}
        if given:
            params["context"] = {"arguments": given}
        return await self._requests.request(
            self._ready(), "completion/complete", params, what=argument, idle=COMPLETION_TIMEOUT
        )

    async def watch(self, uri: str, on: bool) -> None:
        """Subscribe to a resource or end that. Raises CallFault."""
        session, hello = self._ready(), self._hello
        if hello is not None and hello.era == "stateless":
            if self._listening is None or self._listening.is_over:
                sentence = f'The server "{self._entry.name}" does not tell of changes of resources.'
                raise CallFault("protocol", sentence)
            self._listening.watch(uri, on)
            return
        if hello is None or not hello.subscribes:
            raise CallFault(
                "protocol", f'The server "{self._entry.name}" does not tell of changes of resources.'
            )
        method = "resources/subscribe" if on else "resources/unsubscribe"
        await self._requests.request(session, method, {"uri": uri}, what=uri)

    async def set_log_level(self, level: LogLevel) -> None:
        """Ask for log messages of this level and above. Raises CallFault."""
        session, hello = self._ready(), self._hello
        if hello is not None and hello.era == "stateless":
            session.ask_for_logs(level)
            self.log_level = level
            return
        if hello is None or not hello.offers("logging"):
            raise CallFault("protocol", f'The server "{self._entry.name}" has no log level to set.')
        await self._requests.request(session, "logging/setLevel", {"level": level}, what=level)
        self.log_level = level

    def declare(self) -> None:
        """What the server may ask for changed: say so, where each request says it."""
        session, hello = self._session, self._hello
        if session is not None and hello is not None and hello.era == "stateless":
            session.declare(self._serving.capabilities())

    async def roots_changed(self) -> None:
        """Tell a server that asks for the roots that there are others now."""
        session, hello = self._session, self._hello
        if session is None or hello is None or hello.era != "handshake":
            return
        if self._serving.asks("roots"):
            await session.tell("notifications/roots/list_changed")

    # --------------------------------------------------------------------- pulse

    def doubt(self) -> None:
        """The machine slept, or the network changed: make sure of the server before the next request."""
        self._pulse.doubt(before_next=True)

    def suspect(self) -> None:
        """Something failed that should not: find out whether the server is still there."""
        self._pulse.doubt()

    async def ping(self) -> None:
        """Any answer will do. Raises CallFault."""
        self._ready()
        try:
            async with asyncio.timeout(PING_TIMEOUT):
                await self._ping()
        except (Unreachable, TimeoutError) as error:
            why = str(error) or f"it did not answer ping within {PING_TIMEOUT:g} s"
            raise CallFault("timeout", f'The server "{self._entry.name}" does not answer: {why}') from error

    async def _ping(self) -> None:
        """Any answer will do. Raises Unreachable when the server cannot be asked."""
        session, hello = self._session, self._hello
        if session is None or hello is None:
            return
        try:
            if hello.era == "handshake":
                await session.ask("ping", {})
            else:
                await session.send_discover(hello.version)
        except MCPError as error:
            fault = error.error.data
            if isinstance(fault, LinkFault) and fault.kind in ("unreachable", "lost", "timeout"):
                raise Unreachable(fault.sentence) from error
