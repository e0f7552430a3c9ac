"""What follows when a server has ended by itself: another try after a while, or giving it up.

Not here: how long a while is (patience), starting it (supervisor), how it is told (reports).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.patience import Backoff
from hel_tui.core.mcp.reports import Reports
from hel_tui.core.mcp.status import Status


class Recovery:
    """That of one server, over all its outages."""

    def __init__(
        self, status: Status, reports: Reports, clock: Clock, wake: asyncio.Event, settle: Callable[[], None]
    ) -> None:
        """`wake` is set when somebody wants something else meanwhile; `settle` hears that the start came to
        something.
        """
        self._status = status
        self._reports = reports
        self._clock = clock
        self._wake = wake
        self._settle = settle
        self._backoff = Backoff()
        self._is_given_up = False

    @property
    def is_outage(self) -> bool:
        """Whether it was tried again already since it was well."""
        return self._backoff.attempt > 0

    def begin_anew(self) -> None:
        """Forget what was tried: the person starts it."""
        self._backoff = Backoff()
        self._is_given_up = False

    def lived(self, seconds: float) -> None:
        """A connection was ready for so long; 0 if it never was."""
        self._backoff.lived(seconds)

    def give_up(self) -> None:
        """Its address could not be reached for too long: the end that comes now is one for good."""
        self._is_given_up = True

    async def after(self, fault: ServerFault, entry: ServerEntry, *, was_ready: bool) -> bool:
        """Wait and say that it is to be started again, or give it up, or stop waiting because of `wake`."""
        failure = self._reports.failure
        reason = failure.exit if failure is not None and failure.exit else fault.sentence
        if fault.needs_login:
            self._reports.forget()
            self._backoff = Backoff()
            self._status.enter("needs login", fault.sentence)
            self._reports.notice("warning", f"It needs you to log in: {fault.sentence}.")
            self._settle()
            return False
        is_outage = was_ready or self.is_outage or fault.unreachable
        if self._is_given_up:
            fault = replace(fault, lasting=True)
            self._is_given_up = False
        if is_outage and entry.reconnect and not fault.lasting:
            delay = self._backoff.next_delay()
            if delay is not None:
                count = f"attempt {self._backoff.attempt} of {self._backoff.of}"
                if self._backoff.attempt == 1 and failure is not None:
                    self._reports.failed(failure, f"{reason}; hel tries to bring it back", retried=True)
                self._status.enter("restarting", f"{reason}; {count} in {delay:g} s")
                if fault.unreachable:
                    self._settle()
                return not await self._clock.wait(self._wake, delay)
            reason = f"gave up after {self._backoff.of} attempts: {reason}"
        if not is_outage or entry.reconnect:
            self._reports.forget()
        self._backoff = Backoff()
        self._status.enter("failed", reason)
        if failure is not None:
            told = fault.sentence if not is_outage else reason
            self._reports.matters(self._reports.failed(failure, told))
        self._settle()
        return False
