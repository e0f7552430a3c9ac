"""The processes of a server while somebody looks: its tree with what each takes, and what was left behind.

Sampled in a thread once a second, only for servers that are watched. Not here: starting and ending servers
(supervisor), leftovers of whole runs (leftovers).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hel_tui.core.guard import SERVER
from hel_tui.core.mcp.leftovers import Leftover, end_leftovers, find_leftovers
from hel_tui.core.protocol import ProcessRow
from hel_tui.core.reaper import find_marked
from hel_tui.core.store.redact import command_line
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    import psutil

EVERY = 1.0
"""Seconds between two looks."""
LEFTOVERS_EVERY = 5.0
"""Seconds between two looks for leftovers, which reads the environment of every process."""
MOST = 200
"""Processes of one server that are listed."""
COMMAND = 500
"""Characters of a command line."""
Pids = Callable[[], tuple[int, ...]]
"""The processes that the lives of a server have now; may be asked in any thread."""
_SAME = 2.0
"""Seconds two readings of one start time may differ."""


class Sampler:
    """Looks at the processes of one server. Its methods block, one at a time: call them in threads."""

    def __init__(self, server: str, run: str, state_dir: Path, mask: Callable[[str], str]) -> None:
        """`run` is how the marks of all servers of this hel begin."""
        self._server = server
        self._run = run
        self._state_dir = state_dir
        self._mask = mask
        self._known: dict[tuple[int, float], psutil.Process] = {}
        """By pid and start: percentages are since the last look at the same object."""
        self._left: tuple[Leftover, ...] = ()
        self._apart: tuple[Leftover, ...] = ()
        """What the server started and has let go of: no child of it, but its own."""
        self._looked = -LEFTOVERS_EVERY
        self._lock = threading.Lock()
        """A look that nobody waits for any more may still go on when the next one begins."""

    def look(self, pids: Pids) -> tuple[ProcessRow, ...]:
        """The tree under each of the server's processes, then what nobody owns any more."""
        with self._lock:
            return self._look(pids)

    def _look(self, pids: Pids) -> tuple[ProcessRow, ...]:
        import psutil

        rows: list[ProcessRow] = []
        for pid in pids():
            with contextlib.suppress(psutil.Error):
                self._tree(psutil.Process(pid), rows)
        if time.monotonic() - self._looked >= LEFTOVERS_EVERY:
            self._left, self._looked = self._leftovers(pids), time.monotonic()
        mine = {row.pid for row in rows}
        for one in (*self._apart, *self._left):
            if one.pid in mine:
                continue
            is_left = one in self._left
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(one.pid)
                if abs(process.create_time() - one.created) < _SAME:
                    rows.append(self._row(process, 0 if is_left else 1, leftover=is_left))
        alive = {(row.pid, row.since) for row in rows}
        self._known = {key: process for key, process in self._known.items() if key in alive}
        return tuple(rows[:MOST])

    def _leftovers(self, pids: Pids) -> tuple[Leftover, ...]:
        """What earlier lives of this server left running, of this run and of earlier ones."""
        import psutil

        found = [one for one in find_leftovers(self._state_dir) if one.server == self._server]
        apart: list[Leftover] = []
        marked = find_marked(SERVER, self._run)
        own = pids()  # asked behind the look: what began meanwhile is nobody's leftover
        now = {mark for pid, mark in marked.items() if pid in own}
        for pid, mark in sorted(marked.items()):
            if mark.split("/", 2)[-1] != self._server or pid in own:
                continue
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                one = Leftover(self._server, pid, process.create_time(), self._command(process))
                (apart if mark in now else found).append(one)
        self._apart = tuple(apart)
        return tuple(found)

    def end(self, pid: int, pids: Pids) -> str:
        """End a leftover; a sentence when it is none."""
        with self._lock:
            for one in self._leftovers(pids):
                if one.pid == pid:
                    end_leftovers((one,))
                    self._looked = -LEFTOVERS_EVERY
                    return ""
        return f"{pid} was not ended: it is nothing that {self._server} left behind."

    def _tree(self, root: psutil.Process, rows: list[ProcessRow]) -> None:
        children: dict[int, list[psutil.Process]] = {}
        for child in root.children(recursive=True):
            with contextlib.suppress(Exception):  # it is gone meanwhile
                children.setdefault(child.ppid(), []).append(child)
        waiting = [(root, 0)]
        while waiting and len(rows) < MOST:
            process, depth = waiting.pop()
            with contextlib.suppress(Exception):
                rows.append(self._row(process, depth))
            waiting += [(child, depth + 1) for child in reversed(children.get(process.pid, []))]

    def _row(self, process: psutil.Process, depth: int, *, leftover: bool = False) -> ProcessRow:
        """What is known of one process. Raises psutil.Error when it is gone."""
        import psutil

        since = process.create_time()
        process = self._known.setdefault((process.pid, since), process)
        with process.oneshot():
            memory, threads, parent = process.memory_info().rss, process.num_threads(), process.ppid()
            command = self._command(process)
        try:
            files = process.num_fds()
        except (psutil.Error, AttributeError):
            files = -1
        cpu = process.cpu_percent()
        return ProcessRow(
            process.pid, parent, depth, command, cpu, memory, files, threads, since, leftover=leftover
        )

    def _command(self, process: psutil.Process) -> str:
        words = process.cmdline() or [process.name()]
        return self._mask(command_line(words[0], words[1:]))[:COMMAND]


class Processes:
    """What was seen last of each watched server. Lives in the core's loop; `rows` is safe from any thread."""

    def __init__(
        self,
        make: Callable[[str], Sampler],
        pids: Callable[[str], tuple[int, ...]],
        on_failed: Callable[[str, str], None] = lambda _server, _why: None,
    ) -> None:
        """`pids` are the processes that a server's lives have now; `on_failed` hears, once a watch, that a
        server cannot be looked at, and why."""
        self._make = make
        self._pids = pids
        self._on_failed = on_failed
        self._rows: dict[str, tuple[ProcessRow, ...]] = {}
        self._samplers: dict[str, Sampler] = {}
        self._watching: dict[str, asyncio.Task[None]] = {}

    def rows(self, server: str) -> tuple[ProcessRow, ...]:
        """The processes of a server at the last look; none when nobody watches it."""
        return self._rows.get(server, ())

    def watch(self, server: str, on: bool) -> None:
        """Look once a second, or no longer."""
        if on and server not in self._watching:
            self._watching[server] = asyncio.create_task(self._look(server), name=f"processes-{server}")
        elif not on and (task := self._watching.pop(server, None)) is not None:
            task.cancel()
            self._rows.pop(server, None)

    async def end(self, server: str, pid: int) -> str:
        """End what an earlier life of a server left behind; a sentence when it is nothing like that."""
        sampler = self._sampler(server)
        if pid == os.getpid():
            return "hel does not end itself like that."
        return await in_thread(lambda: sampler.end(pid, lambda: self._pids(server)), "hel-end-process")

    def close(self) -> None:
        """Look no more."""
        for server in list(self._watching):
            self.watch(server, False)

    def _sampler(self, server: str) -> Sampler:
        if server not in self._samplers:
            self._samplers[server] = self._make(server)
        return self._samplers[server]

    async def _look(self, server: str) -> None:
        sampler = self._sampler(server)
        is_told = False
        while True:
            try:
                looking = in_thread(lambda: sampler.look(lambda: self._pids(server)), "hel-processes")
                self._rows[server] = await looking
            except Exception as error:  # of the system, in any shape; the next look may go well
                self._rows[server] = ()
                if not is_told:
                    is_told = True
                    self._on_failed(server, f"{type(error).__name__}: {error}")
            await asyncio.sleep(EVERY)
