"""Shown while servers are being closed: who is waited for, and how not to wait."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen

from hel_tui.tui.safe import one_line
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Caption, Line


def _names(waiting: tuple[str, ...]) -> Line:
    text = ", ".join(waiting)
    return [(f" {one_line(text, 56) if text else t('closing.nearly')}", "muted")]


class ClosingScreen(ModalScreen[None]):
    """Ctrl+C here kills at once."""

    AUTO_FOCUS = ""

    class Impatient(Message):
        """Do not wait."""

    def __init__(self, waiting: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.names = Caption(_names(waiting))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog small"):
            yield Caption([(f" {t('closing.title')}", "strong")])
            yield self.names
            yield Caption([(" Ctrl+C", "key"), (f" {t('closing.kill')}", "muted")])

    def update(self, waiting: tuple[str, ...]) -> None:
        self.names.say(_names(waiting))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key == "ctrl+c":
            self.post_message(self.Impatient())
