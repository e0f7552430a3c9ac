"""The line between the conversation and the right column: drag it to resize."""

from __future__ import annotations

from textual import events
from textual.message import Message

from hel_tui.tui.widgets.lines import Bar, Line


class Splitter(Bar):
    """One column wide. Posts `Dragged` with the distance to the right edge of the screen."""

    DEFAULT_CSS = """
    Splitter { width: 1; height: 1fr; }
    Splitter:hover > .line--frame { color: $accent; }
    """

    class Dragged(Message):
        def __init__(self, from_right: int) -> None:
            super().__init__()
            self.from_right = from_right

    def __init__(self) -> None:
        super().__init__(id="splitter")
        self._held = False

    def lines(self) -> list[Line]:
        return [[("│", "frame")]] * self.size.height

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._held = True
        self.capture_mouse()
        event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held:
            self.post_message(self.Dragged(self.screen.size.width - event.screen_x - 1))

    def on_mouse_up(self) -> None:
        self._held = False
        self.release_mouse()
