"""A server wants the model to answer something for it: may it be asked, and may the answer go back?

Not here: limits and their counting (core).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.dialogs.pane import FRAME, framed, one_line
from hel_tui.tui.dialogs.url import fact
from hel_tui.tui.safe import ForeignText, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line


class SamplingDialog(Dialog):
    """`y` allows, `n` and Esc deny."""

    part = "sampling"
    choices = (Choice("sampling.deny", refuses=True), Choice("sampling.allow", allows=True))

    def __init__(self, question: p.SamplingQuestion, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.question = question

    def title_line(self) -> Line:
        name = cut(one_line(ForeignText(self.question.server)), 40)
        return [(f" ▲ {t(f'sampling.title_{self.question.stage}', server=name)}", "strong")]

    def text(self) -> list[Line]:
        q = self.question
        lines: list[Line] = [fact("sampling.server", ForeignText(q.server))]
        if q.tool:
            lines.append(fact("sampling.tool", ForeignText(q.tool)))
        lines.append(fact("sampling.model", ForeignText(q.model or t("sampling.no_model"))))
        if limits := q.limits or (q.max_tokens and t("sampling.max_tokens", n=q.max_tokens)):
            lines.append(fact("sampling.limits", ForeignText(limits)))
        if q.tools:
            lines += [[], [(t("sampling.tools"), "strong")]]
            lines += [[(FRAME, "frame"), (one_line(ForeignText(tool)), "")] for tool in q.tools]
        if q.system:
            lines += [[], [(t("sampling.system"), "strong")], *framed(ForeignText(q.system))]
        head = t("sampling.request" if q.stage == "request" else "sampling.answer")
        return [*lines, [], [(head, "strong")], *framed(ForeignText(q.text))]

    def decide(self, run: str) -> p.Answer | None:
        return p.SamplingAnswer(run == "allow")

    def refused(self) -> p.Answer:
        return p.SamplingAnswer(False)
