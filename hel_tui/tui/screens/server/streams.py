"""The tabs of what goes by: the log of a server and its wire.

Not here: the views (widgets), the stores (core).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.widget import Widget

from hel_tui.tui.screens.server.tab import Tab
from hel_tui.tui.widgets.log import LogView

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp


class Log(Tab):
    """stderr and logging messages in one time line."""

    name_of: ClassVar[str] = "log"

    def __init__(self, hel: HelApp) -> None:
        super().__init__(hel)
        self.view = LogView()

    def compose(self) -> ComposeResult:
        yield self.view

    def draw(self) -> None:
        self.view.watch_log(self.server, self.hel.core.log(self.server))

    def frame(self) -> None:
        self.view.poll()

    def target(self) -> Widget:
        return self.view

    def show_call(self, call_id: str) -> None:
        """Mark what was written while a call ran."""


class Wire(Log):
    """Every frame of the session."""

    name_of: ClassVar[str] = "wire"
