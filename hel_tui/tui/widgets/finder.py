"""One line to type a filter or a search into; what it searches is whoever opened it."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from hel_tui.tui import keymap
from hel_tui.tui.strings import t


class LabelledInput(Input):
    """One line whose right edge says what it is for, once there is text over the placeholder."""

    def take(self, event: events.Key) -> None:
        """Take a key that was pressed for this line before it had got the focus."""
        self.on_key(event)
        if not event._no_default_action and event.character is not None and event.is_printable:
            event.stop()
            self.replace(event.character, *self.selection)

    def on_key(self, event: events.Key) -> None:
        """Keys that end the line."""

    def note(self) -> str:
        """What the right edge says."""
        return self.placeholder if self.value else ""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        note = f" {self.note()} "
        room = strip.cell_length - cell_len(note)
        if y or not note.strip() or cell_len(self.value) >= room:
            return strip
        style = self.get_component_rich_style("input--placeholder")
        return Strip([*strip.crop(0, room), Segment(note, style)])


class Finder(LabelledInput):
    """One key keeps what was typed, another clears it; both go back to where it was opened."""

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
        self.found: int | str | None = None
        """How much was found, or that in words; None where that is not counted."""

    def open(self, hint: str, back: Widget, target: Callable[[str], object]) -> None:
        """Type for `target`; go back to `back`."""
        self._target = self.found = None
        self.placeholder, self.value = hint, ""
        self._back, self._target = back, target
        self.display = True
        self.focus()

    def apply(self, text: str) -> None:
        """Search or filter, and say how much was found where that is counted."""
        if self._target is not None and self.display:
            count = self._target(text)
            self.found = count if isinstance(count, int | str) and text.strip() else None
            self.refresh()

    def note(self) -> str:
        """What is searched, and how much was found."""
        label = super().note()
        if self.found is None:
            return label
        found = self.found if isinstance(self.found, str) else t("find.count", n=self.found)
        return f"{label} · {found}"

    def on_blur(self) -> None:
        """Leaving it by another way keeps the filter and folds the line."""
        self.display = False

    def on_key(self, event: events.Key) -> None:
        run = keymap.by_key("finder").get(event.key)
        if run is None:
            return
        event.stop()
        event.prevent_default()
        if run == "clear":
            self.apply("")
        self.display = False
        self._target = None
        if self._back is not None:
            self.post_message(self.Closed(self._back))
