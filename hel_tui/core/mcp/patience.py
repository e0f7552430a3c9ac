"""How long to go on with a server that fails: waiting between restarts, pausing calls.

Plain rules over a clock that is passed in. Not here: restarting (recovery, supervisor), calling (calling).
"""

from __future__ import annotations

from dataclasses import dataclass

DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0)
"""Seconds before each attempt of one outage."""
STABLE = 30.0
"""Seconds a connection must live to end an outage."""

BREAK_AFTER = 3
BREAK_FOR = 60.0
"""Seconds without calls after so many failures in a row."""


@dataclass(slots=True)
class Backoff:
    """The attempts of one outage."""

    attempt: int = 0
    """How many were made; 0 when there is no outage."""

    def lived(self, seconds: float) -> None:
        """A connection was ready for so long."""
        if seconds >= STABLE:
            self.attempt = 0

    def next_delay(self) -> float | None:
        """Seconds to wait before the next attempt; None when it is time to give up."""
        if self.attempt >= len(DELAYS):
            return None
        self.attempt += 1
        return DELAYS[self.attempt - 1]

    @property
    def of(self) -> int:
        """How many attempts there are in all."""
        return len(DELAYS)


@dataclass(slots=True)
class Breaker:
    """Refuses calls for a while after failures of the transport in a row; then lets one try."""

    failures: int = 0
    open_until: float = 0.0
    _probing: bool = False

    def seconds_left(self, now: float) -> float:
        """0 when a call may go out (after a pause: one, as a probe); else how long to wait."""
        if self.failures < BREAK_AFTER:
            return 0.0
        if now < self.open_until:
            return self.open_until - now
        if self._probing:
            return BREAK_FOR
        self._probing = True
        return 0.0

    def failed(self, now: float) -> None:
        """A call timed out or lost its server."""
        self.failures += 1
        self._probing = False
        if self.failures >= BREAK_AFTER:
            self.open_until = now + BREAK_FOR

    def answered(self) -> None:
        """The server answered, if only with an error."""
        self.failures = 0
        self._probing = False

    def abandoned(self) -> None:
        """A call was cancelled: it says nothing about the server."""
        self._probing = False

    def is_open(self, now: float) -> bool:
        """True while calls are refused."""
        return self.failures >= BREAK_AFTER and now < self.open_until
