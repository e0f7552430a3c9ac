"""Servers that outlived the hel that started them: written down while they run, found at the next start.

One file a hel process in the state folder, so that several never write the same one.
Not here: asking whether to end them (session).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hel_tui.core.store.atomic import write_atomic

FOLDER = "servers"
_SAME = 2.0
"""Seconds two readings of one process's start time may differ."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A server of an earlier run. `created` is the Unix time at which its process began."""

    server: str
    pid: int
    created: float
    command_line: str


class RunRecord:
    """The servers that this hel process has running. Its methods write a file: call them in a thread."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / FOLDER / f"{os.getpid()}.json"
        self._running: dict[int, Leftover] = {}
        self._lock = threading.Lock()

    def add(self, server: str, pid: int, command_line: str) -> None:
        """Write down a started server."""
        one = Leftover(server, pid, _created(pid), command_line)
        with self._lock:
            self._running[pid] = one
            self._write()

    def remove(self, pid: int) -> None:
        """It has ended."""
        with self._lock:
            if self._running.pop(pid, None) is not None:
                self._write()

    def _write(self) -> None:
        if not self._running:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
            return
        servers = [asdict(one) for one in self._running.values()]
        owner = {"pid": os.getpid(), "created": _created(os.getpid())}
        write_atomic(self._path, json.dumps({"hel": owner, "servers": servers}).encode())


def find_leftovers(state_dir: Path) -> tuple[Leftover, ...]:
    """Return servers that still run although their hel is gone. Records with none are deleted."""
    found: list[Leftover] = []
    for path in sorted((state_dir / FOLDER).glob("*.json")):
        owner, servers = _read(path)
        if _runs(owner.get("pid"), owner.get("created")):
            continue
        alive = [one for one in servers if _runs(one.pid, one.created)]
        if not alive:
            with contextlib.suppress(OSError):
                path.unlink()
        found += alive
    return tuple(found)


def end_leftovers(leftovers: tuple[Leftover, ...], grace: float = 2.0) -> None:
    """SIGTERM to their groups, wait up to `grace` seconds, SIGKILL. Blocks: call it in a thread."""
    alive = [one for one in leftovers if _signal(one, signal.SIGTERM)]
    deadline = time.monotonic() + grace
    while alive and time.monotonic() < deadline:
        time.sleep(0.05)
        alive = [one for one in alive if _runs(one.pid, one.created)]
    for one in leftovers:
        with contextlib.suppress(OSError):
            os.killpg(one.pid, signal.SIGKILL) if one in alive else None


def _signal(one: Leftover, number: signal.Signals) -> bool:
    if not _runs(one.pid, one.created):
        return False
    with contextlib.suppress(OSError):
        os.killpg(one.pid, number)
    return True


def _read(path: Path) -> tuple[dict[str, Any], list[Leftover]]:
    try:
        value = json.loads(path.read_bytes())
        servers = [Leftover(**one) for one in value["servers"]]
        return dict(value["hel"]), servers
    except (OSError, ValueError, TypeError, KeyError):
        return {}, []


def _created(pid: int) -> float:
    import psutil

    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return 0.0


def _runs(pid: object, created: object) -> bool:
    import psutil

    if not isinstance(pid, int) or not isinstance(created, int | float):
        return False
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - created) < _SAME and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError):
        return False
