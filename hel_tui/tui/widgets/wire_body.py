"""The bodies of a frame and of the one that answers it, beside or below each other.

Not here: the list of frames (wire), folding (json_view).
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container

from hel_tui.core import protocol as p
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.json_view_pane import JsonPane
from hel_tui.tui.widgets.lines import Part
from hel_tui.tui.widgets.wire_rows import exchange_text, head

BESIDE_FROM = 110
"""Cells of width from which request and answer stand beside each other."""


class WireBody(Container):
    """Hidden until a frame is shown."""

    DEFAULT_CSS = """
    WireBody {
        height: 1fr;
        layout: vertical;
        display: none;
        border-top: solid $border-blurred;
        &.-beside { layout: horizontal; }
        & > JsonPane:focus-within { height: 2fr; }
        &.-beside > JsonPane { height: 1fr; }
        & > JsonPane.-second { border-top: solid $border-blurred; }
        &.-beside > JsonPane.-second { border-top: none; border-left: solid $border-blurred; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = JsonPane(), JsonPane()
        self.second.add_class("-second")
        self.number = -1
        """The frame that was opened."""
        self._shown: tuple[p.Frame | None, p.Frame | None] = (None, None)

    def compose(self) -> ComposeResult:
        yield self.first
        yield self.second

    def show(self, window: p.FrameWindow, frame: p.Frame) -> None:
        """Show a frame and its pair, the request first."""
        self.number = frame.number
        pair = _frame(window, frame.pair)
        first, second = frame, pair
        if pair is not None and pair.number < frame.number:
            first, second = pair, frame
        if (first, second) == self._shown:
            return
        self._shown = (first, second)
        self._fill(self.first, window, first)
        waits = frame.kind == "request" and pair is None
        self.second.display = second is not None or waits
        if second is not None:
            self._fill(self.second, window, second)
        elif waits:
            self.second.show("", [(t("wire.waits"), "muted")])

    @staticmethod
    def _fill(pane: JsonPane, window: p.FrameWindow, frame: p.Frame) -> None:
        facts: list[Part] = head(frame)
        if frame.kind == "http":
            exchange = window.exchange(frame.number)
            pane.show(exchange_text(exchange) if exchange is not None else "", facts, t("wire.body_gone"))
            return
        pane.show(window.body(frame.number), facts, t("wire.body_gone"))

    def poll(self, window: p.FrameWindow | None) -> None:
        """Once a frame: read on, and show the answer once it is there."""
        if window is not None and (frame := _frame(window, self.number)) is not None:
            self.show(window, frame)
        self.first.poll()
        self.second.poll()

    def pane_of(self, number: int) -> JsonPane:
        """Where the body of a frame stands."""
        second = self._shown[1]
        return self.second if second is not None and second.number == number else self.first

    @property
    def focused(self) -> JsonPane | None:
        """The pane the focus is in."""
        return next((pane for pane in (self.first, self.second) if pane.has_focus_within), None)

    def other(self) -> JsonPane | None:
        """The pane beside the one the focus is in."""
        if not self.second.display:
            return None
        return self.first if self.focused is self.second else self.second

    def close(self) -> None:
        """Forget what was shown."""
        self.display = False
        self.number, self._shown = -1, (None, None)

    def on_resize(self) -> None:
        self.set_class(self.size.width >= BESIDE_FROM, "-beside")


def _frame(window: p.FrameWindow, number: int) -> p.Frame | None:
    found = window.frames(number, number + 1) if number >= 0 else []
    return found[0] if found else None
