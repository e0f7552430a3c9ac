"""What the doctor found about hel itself: a sheet that fills as it looks.

Not here: looking (core), one server (the health tab of the server screen).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.screens.server.texts import health
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Caption, Part
from hel_tui.tui.widgets.sheet import SheetView

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp


class DoctorScreen(LiveScreen):
    """The findings about this machine, the files and all servers."""

    AUTO_FOCUS = "SheetView"

    def __init__(self, hel: HelApp) -> None:
        super().__init__(id="doctor")
        self.hel = hel
        self.sheet = SheetView()

    def compose(self) -> ComposeResult:
        with Vertical(id="doctor-body"):
            yield Caption([(f" {t('health.of_hel')}", "strong")])
            yield self.sheet
            foot: list[Part] = [(f" {keymap.label('server.diagnose')}", "key")]
            foot += [(f" {t('short.server.diagnose')} · ", "muted"), ("Esc", "key")]
            foot.append((f" {t('sheet.close')}", "muted"))
            yield Caption(foot)

    def on_mount(self) -> None:
        self.draw()
        self.hel.send(p.Diagnose())

    def draw(self) -> None:
        self.sheet.show(health(self.hel.core.diagnosis("")))

    def sync(self, changes: Changes) -> None:
        if "" in changes.diagnosed:
            self.draw()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "ctrl+c"):
            event.stop()
            self.dismiss(None)
        elif event.key in keymap.keys("server.diagnose"):
            event.stop()
            self.hel.send(p.Diagnose())
