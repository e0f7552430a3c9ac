"""Drives the app in tests: opens it on a fake core, waits for conditions, presses keys at given times."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable

from textual import events
from textual.pilot import Pilot

from hel_tui.core import protocol as p
from hel_tui.tui.app import HelApp
from hel_tui.tui.dialogs.base import Dialog
from hel_tui.tui.dialogs.gate import DEAF, PAUSE, SETTLE
from hel_tui.tui.places import Places
from tests.tui.fake_core import FakeCore

LIMIT = 60.0
"""Seconds a condition may take on a busy machine."""


class Clock:
    """Time that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Driver:
    """One open app."""

    def __init__(self, app: HelApp, core: FakeCore, pilot: Pilot[int], clock: Clock) -> None:
        self.app, self.core, self.pilot, self.clock = app, core, pilot, clock

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until the condition holds."""
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, "the condition never held"
            await self.pilot.pause(0.005)
        await self.pilot.pause()

    async def put(self, *events: p.Event) -> None:
        """Hand events over and wait until the screen has taken them."""
        self.core.put(*events)
        await self.until(lambda: not self.core.waiting)

    async def press(self, *keys: str, after: float = 0.0) -> None:
        """Press keys at the clock's time, each `after` seconds later than the one before."""
        for key in keys:
            self.clock.now += after
            name = {" ": "space", "\n": "enter"}.get(key, key)
            character = {"space": " ", "enter": "\r"}.get(name, name if len(name) == 1 else None)
            event = events.Key(name, character)
            event.time = self.clock.now
            self.app.post_message(event)
            if after >= 0.3:
                await self.pilot.pause()
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Type slowly enough to be a person."""
        await self.press(*text, after=0.05)
        await self.pilot.pause()

    @property
    def dialog(self) -> Dialog:
        assert isinstance(self.app.screen, Dialog)
        return self.app.screen

    @property
    def has_dialog(self) -> bool:
        return isinstance(self.app.screen, Dialog)

    async def ask(self, question: p.Question) -> None:
        """Let a question appear to rested hands, and wait until its dialog is drawn and hears."""
        self.clock.now += PAUSE + 0.01
        await self.put(p.Asked(question))
        await self.until(lambda: self.has_dialog)
        await self.listening()

    async def listening(self) -> None:
        """Wait until the dialog is drawn, then let its deaf time pass."""
        await self.until(lambda: self.dialog.gate.deaf_until != float("inf"))
        self.clock.now += DEAF + 0.01
        await self.pilot.pause()

    async def decide(self, key: str) -> None:
        """Press a key in a dialog and let it settle."""
        await self.press(key, after=SETTLE + 0.01)
        self.clock.now += SETTLE + 0.01
        await self.pilot.pause(0.08)


@contextlib.asynccontextmanager
async def opened(
    core: FakeCore | None = None,
    size: tuple[int, int] = (120, 40),
    theme: str | None = None,
    places: Places | None = None,
    toasts: bool = False,
) -> AsyncIterator[Driver]:
    """The app on a fake core with all its events taken; `toasts`: they are on the screen, too."""
    core, clock = core or FakeCore(), Clock()
    app = HelApp(core, theme=theme, places=places, clock=clock)
    async with app.run_test(size=size, notifications=toasts) as pilot:
        driver = Driver(app, core, pilot, clock)
        app.main.status.clock = lambda: (
            app.bridge.state.turn_began
        )  # a turn takes no time, however slow the machine
        await driver.until(lambda: core.started and not core.waiting)
        yield driver
