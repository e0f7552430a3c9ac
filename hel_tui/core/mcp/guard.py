"""hel's end of the reaper: what it must know so that no server outlives a killed hel.

Not here: ending servers while hel lives (process).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from hel_tui.core.threads import in_thread

_PROGRAM = Path(__file__).with_name("reaper.py")


class Guard:
    """Starts the reaper with the first server and tells it of each. Never raises, never blocks."""

    def __init__(self) -> None:
        self._popen: subprocess.Popen[bytes] | None = None
        self._fd = -1

    @property
    def pid(self) -> int:
        """Process id of the reaper; 0 before it runs."""
        return self._popen.pid if self._popen is not None else 0

    def watch(self, pid: int) -> None:
        """A server with this process group was started."""
        if self._popen is None:
            self._start()
        self._tell(f"+{pid}\n")

    def watch_helper(self, pid: int) -> None:
        """A server started this process."""
        self._tell(f"h {pid}\n")

    def forget(self, pid: int) -> None:
        """The process is gone, with its group."""
        self._tell(f"-{pid}\n")

    async def close(self) -> None:
        """All servers are gone: let the reaper end."""
        popen, self._popen = self._popen, None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if popen is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                await in_thread(lambda: popen.wait(5), "hel-reaper-end")

    def _start(self) -> None:
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM)],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
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
