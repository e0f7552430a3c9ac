"""What people who write servers use: saved checks, watched servers, diagnoses.

Not here: running and comparing checks (checks), what a doctor looks at (diagnosis).
"""

from __future__ import annotations

from hel_tui.core import protocol as p
from hel_tui.core.mcp.host import Host


class Authoring:
    """Bound to one session. Reading methods are safe from any thread."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def renewal(self, number: int) -> p.Renewal | None:
        """What came of one save."""

    def checks(self) -> tuple[p.CheckRow, ...]:
        """The saved checks, by name."""
        return ()

    def check_results(self) -> tuple[p.CheckResult, ...]:
        """How those went that were run last."""
        return ()

    def diagnosis(self, server: str) -> p.Diagnosis | None:
        """What a doctor found."""

    def obey(self, command: p.Command) -> bool:  # noqa: ARG002
        """Carry out a command that is about checks or diagnoses; False for any other."""
        return False
