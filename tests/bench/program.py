"""A program on a pseudo-terminal, watched as cheaply as can be: time stamps, keys, processor time.

The screen is not emulated: a reader thread would take the processor that is measured. What was drawn is
found in the bytes, with their escape sequences taken out. Not here: what is measured.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
HEL = (sys.executable, "-c", "import sys; from hel_tui.cli import main; sys.exit(main())")
"""As the installed command starts it."""
LIMIT = 90.0
"""Seconds anything may take before a measurement is given up."""
_ESCAPES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]"
)
_TAIL = 16_384
"""Bytes of what was drawn before that may still belong to what is waited for."""
_QUERIES = {b"\x1b[c": b"\x1b[?62;22c", b"\x1b[?2026$p": b"\x1b[?2026;2$y"}


class GaveUp(RuntimeError):
    """What was waited for did not come."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """A home of its own, English, none of the machine's keys."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    own = {"HOME": str(home), "HEL_HOME": str(home / "hel"), "HEL_LANG": "en", "PYTHONPATH": str(ROOT)}
    return {**kept, **own, "TERM": "xterm-256color", "COLORTERM": "truecolor", **more}


class Program:
    """A program that runs on a terminal of `columns` by `rows`. Times are of time.monotonic()."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.written = 0
        """Bytes the program wrote."""
        self._recent = b""
        self.last = 0.0
        """When what was waited for last was read."""
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            list(command),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            end = time.monotonic() + 15
            with contextlib.suppress(GaveUp):
                while time.monotonic() < end:
                    self._read(0.05)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._master)

    # ------------------------------------------------------------------ output

    def _read(self, seconds: float) -> bytes:
        """What the program wrote, waiting at most so long."""
        if not select.select([self._master], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self._master, 262_144)
        except OSError:
            data = b""
        if not data:
            raise GaveUp(f"the program ended; its last words:\n{self.shown()[-2000:]}")
        self.written += len(data)
        for query, answer in _QUERIES.items():
            if query in data:
                os.write(self._master, answer)
        return data

    def wait(self, pattern: str, limit: float = LIMIT) -> float:
        """Wait until what is drawn from now on matches; returns the time it was read."""
        wanted, end = re.compile(pattern.encode(), re.S), time.monotonic() + limit
        self._recent = b""
        while time.monotonic() < end:
            data = self._read(min(1.0, limit))
            now = time.monotonic()
            self._recent = self._recent[-_TAIL:] + data
            if data and wanted.search(_ESCAPES.sub(b"", self._recent)):
                self.last = now
                return now
        raise GaveUp(f"waited in vain for {pattern!r}; drawn since:\n{self.shown()[-2000:]}")

    def shown(self) -> str:
        """What was drawn since the last wait began, escape sequences taken out."""
        return _ESCAPES.sub(b"", self._recent).decode("utf-8", "replace")

    def pass_time(self, seconds: float) -> None:
        """Let time pass and keep reading."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._read(left)

    # -------------------------------------------------------------------- keys

    def keys(self, text: str) -> None:
        """Write keys."""
        os.write(self._master, text.encode())

    def echo(self, key: str, expected: str) -> float:
        """Press a key and wait until `expected` is drawn; returns seconds."""
        began = time.monotonic()
        self.keys(key)
        return self.wait(re.escape(expected)) - began

    # -------------------------------------------------------------------- cost

    def processor(self) -> float:
        """Processor seconds of the program itself so far, all threads."""
        return processor_of(self.process.pid)

    def tree(self) -> list[psutil.Process]:
        """The program and everything it started."""
        root = psutil.Process(self.process.pid)
        return [root, *root.children(recursive=True)]


def processor_of(pid: int) -> float:
    """Processor seconds of a process, all threads; to the nanosecond where the system has such a clock."""
    if sys.platform == "linux":
        return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3)
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def memory_of(processes: Sequence[psutil.Process]) -> float:
    """MiB of the processes together: shared pages shared out where the system counts so."""
    infos = [one.memory_full_info() for one in processes]
    return sum(getattr(info, "pss", 0) or info.uss for info in infos) / 2**20
