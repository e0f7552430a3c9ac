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
LATEST = 1.0
"""Seconds after the first change not told of, at which it is told of whether the prompt rests or not."""


class Drafting:
    """That of the main screen."""

    def __init__(self, hel: HelApp, screen: MainLayout) -> None:
        self._hel = hel
        self._screen = screen
        self._told = ""
        self._rest: Timer | None = None
        self._latest: Timer | None = None

    def changed(self) -> None:
        """The prompt has other text, or another session is open: tell of it soon, of an empty one at once."""
        if self._screen.prompt.own:
            if self._rest is not None:
                self._rest.stop()
            self._rest = self._screen.set_timer(RESTS, self.tell)
            self._latest = self._latest or self._screen.set_timer(LATEST, self.tell)
        elif self._told or self._rest is not None:  # the core may have what was never told from here
            self._stop()
            self._tell("")

    def moved(self) -> None:
        """Another session is open, and has nothing of it yet."""
        self._told = ""
        self.changed()

    def tell(self) -> None:
        """Tell of it now: the prompt has rested, or was written in long enough, or hel ends."""
        self._stop()
        if (text := self._screen.prompt.own) != self._told:
            self._tell(text)

    def _tell(self, text: str) -> None:
        self._told = text
        self._hel.send(p.Draft(text))

    def _stop(self) -> None:
        for timer in (self._rest, self._latest):
            if timer is not None:
                timer.stop()
        self._rest = self._latest = None
