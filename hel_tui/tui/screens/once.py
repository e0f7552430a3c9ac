"""Screens that close once: of two keys pressed at once the second may come when the screen is away already.

Textual would close whatever lies below then, in the end the app. On them messages find a place of their own.
Not here: what a screen shows.
"""

from __future__ import annotations

from textual import on
from textual.await_complete import AwaitComplete
from textual.events import Resize, ScreenResume
from textual.screen import ModalScreen, Screen, ScreenResultType

from hel_tui.tui.screens.toasts import place_toasts


class OnceScreen(Screen[ScreenResultType]):
    """A screen that `dismiss` closes when it is the one on top, and leaves alone otherwise."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close it with this result; nothing when it is closed already, or another lies over it."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    @on(ScreenResume)
    @on(Resize)
    def _place_toasts(self) -> None:
        self.call_after_refresh(place_toasts, self)


class OnceModal(ModalScreen[ScreenResultType]):
    """The same of a screen over another."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close it with this result; nothing when it is closed already, or another lies over it."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    @on(ScreenResume)
    @on(Resize)
    def _place_toasts(self) -> None:
        self.call_after_refresh(place_toasts, self)
