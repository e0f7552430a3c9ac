"""What failed in this run, numbered: servers that did not come up or went away, calls lost on the way.

Not here: finding out why (life, supervisor).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from hel_tui.core.protocol import ServerFailure

MOST = 200
"""Failures that are kept, the newest."""


class Failures:
    """The newest failures of all servers. All methods are safe from any thread."""

    def __init__(self, mask: Callable[[str], str] = str) -> None:
        """`mask` takes secrets out of what a failure quotes."""
        self._mask = mask
        self._kept: dict[int, ServerFailure] = {}
        self._last = 0
        self._lock = threading.Lock()

    def add(self, failure: ServerFailure) -> ServerFailure:
        """Keep it; returned with its number, its time, and without secrets."""
        with self._lock:
            self._last += 1
            kept = replace(masked(failure, self._mask), number=self._last, time=time.time())
            self._kept[self._last] = kept
            self._kept.pop(self._last - MOST, None)
        return kept

    def amend(self, number: int, stderr: tuple[str, ...]) -> bool:
        """More of its last words may have come; whether there are others now."""
        with self._lock:
            known = self._kept.get(number)
            if known is None or known.stderr == stderr:
                return False
            self._kept[number] = replace(known, stderr=stderr)
            return True

    def get(self, number: int) -> ServerFailure | None:
        """The failure with this number; None when it is not kept any more."""
        with self._lock:
            return self._kept.get(number)


def masked(failure: ServerFailure, mask: Callable[[str], str]) -> ServerFailure:
    """The failure without secrets; lines of stderr were masked when they came."""
    return replace(
        failure,
        sentence=mask(failure.sentence),
        resolved=mask(failure.resolved),
        cwd=mask(failure.cwd),
        exit=mask(failure.exit),
        noise=tuple(map(mask, failure.noise)),
    )


def innermost(error: BaseException) -> BaseException:
    """The cause at the bottom of groups and chains of exceptions."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif error.__cause__ is not None:
            error = error.__cause__
    return error
