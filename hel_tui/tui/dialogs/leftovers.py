"""End servers that an earlier hel left running?"""

from __future__ import annotations

import time
from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.dialogs.pane import framed
from hel_tui.tui.safe import ForeignText
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line


class LeftoversDialog(Dialog):
    """`y` ends them, `n` and Esc leave them running."""

    part = "leftovers"
    choices = (Choice("leftovers.leave", refuses=True), Choice("leftovers.end", allows=True))

    def __init__(self, question: p.LeftoversQuestion, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.question = question

    def title_line(self) -> Line:
        return [(f" ▲ {t('leftovers.title')}", "strong")]

    def text(self) -> list[Line]:
        lines: list[Line] = [[(t("leftovers.text"), "")], []]
        for server in self.question.servers:
            lines += framed(ForeignText(server))
        return lines

    def decide(self, run: str) -> p.Answer | None:
        return p.LeftoversAnswer(run == "end")

    def refused(self) -> p.Answer:
        return p.LeftoversAnswer(False)
