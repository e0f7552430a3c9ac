"""The visible state of one server and the events that tell of it.

A phase is told at once, counters at most four times a second. Not here: what brings a phase about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.protocol import Event, Phase, ServerChanged

COUNTER_GAP = 0.25


class Status:
    """What a screen shows of one server."""

    def __init__(self, entry: ServerEntry, emit: Callable[[Event], None], clock: Clock) -> None:
        self.entry = entry
        self._emit = emit
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._told: ServerChanged | None = None
        self._since = clock.time()
        self.phase: Phase = "off"
        self.reason = ""
        self.tools = 0
        self.protocol = ""
        self.latency = 0.0
        self.pid = 0
        self.restarts = 0
        self.noise = 0
        self.offers: tuple[str, ...] = ()
        self.dropped = 0

    def snapshot(self) -> ServerChanged:
        """The state as an event."""
        return ServerChanged(
            name=self.entry.name,
            phase=self.phase,
            reason=self.reason,
            scope=self.entry.scope,
            transport=self.entry.transport,
            tools=self.tools,
            protocol=self.protocol,
            latency=self.latency,
            pid=self.pid,
            since=self._since,
            restarts=self.restarts,
            noise=self.noise,
            offers=self.offers,
            dropped=self.dropped,
        )

    def enter(self, phase: Phase, reason: str = "") -> None:
        """Change phase or reason and tell."""
        if phase != self.phase:
            self._since = self._clock.time()
        self.phase, self.reason = phase, reason
        self._tell()

    def renewed(self, pid: int) -> None:
        """Another process answers from now on, in the same phase; told with what is entered next."""
        self._since = self._clock.time()
        self.pid = pid

    def counted(self) -> None:
        """A counter changed: tell soon."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(COUNTER_GAP, self._tell)

    def close(self) -> None:
        """Nothing more to tell."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell(self) -> None:
        self.close()
        now = self.snapshot()
        if now != self._told:
            self._told = now
            self._emit(now)
