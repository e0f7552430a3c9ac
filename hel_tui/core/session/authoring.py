"""What people who write servers use: saved checks and watched servers.

Not here: running and comparing checks (checking), author mode (author).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.checks.check import FOLDER
from hel_tui.core.session.author import Author
from hel_tui.core.session.checking import Checking
from hel_tui.core.session.saves import read_glob, saves

CHECK_FILES = str(FOLDER / "*.toml")


class Authoring:
    """Bound to one session. Reading methods are safe from any thread."""

    def __init__(
        self,
        *,
        project: Path,
        checking: Checking,
        author: Author,
        emit: Callable[[p.Event], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """`spawn` runs work beside the turns."""
        self._project = project
        self._checking = checking
        self._author = author
        self._emit = emit
        self._spawn = spawn

    def renewal(self, number: int) -> p.Renewal | None:
        """What came of one save."""
        return self._author.renewal(number)

    def clear(self) -> None:
        """A new session begins; checks and what was agreed to stay."""
        self._author.clear()

    def checks(self) -> tuple[p.CheckRow, ...]:
        """The saved checks, by name."""
        return self._checking.rows

    def check_results(self) -> tuple[p.CheckResult, ...]:
        """How those went that were run last."""
        return self._checking.results

    def obey(self, command: p.Command) -> bool:
        """Carry out a command that is about checks; False for any other."""
        match command:
            case p.SaveCheck():
                self._spawn(self._checking.save(command))
            case p.RunChecks(server, name):
                self._spawn(self._checking.run(server, name))
            case _:
                return False
        return True

    def hear(self, event: p.Event) -> None:
        """What the servers tell."""
        self._author.hear(event)

    async def watch(self) -> None:
        """Follow saves of watched servers, until cancelled."""
        await self._author.watch()

    async def follow_checks(self) -> None:
        """Read the checks, and again whenever their files change, until cancelled."""
        await self._checking.read()
        try:
            async for _ in saves([read_glob(self._project, CHECK_FILES)], self._not_followed):
                await self._checking.read()
        except (OSError, RuntimeError) as error:
            self._not_followed(str(error))

    def _not_followed(self, why: str) -> None:
        self._emit(p.Notice("warning", f"Changes of {CHECK_FILES} are not followed: {why}"))
