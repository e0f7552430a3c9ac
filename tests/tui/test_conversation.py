"""The conversation in a running app: what is drawn, where the view stands, what keys and clicks do."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.message import Message
from textual.pilot import Pilot
from textual.selection import Selection

from hel_tui.core import protocol as p
from hel_tui.tui.state import AnswerItem, CallItem, Item, NoticeItem, UserItem
from hel_tui.tui.text.transcript import KEPT_LAYOUTS
from hel_tui.tui.widgets.conversation import Conversation
from hel_tui.tui.widgets.transcript_view import TranscriptView
from tests.tui.screen_text import screen_text

HOSTILE = [
    "\x1b]0;title\x07x",
    "\x1b[2J\x1b[31mx",
    "[@click=app.quit]x[/]",
    "[/]",
    "[tag=value:",
    "\u202ex",
    "a\x00b",
    "\ud800",
]


def detail(call_id: str) -> p.CallDetail | None:
    if call_id == "gone":
        return None
    result = "\n".join(f"result line {number}" for number in range(2 if call_id == "short" else 30))
    return p.CallDetail(call_id, "inventory", "lookup_port", '{\n  "service": "api"\n}', result, "ok")


class Host(App[None]):
    """An app that is nothing but the conversation."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Conversation(detail=detail)

    @property
    def view(self) -> Conversation:
        return self.query_one(Conversation)

    def _hear(self, message: Message) -> None:
        self.heard.append(message)

    on_conversation_card_opened = _hear
    on_conversation_copy_requested = _hear
    on_conversation_log_requested = _hear
    on_conversation_wire_requested = _hear
    on_conversation_rerun_requested = _hear

    def sync(self, items: list[Item], *dirty: str, cleared: bool = False) -> None:
        self.view.sync(items, set(dirty), cleared)

    def text(self) -> list[str]:
        return [row[1:].rstrip(" ▁▂▃▄▅▆▇█▔") for row in screen_text(self).split("\n")]


@asynccontextmanager
async def running(width: int = 60, height: int = 12) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    app = Host()
    async with app.run_test(size=(width, height)) as pilot:
        app.view.focus()
        yield app, pilot


def turns(count: int) -> list[Item]:
    """Short turns, numbered from 0: a question, a card, an answer; eight rows each but for the first."""
    items: list[Item] = []
    for number in range(count):
        items.append(UserItem(f"user-{number}", f"question {number}"))
        items.append(
            CallItem(f"call-{number}", "inventory", "lookup_port", f"n={number}", state="ok", seconds=0.011)
        )
        items.append(AnswerItem(f"answer-{number}", f"answer {number}\n\n- point {number}", done=True))
    return items


def keys(items: list[Item]) -> list[str]:
    return [item.key for item in items]


async def test_a_conversation_is_drawn_from_its_items() -> None:
    items: list[Item] = [
        UserItem("u", "look it up"),
        AnswerItem("a", "I'll **look**.", done=True),
        CallItem(
            "c", "inventory", "lookup_port", 'service="api"', state="ok", seconds=0.011, preview="api: 8437"
        ),
        NoticeItem("n", "warning", "slow today", "inventory"),
        AnswerItem("b", "It is `8437`.", done=True),
    ]
    async with running() as (app, pilot):
        app.sync(items, *keys(items))
        await pilot.pause()
        assert app.text()[:10] == [
            "▌ look it up",
            "",
            "I'll look.",
            '✓ inventory · lookup_port  service="api"            11 ms',
            "  api: 8437",
            "▲ warning: inventory: slow today",
            "",
            "It is 8437.",
            "",
            "",
        ]


async def test_an_empty_conversation_shows_its_hints() -> None:
    async with running() as (app, pilot):
        app.view.placeholder = ["Ask something,", "or /help"]
        await pilot.pause()
        assert app.text()[1:3] == ["Ask something,", "or /help"]
        app.sync([UserItem("u", "hi")], "u")
        await pilot.pause()
        assert app.text()[0] == "▌ hi"
        app.sync([], cleared=True)
        await pilot.pause()
        assert app.text()[1] == "Ask something,"


async def test_a_message_of_which_no_word_is_the_persons_shows_what_went_with_it() -> None:
    async with running() as (app, pilot):
        app.sync([UserItem("u", "", ("JSON schema",))], "u")
        await pilot.pause()
        assert app.text()[0] == "▌ ▤ JSON schema"


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_reaches_the_screen_as_text(text: str) -> None:
    items: list[Item] = [
        UserItem("u", text),
        AnswerItem("a", text, done=True),
        AnswerItem("r", text, reasoning=True, done=True),
        CallItem("c", text, text, text, state="failed", preview=text, message=text),
        NoticeItem("n", "error", text, text),
    ]
    async with running(height=20) as (app, pilot):
        app.sync(items, *keys(items))
        await pilot.pause()
        shown = screen_text(app)
        assert not any(
            ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\ud800" for c in shown if c != "\n"
        )
        assert "▌" in shown and "✗" in shown


async def test_an_escape_sequence_split_over_deltas_never_shows() -> None:
    async with running() as (app, pilot):
        item = AnswerItem("a")
        for delta in ("before \x1b", "[3", "1mred", "\x1b]0;ti", "tle\x07 after"):
            item.text += delta
            app.sync([item], "a")
            await pilot.pause()
            assert "\x1b" not in screen_text(app)
        assert app.text()[0] == "before red after"


async def test_the_view_follows_the_end_while_text_streams_in() -> None:
    async with running() as (app, pilot):
        item = AnswerItem("a")
        for number in range(30):
            item.text += f"line {number}\n\n"
            app.sync([item], "a")
        await pilot.pause()
        assert app.view.following
        assert [row for row in app.text() if row][-1] == "line 29"


async def test_scrolling_up_stops_following_and_counts_what_is_missed() -> None:
    async with running() as (app, pilot):
        items = turns(10)
        app.sync(items, *keys(items))
        await pilot.press("up", "up")
        before = app.text()
        assert not app.view.following
        assert app.view.missed == 0
        items += turns(12)[30:]
        app.sync(items, *keys(items[30:]))
        await pilot.pause()
        assert app.text()[:-1] == before[:-1]
        assert app.view.missed == 16
        assert app.text()[-1].endswith("↓ 16 new lines")
        await pilot.press("end")
        assert app.view.following
        assert "new line" not in screen_text(app)
        assert "• point 11" in app.text()[-1]


async def test_scrolling_back_to_the_end_follows_again() -> None:
    async with running() as (app, pilot):
        items = turns(10)
        app.sync(items, *keys(items))
        await pilot.press("pageup", "pageup", "pagedown", "pagedown")
        assert app.view.following


async def test_a_click_on_the_count_goes_to_the_end() -> None:
    async with running() as (app, pilot):
        items = turns(10)
        app.sync(items, *keys(items))
        await pilot.press("pageup")
        items += turns(11)[30:]
        app.sync(items, *keys(items[30:]))
        await pilot.pause()
        await pilot.click(Conversation, offset=(52, 11))
        assert app.view.following


async def test_the_view_keeps_its_place_when_a_card_above_grows() -> None:
    async with running() as (app, pilot):
        items = turns(10)
        app.sync(items, *keys(items))
        await pilot.press("up")
        before = app.text()
        card = items[1]
        assert isinstance(card, CallItem)
        card.preview, card.lines = "one\ntwo\nthree", 3
        app.sync(items, "call-0")
        await pilot.pause()
        assert app.text() == before


async def test_scrolling_through_estimated_heights_shows_every_row_once() -> None:
    items: list[Item] = [
        AnswerItem(f"a{n}", f"row {n}\n\n" + "- x\n" * (n % 7), done=True) for n in range(300)
    ]
    async with running() as (app, pilot):
        app.sync(items, *keys(items))
        await pilot.pause()
        seen = [row for row in app.text() if row.startswith("row ")]
        for _ in range(20):
            top = app.text()[0]
            await pilot.press("pageup")
            rows = app.text()
            assert rows[-1] == top  # a page is one row less than the view
            seen = [row for row in rows[:-1] if row.startswith("row ")] + seen
        numbers = [int(row.split()[1]) for row in seen]
        assert numbers == list(range(numbers[0], 300))


async def test_home_and_end_reach_the_first_and_the_last_row() -> None:
    items = turns(200)
    async with running() as (app, pilot):
        app.sync(items, *keys(items))
        await pilot.press("home")
        assert app.text()[0] == "▌ question 0"
        await pilot.press("end")
        assert [row for row in app.text() if row][-1] == "• point 199"


async def test_a_new_width_keeps_the_place_and_wraps_anew() -> None:
    items: list[Item] = [UserItem(f"u{n}", f"{n} " + "word " * 20) for n in range(40)]
    async with running() as (app, pilot):
        app.sync(items, *keys(items))
        await pilot.press("home", "pagedown")
        first = next(row for row in app.text() if row.startswith("▌") and row.split()[1].isdigit())
        await pilot.resize_terminal(34, 12)
        await pilot.pause()
        assert any(row.split()[1:2] == first.split()[1:2] for row in app.text() if row.startswith("▌"))
        assert all(len(row) <= 34 for row in app.text())
        await pilot.press("end")
        await pilot.resize_terminal(80, 30)
        await pilot.pause()
        assert app.view.following
        assert app.text()[-2].startswith("▌ 39") or app.text()[-1].startswith("▌ word")


async def test_wide_characters_wrap_within_the_view() -> None:
    async with running(width=24) as (app, pilot):
        app.sync([AnswerItem("a", "漢字仮名交じり文はここで折り返す。" * 3, done=True)], "a")
        await pilot.pause()
        rows = [row for row in app.text() if row]
        assert len(rows) == 6
        assert "".join(rows) == "漢字仮名交じり文はここで折り返す。" * 3


async def test_the_cursor_moves_over_cards_and_enter_opens_one() -> None:
    async with running(height=30) as (app, pilot):
        items = turns(3)
        app.sync(items, *keys(items))
        await pilot.press("k")
        assert app.view.transcript.marked == 7
        await pilot.press("k", "enter")
        await pilot.pause()
        rows = app.text()
        start = next(number for number, row in enumerate(rows) if "n=1" in row)
        assert rows[start + 1 : start + 6] == [
            "  arguments",
            "  │ {",
            '  │   "service": "api"',
            "  │ }",
            "  result",
        ]
        await pilot.press("enter")
        assert "arguments" not in screen_text(app)


async def test_the_cursor_begins_anew_where_somebody_looks() -> None:
    async with running(height=10) as (app, pilot):
        items = turns(30)
        app.sync(items, *keys(items))
        await pilot.press("g", "j")
        first = app.view.transcript.marked
        await pilot.press("G", "k")
        last = app.view.transcript.marked
        assert first < 10 and last > 80
        await pilot.press("g", "j")
        assert app.view.transcript.marked <= first


async def test_a_call_by_hand_stands_apart_from_the_answer_before_it() -> None:
    async with running() as (app, _pilot):
        answer = AnswerItem("a", "An answer.", done=True)
        app.sync([answer, CallItem("h", "inventory", "lookup_port", "", by_hand=True)], "a", "h")
        rows = app.text()
        assert rows[:2] == ["An answer.", ""] and "by hand" in rows[2]


async def test_a_card_whose_details_are_gone_says_so() -> None:
    async with running() as (app, pilot):
        app.sync([CallItem("gone", "s", "t", "", state="ok")], "gone")
        await pilot.press("k", "enter")
        assert "not kept" in screen_text(app)


async def test_hints_stand_below_notices_until_somebody_says_something() -> None:
    async with running() as (app, _pilot):
        app.view.placeholder = ["Ask for something."]
        notice = NoticeItem("n", "warning", "A file is odd.")
        app.sync([notice], "n")
        assert app.text()[:3] == ["▲ warning: A file is odd.", "", "Ask for something."]
        app.sync([notice, UserItem("u", "hello")], "u")
        assert "Ask for something." not in screen_text(app)


@pytest.mark.parametrize(("height", "whole"), [(12, True), (5, False)])
async def test_an_opened_card_is_scrolled_into_view_from_its_first_row(height: int, whole: bool) -> None:
    async with running(height=height) as (app, pilot):
        items = [*turns(5), CallItem("short", "inventory", "lookup_port", "short", state="ok")]
        app.sync(items, *keys(items))
        await pilot.press("k", "enter")
        rows = app.text()
        assert any("short" in row for row in rows) and "  arguments" in rows
        assert (rows[-1] == "  result line 1") is whole
        assert app.view.following is whole


async def test_a_long_card_that_is_opened_begins_at_its_first_row() -> None:
    async with running() as (app, pilot):
        items = turns(5)
        app.sync(items, *keys(items))
        await pilot.press("k", "enter")
        assert "n=4" in app.text()[0]
        assert not app.view.following


async def test_a_click_opens_a_card() -> None:
    async with running(height=30) as (app, pilot):
        items = turns(2)
        app.sync(items, *keys(items))
        await pilot.pause()
        y = next(number for number, row in enumerate(app.text()) if "n=0" in row)
        await pilot.click(Conversation, offset=(10, y))
        assert "arguments" in screen_text(app)
        await pilot.click(Conversation, offset=(10, y))
        assert "arguments" not in screen_text(app)


async def test_all_cards_open_and_those_to_come_too() -> None:
    async with running(height=100) as (app, pilot):
        items = turns(2)
        app.sync(items[:3], *keys(items[:3]))
        app.view.action_expand_all()
        app.sync(items, *keys(items[3:]))
        await pilot.pause()
        assert screen_text(app).count("arguments") == 2
        app.view.action_expand_all()
        await pilot.pause()
        assert "arguments" not in screen_text(app)


async def test_keys_on_a_card_ask_the_app() -> None:
    async with running() as (app, pilot):
        items = turns(2)
        app.sync(items, *keys(items))
        await pilot.press("c", "l")
        assert app.heard == []  # no card under the cursor yet
        await pilot.press("k", "c", "y", "l", "e")
        copied = [message.text for message in app.heard if isinstance(message, Conversation.CopyRequested)]
        assert copied[0].startswith("inventory · lookup_port\n")
        assert copied[1] == """hel mcp call inventory lookup_port '{"service":"api"}'"""
        asked = [(type(m), m.call_id) for m in app.heard if isinstance(m, Conversation.CardMessage)]
        assert asked == [
            (Conversation.LogRequested, "call-1"),
            (Conversation.RerunRequested, "call-1"),
        ]


async def test_a_running_card_counts_its_seconds() -> None:
    async with running() as (app, pilot):
        item = CallItem("c", "s", "slow", "", state="running", began=time.monotonic() - 65)
        app.sync([item], "c")
        await pilot.pause()
        assert "running 1 min 05 s" in app.text()[0]
        item.began -= 3_600
        app.view._tick()
        await pilot.pause()
        assert "running 1 h 01 min" in app.text()[0]
        item.state, item.seconds = "ok", 3_665.0
        app.sync([item], "c")
        await pilot.pause()
        assert app.text()[0].endswith("1 h 01 min")


async def test_search_finds_across_wrapped_rows_and_goes_around() -> None:
    async with running(width=30) as (app, pilot):
        items: list[Item] = [
            UserItem("u", "the first needle here"),
            *[UserItem(f"x{n}", "hay") for n in range(30)],
            AnswerItem("a", "words words words **nee**dle words", done=True),
            AnswerItem("b", "a sentence that ends in need\nle", done=True),
        ]
        app.sync(items, *keys(items))
        assert app.view.search("NEEDLE") == 2
        await pilot.pause()
        assert "needle" in screen_text(app)
        app.view.action_match(1)
        await pilot.pause()
        assert app.text()[0] == "▌ the first needle here"
        app.view.action_match(-1)
        await pilot.pause()
        assert any("needle" in row and "words" in row for row in app.text())
        assert app.view.search("words words words needle") == 1
        assert app.view.search("absent") == 0
        assert app.view.search("") == 0


async def test_selected_text_is_what_was_written() -> None:
    async with running(width=30) as (app, pilot):
        source = "one two three four five six seven eight"
        app.sync([UserItem("u", source), AnswerItem("a", "```\nx = 1\n  y = 2\n```", done=True)], "u", "a")
        await pilot.pause()
        assert app.view.get_selection(Selection(None, None)) == (f"{source}\n\nx = 1\n  y = 2", "\n")
        part = app.view.get_selection(Selection(Offset(6, 0), Offset(5, 1)))
        assert part == ("two three four five six", "\n") or (part and part[0].startswith("two three"))


async def test_dragging_the_mouse_selects() -> None:
    async with running(width=30) as (app, pilot):
        app.sync([UserItem("u", "select this text")], "u")
        await pilot.pause()
        await pilot.mouse_down(Conversation, offset=(3, 0))
        await pilot.hover(Conversation, offset=(9, 0))
        await pilot.mouse_up(Conversation, offset=(9, 0))
        await pilot.pause()
        assert (app.screen.get_selected_text() or "").startswith("select")


async def test_a_change_of_theme_paints_anew() -> None:
    async with running() as (app, pilot):
        app.sync([AnswerItem("a", "# Head", done=True)], "a")
        await pilot.pause()

        def colour() -> object:
            return next(segment.style.color for segment in app.view.render_line(0) if segment.text == "Head")

        before = colour()
        app.theme = "textual-light"
        await pilot.pause()
        assert colour() != before


async def test_the_cost_of_a_delta_does_not_depend_on_the_number_of_items() -> None:
    async def layouts(count: int) -> tuple[int, int]:
        async with running() as (app, pilot):
            items = turns(count)
            app.sync(items, *keys(items))
            await pilot.pause()
            opened = app.view.transcript.laid_out
            item = AnswerItem("live")
            items.append(item)
            before = app.view.transcript.laid_out
            for number in range(20):
                item.text += f"word {number} "
                app.sync(items, "live")
                await pilot.pause()
            return opened, app.view.transcript.laid_out - before

    few, many = await layouts(17), await layouts(1_700)
    assert many[1] == few[1] == 20
    # Opening a long conversation lays out what is in view, not all of it.
    assert many[0] <= few[0] + 60


async def test_rows_of_items_long_gone_from_view_are_not_kept() -> None:
    async with running() as (app, pilot):
        items = turns(400)
        app.sync(items, *keys(items))
        for index in range(len(items)):
            app.view.transcript.lay_out(index)
        kept = sum(entry.lines is not None for entry in app.view.transcript.entries)
        assert kept <= KEPT_LAYOUTS
        await pilot.press("home")
        assert app.text()[0] == "▌ question 0"


async def test_a_border_around_the_view_is_drawn() -> None:
    async with running() as (app, pilot):
        app.view.styles.border = ("round", "red")
        app.sync([UserItem("u", "framed")], "u")
        await pilot.pause()
        rows = screen_text(app).split("\n")
        assert rows[0].startswith("╭")
        assert "▌ framed" in rows[1]
        assert isinstance(app.view, TranscriptView)


async def test_a_cleared_conversation_begins_anew_and_follows() -> None:
    async with running() as (app, pilot):
        items = turns(10)
        app.sync(items, *keys(items))
        await pilot.press("home", "k")
        app.sync([UserItem("new", "fresh start")], "new", cleared=True)
        await pilot.pause()
        assert app.view.following
        assert app.text()[:2] == ["▌ fresh start", ""]
        assert app.view.transcript.marked == -1


async def test_another_list_of_items_is_taken_over_whole() -> None:
    async with running() as (app, pilot):
        items: list[Item] = [*turns(10), CallItem("slow", "s", "t", "", state="running", began=1.0)]
        app.sync(items, *keys(items))
        await pilot.press("pageup")
        app.sync([UserItem("other", "resumed")], "other")
        app.view._tick()
        await pilot.pause()
        assert app.text()[:2] == ["▌ resumed", ""]
        assert app.view.missed == 0


async def test_a_card_asks_for_its_frames_on_the_wire() -> None:
    async with running() as (app, pilot):
        items = turns(1)
        app.sync(items, *keys(items))
        await pilot.press("j", "w")
        heard = [one.call_id for one in app.heard if isinstance(one, Conversation.WireRequested)]
        assert heard == ["call-0"]


async def test_a_card_of_a_built_in_tool_says_that_it_has_no_wire() -> None:
    async with running() as (app, pilot):
        app.sync([CallItem("c", "", "read_file", "a.txt", state="ok")], "c")
        await pilot.press("j", "w")
        await pilot.pause()
        assert not [one for one in app.heard if isinstance(one, Conversation.WireRequested)]
        assert [one.message for one in app._notifications] == ["no wire: read_file is built in"]
