"""The doctor as a screen has it: asked about hel or a server, its findings kept and told as they come.

Not here: what is looked at (core.doctor).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.mcp.host import Host
from hel_tui.core.options import Options
from hel_tui.core.session.servers import Servers
from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import Redactor
from hel_tui.core.threads import in_thread

TELL_GAP = 0.2
"""Seconds between two words about a diagnosis that goes on."""


class Doctor:
    """Bound to one session. `diagnosis` is safe from any thread."""

    def __init__(
        self,
        options: Options,
        places: Places,
        host: Host,
        servers: Servers,
        redactor: Redactor,
        emit: Callable[[p.Event], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._options, self._places, self._host, self._servers = options, places, host, servers
        self._redactor, self._emit, self._spawn = redactor, emit, spawn
        self._known: dict[str, p.Diagnosis] = {}
        self._told: dict[str, float] = {}

    def diagnosis(self, server: str) -> p.Diagnosis | None:
        """What was found about a server, about hel itself ("")."""
        return self._known.get(server)

    def obey(self, command: p.Command) -> bool:
        """Look, when the command asks for it; False for any other."""
        if not isinstance(command, p.Diagnose):
            return False
        known = self._known.get(command.server)
        if known is None or not known.running:
            # at once: a second key may come before the task begins
            self._tell(p.Diagnosis(command.server, (), running=True))
            self._spawn(self._look(command.server))
        return True

    def _tell(self, diagnosis: p.Diagnosis) -> None:
        self._known[diagnosis.server] = diagnosis
        now = time.monotonic()
        if not diagnosis.running or now - self._told.get(diagnosis.server, 0.0) >= TELL_GAP:
            self._told[diagnosis.server] = now
            self._emit(p.Diagnosed(diagnosis.server, diagnosis.running))

    async def _look(self, server: str) -> None:
        """Look at it; however that ends, it can be asked for again."""
        try:
            await (self._look_at(server) if server else self._look_at_hel())
        except Exception as error:
            sentence = f"hel failed at it: {type(error).__name__}: {self._redactor(str(error))}"
            self._end(server, p.Finding("error", "doctor", sentence))
        finally:
            self._end(server)

    def _end(self, server: str, *more: p.Finding) -> None:
        known = self._known[server]
        if known.running:
            self._tell(replace(known, findings=(*known.findings, *more), running=False))

    async def _look_at(self, server: str) -> None:
        from hel_tui.core.doctor.examine import Ward, examine

        supervisor = self._host.server(server)
        if supervisor is None:
            sentence = f"{server} is not approved, or no file names it"
            finding = p.Finding("error", "trust", sentence, mend="hel mcp trust, or /trust here")
            self._tell(p.Diagnosis(server, (finding,)))
            return
        ward = Ward(
            self._options.project,
            self._options.environ,
            self._places.state,
            self._redactor,
            self._redactor.known,
            self._redactor.add,
        )
        await examine(supervisor.entry, ward, self._tell)

    async def _look_at_hel(self) -> None:
        """The machine and the files; of the servers what is known of them as they run."""
        from hel_tui.core.doctor.examine import masked
        from hel_tui.core.doctor.machine import files, machine

        began = time.monotonic()
        found = await in_thread(
            lambda: list(machine(self._options.environ, self._places, self._options.project)), "hel-doctor"
        )
        found += files(self._servers.configuration, self._servers.pending)
        for status in self._host.statuses():
            if status.phase in ("ready", "degraded"):
                found.append(p.Finding("ok", "servers", f"{status.name} works"))
            elif status.phase != "off":
                sentence = f"{status.name} is {status.phase}: {status.reason}".rstrip(": ")
                found.append(p.Finding("error", "servers", sentence, mend=f"hel mcp lint {status.name}"))
        hidden = [masked(one, self._redactor) for one in found]
        self._tell(p.Diagnosis("", tuple(hidden), seconds=time.monotonic() - began))
