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


async def test_filters_are_combined_and_said():
    async with on(a_session()) as hand:
        await hand.press("d", "d")
        assert shown(hand) == [1, 3, 4, 5, 7] and "← from the server" in hand.text
        await hand.press("e")
        await hand.until(lambda: shown(hand) == [5, 7])
        assert "errors" in hand.text and "2 of 8" in hand.text
        await hand.press("escape")
        assert shown(hand) == list(range(8)) and "8 frames" in hand.text


async def test_a_method_is_picked_from_those_that_were_seen():
    async with on(a_session()) as hand:
        await hand.press("m")
        assert hand.row("tools/call  4") < hand.row("initialize  2")
        await hand.press("j", "j", "enter")
        await hand.until(lambda: shown(hand) == [0, 1])
        await hand.press("m", "g", "enter")
        assert shown(hand) == list(range(8))


async def test_text_is_typed_for_and_found_in_bodies_too():
    async with on(a_session()) as hand:
        await hand.press("slash")
        await hand.type("8437")
        await hand.until(lambda: shown(hand) == [3])
        await hand.press("escape")
        await hand.until(lambda: shown(hand) == list(range(8)))


async def test_a_pattern_that_is_none_hides_nothing_and_says_why():
    async with on(a_session()) as hand:
        await hand.press("R", "slash")
        await hand.type("(")
        await hand.press("enter")
        assert shown(hand) == list(range(8))
        assert "this is no regular expression" in hand.text


async def test_an_id_and_a_tool_are_offered_from_the_frame_under_the_cursor():
    async with on(a_session()) as hand:
        await hand.press("i", "enter")
        assert shown(hand) == [6, 7]
        await hand.press("escape", "g", "j", "j", "t", "enter")
        assert shown(hand) == [2, 3]


async def test_a_call_is_followed_to_its_frames_and_from_them_to_its_card():
    panel = WirePanel()
    async with mounted(panel, lambda panel: panel.show("inventory", a_session(), call="card-1")) as hand:
        assert shown(hand) == [2, 3] and panel.view.cursor == 2
        await hand.press("o")
        assert hand.app.last(WirePanel.OpenCall).call_id == "card-1"
        await hand.press("a")
        assert shown(hand) == list(range(8))
        await hand.press("G", "a")
        assert shown(hand) == [6, 7]


async def test_a_frame_that_no_call_caused_says_so():
    async with on(a_session()) as hand:
        await hand.press("g", "o")
        assert [one.message for one in hand.app._notifications] == ["no call caused it"]
        assert not hand.app.heard


async def test_p_goes_to_the_frame_that_answers_also_when_a_filter_hides_it():
    async with on(a_session()) as hand:
        await hand.press("d", "g", "p")
        assert hand.panel.view.cursor == 1
        assert shown(hand) == list(range(8))
        await hand.press("p")
        assert hand.panel.view.cursor == 0


async def test_enter_opens_the_request_and_its_answer():
    async with on(a_session(), (120, 20)) as hand:
        await hand.press("G", "k", "k", "k", "k", "enter")
        assert [view.folds.tree.value(0)[:12] for view in views(hand)] == ['{"jsonrpc": ', '{"jsonrpc": ']
        assert '"name": "lookup_port"' in hand.text and '"text": "api: 8437\\nweb: 80"' in hand.text
        left, right = hand.panel.body.first, hand.panel.body.second
        assert right.region.x > left.region.right - 2, "beside each other where there is room"
        await hand.press("escape")
        assert not hand.panel.is_open and hand.panel.view.has_focus


async def test_request_and_answer_are_below_each_other_on_a_narrow_screen():
    async with on(a_session(), (80, 24)) as hand:
        await hand.press("g", "enter")
        assert hand.panel.body.second.region.y >= hand.panel.body.first.region.bottom


async def test_the_answer_appears_beside_an_open_request_once_it_came():
    wire = FakeWire()
    number = wire.add("out", "request", {"id": 1}, method="ping", id="1")
    async with on(wire) as hand:
        await hand.press("enter")
        assert "no answer yet" in hand.text
        wire.add("in", "result", {"pong": True}, method="ping", id="1", pair=number, latency=0.1)
        wire.kept[number] = p.Frame(number, SINCE, "out", "request", 9, "ping", "1", pair=1)
        wire.version += 1
        await hand.until(lambda: '"pong": true' in hand.text)


async def test_the_body_goes_along_with_the_cursor_where_the_list_stays():
    async with on(a_session(), (120, 40)) as hand:
        await hand.press("g", "enter")
        assert '"method": "initialize"' in hand.text
        hand.panel.view.focus()
        await hand.press("j", "j")
        assert '"name": "lookup_port"' in hand.text


async def test_an_exchange_of_http_shows_its_headers():
    wire = FakeWire()
    number = wire.add("out", "http", method="POST", summary="/mcp 200", latency=0.02)
    wire.exchanges[number] = p.HttpExchange(
        "POST", "http://x/mcp", 200, "", 0.02, (("Authorization", "Bearer ***"),), (("Server", "y"),), 12
    )
    wire.add("out", "request", {"id": 1}, method="ping", id="1", exchange=number)
    async with on(wire, (100, 30)) as hand:
        assert "⇄ http" in hand.text and "POST /mcp 200" in hand.text
        await hand.press("g", "enter")
        assert "Authorization: Bearer ***" in hand.text and '"status": 200' in hand.text


async def test_a_call_is_copied_as_a_command_from_its_request_and_from_its_answer():
    async with on(a_session()) as hand:
        for keys in (("g", "j", "j"), ("j",)):
            await hand.press(*keys, "c")
            copied = hand.app.last(WirePanel.CopyRequested)
            assert copied.text == """hel mcp call inventory lookup_port '{"service":"api"}'"""
        hand.app.heard.clear()
        await hand.press("g", "c")
        assert not hand.app.heard
        assert "only a call of a tool" in [one.message for one in hand.app._notifications][-1]


async def test_raw_frames_are_copied_request_first():
    wire = a_session()
    async with on(wire) as hand:
        await hand.press("G", "C")
        copied = hand.app.last(WirePanel.CopyRequested)
        assert copied.text == f"{wire.bodies[6]}\n{wire.bodies[7]}"
        assert copied.said == "copied 2 frames"


@pytest.mark.parametrize("form", ["jsonl", "har", "cassette"])
async def test_the_ending_of_the_name_says_what_is_exported_and_the_filter_which_frames(form):
    async with on(a_session()) as hand:
        await hand.press("d", "x")
        await hand.type(f"out.{form}")
        await hand.press("enter")
        asked = hand.app.last(WirePanel.ExportRequested)
        assert (asked.server, asked.form, asked.path) == ("inventory", form, f"out.{form}")
        assert asked.query == p.FrameQuery(direction="out")


async def test_a_name_that_does_not_say_what_to_export_is_refused():
    async with on(a_session()) as hand:
        await hand.press("x")
        await hand.type("out.txt")
        await hand.press("enter")
        assert not hand.app.heard and "must end in .jsonl" in list(hand.app._notifications)[-1].message


async def test_the_log_is_asked_for_while_a_request_ran():
    async with on(a_session()) as hand:
        await hand.press("g", "j", "j", "l")
        asked = hand.app.last(WirePanel.OpenLog)
        assert (asked.server, asked.began, asked.ended) == ("inventory", SINCE + 0.2, SINCE + 0.3)


async def test_a_hundred_thousand_frames_are_read_only_where_they_are_seen():
    wire = FakeWire()
    for number in range(50_000):
        wire.call("tool", id=number)
    async with on(wire) as hand:
        wire.reads = 0
        await hand.press("g", "pagedown", "G", "pageup")
        assert wire.reads < 40 * 25
        wire.searched.clear()
        hand.panel.view.set_query(p.FrameQuery(id="7"))
        assert max(stop - start for start, stop in wire.searched) < 50_000, "not all in one go"
        await hand.until(lambda: not hand.panel.view.sieve.behind)
        assert shown(hand) == [14, 15]


async def test_a_paused_view_stays_on_its_frames_when_others_come_and_go():
    wire = FakeWire()
    for number in range(100):
        wire.call("tool", id=number)
    async with on(wire) as hand:
        await hand.press(*["pageup"] * 5)
        top = hand.text.split("\n")[1]
        cursor = hand.panel.view.cursor
        wire.call("tool", id=1000)
        wire.drop(20)
        await hand.frame()
        assert hand.text.split("\n")[1] == top and hand.panel.view.cursor == cursor
        assert "paused" in hand.text


async def test_it_follows_the_newest_frame():
    wire = a_session()
    async with on(wire) as hand:
        for number in range(60):
            wire.call(f"tool-{number}", id=number)
        await hand.frame()
        assert "tool-59" in hand.text and hand.panel.view.cursor == wire.end - 1


async def test_hostile_text_in_frames_is_drawn_as_text():
    wire = FakeWire()
    bad = "\x1b]0;title\x07[@click=app.quit]\u202ex\x00"
    wire.add("in", "noise", bad, summary=bad, method=bad, id=bad, tool=bad)
    async with on(wire) as hand:
        await hand.press("enter")
        assert "\x1b" not in hand.text and "\x07" not in hand.text and "\u202e" not in hand.text
        assert "[@click=app.quit]" in hand.text


@pytest.mark.parametrize("size", [(1, 1), (2, 60), (200, 2), (20, 5), (39, 8)])
async def test_no_size_is_too_small(size):
    async with on(a_session(), size) as hand:
        await hand.press("g", "enter", "m", "escape")
        await hand.pilot.resize_terminal(120, 40)
        await hand.until(lambda: '"method": "initialize"' in hand.text)


async def test_the_frame_whose_body_is_opened_stays_in_view_in_the_shorter_list():
    wire = FakeWire()
    for number in range(100):
        wire.call(f"tool-{number}", id=number)
    async with on(wire, (120, 40)) as hand:
        await hand.press("k", "enter")
        await hand.pilot.pause()
        view = hand.panel.view
        assert view.scroll_offset.y <= view.row(view.cursor) < view.scroll_offset.y + view.size.height
        assert view.cursor == 198


async def test_the_frames_of_a_call_long_ago_are_there_at_once():
    wire = FakeWire()
    wire.call("old", call="card-old", id=1)
    for number in range(40_000):
        wire.call("tool", id=number)
    panel = WirePanel()
    async with mounted(panel, lambda panel: panel.show("inventory", wire, call="card-old")) as hand:
        assert panel.view.cursor == 0 and "of one call" in hand.text
