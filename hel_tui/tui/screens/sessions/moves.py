"""From one session to another, and what is told of kept ones: asked before something that runs is ended.

Bound to the app. Not here: the sheets (screen, turns), slash commands (typed).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.confirm import ConfirmDialog, said_yes
from hel_tui.tui.safe import clean
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp


class Sessions:
    """What the sheets and the commands share."""

    def __init__(self, hel: HelApp) -> None:
        self.hel = hel
        self._wanted: tuple[str, int] = ("", 0)
        """The session that is being opened, and the turn that is to be shown of it."""

    def open(self, words: str = "") -> None:
        """The sheet of sessions, searched for `words`."""
        from hel_tui.tui.screens.sessions.screen import SessionsScreen  # not needed for the first paint

        self.hel.push_screen(SessionsScreen(self.hel, words))

    def resume(self, session_id: str, turn: int = 0) -> None:
        """Go on with a kept session; show `turn` of it, if that is one of the newest."""

        def go() -> None:
            self._wanted = session_id, turn
            self.hel.back_to_conversation()
            self.hel.send(p.ResumeSession(session_id))

        self._ask("resume", go)

    def new(self) -> None:
        """An empty conversation in the place of this one."""
        self._ask("new", lambda: self.hel.send(p.NewSession()))

    def fork(self, session_id: str = "", turn: int = 0) -> None:
        """Go on with a copy of a session (empty: of the open one) up to the end of `turn` (0: its last)."""

        def go() -> None:
            self._wanted = session_id, 0
            self.hel.back_to_conversation()
            self.hel.send(p.ForkSession(session_id, turn))

        self._ask("fork", go)

    def _ask(self, what: str, go: Callable[[], None]) -> None:
        """Do it at once where nothing runs or waits; else only when the person says so."""
        state = self.hel.bridge.state
        runs = bool(state.busy or state.calls_by_hand)
        if not (runs or state.queued):
            go()
            return
        kind = "busy" if runs else "waiting"
        lines: list[Line] = [[(t("sessions.busy"), "")]] if runs else []
        if state.queued:
            lines.append([(t("sessions.busy_queue", n=len(state.queued)), "warn")])

        def done(answer: p.Answer | None) -> None:
            if said_yes(answer):
                go()

        title, yes, no = t(f"sessions.{kind}_title"), t(f"sessions.{kind}_{what}"), t("sessions.busy_no")
        self.hel.push_screen(ConfirmDialog(title, lines, yes, no, self.hel.clock), done)

    # ------------------------------------------------------------------- news

    def heard(self, changes: Changes) -> None:
        """Hand what was told of sessions to the sheets that are open."""
        from hel_tui.tui.screens.sessions.screen import SessionsScreen
        from hel_tui.tui.screens.sessions.turns import TurnsScreen

        sheets = [one for one in self.hel.screen_stack if isinstance(one, SessionsScreen | TurnsScreen)]
        for event in changes.sessions:
            if isinstance(event, p.SessionRestored):
                self._opened(event)
            if isinstance(event, p.SessionDone) and event.act == "renamed" and not sheets:
                self.hel.say(event.sentence)
            for sheet in sheets:
                sheet.heard(event)

    def _opened(self, event: p.SessionRestored) -> None:
        (wanted, turn), self._wanted = self._wanted, ("", 0)
        if not wanted or not (event.session_id.startswith(wanted) or event.parent == wanted):
            return
        self.hel.say(t("sessions.opened", title=clean(event.title[:80], newlines=False)))
        if turn and not self.hel.main.conversation.show_card(f"user-{turn}"):
            self.hel.say(t("sessions.turn_not_shown", turn=turn, first=event.first_shown), "warning")
