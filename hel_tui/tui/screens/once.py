"""Screens that close once: of two keys pressed at once the second may come when the screen is away already.

Textual would close whatever lies below then, in the end the app. Not here: what a screen shows.
"""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen, ScreenResultType


class OnceScreen(Screen[ScreenResultType]):
    """A screen that `dismiss` closes when it is the one on top, and leaves alone otherwise."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close it with this result; nothing when it is closed already, or another lies over it."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class OnceModal(ModalScreen[ScreenResultType]):
    """The same of a screen over another."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close it with this result; nothing when it is closed already, or another lies over it."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
