"""What failed in this run, numbered: servers that did not come up or went away, calls lost on the way.

Not here: finding out why (life, supervisor).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.protocol import ServerFailure

MOST = 200
"""Failures that are kept, the newest."""


class Failures:
    """The newest failures of all servers. All methods are safe from any thread."""

    def __init__(self, mask: Callable[[str], str] = str) -> None:
        """`mask` takes secrets out of what a failure quotes."""
        self._mask = mask
        self._kept: dict[int, ServerFailure] = {}
        self._current: dict[str, ServerFailure] = {}
        self._last = 0
        self._lock = threading.Lock()

    def current(self, server: str) -> ServerFailure | None:
        """What is the matter with a server now; None while it is well."""
        with self._lock:
            return self._current.get(server)

    def matter(self, failure: ServerFailure) -> None:
        """This is the matter with its server from now on; told or not, so it may have no number."""
        kept = masked(failure, self._mask)
        with self._lock:
            self._current[kept.server] = kept

    def well(self, server: str) -> None:
        """Nothing is the matter with it any more."""
        with self._lock:
            self._current.pop(server, None)

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
    *_, last = chain(error)
    return last


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and what it was raised from, of a group the first."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        yield at
        seen.add(id(at))
        at = _behind(at)


def _behind(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]
    return error.__cause__


def fault_in(error: BaseException) -> ServerFault | None:
    """The fault that groups and chains of exceptions carry, the outermost one; None where there is none."""
    return next((one for one in chain(error) if isinstance(one, ServerFault)), None)
