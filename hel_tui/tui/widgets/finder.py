"""One line to type a filter or a search into; what it searches is whoever opened it."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input


class Finder(Input):
    """Enter keeps what was typed, Esc clears it; both go back to where it was opened."""

    DEFAULT_CSS = """
    Finder { height: 1; border: none; padding: 0 1; background: $panel; }
    Finder:focus { border: none; }
    """

    class Closed(Message):
        def __init__(self, back: Widget) -> None:
            super().__init__()
            self.back = back

    def __init__(self) -> None:
        super().__init__(id="finder", select_on_focus=False)
        self._target: Callable[[str], object] | None = None
        self._back: Widget | None = None

    def open(self, hint: str, back: Widget, target: Callable[[str], object]) -> None:
        """Type for `target`; go back to `back`."""
        self._target = None
        self.placeholder, self.value = hint, ""
        self._back, self._target = back, target
        self.display = True
        self.focus()

    def apply(self, text: str) -> None:
        if self._target is not None and self.display:
            self._target(text)

    def on_blur(self) -> None:
        """Leaving it by another way keeps the filter and folds the line."""
        self.display = False

    def on_key(self, event: events.Key) -> None:
        if event.key not in ("enter", "escape"):
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.apply("")
        self.display = False
        self._target = None
        if self._back is not None:
            self.post_message(self.Closed(self._back))
