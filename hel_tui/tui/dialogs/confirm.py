"""A question of hel's own before what cannot be taken back: a yes or a no by the rules of all decisions.

Not here: what is asked and what a yes does (who opens it), questions of the core (desk).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.widgets.lines import Line

TICK = 1 / 30


class ConfirmDialog(Dialog):
    """`y` does it, `n` and Esc do not; so does Enter, until another choice is marked."""

    part = "confirm"

    def __init__(
        self,
        title: str,
        lines: Sequence[Line],
        yes: str,
        no: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`yes` and `no` are the words of the choices: what each does."""
        self.choices = (
            Choice("confirm.no", refuses=True, words=no),
            Choice("confirm.yes", allows=True, words=yes),
        )
        super().__init__(clock)
        self.heading, self.lines_shown = title, list(lines)

    def begin(self) -> None:
        self.set_interval(TICK, lambda: self.tick(self.clock()))

    def title_line(self) -> Line:
        return [(f" ▲ {self.heading}", "strong")]

    def text(self) -> list[Line]:
        return self.lines_shown

    def decide(self, run: str) -> p.Answer | None:
        return p.FormAnswer("accept") if run == "yes" else self.refused()

    def refused(self) -> p.Answer:
        return p.FormAnswer("decline")


def said_yes(answer: p.Answer | None) -> bool:
    """Whether the dialog was closed with a yes."""
    return isinstance(answer, p.FormAnswer) and answer.action == "accept"
