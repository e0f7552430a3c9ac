"""The part around the prompt: lines that come and go above it, then the row to type in.

A line is mounted when it is first shown: five that nobody sees would take 14 ms of the start.
Not here: what the lines say and when they show.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget


class Foot(Vertical):
    """`lines` from top to bottom, all hidden at first, and the `row` below them."""

    def __init__(self, lines: tuple[Widget, ...], row: Widget) -> None:
        super().__init__(id="foot")
        self._lines, self._row = lines, row
        for line in lines:
            line.display = False

    def compose(self) -> ComposeResult:
        yield self._row

    def settle(self) -> None:
        """Mount the lines that are to be seen by now and are not there yet, each at its place."""
        for number, line in enumerate(self._lines):
            if line.display and line.parent is None:
                below = (one for one in self._lines[number + 1 :] if one.parent is not None)
                self.mount(line, before=next(below, self._row))
