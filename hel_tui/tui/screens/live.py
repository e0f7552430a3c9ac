"""A screen over the main one that goes on living: it hears of changes, and dialogs may open over it.

Base of the server screen and of calls by hand. Not here: what such a screen shows.
"""

from __future__ import annotations

from hel_tui.tui.screens.once import OnceScreen
from hel_tui.tui.state import Changes


class LiveScreen(OnceScreen[None]):
    """The app calls `sync` with what a frame brought, then `frame`; once a second `second`."""

    def sync(self, changes: Changes) -> None:
        """What came in, drawn or noted."""

    def frame(self) -> None:
        """Once a frame, while it is the one on top."""

    def second(self) -> None:
        """Once a second, while it is the one on top."""

    def show_waiting(self, on: bool) -> None:
        """Announce, or stop announcing, a decision that waits."""
