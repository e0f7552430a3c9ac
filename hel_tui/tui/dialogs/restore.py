"""Give files back though somebody changed them since?"""

from __future__ import annotations

import time
from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.dialogs.pane import diff_lines, one_line
from hel_tui.tui.safe import ForeignText
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line


class RestoreDialog(Dialog):
    """`y` overwrites, `k` leaves the changed files and gives back the others, `n` and Esc do nothing."""

    part = "restore"
    choices = (
        Choice("restore.cancel", refuses=True),
        Choice("restore.keep", refuses=True),
        Choice("restore.overwrite", allows=True),
    )

    def __init__(self, question: p.RestoreQuestion, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.question = question

    def title_line(self) -> Line:
        return [(f" ▲ {t('restore.title')}", "strong")]

    def text(self) -> list[Line]:
        question = self.question
        lines: list[Line] = [[(t("restore.text", turn=question.turn), "")]]
        for file in question.changed:
            lines += [[], [(one_line(ForeignText(file.path)), "strong")], *diff_lines(ForeignText(file.diff))]
        if question.more:
            lines += [[], [(t("restore.more", n=question.more), "warn")]]
        if question.others:
            lines += [[], [(t("restore.others", n=question.others), "muted")]]
        return lines

    def decide(self, run: str) -> p.Answer | None:
        return p.RestoreAnswer("overwrite" if run == "overwrite" else "keep" if run == "keep" else "cancel")

    def refused(self) -> p.Answer:
        return p.RestoreAnswer("cancel")
