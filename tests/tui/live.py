"""The real app on a real core, driven by keys: no fake in between but the clock."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from textual.pilot import Pilot

from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime
from hel_tui.tui.app import HelApp
from tests.rig import LIMIT
from tests.tui.driving import Clock, Driver
from tests.tui.screen_text import screen_text


class Live(Driver):
    """One open app over a running core."""

    def __init__(self, app: HelApp, core: Runtime, pilot: Pilot[int], clock: Clock) -> None:
        super().__init__(app, core, pilot, clock)  # type: ignore[arg-type]

    @property
    def text(self) -> str:
        """What a person sees."""
        return screen_text(self.app)  # type: ignore[arg-type]

    async def until(self, condition: Callable[[], Any], what: str = "") -> None:
        """Wait until the condition holds."""
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, f"waited in vain for {what}; the screen was:\n{self.text}"
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def sees(self, *texts: str) -> None:
        """Wait until all of these are on the screen."""
        await self.until(lambda: all(text in self.text for text in texts), repr(texts))

    async def decision(self, *texts: str) -> str:
        """Rest the hands until a decision with these texts is on the screen and listens; its screen."""

        def shown() -> bool:
            self.clock.now += 0.2
            return self.has_dialog and all(text in self.text for text in texts)

        await self.until(shown, f"a decision with {texts}")
        await self.listening()
        await self.press("end", after=0.5)
        return self.text

    async def submit(self, text: str) -> None:
        """Type into the prompt and send."""
        await self.until(lambda: not self.has_dialog)
        await self.type(text)
        await self.press("enter", after=0.5)


@contextlib.asynccontextmanager
async def living(options: Options, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Live]:
    """The app on a core with these options; at the end the core has ended too."""
    core, clock = Runtime(options), Clock()
    app = HelApp(core, clock=clock)
    try:
        async with app.run_test(size=size) as pilot:
            live = Live(app, core, pilot, clock)
            await live.until(lambda: app.bridge.state.session_id, "the core")
            yield live
    finally:
        assert core.stop(LIMIT)
