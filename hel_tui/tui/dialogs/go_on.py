"""Go on after the step limit?"""

from __future__ import annotations

import time
from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line


class ContinueDialog(Dialog):
    """`y` goes on, `n` and Esc end the turn."""

    part = "continue"
    choices = (Choice("continue.end", refuses=True), Choice("continue.go_on", allows=True))

    def __init__(self, question: p.ContinueQuestion, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.question = question

    def title_line(self) -> Line:
        return [(f" ▲ {t('continue.title')}", "strong")]

    def text(self) -> list[Line]:
        return [[(t("continue.text", steps=self.question.steps), "")]]

    def decide(self, run: str) -> p.Answer | None:
        return p.ContinueAnswer(run == "go_on")

    def refused(self) -> p.Answer:
        return p.ContinueAnswer(False)
