"""The log pane: reads what it shows, follows, pauses, filters, and stays cheap under a flood."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.widgets.log import log_line
from tests.tui.driving import opened
from tests.tui.fake_core import FakeCore, FakeLog
from tests.tui.screen_text import screen_text


def logged(*texts: str) -> FakeCore:
    core = FakeCore(logs={"srv": FakeLog(list(texts))})
    core.put(p.ServerChanged("srv", "ready"))
    return core


async def test_it_follows_the_end():
    core = logged(*(f"line {n}" for n in range(500)))
    async with opened(core) as d:
        assert "line 499" in screen_text(d.app)
        core.logs["srv"].add("the newest")
        await d.until(lambda: "the newest" in screen_text(d.app))


async def test_scrolling_up_stops_following_and_the_end_key_resumes():
    core = logged(*(f"line {n}" for n in range(500)))
    async with opened(core) as d:
        view = d.app.main.side.log_view
        d.app.main.set_focus(view)
        await d.press("pageup", after=1)
        assert not view.following
        assert "paused" in screen_text(d.app) or await _soon(d, "paused")
        core.logs["srv"].add("the newest")
        await d.pilot.pause(0.1)
        assert "the newest" not in screen_text(d.app)
        await d.press("G", after=1)
        await d.until(lambda: "the newest" in screen_text(d.app))
        assert view.following


async def _soon(d, text: str) -> bool:
    await d.until(lambda: text in screen_text(d.app))
    return True


async def test_a_paused_view_stays_on_its_lines_when_old_ones_are_dropped():
    core = logged(*(f"line {n:04}" for n in range(1000)))
    async with opened(core) as d:
        view = d.app.main.side.log_view
        view.action_start()
        view.action_scroll_lines(500)
        view.following = False
        await d.pilot.pause(0.1)
        assert "line 0500" in screen_text(d.app)
        core.logs["srv"].drop(200)
        await d.pilot.pause(0.2)
        assert "line 0500" in screen_text(d.app)


async def test_a_filter_shows_only_lines_that_contain_it():
    core = logged("apple one", "pear", "APPLE two")
    async with opened(core) as d:
        d.app.main.set_focus(d.app.main.side.log_view)
        await d.press("slash", after=1)
        await d.type("apple")
        await d.press("enter", after=1)
        await d.until(lambda: "pear" not in screen_text(d.app))
        core.logs["srv"].add("apple three", "plum")
        await d.until(lambda: "apple three" in screen_text(d.app))
        text = screen_text(d.app)
        assert "APPLE two" in text and "plum" not in text
        await d.press("slash", "escape", after=1)
        await d.until(lambda: "plum" in screen_text(d.app))


async def test_a_flood_costs_no_more_reading_than_what_is_shown():
    core = logged("first")
    async with opened(core) as d:
        log = core.logs["srv"]
        log.reads = 0
        frames = 20
        for _ in range(frames):
            log.add(*["noise"] * 1000)
            d.app.main.frame()
            await d.pilot.pause()
        shown = d.app.main.side.log_view.size.height
        assert log.reads <= 4 * frames * (shown + 1)


@pytest.mark.parametrize(
    ("transport", "title", "empty"),
    [("stdio", "stderr: srv", "nothing on stderr"), ("http", "log: srv", "nothing in its log")],
)
async def test_a_server_without_a_log_says_so(transport, title, empty):
    core = FakeCore()
    core.put(p.ServerChanged("srv", "ready", transport=transport))
    async with opened(core) as d:
        assert title in screen_text(d.app) and empty in screen_text(d.app)


async def test_a_server_without_a_log_says_why_when_there_is_a_reason():
    core = FakeCore()
    core.put(p.ServerChanged("srv", "failed", "line 9, column 30: `command` and `url` are both given"))
    async with opened(core) as d:
        shown = " ".join(screen_text(d.app, d.app.main.side.log_view).split())
        assert "`command` and `url` are both given" in shown.replace("│", "")


def test_a_line_has_its_time_and_is_one_line(monkeypatch):
    import time

    monkeypatch.setattr("hel_tui.tui.widgets.log_layout.time.localtime", time.gmtime)
    parts = log_line(p.LogLine(1_700_000_000.0, "a\x1b[31mb\nc" + "x" * 100), 30)
    text = "".join(part for part, _ in parts)
    assert text.startswith(" 22:13:20 ab") and text.endswith("…")
    assert "\n" not in text


async def test_a_filter_by_level_is_said_in_the_title_of_the_pane():
    core = logged("one", "two")
    async with opened(core) as d:
        d.app.main.set_focus(d.app.main.side.log_view)
        await d.press("L", after=1)
        await d.until(lambda: "≥ info" in screen_text(d.app))
