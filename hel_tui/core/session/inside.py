"""The inside of the servers as the session gives it to a screen, and what is commanded about it.

Not here: the stores themselves and what servers may ask (mcp), who draws it (a screen).
"""

from __future__ import annotations

from hel_tui.core import protocol as p
from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.overview import overview


class Inside:
    """Reads of one host. Reading methods are safe from any thread."""

    def __init__(self, host: Host) -> None:
        self._host = host

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
                    supervisor.allow(what, on)
            case _:
                return False
        return True
