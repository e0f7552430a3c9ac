"""Frames of the panels of log and wire at three sizes, compared with kept text."""

from __future__ import annotations

import time

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui import strings
from hel_tui.tui.widgets.log import CallMark
from hel_tui.tui.widgets.log_panel import LogPanel
from hel_tui.tui.widgets.wire_panel import WirePanel
from tests.tui.fake_wire import SINCE, FakeWire
from tests.tui.panels import mounted
from tests.tui.snapshots import same_as_kept
from tests.tui.test_log_panel import Log

SIZES = [(80, 18), (120, 33), (200, 53)]
"""What the server screen leaves of 80 by 24, 120 by 40 and 200 by 60."""
RESULT = {
    "content": [{"type": "text", "text": "api: 8437\n포트를 찾았습니다"}],
    "structuredContent": {"service": "api", "port": 8437, "tags": [], "healthy": True, "note": None},
    "isError": False,
}


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def tag(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def a_wire() -> FakeWire:
    wire = FakeWire()
    number = wire.add("out", "http", method="POST", summary="/mcp 200", latency=0.021)
    wire.exchanges[number] = p.HttpExchange("POST", "https://host/mcp", 200, "", 0.021)
    wire.add("out", "request", {"id": 0}, method="initialize", id="0", summary="2025-11-25", exchange=0)
    for number in range(1, 9):
        tool = ["lookup_port", "list_services", "포트 찾기"][number % 3]
        wire.call(tool, f"card-{number}", number, RESULT, "-32602 no such service" if number == 7 else "")
    wire.add("in", "notification", {}, method="notifications/progress", summary="3 of 10")
    wire.add("in", "noise", "Listening on port 80", summary="Listening on port 80")
    return wire


def a_log() -> Log:
    log = Log()
    log.line("started, pid 4321", stream="start", server="inventory")
    for number in range(8):
        server = "notes" if number % 3 else "inventory"
        log.line(f"\x1b[2mDEBUG\x1b[0m request {number} took {number * 3} ms", level="debug", server=server)
    log.line("a long warning: " + "the disk is slow and " * 12, level="warning", server="inventory")
    log.line("disk is nearly full", stream="message", level="warning", server="notes")
    log.line("exit 1", stream="hel", server="inventory")
    return log


@pytest.mark.parametrize("size", SIZES, ids=tag)
@pytest.mark.parametrize("name", ["list", "body", "methods"])
async def test_the_wire(size, name):
    keys = {"list": (), "body": ("g", "j", "j", "j", "enter"), "methods": ("m",)}[name]
    async with mounted(WirePanel(), lambda panel: panel.show("inventory", a_wire()), size) as hand:
        await hand.press(*keys)
        same_as_kept(f"wire-{name}-{tag(size)}", hand.text)


@pytest.mark.parametrize("size", SIZES, ids=tag)
@pytest.mark.parametrize("name", ["all", "wrapped", "asking"])
async def test_the_log(size, name):
    keys = {"all": (), "wrapped": ("W", "v", "k"), "asking": ("s", "r", "e", "q")}[name]
    async with mounted(LogPanel(), lambda panel: panel.show("", a_log()), size) as hand:
        hand.panel.mark_calls([CallMark("card", "inventory", "lookup_port", SINCE + 2, SINCE + 7)])
        await hand.press(*keys)
        same_as_kept(f"log-{name}-{tag(size)}", hand.text)


@pytest.mark.parametrize("panel", [LogPanel, WirePanel])
async def test_the_panels_in_korean(panel, monkeypatch):
    monkeypatch.setenv("HEL_LANG", "ko")
    strings.use("ko")
    window = a_log() if panel is LogPanel else a_wire()
    async with mounted(panel(), lambda one: one.show("inventory", window), SIZES[0]) as hand:
        same_as_kept(f"{panel.__name__}-ko", hand.text)
