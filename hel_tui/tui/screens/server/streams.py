"""The tabs of what goes by: the log of a server, or of all together, and its wire.

Not here: the views (widgets), the stores and the files that are written (core).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui.screens.server.tab import Tab
from hel_tui.tui.state import CallItem, Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.log import SLACK, LogView
from hel_tui.tui.widgets.log_layout import CallMark
from hel_tui.tui.widgets.log_panel import LogPanel
from hel_tui.tui.widgets.wire_panel import WirePanel

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

MOST_MARKED = 2_000
"""The newest calls whose beginnings and ends are marked in a log."""


class Log(Tab):
    """stderr and logging messages in one time line."""

    name_of: ClassVar[str] = "log"

    def __init__(self, hel: HelApp) -> None:
        super().__init__(hel)
        self.panel = LogPanel()
        self.all = False
        """All servers together are shown."""

    def compose(self) -> ComposeResult:
        yield self.panel

    def draw(self) -> None:
        name = "" if self.all else self.server
        self.panel.show(name, self.hel.core.log(name))
        self._mark()

    def show_server(self, server: str) -> None:
        if server != self.server:
            self.all = False
        super().show_server(server)

    def show_all(self) -> None:
        """The log of all servers together, or again of the one that is picked."""
        self.all = not self.all
        self.draw()

    def _mark(self) -> None:
        items = self.hel.bridge.state.items[-MOST_MARKED:]
        calls = (item for item in items if isinstance(item, CallItem) and item.started)
        self.panel.mark_calls(
            [
                CallMark(call.key, call.server, call.tool, call.started, call.ended and call.ended + SLACK)
                for call in calls
                if call.server == self.server or (self.all and call.server)
            ]
        )

    def sync(self, changes: Changes) -> None:
        if changes.servers:
            self.draw()
        elif changes.items:
            self._mark()

    def frame(self) -> None:
        self.panel.poll()

    def target(self) -> Widget:
        return self.panel.view

    def show_call(self, call_id: str) -> None:
        """Mark what was written while a call ran."""
        call = self.hel.bridge.state.by_key.get(call_id)
        if isinstance(call, CallItem) and call.started:
            self.show_span(call.started, call.ended or time.time())

    def show_span(self, began: float, ended: float) -> None:
        """Mark what came between two Unix times."""
        self.panel.poll()
        self.panel.show_span(began, ended)

    @on(LogPanel.SaveRequested)
    def _save(self, event: LogPanel.SaveRequested) -> None:
        event.stop()
        self.hel.send(p.SaveLog(event.server, event.path, event.query))

    @on(LogPanel.OpenCall)
    def _card(self, event: LogPanel.OpenCall) -> None:
        event.stop()
        self.hel.show_card(event.call_id)

    @on(LogPanel.OpenFrames)
    def _frames(self, event: LogPanel.OpenFrames) -> None:
        event.stop()
        self.hel.open_server(event.server, "wire", event.call_id)

    @on(LogView.CopyRequested)
    def _copy(self, event: LogView.CopyRequested) -> None:
        event.stop()
        self.hel.copy(event.text, t("copied.lines", n=event.lines))


class Wire(Tab):
    """Every frame of the session."""

    name_of: ClassVar[str] = "wire"

    def __init__(self, hel: HelApp) -> None:
        super().__init__(hel)
        self.panel = WirePanel()

    def compose(self) -> ComposeResult:
        yield self.panel

    def draw(self) -> None:
        self.panel.show(self.server, self.hel.core.frames(self.server))

    def frame(self) -> None:
        self.panel.poll()

    def target(self) -> Widget:
        return self.panel.view

    def show_call(self, call_id: str) -> None:
        """Only what one call caused."""
        self.panel.poll()
        self.panel.show_call(call_id)

    @on(WirePanel.CopyRequested)
    def _copy(self, event: WirePanel.CopyRequested) -> None:
        event.stop()
        self.hel.copy(event.text, event.said)

    @on(WirePanel.ExportRequested)
    def _export(self, event: WirePanel.ExportRequested) -> None:
        event.stop()
        self.hel.send(p.ExportFrames(event.server, event.path, event.form, event.query))

    @on(WirePanel.OpenCall)
    def _card(self, event: WirePanel.OpenCall) -> None:
        event.stop()
        self.hel.show_card(event.call_id)

    @on(WirePanel.OpenLog)
    def _log(self, event: WirePanel.OpenLog) -> None:
        event.stop()
        self.post_message(self.LogWanted(event.began, event.ended))

    class LogWanted(Message):
        """Go to the log between two Unix times."""

        def __init__(self, began: float, ended: float) -> None:
            super().__init__()
            self.began, self.ended = began, ended
