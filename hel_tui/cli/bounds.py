"""When a run ends before it is done: at a signal, or when its time is over.

A thread of its own looks after that, for the one that prints may be stuck at a reader that does not read.
Not here: what bounds a turn from inside (steps, money: core), the reading of stdin (streams).
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from hel_tui.cli.common import Exit
from hel_tui.core import protocol as p
from hel_tui.core.runtime import END_TIME, Runtime

UNREAD = 3.0
"""Seconds output may stay unread once the run is to end; then it ends without."""
IMPATIENT = 1.0
"""Seconds from a second signal to the end, for the last words of a run whose output is read."""
AT_ONCE = 0.1
"""Seconds within which signals are one: a terminal that is closed sends several, and nobody is impatient."""
LAST = 2 * END_TIME
"""Seconds from then on until a core that does not end is left alone."""
LOOK = 0.05
"""Seconds between two looks."""


class Bounds:
    """The clock and the signals of a run, from before its prompt is read."""

    def __init__(self, timeout: float | None = None) -> None:
        """`timeout` in seconds from now; None for no limit. Takes over SIGINT, SIGTERM and SIGHUP."""
        self.timeout = timeout
        self.end = math.inf if timeout is None else time.monotonic() + timeout
        """When the time is over, as `time.monotonic` tells it."""
        self.timed_out = False
        self._presses = 0
        self._heard = -math.inf
        """When the last signal came."""
        self._runtime: Runtime | None = None
        self._printing: float | None = None
        """Since when the main thread has been at what it prints now; None while it prints nothing."""
        self._over = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._hear)

    @property
    def interrupted(self) -> bool:
        """Whether there was a signal."""
        return self._presses > 0

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        """Only counts: what is interrupted may hold a lock that doing more would wait for."""
        before, self._heard = self._heard, time.monotonic()
        if self._heard - before < AT_ONCE:
            return
        self._presses += 1
        if self._runtime is None:  # the prompt is still read: nothing is there that has to end
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def over(self, runtime: Runtime) -> Iterator[None]:
        """Inside, the run is held to its bounds; outside, printing is over."""
        self._runtime = runtime
        threading.Thread(target=self._watch, args=(runtime,), name="hel-bounds", daemon=True).start()
        try:
            yield
        finally:
            self._over = True

    @contextlib.contextmanager
    def printing(self) -> Iterator[None]:
        """Around each thing that is printed: how long it takes is watched."""
        self._printing = time.monotonic()
        try:
            yield
        finally:
            self._printing = None

    # ------------------------------------------------------- the watching thread

    def _watch(self, runtime: Runtime) -> None:
        while not self._presses and time.monotonic() < self.end:
            if self._over:
                return
            time.sleep(max(0.0, min(LOOK, self.end - time.monotonic())))
        asked = time.monotonic()
        if self._presses:
            self._shut_down(runtime)
        else:
            self.timed_out = True
            runtime.send(p.Interrupt(whole=True, why=f"the time limit of {self.timeout:g} seconds"))
        told = self._presses
        while not self._over and self._presses < 2:
            if self._presses > told:
                told = self._presses
                self._shut_down(runtime)
            if self._is_stuck(asked):
                self._leave_unread(runtime)
            if self._printing is None and time.monotonic() > asked + LAST:
                break
            time.sleep(LOOK)
        if not self._over:
            runtime.kill()
            self._wait(IMPATIENT if self._printing is None else 0.0)
            self._leave()

    @staticmethod
    def _shut_down(runtime: Runtime) -> None:
        runtime.send(p.Interrupt())
        runtime.send(p.Shutdown())

    def _is_stuck(self, asked: float) -> bool:
        since = self._printing
        return since is not None and time.monotonic() - max(since, asked) > UNREAD

    def _leave_unread(self, runtime: Runtime) -> None:
        """Nobody reads: end what runs in order, and then without the rest of the output."""
        self._shut_down(runtime)
        end = time.monotonic() + END_TIME
        while runtime.is_running and self._presses < 2 and time.monotonic() < end:
            time.sleep(LOOK)
        if runtime.is_running:
            runtime.kill()
        self._leave()

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._over and time.monotonic() < end:
            time.sleep(LOOK)

    def _leave(self) -> None:
        if not self._over:
            os._exit(Exit.INTERRUPTED if self._presses else Exit.LIMIT)
