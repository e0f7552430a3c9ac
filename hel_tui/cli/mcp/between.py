"""Between a client and a server over stdio: bytes pass unchanged both ways, and each line is written down.

Not here: what is started and where it is written (recording), the file (core.mcp.cassette).
"""

from __future__ import annotations

import contextlib
import math
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field

from hel_tui.cli.mcp import pipes
from hel_tui.core.mcp.cassette import Tape, Way
from hel_tui.core.mcp.framing import LineSplitter, TooLong
from hel_tui.core.store.atomic import why

LINGER = 1.0
"""Seconds the server's stdout is still read after it ended: helpers may hold it open for ever."""
MAX_PIPE = 1 << 20
"""Bytes that a pipe holds at most."""
_STEP = 0.05
MAX_WAITING = 64 << 20
"""Bytes that may wait to be written."""
PASSED_ON = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")


Heard = tuple[float, Way, bytes]
"""Seconds since the beginning, the way, bytes."""


class Waiting:
    """What waits to be written, in order: no more than so many bytes, so that whoever brings more waits."""

    def __init__(self, limit: int = MAX_WAITING) -> None:
        self._limit = limit
        self._found: deque[Heard | None] = deque()
        self._change = threading.Condition()
        self.size = 0
        """Bytes that wait now."""
        self._held_up = 0

    def put(self, one: Heard) -> None:
        """Add what was heard as soon as there is room; a piece over the limit has room when nothing waits."""
        with self._change:
            while self.size and self.size + len(one[2]) > self._limit:
                self._held_up += 1
                self._change.wait()
                self._held_up -= 1
            self._found.append(one)
            self.size += len(one[2])
            self._change.notify_all()

    @property
    def is_full(self) -> bool:
        """Somebody waits for room."""
        return self._held_up > 0

    def end(self) -> None:
        """Nothing more comes."""
        with self._change:
            self._found.append(None)
            self._change.notify_all()

    def get(self) -> Heard | None:
        """Wait for the next one; None at the end."""
        with self._change:
            while not self._found:
                self._change.wait()
            one = self._found.popleft()
            self.size -= len(one[2]) if one is not None else 0
            self._change.notify_all()
            return one


@dataclass(slots=True)
class Between:
    """Passes bytes on and has them written down. A flood passes as fast as it can be written; what is less
    never waits.
    """

    popen: subprocess.Popen[bytes]
    tape: Tape
    heard: Waiting = field(default_factory=Waiting)
    began: float = field(default_factory=time.monotonic)
    passed: int = 0
    """Bytes of the server."""
    most: float = math.inf
    """How many of them pass."""
    is_delivering: bool = False
    """Bytes of the server are on their way: to the cassette, or to a client that reads slowly."""
    is_told_to_end: bool = False
    """A signal came when there was no server any more."""

    def run(self) -> int:
        """Until the server ended; returns how, negative for a signal."""
        for name in PASSED_ON:
            signal.signal(getattr(signal, name), lambda number, _frame: self._pass_on(number))
        assert self.popen.stdin is not None and self.popen.stdout is not None
        writer = threading.Thread(target=self._write, name="hel-tape")
        writer.start()
        threading.Thread(
            target=self._pump, args=(0, self.popen.stdin.fileno(), "out"), daemon=True, name="hel-out"
        ).start()
        back = threading.Thread(
            target=self._pump, args=(self.popen.stdout.fileno(), 1, "in"), daemon=True, name="hel-in"
        )
        back.start()
        code = self.popen.wait()
        self._linger(back)
        self.heard.end()
        writer.join()
        return code

    def _linger(self, back: threading.Thread) -> None:
        """Wait until the server's stdout is at its end. Time in which something is on its way counts for
        nothing, however slowly the client reads; but what the server said itself fits in a pipe.
        """
        left, self.most = LINGER, self.passed + MAX_PIPE
        while back.is_alive() and not self.is_told_to_end:
            if not self.is_delivering and left <= 0:
                break
            back.join(_STEP)
            left -= 0 if self.is_delivering else _STEP

    def _pass_on(self, number: int) -> None:
        if self.popen.returncode is not None:
            self.is_told_to_end = True
        with contextlib.suppress(ProcessLookupError):
            self.popen.send_signal(number)

    def _pump(self, source: int, target: int, way: Way) -> None:
        """Pass on what comes, until either side is gone; then the other side hears of it."""
        with contextlib.suppress(OSError):
            while (way == "out" or self.passed < self.most) and (data := pipes.read(source)):
                if way == "in":
                    self.is_delivering = True
                    self.passed += len(data)
                self.heard.put((time.monotonic() - self.began, way, data))
                pipes.deliver(target, data)
                if way == "in":
                    self.is_delivering = False
        ends = (self.popen.stdin,) if way == "out" else (self.popen.stdout,)
        for end in ends:
            with contextlib.suppress(OSError):
                assert end is not None
                end.close()

    def _write(self) -> None:
        """Write each line as soon as it is whole; a last one without its end too."""
        splitters: dict[Way, LineSplitter] = {"out": LineSplitter(), "in": LineSplitter()}
        at, is_writing = 0.0, True
        while True:
            one = self.heard.get()
            if one is None:
                lines = [(way, line) for way, splitter in splitters.items() for line in splitter.close()]
            else:
                at, way, data = one
                lines = [(way, line) for line in splitters[way].feed(data)]
            for side, line in lines:
                if not is_writing:
                    break
                text = f"[a line of {line.size:,} bytes]" if isinstance(line, TooLong) else line
                try:
                    self.tape.add(at, side, text)
                except OSError as error:
                    is_writing = False
                    sys.stderr.write(f"hel mcp record: nothing more is written: {why(error)}\n")
            if one is None:
                return
