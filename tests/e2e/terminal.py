"""A real pseudo-terminal with a program in it, and a screen to look at.

The bytes go through pyte; queries a terminal would answer are answered, as a plain xterm does.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

LIMIT = 60.0
RESTORED = ("\x1b[?1049l", "\x1b[?25h")
"""Leave the alternate screen, show the cursor: what every end must have written."""


class Terminal:
    """A program on a pseudo-terminal of `columns` by `rows`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        """Everything the program wrote."""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self._slave = slave
        self.process = subprocess.Popen(
            list(command),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._slave)

    # ----------------------------------------------------------------- keys

    def type(self, text: str) -> None:
        """Write keys as a person's terminal sends them, one by one and read in between."""
        for character in text:
            os.write(self._master, character.encode())
            self.read(0.02)

    def press(self, *keys: str) -> None:
        """Press named keys or send raw sequences."""
        for key in keys:
            os.write(self._master, KEYS.get(key, key).encode())
            self.read(0.05)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # --------------------------------------------------------------- looking

    def read(self, seconds: float) -> bool:
        """Take what the program wrote, waiting at most so long; False at its end."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self._master, 65_536)
        except OSError:
            return False
        if not data:
            return False
        self.raw += data
        self._answer(data)
        self._stream.feed(re.sub(rb"\x1b\[[<=>][0-9;]*u|\x1b\[>[0-9;]*[a-z]", b"", data))
        return True

    def _answer(self, data: bytes) -> None:
        """Reply to the queries a start-up waits for."""
        if b"\x1b[c" in data:
            os.write(self._master, b"\x1b[?62;22c")
        if b"\x1b[?2026$p" in data:
            os.write(self._master, b"\x1b[?2026;2$y")

    @property
    def text(self) -> str:
        """The screen as lines of text."""
        rows, columns = range(self.screen.lines), range(self.screen.columns)
        lines = ("".join(self.screen.buffer[y][x].data for x in columns).rstrip() for y in rows)
        return "\n".join(lines)

    def wait(self, pattern: str, limit: float = LIMIT) -> str:
        """Wait until the screen matches; returns the screen."""
        end = time.monotonic() + limit
        while not re.search(pattern, self.text, re.S):
            if time.monotonic() > end or (not self.read(0.1) and self.process.poll() is not None):
                raise AssertionError(f"waited in vain for {pattern!r}; the screen was:\n{self.text}")
        return self.text

    def wait_for(self, true: Callable[[], bool], limit: float = LIMIT) -> None:
        """Wait until something outside the screen is so, reading meanwhile."""
        end = time.monotonic() + limit
        while not true():
            assert time.monotonic() < end, f"waited in vain; the screen was:\n{self.text}"
            self.read(0.05)

    def wait_idle(self, seconds: float) -> None:
        """Let so much time pass as a person would, reading meanwhile (dialogs are deaf at first)."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def wait_end(self, limit: float = LIMIT) -> int:
        """Wait for the program's end; returns its status."""
        end = time.monotonic() + limit
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still running; the screen was:\n{self.text}"
            self.read(0.05)
        while select.select([self._master], [], [], 0)[0] and self.read(0):
            pass
        return self.process.returncode

    def kill(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self.process.send_signal(number)

    def is_restored(self) -> bool:
        """The terminal is as it was: cooked, main screen, cursor shown, no mouse reporting."""
        written = self.raw.decode("utf-8", "replace")
        modes = termios.tcgetattr(self._slave)
        cooked = modes[3] & (termios.ICANON | termios.ECHO) == termios.ICANON | termios.ECHO
        left = written.rfind("\x1b[?1049l") > written.rfind("\x1b[?1049h")
        shown = written.rfind("\x1b[?25h") > written.rfind("\x1b[?25l")
        mouse_off = written.rfind("\x1b[?1003l") >= written.rfind("\x1b[?1003h")
        return cooked and left and shown and mouse_off


KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "end": "\x1b[F",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "ctrl+c": "\x03",
    "ctrl+d": "\x04",
    "ctrl+j": "\n",
    "ctrl+p": "\x10",
    "ctrl+q": "\x11",
    "ctrl+s": "\x13",
    "ctrl+t": "\x14",
    "space": " ",
}


def _own_terminal() -> None:
    """In the new process: take the terminal, and hear Ctrl+C although a shell's background job would not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
