"""The rule above a pane, with its name and a fact.

Not here: the pane itself.
"""

from __future__ import annotations

from hel_tui.tui.safe import cut
from hel_tui.tui.widgets.lines import Bar, Line, Part, width_of


class PaneTitle(Bar):
    """A pane's rule with its name, and a fact at the right: `─ servers ──── 5/6 ─`."""

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__(id=id)
        self.title, self.fact, self.active = title, "", False
        self.warns = False

    def lines(self) -> list[Line]:
        width = self.columns
        style = "key" if self.active else "strong"
        line = "accent" if self.active else "frame"
        fact: list[Part] = [(f" {self.fact} ", "warn" if self.warns else "muted")] if self.fact else []
        end: list[Part] = [*fact, ("─", line)]
        title = f" {cut(self.title, width - width_of(end) - 4)} "
        left: list[Part] = [("─", line), (title, style)]
        rule = max(width - width_of(left) - width_of(end), 0)
        return [[*left, ("─" * rule, line), *end]]

    def say(self, title: str | None = None, fact: str | None = None, active: bool | None = None) -> None:
        """Change what is given; strings must be clean."""
        now = (self.title, self.fact, self.active)
        self.title = self.title if title is None else title
        self.fact = self.fact if fact is None else fact
        self.active = self.active if active is None else active
        if now != (self.title, self.fact, self.active):
            self.refresh()
