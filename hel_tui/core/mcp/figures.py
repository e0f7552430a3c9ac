"""How requests went, by method: counts, median and 95th percentile of their latency.

Written in the core's loop, read from any thread. Not here: single requests (frames).
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field

from hel_tui.core.protocol import Direction, MethodFigures

WINDOW = 500
"""Latencies that median and percentile are of."""
RECENT = 32
MOST = 200
"""Methods that are told apart: a server may invent as many as it likes."""


@dataclass(slots=True)
class _Method:
    count: int = 0
    errors: int = 0
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW))


class Figures:
    """Of one server, over all its lives in this run."""

    def __init__(self) -> None:
        self._methods: dict[tuple[str, Direction], _Method] = {}
        self._lock = threading.Lock()

    def answered(self, direction: Direction, method: str, seconds: float, *, failed: bool) -> None:
        """A request of this method, sent in this direction, was answered after so many seconds."""
        with self._lock:
            if (known := self._counted(direction, method, failed=failed)) is not None:
                known.latencies.append(seconds)

    def unanswered(self, direction: Direction, method: str) -> None:
        """A request of this method never gets an answer: it counts, and has no latency."""
        with self._lock:
            self._counted(direction, method, failed=True)

    def _counted(self, direction: Direction, method: str, *, failed: bool) -> _Method | None:
        """Count one; None when there are too many methods to know another."""
        known = self._methods.get((method, direction))
        if known is None:
            if len(self._methods) >= MOST:
                return None
            known = self._methods[method, direction] = _Method()
        known.count += 1
        known.errors += failed
        return known

    def rows(self) -> tuple[MethodFigures, ...]:
        """All methods, the most used first."""
        with self._lock:
            taken = [(key, one.count, one.errors, list(one.latencies)) for key, one in self._methods.items()]
        rows = []
        for (method, direction), count, errors, latencies in taken:
            ordered = sorted(latencies)
            rows.append(
                MethodFigures(
                    method,
                    direction,
                    count,
                    errors,
                    percentile(ordered, 0.5),
                    percentile(ordered, 0.95),
                    tuple(latencies[-RECENT:]),
                )
            )
        return tuple(sorted(rows, key=lambda row: (-row.count, row.method, row.direction)))


def percentile(ordered: list[float], share: float) -> float:
    """The value below which `share` of the sorted values lie (nearest rank); 0 of none."""
    if not ordered:
        return 0.0
    rank = -(-len(ordered) * share // 1)  # rounded up
    return ordered[max(int(rank) - 1, 0)]
