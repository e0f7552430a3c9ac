"""How much of anything a server may want in a while: log messages, questions, the model.

Light: plain rules over a clock that is passed in. They last as long as the server is known, not only one
connection. Not here: what happens to what is too much (notes, serving, sampling).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

MINUTE = 60.0
SAMPLES_A_MINUTE = 10
"""Requests for the model that one server may make within a minute."""
MOST_REFUSED = 5
"""Questions of one server that a person did not say yes to within a minute; then hel says no for them."""
NOTES_A_MINUTE = 6
"""Sentences about what one server wanted and did not get that are told in a minute."""

Clock = Callable[[], float]


class Rate:
    """So many a second, in bursts of as many."""

    def __init__(self, a_second: float, clock: Clock = time.monotonic, burst: float | None = None) -> None:
        self._a_second = a_second
        self._burst = float(burst if burst is not None else a_second)
        self._clock = clock
        self._left = self._burst
        self._at = clock()

    def allows(self) -> bool:
        """Count one; False when it is one too many."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._a_second)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


@dataclass(slots=True)
class Lately:
    """How often something happened within the last minute."""

    clock: Clock = time.monotonic
    _times: deque[float] = field(default_factory=deque)

    @property
    def count(self) -> int:
        """Within the last minute."""
        now = self.clock()
        while self._times and now - self._times[0] >= MINUTE:
            self._times.popleft()
        return len(self._times)

    def happened(self) -> None:
        """Once more."""
        self._times.append(self.clock())

    @property
    def until_next(self) -> float:
        """Seconds until the oldest of them is a minute ago; 0 when there is none."""
        return MINUTE - (self.clock() - self._times[0]) if self.count else 0.0


@dataclass(slots=True)
class Limits:
    """Those of one server."""

    samples: Lately = field(default_factory=Lately)
    refused: Lately = field(default_factory=Lately)
    notes: Rate = field(default_factory=lambda: Rate(NOTES_A_MINUTE / MINUTE, burst=NOTES_A_MINUTE))
