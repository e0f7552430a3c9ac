"""What fills the context of the model: a picture, a table, and the key that shortens the conversation.

Not here: the lines (text.context), measuring and shortening (core).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.text.context import context_lines
from hel_tui.tui.widgets.lines import Caption, Part
from hel_tui.tui.widgets.sheet import SheetView

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

COMMAND = "/compact"
"""As it waits behind a turn that runs."""
PICTURE = 5
"""Rows of the picture."""


class ContextScreen(LiveScreen):
    """Drawn anew when the meter moves."""

    AUTO_FOCUS = "SheetView"

    def __init__(self, hel: HelApp) -> None:
        super().__init__(id="context")
        self.hel = hel
        self.sheet = SheetView()
        self._asked = False

    def compose(self) -> ComposeResult:
        with Vertical(id="context-body"):
            yield Caption([(f" {t('context.title')}", "strong")])
            yield self.sheet
            foot: list[Part] = [(f" {keymap.label('context.compact')}", "key")]
            foot += [(f" {t('short.context.compact')} · ", "muted")]
            foot += [(keymap.label("context.close"), "key"), (f" {t('sheet.close')}", "muted")]
            yield Caption(foot)

    def on_mount(self) -> None:
        self.draw()

    def on_resize(self) -> None:
        self.draw()

    def draw(self) -> None:
        """Show what a request would have now."""
        picture = self.hel.core.context()
        if picture is not None:
            self.sheet.show(context_lines(picture, max(self.size.width - 4, 20), PICTURE))

    def sync(self, changes: Changes) -> None:
        if changes.header or changes.tools:
            self.draw()

    def on_key(self, event: events.Key) -> None:
        if event.key in (*keymap.keys("context.close"), "ctrl+c"):
            event.stop()
            self.dismiss(None)
        elif event.key in keymap.keys("context.compact"):
            event.stop()
            self._shorten()

    def _shorten(self) -> None:
        """Ask for a summary, and go where it is seen to come; once, however often the key is pressed."""
        state = self.hel.bridge.state
        if self._asked:
            return
        if state.compacting or COMMAND in state.queued:
            self.hel.say(t("context.already"), "warning")
            return
        self._asked = True
        self.hel.send(p.Compact())
        self.hel.main.conversation.action_end()
        self.dismiss(None)
