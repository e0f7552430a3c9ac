"""Which question is asked when: one at a time, in order, never into the hands of somebody who types.

Not here: how a question looks (the dialogs) and what an answer does (core).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Dialog
from hel_tui.tui.dialogs.gate import Hands


class Desk:
    """Opens dialogs through `push` and hands answers to `send`. `tick` is called every frame."""

    def __init__(
        self,
        push: Callable[[Dialog, Callable[[p.Answer | None], None]], object],
        send: Callable[[p.Command], None],
        clock: Callable[[], float] = time.monotonic,
        logins: Mapping[str, Sequence[p.LoginStep]] | None = None,
    ) -> None:
        self._logins = {} if logins is None else logins
        self.hands = Hands()
        self.clock = clock
        self._push, self._send = push, send
        self._answered: set[str] = set()
        self._open: tuple[p.Question, Dialog] | None = None

    @property
    def is_open(self) -> bool:
        return self._open is not None

    def escape_word(self) -> str:
        """See `Dialog.escape_word`; empty when none is open."""
        return self._open[1].escape_word() if self._open is not None else ""

    def waiting(self, questions: list[p.Question]) -> list[p.Question]:
        """Those still to be asked."""
        return [q for q in questions if q.id not in self._answered]

    def tick(self, questions: list[p.Question], free: bool, wanted: bool = False) -> None:
        """Take down what is moot; open the next one if the main screen is `free` and the hands rest.

        `wanted`: the person asked for it by key, so their hands need not rest.
        """
        if self._open is not None:
            question, dialog = self._open
            if all(q.id != question.id for q in questions) and dialog.is_active:
                self._open = None
                dialog.dismiss(None)
            elif dialog.is_active:
                dialog.tick(self.clock())
            return
        waiting = self.waiting(questions)
        if waiting and free and (wanted or self.hands.resting(self.clock())):
            self._show(waiting[0], len(waiting) - 1)

    def _show(self, question: p.Question, more: int) -> None:
        dialog = self._dialog(question, more)
        self._open = (question, dialog)

        def done(answer: p.Answer | None) -> None:
            if self._open is not None and self._open[1] is dialog:
                self._open = None
            if answer is not None:
                self._answered.add(question.id)
                self._send(p.Reply(question.id, answer))

        self._push(dialog, done)

    def _dialog(self, question: p.Question, more: int) -> Dialog:
        """The dialog of a question. Each is imported when first asked: none is there at the first paint."""
        match question:
            case p.ApprovalQuestion():
                from hel_tui.tui.dialogs.approval import ApprovalDialog

                return ApprovalDialog(question, more, self.clock)
            case p.TrustQuestion():
                from hel_tui.tui.dialogs.trust import TrustDialog

                return TrustDialog(question, self.clock)
            case p.ContinueQuestion():
                from hel_tui.tui.dialogs.go_on import ContinueDialog

                return ContinueDialog(question, self.clock)
            case p.LeftoversQuestion():
                from hel_tui.tui.dialogs.leftovers import LeftoversDialog

                return LeftoversDialog(question, self.clock)
            case p.FormQuestion():
                from hel_tui.tui.dialogs.form import FormDialog

                return FormDialog(question, self.clock)
            case p.UrlQuestion():
                from hel_tui.tui.dialogs.url import UrlDialog

                return UrlDialog(question, self.clock)
            case p.SamplingQuestion():
                from hel_tui.tui.dialogs.sampling import SamplingDialog

                return SamplingDialog(question, self.clock)
            case p.RestoreQuestion():
                from hel_tui.tui.dialogs.restore import RestoreDialog

                return RestoreDialog(question, self.clock)
            case p.LoginQuestion():
                from hel_tui.tui.dialogs.login import LoginDialog

                return LoginDialog(question, lambda: self._logins.get(question.server, ()), self.clock)
