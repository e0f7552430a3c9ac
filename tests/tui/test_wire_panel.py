"""The wire of a server as a person sees it: rows, filters, bodies, and the ways to card and log."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.widgets.wire_panel import WirePanel
from tests.tui.fake_wire import SINCE, FakeWire
from tests.tui.panels import Hand, mounted, views

RESULT = {"content": [{"type": "text", "text": "api: 8437\nweb: 80"}], "isError": False}


def a_session() -> FakeWire:
    wire = FakeWire()
    wire.add("out", "request", {"method": "initialize"}, method="initialize", id="0", pair=1)
    wire.add("in", "result", {"result": {}}, method="initialize", id="0", pair=0, latency=0.012)
    wire.call("lookup_port", call="card-1", id=1, result=RESULT)
    wire.add("in", "notification", {"method": "notifications/message"}, method="notifications/message")
    wire.add("in", "noise", "Listening on port 80", summary="Listening on port 80")
    wire.call("list_services", call="card-2", id=2, error="-32602 no such service")
    return wire


def shown(hand: Hand[WirePanel]) -> list[int]:
    view = hand.panel.view
    return [view.number(row) for row in range(view.count)]


def on(wire: FakeWire, size: tuple[int, int] = (100, 20)):
    return mounted(WirePanel(), lambda panel: panel.show("inventory", wire), size)


async def test_each_frame_is_a_row_that_says_direction_kind_method_tool_id_latency_and_size():
    async with on(a_session()) as hand:
        row = hand.text.split("\n")[hand.row("result      tools/call")]
        for word in ("←", "result", "tools/call", "lookup_port", "#1", "188 ms", " B"):
            assert word in row
        assert "→ request" in hand.text and "no protocol" in hand.text
        assert "← error" in hand.text and "-32602 no such service" in hand.text
