"""hel's end of the reaper: what it must know so that no process outlives a killed hel.

Whatever is started under a guard carries its mark in the environment. A process in the making holds the
guard's pipe until it has that environment, so the reaper cannot miss one, however suddenly hel ends.
Not here: ending processes while hel lives (mcp.process, tools.processes).
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path

from hel_tui.core.threads import in_thread

SERVER = "HEL_SERVER"
COMMAND = "HEL_COMMAND"
"""Variables with the mark of a server's and of a command's processes."""
ENGINE = "HEL_ENGINE"
"""The same for an engine that serves a model's file."""
RECORDED = "HEL_RECORDED"
"""The same for a server that is recorded: it may carry the marks of whoever started the recorder too."""

_PROGRAM = Path(__file__).with_name("reaper.py")


class Guard:
    """Starts the reaper before the first process and tells it of each. Never raises, never blocks."""

    def __init__(self, variable: str = SERVER) -> None:
        self.variable = variable
        self.run = os.urandom(12).hex() + "/"
        """How every mark of this guard begins."""
        self._numbers = itertools.count(1)
        self._popen: subprocess.Popen[bytes] | None = None
        self._fd = -1
        self._lock = threading.Lock()
        """Held for moments: the screen's thread watches the terminal, the core's all else."""
        self._is_used = False
        self._terminal = ""
        """The terminal's modes before the app changed them, as the reaper reads them."""

    @property
    def pid(self) -> int:
        """Process id of the reaper; 0 before it runs."""
        return self._popen.pid if self._popen is not None else 0

    def mark(self, name: str = "") -> str:
        """Make sure that the reaper runs; return the value of `variable` for one process to be started."""
        self._use()
        printable = "".join(char for char in name if char.isprintable())
        return f"{self.run}{next(self._numbers)}/{printable}"

    def watch(self, pid: int) -> None:
        """A process with this group was started."""
        self._use()
        self._tell(f"+{pid}\n")

    def watch_helper(self, pid: int) -> None:
        """A server started this process."""
        self._tell(f"h {pid}\n")

    def forget(self, pid: int) -> None:
        """The process is gone, with its group."""
        self._tell(f"-{pid}\n")

    def watch_folder(self, folder: Path) -> None:
        """This folder will be empty and is to be removed if hel is killed."""
        self._use()
        self._tell(f"d {os.fsencode(folder).hex()}\n")

    def watch_tree(self, folder: Path) -> None:
        """This folder of hel's own is to be removed with all that is in it if hel is killed."""
        self._use()
        self._tell(f"t {os.fsencode(folder).hex()}\n")

    def watch_terminal(self, descriptor: int) -> None:
        """The app changes the modes of this terminal: they are taken back if hel is killed. The first time is
        before they are changed.
        """
        if not self._terminal:
            self._terminal = _modes_of(descriptor)
        with self._lock:
            if self._popen is None:
                self._start()
        self._tell(f"m {self._terminal}\n")

    def forget_terminal(self) -> None:
        """The terminal has its own modes again. A reaper that was needed for nothing else ends."""
        self._tell("m\n")
        with self._lock:
            if not self._is_used and self._fd >= 0:
                self._tell("q\n")
                os.close(self._fd)
                self._fd, self._popen = -1, None

    def forget_folder(self, folder: Path) -> None:
        """The folder was dealt with."""
        self._tell(f"k {os.fsencode(folder).hex()}\n")

    async def close(self) -> None:
        """All processes are gone: let the reaper end."""
        popen, self._popen = self._popen, None
        if self._fd >= 0:
            self._tell("q\n")
            os.close(self._fd)
            self._fd = -1
        if popen is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                await in_thread(lambda: popen.wait(5), "hel-reaper-end")

    def _use(self) -> None:
        """Processes or folders are to be watched."""
        with self._lock:
            self._is_used = True
            if self._popen is None:
                self._start()

    def _start(self) -> None:
        spec = importlib.util.find_spec("psutil")
        library = str(Path(spec.origin).parents[1]) if spec is not None and spec.origin else ""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM), f"{self.variable}={self.run}", library],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                # a hel that is itself somebody's server or command ends with its marks; its reaper must not
                env={
                    name: value
                    for name, value in os.environ.items()
                    if name not in (SERVER, COMMAND, ENGINE, RECORDED)
                },
                start_new_session=True,
            )
        except OSError:
            os.close(writing)
        else:
            self._fd = writing
        finally:
            os.close(reading)

    def _tell(self, line: str) -> None:
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.write(self._fd, line.encode("ascii"))


def _modes_of(descriptor: int) -> str:
    """A terminal, who has it, and its modes; empty when it is none."""
    import json
    import termios

    try:
        *numbers, characters = termios.tcgetattr(descriptor)
        facts = {
            "path": os.ttyname(descriptor),
            "group": os.getpgrp(),
            "session": os.getsid(0),
            "attributes": [*numbers, [_byte(one).hex() for one in characters]],
        }
    except (OSError, termios.error):
        return ""
    return json.dumps(facts).encode().hex()


def _byte(character: bytes | int) -> bytes:
    """A control character, or where the terminal counts instead, the number as one."""
    return character if isinstance(character, bytes) else bytes([character])
