"""Going back to an earlier turn: how it is asked for, and what was said then given back to be said again.

Not here: the list of turns (rewind), giving files back (core).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.main import MainScreen

ESCAPE_WITHIN = 1.0
"""Seconds in which a second Esc goes back to an earlier turn."""


class GoingBack:
    """Bound to the app and its main screen."""

    def __init__(self, hel: HelApp, screen: MainScreen) -> None:
        self.hel, self.screen = hel, screen
        self.wanted: tuple[int, str] = (0, "")
        """The turn that the person goes back to before, and what was said in it."""
        self._last_escape = float("-inf")

    def open(self) -> None:
        """Show the turns there are."""
        from hel_tui.tui.screens.rewind import RewindScreen  # not needed for the first paint

        self.hel.push_screen(RewindScreen(self.hel))

    def escape(self) -> None:
        """Esc was pressed where it ends nothing: twice on an empty prompt shows the turns."""
        last, self._last_escape = self._last_escape, self.hel.clock()
        if self.screen.prompt.text:
            return
        if self._last_escape - last <= ESCAPE_WITHIN:
            self._last_escape = float("-inf")
            self.open()

    def heard(self, rewound: Collection[int]) -> None:
        """The conversation ends before one of these turns now: give back what was said in it, if it is the
        one that was wanted, before what is written in the prompt.
        """
        turn, text = self.wanted
        if turn not in rewound:
            return
        self.wanted = (0, "")
        if text:
            self.screen.commands.taken_back(text)
        self.screen.set_focus(self.screen.prompt)
