"""Author mode: a save of a watched file starts the server's next generation, and shows what is different.

One renewal of a server at a time; the newest save wins. Not here: starting it beside the old one (mcp),
noticing saves (saves), calling again (reruns), what was said of a save (renewals).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.session.renewals import Renewals, sentence
from hel_tui.core.session.reruns import Reruns
from hel_tui.core.session.saves import read_glob, saves
from hel_tui.core.tools.wildcards import WildcardError

Followed = tuple[tuple[str, ...], Path, str]
"""What of an entry decides which files are watched: its globs, their root, its transport."""
NO_PROGRAM = "Saves are not followed: `watch` is for servers that hel starts, and this one is an address."


class Author:
    """Watches the servers of one session. Lives in the core's loop; `renewal` is safe from any thread."""

    def __init__(
        self,
        *,
        project: Path,
        host: Host,
        reruns: Reruns,
        emit: Callable[[p.Event], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._project = project
        self._host = host
        self._reruns = reruns
        self._emit = emit
        self._spawn = spawn
        self._watching: dict[str, tuple[Followed, asyncio.Task[None] | None]] = {}
        """Without a task where it was told that saves are not followed."""
        self._renewing: dict[str, asyncio.Task[None]] = {}
        self._files: dict[str, tuple[Path, ...]] = {}
        """What was saved since a server was last renewed."""
        self._changes: dict[str, int] = {}
        """Number of the newest change of each server's tools."""
        self._renewals = Renewals()
        self._is_on = False

    def renewal(self, number: int) -> p.Renewal | None:
        """What came of one save; None when it is not kept."""
        return self._renewals.get(number)

    def clear(self) -> None:
        """A new session begins: forget what came of saves."""
        self._renewals.clear()
        self._reruns.clear()

    async def watch(self) -> None:
        """Follow saves until cancelled."""
        self._is_on = True
        try:
            for supervisor in self._host.servers():
                self._follow(supervisor.entry.name)
            await asyncio.Event().wait()
        finally:
            self._is_on = False
            watching = [task for _, task in self._watching.values() if task is not None]
            tasks = [*self._renewing.values(), *watching]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def hear(self, event: p.Event) -> None:
        """What the servers tell: entries come and go, lists change."""
        match event:
            case p.ServerChanged(name) | p.ServerRemoved(name) if self._is_on:
                self._follow(name)
            case p.ListChanged(server, number):
                self._changes[server] = number

    def _follow(self, name: str) -> None:
        """Watch the files of a server as its entry says now."""
        supervisor = self._host.server(name)
        entry = supervisor.entry if supervisor is not None else None
        wanted = (
            (entry.watch, entry.default_cwd, entry.transport) if entry is not None and entry.watch else None
        )
        before, task = self._watching.get(name, (None, None))
        if before == wanted:
            return
        if task is not None:
            task.cancel()
        self._watching.pop(name, None)
        if entry is None or wanted is None:
            return
        if entry.transport == "stdio":
            task = asyncio.ensure_future(self._watch(entry))
        else:
            task = None
            self._emit(p.Notice("warning", NO_PROGRAM, name))
        self._watching[name] = wanted, task

    async def _watch(self, entry: ServerEntry) -> None:
        try:
            globs = [read_glob(entry.default_cwd, glob) for glob in entry.watch]
            async for files in saves(globs, lambda why: self._emit(p.Notice("warning", why, entry.name))):
                await self._saved(entry.name, files)
        except (OSError, RuntimeError, WildcardError) as error:
            self._emit(p.Notice("warning", f"Saves are not followed: {error}", entry.name))

    # ------------------------------------------------------------------- a save

    async def _saved(self, name: str, files: tuple[Path, ...]) -> None:
        """Renew a server; what an earlier save began and did not finish is given up."""
        running = self._renewing.get(name)
        if running is not None:
            running.cancel()
            await asyncio.wait({running})
        self._files[name] = tuple(dict.fromkeys((*self._files.get(name, ()), *files)))
        task = self._renewing[name] = asyncio.ensure_future(self._renew(name))
        self._spawn(_seen(task))

    async def _renew(self, name: str) -> None:
        supervisor = self._host.server(name)
        if supervisor is None:
            return
        known = self._changes.get(name, 0)
        outcome = await supervisor.renew()
        files = tuple(map(self._shown, self._files.pop(name, ())))
        if outcome.refused:
            return
        change = self._changes.get(name, 0)
        failure = outcome.failure
        again = self._reruns.due(name) if failure is None else []
        renewal = p.Renewal(
            self._renewals.next_number(),
            name,
            time.time(),
            files,
            "broken" if failure is not None else "renewed",
            reason=(failure.exit or failure.sentence) if failure is not None else "",
            failure=failure.number if failure is not None else 0,
            change=change if change != known else 0,
            running=bool(again),
            asking=self._reruns.left_out(name) if failure is None else 0,
        )
        left = len(again)
        self._tell(renewal, outcome.still_up, left)
        try:
            for make in again:
                rerun = await make()
                left -= 1
                if rerun is not None:
                    renewal = replace(renewal, reruns=(*renewal.reruns, rerun))
                    self._renewals.keep(renewal)
        finally:  # the next save may have come first
            if again:
                renewal = replace(renewal, running=False)
                self._tell(renewal, outcome.still_up, left)

    def _tell(self, renewal: p.Renewal, still_up: bool, left: int) -> None:
        """`left`: calls that are not made again yet, or never will be."""
        self._renewals.keep(renewal)
        told = sentence(renewal, still_up, left=left)
        told_as = 0 if still_up else renewal.failure
        self._emit(
            p.ServerRenewed(renewal.server, renewal.number, renewal.state, told, renewal.failed, told_as)
        )

    def _shown(self, path: Path) -> str:
        """A file as a person of this project names it."""
        return str(path.relative_to(self._project)) if path.is_relative_to(self._project) else str(path)


async def _seen(task: asyncio.Task[None]) -> None:
    """Wait for a renewal, so that a bug in it is told; one that was given up is no news."""
    await asyncio.wait({task})
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error
