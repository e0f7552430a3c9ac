"""The sheet of a session's turns: go on with a copy of the session up to one of them.

Not here: making the copy (core), going on with it (moves).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean
from hel_tui.tui.screens.picker import Picker, PickerList
from hel_tui.tui.screens.sessions import texts
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, pad, spread
from hel_tui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

PAUSE = 0.15
"""Seconds without a key after which a turn is looked into."""


class TurnsScreen(Picker):
    """Enter forks at the end of the marked turn."""

    parts = ("picker", "list")
    foot = (
        ("list.open", "short.sessions.fork_here"),
        ("picker.filter", "short.picker.filter"),
        ("picker.close", "short.picker.close"),
    )

    def __init__(self, hel: HelApp, session_id: str, title: str) -> None:
        super().__init__(t("sessions.turns_title", title=title), PickerList())
        self.hel, self.session_id = hel, session_id
        self.turns: dict[str, str] = {}
        self._pause: Timer | None = None

    def on_mount(self) -> None:
        self._take()
        super().on_mount()
        self.hel.send(p.LookAtSession(self.session_id))

    def _take(self) -> None:
        """Read the turns from what was looked at last."""
        glance = self.hel.core.session_glance()
        if glance is not None and glance.session_id == self.session_id:
            self.turns = {str(number): text for number, text in reversed(glance.turns)}

    def rows(self) -> list[Row]:
        return [
            Row(turn, ())
            for turn, text in self.turns.items()
            if self.filter in text.casefold() or self.filter == turn
        ]

    def line(self, key: str, width: int) -> Line:
        text = clean(self.turns.get(key, ""), newlines=False)
        shown = text or t("sessions.turn", turn=key)
        return spread([(f" {pad(key, 5)}", "muted"), (shown, "")], [], width)

    def empty(self) -> str:
        return t("sessions.nothing_found" if self.filter else "sessions.no_turns")

    def details(self, key: str) -> list[Line]:
        glance = self.hel.core.session_glance()
        if glance is None or (glance.session_id, str(glance.turn)) != (self.session_id, key):
            return []
        size = self.detail.size
        return texts.fitting(glance.said, size.width - 1, size.height, newest=False)

    def _describe(self) -> None:
        super()._describe()
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, self._look)

    def _look(self) -> None:
        if (key := self.list.current) and not self.details(key):
            self.hel.send(p.LookAtSession(self.session_id, int(key)))

    def heard(self, event: p.Event) -> None:
        """Something was told of sessions."""
        if not isinstance(event, p.SessionLookedAt) or event.session_id != self.session_id:
            return
        if event.problem:
            self.hel.say(event.problem, "warning")
        if not event.turn:
            self._take()
            self.draw()
        else:
            self.detail.show(self.details(self.list.current) if self.list.current else [])

    def pick(self, key: str) -> None:
        self.hel.main.commands.sessions.fork(self.session_id, int(key))
