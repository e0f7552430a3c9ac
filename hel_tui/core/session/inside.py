"""The inside of the servers as the session gives it to a screen, and what is commanded about it.

Not here: the stores themselves and what servers may ask (mcp), who draws it (a screen).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from hel_tui.core import protocol as p
from hel_tui.core.mcp.cassette import write_cassette
from hel_tui.core.mcp.exports import (
    NotExported,
    Written,
    messages,
    to_file,
    write_har,
    write_jsonl,
    write_log,
)
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.overview import overview
from hel_tui.core.session.entries import Standing, entry_detail
from hel_tui.core.store.atomic import NotWritten
from hel_tui.core.store.expansion import expand_home
from hel_tui.core.threads import in_thread


class Inside:
    """Reads of one host. Reading methods are safe from any thread."""

    def __init__(
        self,
        host: Host,
        *,
        project: Path,
        standing: Callable[[str], Standing | None],
        environ: Mapping[str, str],
        mask: Callable[[str], str],
        emit: Callable[[p.Event], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """`standing` is what the files say of a server; `spawn` runs work beside the turns."""
        self._host = host
        self._project = project
        self._standing = standing
        self._environ = environ
        self._mask = mask
        self._emit = emit
        self._spawn = spawn

    def frames(self, server: str) -> p.FrameWindow | None:
        """The trace of a server's wire."""
        return self._host.frames(server)

    def inside(self, server: str) -> p.ServerInside | None:
        """What the overview of a server shows."""
        supervisor = self._host.server(server)
        return overview(supervisor, self._host.catalogue) if supervisor is not None else None

    def processes(self, server: str) -> tuple[p.ProcessRow, ...]:
        """Its processes as they were at the last look."""
        return self._host.processes.rows(server)

    def entry(self, server: str) -> p.EntryDetail | None:
        """How it is configured."""
        standing = self._standing(server)
        if standing is None:
            return None
        return replace(
            entry_detail(standing, self._environ, self._mask), login=self._host.logins.detail(server)
        )

    def failed(self, number: int) -> p.ServerFailure | None:
        """One failure of this run."""
        return self._host.failures.get(number)

    def list_change(self, number: int) -> p.ListChangeDetail | None:
        """One change of a list of tools."""
        return self._host.list_changes.get(number)

    def obey(self, command: p.Command) -> bool:
        """Carry out a command that is about the inside of servers; False for any other."""
        match command:
            case p.SetSwitch(server, what, on):
                if (supervisor := self._host.server(server)) is not None:
                    supervisor.contact.allow(what, on)
            case p.WatchProcesses(server, on):
                self._host.processes.watch(server, on)
            case p.EndProcess(server, pid):
                self._spawn(self._end(server, pid))
            case p.SaveLog():
                self._spawn(self._save_log(command))
            case p.ExportFrames():
                self._spawn(self._export(command))
            case _:
                return False
        return True

    async def _end(self, server: str, pid: int) -> None:
        problem = await self._host.processes.end(server, pid)
        text = problem or f"Process {pid} was ended."
        self._emit(p.Notice("warning" if problem else "info", text, server))

    async def _save_log(self, command: p.SaveLog) -> None:
        log = self._host.log(command.server)
        if log is None:
            self._emit(p.Notice("warning", f"There is no server named {command.server}."))
            return
        write = partial(write_log, log, command.query, self._mask, whose=not command.server)
        await self._write(command.server, command.path, write, "lines")

    async def _export(self, command: p.ExportFrames) -> None:
        store = self._host.frames(command.server)
        if store is None:
            self._emit(p.Notice("warning", f"There is no server named {command.server}."))
            return
        if command.form == "cassette":
            await self._keep_cassette(command, store)
            return
        is_har = command.form == "har"
        write = partial(write_har if is_har else write_jsonl, store, command.query)
        await self._write(command.server, command.path, write, "exchanges" if is_har else "frames")

    async def _keep_cassette(self, command: p.ExportFrames, store: FrameStore) -> None:
        """Write what was said as `hel mcp replay` takes it: of the newest life where nothing is chosen."""
        target = self._project / expand_home(command.path, self._environ)

        def write() -> tuple[NotWritten | None, int]:
            spoken, gaps = messages(store, command.query)
            return write_cassette(target, command.server, spoken), gaps

        gaps = 0
        try:
            failed, gaps = await in_thread(write, "hel-export")
            problem = failed.sentence if failed is not None else ""
        except ValueError as error:
            problem = f"{target} was not written: {error}"
        text = problem or f"The frames were written to {target}: hel mcp replay takes it."
        if gaps and not problem:
            text += f" {_without_body(gaps)} and is left out: it will not replay whole."
        self._emit(p.Notice("warning" if problem or gaps else "info", text, command.server))

    async def _write(self, server: str, path: str, write: Callable[[TextIO], Written], what: str) -> None:
        """Write beside the loop and tell how it went."""
        target = self._project / expand_home(path, self._environ)
        try:
            written = await in_thread(lambda: to_file(target, write), "hel-export")
        except NotExported as error:
            self._emit(p.Notice("warning", f"{target} was not written: {error}.", server))
        else:
            text = f"{written.count:,} {what} were written to {target}."
            if written.gaps:
                text += f" {_without_body(written.gaps)}."
            self._emit(p.Notice("warning" if written.gaps else "info", text, server))


def _without_body(count: int) -> str:
    """Of frames whose bodies are not kept as they were."""
    return f"The body of {count:,} of the frames was let go, or is kept in part only"
