"""Short messages over the screen lose no character, in any script and at any width."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import pytest

from hel_tui.tui.app import HelApp
from tests.tui.driving import LIMIT
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text

TEXTS = ("이 명령은 없습니다. /help에 목록이 있습니다.", "가" * 37, "a" + "나" * 37, "漢字" * 14 + "!")


@pytest.mark.parametrize("width", [80, 99, 100, 110, 117, 120, 121, 133, 200])
async def test_wide_characters_of_a_toast_are_whole_wherever_the_columns_are(width: int):
    app = HelApp(FakeCore())
    async with app.run_test(size=(width, 30), notifications=True) as pilot:
        for text in TEXTS:
            app.clear_notifications()
            app.say(text)
            wanted, end = Counter(text.replace(" ", "")), time.monotonic() + LIMIT
            while wanted - Counter(screen_text(app)):
                assert time.monotonic() < end, (text, screen_text(app))
                await asyncio.sleep(0.01)
                await pilot.pause()
