"""Whose log the log pane shows while things happen, and when a person chose one."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.widgets.log_choice import PIN
from tests.tui.driving import Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text


def core() -> FakeCore:
    made = FakeCore()
    made.put(*(p.ServerChanged(name, "ready", tools=1) for name in ("apples", "bears")))
    made.put(p.ServerChanged("cloud", "ready", transport="http", tools=1))
    return made


async def shows(d: Driver, title: str) -> None:
    await d.until(lambda: title in screen_text(d.app, d.app.main.side.titles["log"]))


def running(call: str, server: str) -> tuple[p.Event, ...]:
    return p.CallStarted(1, call, server, "t", ""), p.CallChanged(call, "running")


async def test_the_log_follows_the_server_whose_call_runs():
    async with opened(core()) as d:
        await shows(d, "stderr: apples")
        await d.put(*running("c1", "bears"))
        await shows(d, "stderr: bears")
        await d.put(*running("c2", "cloud"))
        await shows(d, " log: cloud")
        await d.put(p.CallProgress("c1", 1, 2), p.ServerChanged("apples", "ready", latency=0.5))
        await shows(d, " log: cloud")


async def test_a_call_that_waits_or_is_no_servers_changes_no_log():
    async with opened(core()) as d:
        await d.put(p.CallStarted(1, "c1", "bears", "t", ""), p.CallChanged("c1", "waiting"))
        await d.put(*running("c2", ""))
        await shows(d, "stderr: apples")


@pytest.mark.parametrize("phase", ["failed", "degraded", "needs login"])
async def test_the_log_follows_the_server_whose_state_turned_bad(phase):
    async with opened(core()) as d:
        await d.put(*running("c1", "apples"))
        await d.put(p.ServerChanged("bears", phase, reason="x"))
        await shows(d, "stderr: bears")
        await d.put(*running("c2", "apples"))
        await d.put(p.ServerChanged("bears", phase, reason="x", noise=1))
        await shows(d, "stderr: apples")


async def test_what_a_person_chose_stays_for_a_minute():
    async with opened(core()) as d:
        await d.press("tab", "tab", "j", "j", after=1)
        await shows(d, "log: cloud")
        await d.put(*running("c1", "bears"), p.ServerChanged("apples", "failed", reason="x"))
        await shows(d, "log: cloud")
        d.clock.now += PIN + 1
        await d.put(*running("c2", "bears"))
        await shows(d, "stderr: bears")


async def test_a_log_that_somebody_reads_stays():
    async with opened(core()) as d:
        d.app.main.set_focus(d.app.main.side.log_view)
        await d.pilot.pause()
        d.clock.now += PIN + 1
        await d.put(*running("c1", "bears"))
        await shows(d, "stderr: apples")


async def test_when_the_chosen_server_goes_away_another_ones_log_is_shown():
    async with opened(core()) as d:
        d.app.main.side.choose_log("gone")
        await d.put(p.ServerChanged("bears", "ready", latency=0.1))
        await shows(d, "stderr: apples")
