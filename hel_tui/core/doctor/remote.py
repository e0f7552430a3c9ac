"""How a server over HTTP behaves: connected to as for work, listed, asked again, and let go.

Not here: processes (behaviour), what its definitions are worth (definitions).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from hel_tui.core.doctor.definitions import definitions
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.host import Host
from hel_tui.core.protocol import Finding
from hel_tui.core.threads import in_thread

SLOW_START = 5.0
"""Seconds after which a connection is told as slow."""


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
    tell(Finding("ok", "handshake", f"it speaks {status.protocol}"))
    specs = [
        tool.spec for row in host.catalogue.rows() if (tool := host.catalogue.get(row.public)) is not None
    ]
    tell(Finding("ok" if specs else "info", "lists", f"{len(specs)} tools"))
    for row in host.catalogue.rows():
        if row.reason:
            tell(Finding("warning", "lists", f"not offered: {hide(row.reason)}", tool=row.raw))
    for finding in await in_thread(lambda: list(definitions(entry.name, specs)), "hel-definitions"):
        tell(finding)
    supervisor = host.server(entry.name)
    assert supervisor is not None
    began = time.monotonic()
    try:
        await supervisor.through(lambda connection: connection.ping())
    except CallFault as fault:
        tell(Finding("error", "ping", hide(str(fault)), mend="answer ping with an empty result at any time"))
    else:
        tell(Finding("ok", "ping", f"answered in {(time.monotonic() - began) * 1000:.0f} ms"))
    if status.noise:
        sentence = f"{status.noise} messages were no protocol"
        tell(Finding("warning", "stdout", sentence, mend="send JSON-RPC messages alone"))
