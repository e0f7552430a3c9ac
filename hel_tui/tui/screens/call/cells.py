"""The two widgets of a form: rows with a cursor, and the cell that is typed in.

Not here: what keys do to the form (form_view), what a row says (rows).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message

from hel_tui.tui import keymap
from hel_tui.tui.widgets.fields import Writing
from hel_tui.tui.widgets.lines import Line
from hel_tui.tui.widgets.rows import RowList

JUMP = 2
"""A step to the next place that is needed, however far below; else to the next row."""


class Cell(Writing):
    """What is typed in. Enter and Tab keep it, Esc does not."""

    DEFAULT_CSS = """
    Cell { layer: over; display: none; max-height: 8; padding: 0; background: $boost; }
    """

    class Done(Message):
        """Typing ended. `step`: to which row the person goes on; `keep`: what was typed counts."""

        def __init__(self, step: int, keep: bool = True) -> None:
            super().__init__()
            self.step, self.keep = step, keep

    async def _on_key(self, event: events.Key) -> None:
        steps = {"enter": 1, "tab": JUMP, "shift+tab": -1, "escape": 0}
        if event.key in ("up", "down", "ctrl+j") and self.wants(event.key):
            if event.key == "ctrl+j":
                event.stop()
                event.prevent_default()
            return
        step = steps.get(event.key, {"up": -1, "down": 1}.get(event.key))
        if step is None:
            return
        event.stop()
        event.prevent_default()
        self.post_message(self.Done(step, keep=event.key != "escape"))


class FormRows(RowList):
    """The rows; keys that change the form go to the form view."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("fields")

    class Wish(Message):
        """A key asks for something at the row under the cursor."""

        def __init__(self, what: str, step: int = 0) -> None:
            super().__init__()
            self.what, self.step = what, step

    def __init__(self, line: Callable[[str, int], Line], scrolled: Callable[[], None]) -> None:
        """`line` draws a row by its key and a width; `scrolled` is called when the rows moved."""
        super().__init__(id="call-rows")
        self._line, self._scrolled = line, scrolled

    def line_at(self, y: int) -> Line:
        if y >= len(self.rows):
            return super().line_at(y)
        return self._line(self.rows[y].key, max(self.columns, 1))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._scrolled()

    def action_wish(self, what: str, step: int = 0) -> None:
        self.post_message(self.Wish(what, step))
