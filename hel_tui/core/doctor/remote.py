"""How a server over HTTP behaves: connected to as for work, listed, asked again, and let go.

Not here: processes (behaviour), what its definitions are worth (definitions).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from functools import partial

from hel_tui.core.counts import counted
from hel_tui.core.doctor.behaviour import ANSWER, LISTS, METHOD_NOT_FOUND
from hel_tui.core.doctor.definitions import definitions
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.listing import read_pages
from hel_tui.core.mcp.supervisor import Supervisor
from hel_tui.core.protocol import Finding
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json

SLOW_START = 5.0
"""Seconds after which a connection is told as slow."""
MOST = 10_000
"""Entries of a list that are read."""


async def over_http(
    entry: ServerEntry, host: Host, hide: Callable[[str], str], tell: Callable[[Finding], None]
) -> None:
    """Look at a server over HTTP with a host of its own, which the caller closes; `tell` hears findings."""
    began = time.monotonic()
    host.start([replace(entry, reconnect=False)])
    await host.settled()
    status = next(one for one in host.statuses() if one.name == entry.name)
    seconds = time.monotonic() - began
    if status.phase not in ("ready", "degraded"):
        failure = host.failure(entry.name)
        stage = failure.stage if failure is not None else "handshake"
        mend = f"hel mcp login {entry.name}" if status.phase == "needs login" else ""
        tell(Finding("error", stage, hide(status.reason or status.phase), mend=mend))
        return
    slow = seconds > SLOW_START
    tell(Finding("warning" if slow else "ok", "start", f"connected and listed in {seconds:.2f} s"))
    supervisor = host.server(entry.name)
    assert supervisor is not None
    is_stateless = supervisor.hello is not None and supervisor.hello.era == "stateless"
    era = "stateless" if is_stateless else "initialize"
    tell(Finding("ok", "protocol", f"hel uses protocol {status.protocol} ({era})"))
    specs = [
        tool.spec for row in host.catalogue.rows() if (tool := host.catalogue.get(row.public)) is not None
    ]
    tell(Finding("ok" if specs else "info", "lists", counted(len(specs), "tool")))
    for row in host.catalogue.rows():
        if row.reason:
            tell(Finding("warning", "lists", f"not offered: {hide(row.reason)}", tool=row.raw))
    for finding in await in_thread(lambda: list(definitions(entry.name, specs, hide)), "hel-definitions"):
        tell(finding)
    store = host.frames(entry.name)
    assert store is not None
    looking = _Looking(supervisor, store, hide)
    for step in (looking.lists(), looking.pinged(), looking.unknown(), looking.cancelled()):
        async for finding in step:
            tell(finding)
    if status.noise:
        sentence = f"no protocol: {counted(status.noise, 'message')}"
        tell(Finding("warning", "stdout", sentence, mend="send JSON-RPC messages alone"))


@dataclass(frozen=True, slots=True)
class _Looking:
    """Asks a server that is connected."""

    supervisor: Supervisor
    store: FrameStore
    hide: Callable[[str], str]

    async def ask(self, method: str, params: Json) -> Json:
        """Raises CallFault."""
        return await self.supervisor.through(lambda connection: connection.ask(method, params, ANSWER))

    async def lists(self) -> AsyncIterator[Finding]:
        """What it declares beside tools."""
        hello = self.supervisor.hello
        for capability, method, key in LISTS:
            if hello is None or not hello.offers(capability):
                continue
            try:
                entries, cut = await read_pages(partial(self.ask, method), key, MOST)
            except CallFault as fault:
                is_optional = method == "resources/templates/list" and fault.code == METHOD_NOT_FOUND
                mend = "" if is_optional else f"answer {method}, or do not declare {capability}"
                sentence = f"{method}: {self.hide(str(fault))}"
                yield Finding("info" if is_optional else "error", "lists", sentence, mend=mend)
            else:
                told = counted(len(entries), key.removesuffix("s"), key) + (f": {cut}" if cut else "")
                yield Finding("warning" if cut else "ok", "lists", told)

    async def pinged(self) -> AsyncIterator[Finding]:
        """Whether it answers, and how fast."""
        began = time.monotonic()
        try:
            await self._ping()
        except CallFault as fault:
            mend = "answer ping with an empty result at any time"
            yield Finding("error", "ping", self.hide(str(fault)), mend=mend)
        else:
            yield Finding("ok", "ping", f"answered in {(time.monotonic() - began) * 1000:.0f} ms")

    async def _ping(self) -> None:
        """Raises CallFault. What stands for ping in the stateless era is the connection's to know."""
        hello = self.supervisor.hello
        if hello is not None and hello.era == "stateless":
            await self.supervisor.through(lambda connection: connection.ping())
        else:
            await self.ask("ping", {})

    async def _silence(self) -> str:
        """Why it does not answer any more; empty when it does, or knows no ping."""
        try:
            await self._ping()
        except CallFault as fault:
            return "" if fault.code == METHOD_NOT_FOUND else self.hide(str(fault))
        return ""

    async def unknown(self) -> AsyncIterator[Finding]:
        """How it refuses what does not exist (JSON-RPC 2.0, section 5.1)."""
        mend = "answer -32601 (JSON-RPC, method not found)"
        try:
            await self.ask("hel/unknown", {})
        except CallFault as fault:
            if fault.code == METHOD_NOT_FOUND:
                yield Finding("ok", "unknown", "an unknown method is refused with -32601")
            elif fault.code:
                sentence = f"an unknown method is refused with {fault.code}, not -32601"
                yield Finding("warning", "unknown", sentence, mend=mend)
            else:
                sentence = f"after an unknown method: {self.hide(str(fault))}"
                yield Finding("error", "unknown", sentence, mend=mend)
        else:
            yield Finding("warning", "unknown", "it answers a method that does not exist", mend=mend)

    async def cancelled(self) -> AsyncIterator[Finding]:
        """A request is taken back while it is on its way; what comes next must be answered."""
        hello = self.supervisor.hello
        method = "tools/list" if hello is not None and hello.offers("tools") else "ping"
        before = self.store.end
        asking = asyncio.ensure_future(self.ask(method, {}))
        while not asking.done() and not self._is_out(method, before):  # noqa: ASYNC110 - a moment
            await asyncio.sleep(0.001)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        if problem := await self._silence():
            sentence = f"after a request was cancelled: {problem}"
            mend = "take notifications/cancelled for any id, known or not"
            yield Finding("error", "cancel", sentence, mend=mend)
        else:
            yield Finding("ok", "cancel", "it goes on after cancelled requests")

    def _is_out(self, method: str, since: int) -> bool:
        """Whether a request of this method is on its way over HTTP."""
        frames = self.store.frames(since, self.store.end)
        return any(one.direction == "out" and one.method == method and one.exchange >= 0 for one in frames)
