"""Short messages over the screen lose no character, in any script and at any width."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from hel_tui.tui.app import HelApp
from tests.tui.driving import LIMIT, Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text
from tests.tui.server_scenes import inside_core

TEXTS = ("이 명령은 없습니다. /help에 목록이 있습니다.", "가" * 37, "a" + "나" * 37, "漢字" * 14 + "!")


@pytest.mark.parametrize("width", [80, 99, 100, 110, 117, 120, 121, 133, 200])
async def test_wide_characters_of_a_toast_are_whole_wherever_the_columns_are(width: int):
    app = HelApp(FakeCore())
    async with app.run_test(size=(width, 30), notifications=True) as pilot:
        for text in TEXTS:
            await whole(app, pilot, text)


async def whole(app: HelApp, pilot: Pilot[int], text: str) -> None:
    """Say something, and wait until every character of it is on the screen."""
    app.clear_notifications()
    app.say(text)
    wanted, end = Counter(text.replace(" ", "")), time.monotonic() + LIMIT
    while wanted - Counter(screen_text(app)):
        assert time.monotonic() < end, (text, screen_text(app))
        await asyncio.sleep(0.01)
        await pilot.pause()


async def sessions(d: Driver) -> None:
    await d.press("ctrl+s")


async def models(d: Driver) -> None:
    await d.type("/model")
    await d.press("enter")


async def server(d: Driver) -> None:
    d.app.open_server("inventory", "overview")


async def context(d: Driver) -> None:
    await d.type("/context")
    await d.press("enter")


async def keys(d: Driver) -> None:
    await d.press("f1")


@pytest.mark.parametrize("width", [80, 110, 117, 121])
@pytest.mark.parametrize("show", [sessions, models, server, context, keys])
async def test_so_they_are_on_every_other_screen(show: Callable[[Driver], Awaitable[None]], width: int):
    async with opened(inside_core(), size=(width, 30), toasts=True) as d:
        await show(d)
        await d.until(lambda: len(d.app.screen_stack) > 1)
        for text in TEXTS:
            await whole(d.app, d.pilot, text)
        await d.pilot.resize_terminal(width - 7, 30)
        await whole(d.app, d.pilot, TEXTS[0])
