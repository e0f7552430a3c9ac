"""Slash commands about sessions: find one, go on, fork, name, export.

Base of `Typed`. Not here: the sheets (screen), going on (moves).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hel_tui.core import protocol as p
from hel_tui.tui.strings import t

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.commands import Commands

_ID = re.compile(r"last|\d{8}(-\d{0,6}(-[0-9a-f]{0,8})?)?")
"""A session's id, the beginning of one from its day on, or the word for the newest."""
_FORMS: dict[str, p.ExportForm] = {"md": "markdown", "markdown": "markdown", "json": "json"}


class SessionCommands:
    """Each method is a command of that name."""

    hel: HelApp
    commands: Commands

    def refuse(self, text: str, sentence: str) -> None:
        """Say what is wrong and give the line back."""
        raise NotImplementedError

    def _do_sessions(self, rest: str) -> None:
        self.commands.sessions.open(rest)

    def _do_resume(self, rest: str) -> None:
        if _ID.fullmatch(rest):
            self.commands.sessions.resume(rest)
        else:
            self.commands.sessions.open(rest)

    def _do_fork(self, rest: str) -> None:
        if not rest:
            self.commands.sessions.fork()
        elif rest.isascii() and rest.isdigit() and 0 < int(rest) < 1_000_000_000:
            self.commands.sessions.fork(turn=int(rest))
        else:
            self.refuse(f"/fork {rest}", t("sessions.no_turn", turn=rest[:20]))

    def _do_rename(self, rest: str) -> None:
        self.hel.send(p.RenameSession(rest))

    def _do_export(self, rest: str) -> None:
        word, _, path = rest.partition(" ")
        if (form := _FORMS.get(word.lower())) is None:
            path, form = rest, "json" if rest.lower().endswith(".json") else "markdown"
        self.hel.send(p.ExportSession(path.strip().strip('"'), form))
