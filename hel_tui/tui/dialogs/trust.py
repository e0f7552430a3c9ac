"""May the programs this project names be started? One check box for each server, everything untruncated.

Not here: what trust binds and how it is kept (core).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.dialogs.pane import FRAME, diff_lines, framed, one_line
from hel_tui.tui.safe import ForeignText
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.header import short_path
from hel_tui.tui.widgets.lines import Line


class TrustDialog(Dialog):
    """`o` once, `r` or `y` remember, `n` and Esc refuse; Space checks the marked server, Tab goes on."""

    part = "trust"
    choices = (
        Choice("trust.refuse", refuses=True),
        Choice("trust.once", allows=True),
        Choice("trust.remember", allows=True),
        Choice("trust.never"),
        Choice("trust.check"),
        Choice("trust.next"),
    )

    def __init__(self, question: p.TrustQuestion, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.question = question
        self.checked = {server.name for server in question.servers}
        self.at = 0
        self._heads: list[int] = []

    def title_line(self) -> Line:
        count = sum(server.kind == "server" for server in self.question.servers)
        ask = t("trust.title", n=count) if count else t("trust.title_settings")
        return [
            (f" ▲ {ask} ", "strong"),
            (short_path(ForeignText(self.question.project).revealed, 60), "accent"),
        ]

    def text(self) -> list[Line]:
        starts = any(server.kind == "server" for server in self.question.servers)
        lines: list[Line] = [[(t("trust.warning"), "warn")]] if starts else []
        self._heads = []
        for index, server in enumerate(self.question.servers):
            lines.append([])
            self._heads.append(len(lines))
            lines += self._server(server, index == self.at)
        return lines

    def _server(self, server: p.ServerClaim, marked: bool) -> list[Line]:
        box = "[x]" if server.name in self.checked else "[ ]"
        lines: list[Line] = [
            [
                ("› " if marked else "  ", "accent"),
                (f"{box} {one_line(ForeignText(server.name))}", "cursor" if marked else "strong"),
                (f"  {one_line(ForeignText(server.scope))} · {one_line(ForeignText(server.file))}", "muted"),
            ],
            *([[(FRAME, "frame"), (t("trust.settings"), "muted")]] if server.kind == "settings" else []),
            *framed(ForeignText(server.command_line)),
        ]
        if server.resolved:
            lines.append(self._fact("trust.resolved", ForeignText(server.resolved)))
        elif server.cwd:  # a program, not a URL
            lines.append([(FRAME, "frame"), (t("trust.not_found"), "warn")])
        if server.cwd:
            lines.append(self._fact("trust.cwd", ForeignText(server.cwd)))
        for name, value in server.env:
            lines.append(self._fact("trust.env", ForeignText(f"{name}={value}")))
        for risk in server.risks:
            lines.append([(FRAME, "frame"), ("⚠ ", "warn"), (one_line(ForeignText(risk)), "warn")])
        for file in server.program_changed:
            lines.append(
                [
                    (FRAME, "frame"),
                    (f"⚠ {t('trust.program_changed', file=one_line(ForeignText(file)))}", "warn"),
                ]
            )
        if server.changed:
            lines += [
                [(FRAME, "frame"), (t("trust.changed"), "strong")],
                *diff_lines(ForeignText(server.changed)),
            ]
        return lines

    @staticmethod
    def _fact(key: str, value: ForeignText) -> Line:
        return [(FRAME, "frame"), (f"{t(key)} ", "muted"), (one_line(value), "")]

    def _redraw(self) -> None:
        """The text again, where it was; what was seen stays seen."""
        seen, place = self.pane.end_seen, self.pane.scroll_offset.y
        self.show_text()
        self.pane.end_seen = seen
        self.pane.scroll_to(y=place, animate=False, immediate=True, force=True)

    def decide(self, run: str) -> p.Answer | None:
        match run:
            case "refuse":
                return self.refused()
            case "check":
                name = self.question.servers[self.at].name
                self.checked ^= {name}
                self._redraw()
            case "next":
                self.at = (self.at + 1) % len(self.question.servers)
                self._redraw()
                self.pane.to_line(self._heads[self.at])
            case "never" if self.checked:
                return p.TrustAnswer("never", frozenset(self.checked))
            case "once" if self.checked:
                return p.TrustAnswer("once", frozenset(self.checked))
            case "remember" if self.checked:
                return p.TrustAnswer("remember", frozenset(self.checked))
        return None

    def refused(self) -> p.Answer:
        return p.TrustAnswer("refuse")
