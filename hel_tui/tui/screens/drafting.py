"""Tells the core what is in the prompt once that has rested, so that no end of hel loses it.

Not here: where it is kept (core), the prompt itself (widgets.prompt).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from hel_tui.core import protocol as p

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.layout import MainLayout

RESTS = 0.25
"""Seconds without a change after which the prompt has rested."""


class Drafting:
    """That of the main screen."""

    def __init__(self, hel: HelApp, screen: MainLayout) -> None:
        self._hel = hel
        self._screen = screen
        self._told = ""
        self._timer: Timer | None = None

    def changed(self) -> None:
        """The prompt has other text, or another session is open: tell of it soon, of an empty one at once."""
        if self._timer is not None:
            self._timer.stop()
        if self._screen.prompt.text:
            self._timer = self._screen.set_timer(RESTS, self._tell)
        elif self._told:
            self._tell()

    def moved(self) -> None:
        """Another session is open, and has nothing of it yet."""
        self._told = ""
        self.changed()

    def _tell(self) -> None:
        self._timer, text = None, self._screen.prompt.whole
        if text != self._told:
            self._told = text
            self._hel.send(p.Draft(text))
