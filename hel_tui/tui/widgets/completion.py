"""The popup above the prompt that completes slash commands and their arguments.

Not here: what completes what (slash).
"""

from __future__ import annotations

from hel_tui.tui.safe import clean, cut
from hel_tui.tui.slash import Candidate
from hel_tui.tui.widgets.lines import Line, LineView, pad

ROWS = 8


class Completion(LineView, can_focus=False):
    """At most eight rows; the prompt moves the mark."""

    DEFAULT_CSS = """
    Completion { height: auto; max-height: 8; display: none; overflow: hidden; background: $panel; }
    """

    def __init__(self) -> None:
        super().__init__(id="completion")
        self.candidates: list[Candidate] = []
        self.mark = 0

    def offer(self, candidates: list[Candidate]) -> None:
        """Show these; none hides the popup."""
        if candidates == self.candidates:
            return
        self.candidates, self.mark = candidates, 0
        self.display = bool(candidates)
        self.styles.height = min(len(candidates), ROWS)
        self.refresh()

    @property
    def is_open(self) -> bool:
        return bool(self.candidates)

    @property
    def marked(self) -> Candidate:
        return self.candidates[self.mark]

    def move(self, step: int) -> None:
        self.mark = (self.mark + step) % len(self.candidates)
        self.refresh()

    def line_at(self, y: int) -> Line:
        width = self.columns
        top = max(0, min(self.mark - ROWS // 2, len(self.candidates) - ROWS))
        index = top + y
        if index >= len(self.candidates):
            return ()
        candidate = self.candidates[index]
        left = min(max(width // 3, 26), width)
        style = "cursor" if index == self.mark else ""
        mark = "›" if index == self.mark else " "
        about = cut(clean(candidate.about, newlines=False), width - left - 4)
        return [
            (f" {mark} ", "accent"),
            (pad(clean(candidate.shown, newlines=False), left), style),
            (f" {about}", "muted"),
        ]
