"""The login at a server: the address to open, what was done so far, and a line to paste into.

It stays until the core takes it down, when the browser has come back. Not here: OAuth (core).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

from textual import events
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.dialogs.pane import FRAME, one_line
from hel_tui.tui.dialogs.url import address_lines, fact
from hel_tui.tui.safe import ForeignText, clean, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.finder import LabelledInput
from hel_tui.tui.widgets.lines import Line

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp


def host_of(url: str) -> str:
    """The host of a web address; empty when there is none."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class Pasted(LabelledInput):
    """Where the address the browser ended at, or its code, is pasted."""

    DEFAULT_CSS = """
    Pasted { height: 1; border: none; padding: 0 1; background: $panel; }
    Pasted:focus { border: none; background: $boost; }
    """

    def put(self, text: str) -> None:
        """Put pasted text in the place of what stands there."""
        self.value = clean("".join(text.split()), newlines=False)
        self.cursor_position = len(self.value)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.put(event.text)


class LoginDialog(Dialog):
    """`o` opens the browser, `c` copies, Tab goes to the line to paste into; Esc gives the login up."""

    part = "login"
    choices = (
        Choice("login.give_up", refuses=True),
        Choice("login.open", allows=True),
        Choice("login.copy"),
        Choice("login.paste"),
    )

    def __init__(
        self,
        question: p.LoginQuestion,
        steps: Callable[[], Sequence[p.LoginStep]] = tuple,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self.question = question
        self._later = steps
        self._shown: tuple[str, ...] = ()
        self.pasted = Pasted(placeholder=t("login.paste"), select_on_focus=False)

    def title_line(self) -> Line:
        return [
            (f" ▲ {t('login.title', server=cut(one_line(ForeignText(self.question.server)), 40))}", "strong")
        ]

    def steps(self) -> tuple[str, ...]:
        """What was done before the question and since."""
        before = self.question.steps
        return (*before, *(step.text for step in self._later() if step.text not in before))

    def text(self) -> list[Line]:
        q = self.question
        self._shown = self.steps()
        lines: list[Line] = [
            fact("login.issuer", ForeignText(q.issuer), "key"),
            fact("login.scopes", ForeignText(" ".join(q.scopes) or t("login.no_scopes"))),
            fact("login.redirect", ForeignText(q.redirect)),
            [],
            [(t("login.url"), "strong")],
            *address_lines(ForeignText(q.url), ForeignText(host_of(q.url))),
            [],
            [(t("login.paste_hint"), "muted")],
        ]
        if self._shown:
            lines += [[], [(t("login.steps"), "strong")]]
            lines += [
                [(FRAME, "frame"), ("✓ ", "ok"), (one_line(ForeignText(step)), "")] for step in self._shown
            ]
        return lines

    def extra(self) -> Iterable[Widget]:
        return (self.pasted,)

    def tick(self, now: float) -> None:
        super().tick(now)
        if self.steps() != self._shown:
            seen, place = self.pane.end_seen, self.pane.scroll_offset.y
            self.show_text()
            self.pane.end_seen = seen
            self.pane.scroll_to(y=place, animate=False, immediate=True, force=True)
            self.call_after_refresh(self.fit)

    # ------------------------------------------------------------------- input

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text goes into the line for it, wherever the focus is."""
        event.stop()
        self.pasted.put(event.text)
        self.set_focus(self.pasted)

    def editing(self, event: events.Key) -> bool:
        if self.focused is not self.pasted:
            return False
        if event.key == "enter" and self.pasted.value.strip():
            self.answer(p.LoginAnswer(self.pasted.value.strip()))
        elif event.key in ("escape", "tab", "shift+tab", "enter"):
            self.set_focus(None)
            self.gate.typing(event.time)
        elif event.key == "ctrl+c":
            self.answer(self.refused())
        else:
            return True
        event.stop()
        event.prevent_default()
        return True

    def decide(self, run: str) -> p.Answer | None:
        hel = cast("HelApp", self.app)
        match run:
            case "open":
                hel.browse(self.question.url, "login.copy")
            case "copy":
                hel.copy(self.question.url, t("browse.copied"))
            case "paste":
                self.set_focus(self.pasted)
            case _:
                return self.refused()
        return None

    def refused(self) -> p.Answer:
        return p.LoginAnswer()
