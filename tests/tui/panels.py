"""An app that is nothing but one panel, which is polled as the screen polls it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from hel_tui.tui import themes
from hel_tui.tui.widgets.json_view import JsonView
from hel_tui.tui.widgets.json_view_pane import JsonPane
from hel_tui.tui.widgets.log import LogView
from hel_tui.tui.widgets.log_panel import LogPanel
from hel_tui.tui.widgets.wire_panel import WirePanel
from tests.tui.screen_text import screen_text

Panel = TypeVar("Panel", LogPanel, WirePanel, JsonPane)
LIMIT = 60.0


class Host(App[None], Generic[Panel]):
    """The panel and what it wanted."""

    def __init__(self, panel: Panel, theme: str) -> None:
        super().__init__()
        for one in themes.load().themes.values():
            self.register_theme(one)
        self.theme = theme
        self.panel = panel
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.panel

    def _hear(self, message: Message) -> None:
        self.heard.append(message)

    on_log_view_copy_requested = _hear
    on_log_panel_save_requested = _hear
    on_log_panel_open_call = _hear
    on_log_panel_open_frames = _hear
    on_wire_panel_copy_requested = _hear
    on_wire_panel_export_requested = _hear
    on_wire_panel_open_call = _hear
    on_wire_panel_open_log = _hear
    on_json_view_copy_requested = _hear

    def last(self, kind: type[Message]) -> Message:
        """The last thing of a kind that was wanted."""
        found = [message for message in self.heard if isinstance(message, kind)]
        assert found, f"nothing wanted {kind.__name__}"
        return found[-1]


class Hand(Generic[Panel]):
    """Presses keys and looks."""

    def __init__(self, app: Host[Panel], pilot: Pilot[None]) -> None:
        self.app, self.pilot, self.panel = app, pilot, app.panel

    @property
    def text(self) -> str:
        return screen_text(self.app)

    def row(self, needle: str) -> int:
        """The row of the screen that says this."""
        return next(y for y, row in enumerate(self.text.split("\n")) if needle in row)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.frame()

    async def type(self, text: str) -> None:
        await self.press(*("space" if letter == " " else letter for letter in text))

    async def frame(self) -> None:
        self.panel.poll()
        await self.pilot.pause()

    async def until(self, condition: Callable[[], object]) -> None:
        """Poll, frame by frame, until the condition holds."""
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, f"the condition never held:\n{self.text}"
            await self.frame()
            await self.pilot.pause(0.002)


@asynccontextmanager
async def mounted(
    panel: Panel,
    show: Callable[[Panel], object],
    size: tuple[int, int] = (100, 20),
    theme: str = "fjord",
) -> AsyncIterator[Hand[Panel]]:
    app = Host(panel, theme)
    async with app.run_test(size=size) as pilot:
        show(panel)
        view: Widget = panel.view
        view.focus()
        hand = Hand(app, pilot)
        await hand.frame()
        yield hand


def views(hand: Hand[WirePanel]) -> list[JsonView]:
    """The bodies that are open."""
    return [pane.view for pane in (hand.panel.body.first, hand.panel.body.second) if pane.display]


__all__ = ["Hand", "Host", "LogView", "mounted", "views"]
