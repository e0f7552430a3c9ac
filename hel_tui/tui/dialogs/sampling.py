"""A server wants the model to answer something for it: may it be asked, and may the answer go back?

Not here: limits and their counting (core).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from textual import events
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.dialogs.editor import TextEditor
from hel_tui.tui.dialogs.pane import FRAME, framed, one_line
from hel_tui.tui.dialogs.url import fact
from hel_tui.tui.safe import ForeignText, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Caption, Line


class SamplingDialog(Dialog):
    """`y` allows, `n` and Esc deny; `e` writes the answer by hand, or changes the model's."""

    part = "sampling"
    choices = (
        Choice("sampling.deny", refuses=True),
        Choice("sampling.allow", allows=True),
        Choice("sampling.write"),
    )

    def __init__(self, question: p.SamplingQuestion, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.question = question
        self.written: str | None = None
        self.editor = TextEditor(soft_wrap=True, compact=True)
        self.hint = Caption()

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
        if self.written is not None:
            lines += [[], [(t("sampling.written"), "strong")], *framed(ForeignText(self.written))]
            if q.stage == "answer":
                return lines
        head = t("sampling.request" if q.stage == "request" else "sampling.answer")
        return [*lines, [], [(head, "strong")], *framed(ForeignText(q.text))]

    def extra(self) -> Iterable[Widget]:
        self.hint.display = False
        return (self.editor, self.hint)

    # ------------------------------------------------------------------- input

    def editing(self, event: events.Key) -> bool:
        """Ctrl+S keeps what was written, Esc leaves it as it was; nothing is sent by either."""
        if self.focused is not self.editor:
            return False
        if event.key in ("ctrl+s", "escape"):
            event.stop()
            event.prevent_default()
            if event.key == "ctrl+s":
                self.written = self.editor.text
            self._edit(False)
            self.gate.typing(event.time)
            self.show_text()
        return True

    def _edit(self, on: bool) -> None:
        if on:
            self.editor.text = self.question.reply if self.written is None else self.written
        self.editor.display = on
        self.pane.display = not on
        self.bar.display = not on
        self._say(t("sampling.write_hint") if on else "")
        self.set_focus(self.editor if on else None)

    def _say(self, text: str) -> None:
        self.hint.say([(f" {text}", "muted")])
        self.hint.display = bool(text)
        self.call_after_refresh(self.fit)

    def decide(self, run: str) -> p.Answer | None:
        if run == "write":
            self._edit(True)
            return None
        if run == "allow" and not self.question.model and self.written is None:
            self._say(t("sampling.nobody", key=keymap.label("sampling.write")))
            return None
        return p.SamplingAnswer(run == "allow", self.written if run == "allow" else None)

    def refused(self) -> p.Answer:
        return p.SamplingAnswer(False)
