"""A server asks the person to go to a web page: the whole address is shown, and only a key opens it.

Not here: what is odd about an address (core), starting a browser (the app).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.dialogs.pane import FRAME, LABEL, framed, one_line
from hel_tui.tui.safe import NEWLINE_MARK, ForeignText, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, column

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp


def fact(key: str, value: ForeignText, style: str = "", width: int = 14) -> Line:
    """A label of hel's and what it says, on one line."""
    return [(column(t(key), width), LABEL), (one_line(value), style)]


def address_lines(url: ForeignText, host: ForeignText) -> list[Line]:
    """A whole address, framed, its host marked where it stands."""
    shown, marked = url.revealed.replace("\n", NEWLINE_MARK), host.revealed
    scheme = shown.find("://")
    at = shown.find(marked, scheme + 3 if scheme >= 0 else 0) if marked else -1
    if at < 0:
        return [[(FRAME, "frame"), (shown, "")]]
    end = at + len(marked)
    return [[(FRAME, "frame"), (shown[:at], ""), (shown[at:end], "key"), (shown[end:], "")]]


class UrlDialog(Dialog):
    """`o` opens it and says so, `y` says that it was opened elsewhere; `n` declines, Esc cancels."""

    part = "url"
    choices = (
        Choice("url.cancel", refuses=True),
        Choice("url.decline", refuses=True),
        Choice("url.open", allows=True),
        Choice("url.copy"),
        Choice("url.opened", allows=True),
    )

    def __init__(self, question: p.UrlQuestion, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.question = question

    def title_line(self) -> Line:
        return [
            (f" ▲ {t('url.title', server=cut(one_line(ForeignText(self.question.server)), 40))}", "strong")
        ]

    def text(self) -> list[Line]:
        q = self.question
        lines: list[Line] = []
        if q.tool:
            lines.append([(t("form.for_tool", tool=one_line(ForeignText(q.tool))), "muted")])
        if q.message:
            lines += [[(t("form.from_server"), "muted")], *framed(ForeignText(q.message)), []]
        lines.append([(t("url.warning"), "warn")])
        lines += [[("⚠ ", "warn"), (one_line(ForeignText(warning)), "warn")] for warning in q.warnings]
        lines += [[], fact("url.host", ForeignText(q.host), "key"), [], [(t("url.address"), "strong")]]
        return lines + address_lines(ForeignText(q.url), ForeignText(q.host))

    def decide(self, run: str) -> p.Answer | None:
        hel = cast("HelApp", self.app)
        match run:
            case "open":
                return p.FormAnswer("accept") if hel.browse(self.question.url, "url.copy") else None
            case "opened":
                return p.FormAnswer("accept")
            case "copy":
                hel.copy(self.question.url, t("browse.copied"))
                return None
            case "decline":
                return p.FormAnswer("decline")
        return self.refused()

    def refused(self) -> p.Answer:
        return p.FormAnswer("cancel")
