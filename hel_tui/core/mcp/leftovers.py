"""Servers that outlived the hel that started them: written down while they run, found at the next start.

One file a hel process in the state folder, so that several never write the same one.
Not here: asking whether to end them (session).
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hel_tui.core.guard import SERVER
from hel_tui.core.reaper import find_marked
from hel_tui.core.store.atomic import write_atomic

FOLDER = "servers"
_SAME = 2.0
"""Seconds two readings of one process's start time may differ."""
_PART_AGE = 3600.0
"""Seconds after which a file that was not finished is nobody's."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A server of an earlier run. `created` is the Unix time at which its process began."""

    server: str
    pid: int
    created: float
    command_line: str


class RunRecord:
    """The servers that this hel process has running. Its methods write a file: call them in a thread."""

    def __init__(self, state_dir: Path, run: str = "") -> None:
        """`run` is how the marks of all these servers begin."""
        self._run = run
        self._path = state_dir / FOLDER / f"{os.getpid()}.json"
        self._running: dict[int, Leftover] = {}
        self._is_expected = False
        """A server may have been started that is not noted yet."""
        self._wanted = 0
        """Counts the changes; `_written` is the last of them that is in the file."""
        self._written = 0
        self._lock = threading.Lock()
        self._writing = threading.Lock()

    def begin(self) -> None:
        """Write down that servers may run from now on: one that is not noted any more has the mark."""
        with self._lock:
            if not self._running and not self._is_expected:
                self._is_expected = True
                self._wanted += 1
            change = self._wanted
        self._write(change)

    def end(self) -> None:
        """No server can be running any more, also none that was expected and never came."""
        with self._lock:
            self._is_expected = False
            self._wanted += 1
            change = self._wanted
        self._write(change)

    def add(self, server: str, pid: int, command_line: str) -> None:
        """Write down a started server."""
        one = Leftover(server, pid, _created(pid), command_line)
        with self._lock:
            self._running[pid] = one
            self._wanted += 1
            change = self._wanted
        self._write(change)

    def remove(self, pid: int) -> None:
        """It has ended."""
        with self._lock:
            if self._running.pop(pid, None) is None:
                return
            self._is_expected = self._is_expected and bool(self._running)
            self._wanted += 1
            change = self._wanted
        self._write(change)

    def _write(self, change: int) -> None:
        """See that the file says at least what was so at this change: one writing serves all who wait."""
        with self._writing:
            if self._written >= change:
                return
            with self._lock:
                latest, is_needed = self._wanted, bool(self._running) or self._is_expected
                servers = [asdict(one) for one in self._running.values()]
            if is_needed:
                self._write_file(servers)
            else:
                with contextlib.suppress(OSError):
                    self._path.unlink(missing_ok=True)
            self._written = latest

    def _write_file(self, servers: list[dict[str, Any]]) -> None:
        owner = {"pid": os.getpid(), "created": _created(os.getpid())}
        write_atomic(self._path, json.dumps({"hel": owner, "run": self._run, "servers": servers}).encode())


def find_leftovers(state_dir: Path) -> tuple[Leftover, ...]:
    """Return servers that still run although their hel is gone. Records with none are deleted, and so are
    the unfinished ones of those who are gone.
    """
    _sweep(state_dir / FOLDER)
    found: list[Leftover] = []
    for path in sorted((state_dir / FOLDER).glob("*.json")):
        owner, servers, run = _read(path)
        if _runs(owner.get("pid"), owner.get("created")):
            continue
        alive = [one for one in servers if _runs(one.pid, one.created)]
        alive += _unnoted(run, alive)
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
    for one in alive:
        _signal(one, signal.SIGKILL)


def _signal(one: Leftover, number: signal.Signals) -> bool:
    if not _runs(one.pid, one.created):
        return False
    with contextlib.suppress(OSError):
        (os.killpg if os.getpgid(one.pid) == one.pid else os.kill)(one.pid, number)
    return True


def _unnoted(run: str, known: list[Leftover]) -> list[Leftover]:
    """Groups with processes of a run that were never written down, or have left the group that was."""
    if not run:
        return []
    import psutil

    found: list[Leftover] = []
    groups = {one.pid for one in known}
    marked = find_marked(SERVER, run)
    for pid, mark in sorted(marked.items()):
        with contextlib.suppress(OSError, psutil.Error):
            group = os.getpgid(pid)
            if group in groups:
                continue
            first = group if group in marked else pid
            groups.add(group)
            line = shlex.join(psutil.Process(first).cmdline())
            found.append(Leftover(mark.split("/", 2)[-1], first, _created(first), line))
    return found


def _sweep(folder: Path) -> None:
    """Delete what a killed hel had begun to write."""
    import psutil

    for part in folder.glob(".*.part"):
        digits = part.name[1:].partition(".")[0]
        with contextlib.suppress(OSError):
            is_old = time.time() - part.stat().st_mtime > _PART_AGE
            if is_old or not (digits.isdigit() and psutil.pid_exists(int(digits))):
                part.unlink()


def _read(path: Path) -> tuple[dict[str, Any], list[Leftover], str]:
    try:
        value = json.loads(path.read_bytes())
        servers = [Leftover(**one) for one in value["servers"]]
        return dict(value["hel"]), servers, str(value.get("run", ""))
    except (OSError, ValueError, TypeError, KeyError):
        return {}, [], ""


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
