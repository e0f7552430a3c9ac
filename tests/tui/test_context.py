"""What fills the context, what was shortened, what it cost: as a person sees it, at three sizes and in two languages."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core import protocol as p
from hel_tui.tui import strings
from hel_tui.tui.reducing import reduce
from hel_tui.tui.screens.context import ContextScreen
from hel_tui.tui.screens.text import TextScreen
from hel_tui.tui.state import ViewState
from hel_tui.tui.text.context import cells, context_lines, cost_lines, dollars, marks_of, percent
from hel_tui.tui.widgets.bars import StatusBar, status_line
from hel_tui.tui.widgets.header import header_line
from hel_tui.tui.widgets.lines import width_of
from tests.tui import scenes
from tests.tui.driving import opened
from tests.tui.screen_text import screen_text
from tests.tui.snapshots import same_as_kept

SIZES = [(80, 24), (120, 40), (200, 60)]
PARTS = (
    p.ContextPart("system", 180),
    p.ContextPart("instructions", 1_240),
    p.ContextPart("inventory", 610, count=14),
    p.ContextPart("builtins", 1_900, count=7),
    p.ContextPart("server", 125, "inventory", 2),
    p.ContextPart("server", 2_310, "노트", 14),
    p.ContextPart("summary", 900, count=1),
    p.ContextPart("person", 2_100, count=12),
    p.ContextPart("answers", 6_015, count=31),
    p.ContextPart("results", 23_400, count=29),
    p.ContextPart("images", 900, count=1),
)
PICTURE = p.ContextPicture(
    model="deepseek/deepseek-chat",
    parts=PARTS,
    used=39_680,
    window=128_000,
    reserve=73_728,
    start=54_272,
    reported=38_900,
    cached=36_096,
    compactions=2,
)
COMPACTED = p.Compacted(1, 3, 54_301, 12_080, summarised=42, shortened=7)
DETAIL = p.CompactionDetail(
    1,
    scenes.SINCE,
    54_301,
    12_080,
    kept=6,
    summary="[left out]\n\n<compacted-summary>\n## What the person wants\nThe port of api: 8437\n</compacted-summary>",
    focus="the ports",
    results=(
        p.ShortenedResult("read_file", 9_900, 5_320),
        p.ShortenedResult("mcp__notes__search", 30_000, 5_320),
    ),
    summarised=42,
)
SPENT = p.Spent(38, 1_204_300, 1_010_000, 20_480, 31_002, 12_000, 0.4211)
SPENDING = p.Spending(
    SPENT,
    (
        p.TurnSpent(1, "deepseek/deepseek-chat", p.Spent(4, 20_300, 14_000, 0, 1_200, 0, 0.0061)),
        p.TurnSpent(2, "local/qwen", p.Spent(9, 300_000, 0, 0, 4_000, 300, None, unpriced=9)),
    ),
    summaries=p.Spent(1, 54_000, 53_000, 0, 800, 0, 0.01),
)


@pytest.fixture(autouse=True)
def still_time(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(StatusBar.__init__, "__defaults__", (lambda: 0.0,))


def tag(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def a_core():
    core = scenes.busy_core()
    core.picture, core.spent = PICTURE, SPENDING
    core.compactions[1] = DETAIL
    return core


@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_picture(size):
    async with opened(a_core(), size=size) as d:
        d.app.main.action_context()
        await d.until(lambda: isinstance(d.app.screen, ContextScreen))
        same_as_kept(f"context-{tag(size)}", screen_text(d.app))


async def test_the_picture_in_korean(monkeypatch):
    monkeypatch.setenv("HEL_LANG", "ko")
    async with opened(a_core(), size=(80, 24)) as d:
        d.app.main.action_context()
        await d.until(lambda: isinstance(d.app.screen, ContextScreen))
        same_as_kept("context-ko", screen_text(d.app))
    strings.use("en")


async def test_it_follows_the_meter_and_its_key_shortens_the_conversation():
    async with opened(a_core()) as d:
        d.app.main.action_context()
        await d.until(lambda: isinstance(d.app.screen, ContextScreen))
        assert "39,680 of 128,000 tokens (31 %)" in screen_text(d.app)
        d.core.picture = p.ContextPicture(
            "deepseek/deepseek-chat", PARTS[:2], 1_420, window=128_000, start=54_272
        )
        await d.put(p.UsageChanged(1_420, 1_000, 420, 128_000, 0, 0))
        assert "1,420 of 128,000 tokens (1.1 %)" in screen_text(d.app)
        await d.press("c", "c")
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.Compact) == [p.Compact()]


@pytest.mark.parametrize("going", [p.Queued(("/compact",)), p.Compacting(1)], ids=["waits", "runs"])
async def test_what_is_being_shortened_is_not_shortened_twice(going):
    async with opened(a_core()) as d:
        await d.put(p.TurnStarted(1, "x"), going)
        d.app.main.action_context()
        await d.until(lambda: isinstance(d.app.screen, ContextScreen))
        await d.press("c")
        await d.until(lambda: any("already" in one.message for one in d.app._notifications))
        assert d.core.sent(p.Compact) == [] and isinstance(d.app.screen, ContextScreen)


async def test_slash_commands():
    async with opened(a_core()) as d:
        for line in ("/compact the names of the birds", "/compact"):
            d.app.main.commands.typed.run(line)
        assert d.core.sent(p.Compact) == [p.Compact("the names of the birds"), p.Compact()]
        d.app.main.commands.typed.run("/cost")
        await d.until(lambda: isinstance(d.app.screen, TextScreen))
        assert "$0.4211" in screen_text(d.app) and "unknown" in screen_text(d.app)
        await d.press("escape")
        d.app.main.commands.typed.run("/context")
        await d.until(lambda: isinstance(d.app.screen, ContextScreen))


@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_card_of_a_shortening_folds_and_opens(size):
    async with opened(a_core(), size=size) as d:
        await d.put(COMPACTED, p.Compacted(2, 4, 90_000, 90_000, problem="The summary was empty."))
        d.app.main.set_focus(d.app.main.conversation)
        d.app.main.conversation.show_card("compaction-1")
        await d.pilot.pause()
        folded = screen_text(d.app)
        assert "≡ shortened  54,301 → 12,080 tokens" in folded
        assert "▲ not summarised" in folded and "The summary was empty." in folded
        await d.press("enter")
        same_as_kept(f"compaction-{tag(size)}", screen_text(d.app))
        await d.press("c")
        assert "The port of api: 8437" in d.app.clipboard


def test_what_was_there_before_a_shortening_stays_on_the_screen():
    state = ViewState()
    reduce(state, [*scenes.BEGIN, *scenes.TURN])
    before = list(state.items)
    reduce(state, [p.Compacting(1), COMPACTED])
    assert state.items[: len(before)] == before and state.items[-1].key == "compaction-1"


def test_a_summary_in_the_making_is_what_the_turn_does():
    state = ViewState()
    reduce(state, [*scenes.BEGIN, p.TurnStarted(1, "hi"), p.Compacting(1)])
    assert "summarising…" in status_line(state, state.turn_began)[0][0]
    reduce(state, [p.Compacting(1, on=False)])
    assert "summarising…" not in status_line(state, state.turn_began)[0][0]
    reduce(state, [p.Compacting(1), p.TurnEnded(1, "interrupted")])
    assert not state.compacting


def test_the_header_tells_of_cache_hits_where_there_is_room():
    state = ViewState()
    reduce(
        state, [*scenes.BEGIN, p.UsageChanged(39_680, 30_000, 9_680, 128_000, 50_000, 2_000, 38_000, 0.04)]
    )
    assert "cached 76%" in "".join(text for text, _ in header_line(state, 160))
    assert "cached" not in "".join(text for text, _ in header_line(state, 80))


parts = st.lists(
    st.builds(
        p.ContextPart,
        st.sampled_from(["system", "server", "person", "results"]),
        st.integers(1, 200_000),
        st.text(max_size=6),
    ),
    min_size=1,
    max_size=60,
)


@given(parts, st.sampled_from([0, 8_192, 128_000, 1_000_000]), st.integers(20, 200), st.integers(1, 8))
def test_the_picture_has_a_cell_for_each_part_and_never_more_than_fit(found, window, width, rows):
    used = sum(part.tokens for part in found)
    picture = p.ContextPicture("m", tuple(found), used, window=window, reserve=window // 4)
    drawn = cells(picture, marks_of(found), width // 2, rows)
    marks = [mark for line in drawn for text, _ in line for mark in text.split()]
    assert len(marks) <= width // 2 * rows and len(drawn) <= rows
    if len(found) <= len(marks):
        assert {mark for mark, _ in marks_of(found)} <= set(marks)
    assert all(width_of(line) <= width for line in drawn)


def test_without_a_window_the_picture_is_of_what_there_is():
    picture = p.ContextPicture("m", PARTS, 39_680)
    text = "\n".join("".join(part for part, _ in line) for line in context_lines(picture, 80, 5))
    assert "window unknown" in text and "░" not in text and "context_window" in text


@pytest.mark.parametrize(
    ("spent", "told"),
    [
        (p.Spent(), ""),
        (p.Spent(1, unpriced=1), "unknown"),
        (p.Spent(2, cost=0.25, unpriced=1), "$0.2500+"),
        (p.Spent(2, cost=0.25, uncounted=1), "~$0.2500"),
        (p.Spent(2, cost=12.5), "$12.50"),
    ],
)
def test_a_price_is_known_or_said_to_be_unknown_and_never_nothing(spent, told):
    assert dollars(spent) == told


def test_the_table_of_costs_fits_eighty_columns():
    lines = cost_lines(SPENDING)
    assert max(width_of(line) for line in lines) <= 70
    assert [line[0][0].split()[0] for line in lines[1:3]] == ["session", "summaries"]
    assert cost_lines(None) == cost_lines(p.Spending(p.Spent()))


def test_shares_below_a_thousandth_are_not_nothing():
    assert (percent(1, 128_000), percent(0, 128_000), percent(39_680, 128_000)) == ("<0.1 %", "0.0 %", "31 %")


def test_a_summary_the_person_wanted_is_no_turn_of_the_conversation():
    turns = (p.TurnSpent(3, "a/b", p.Spent(2, 900)), p.TurnSpent(4, "a/b", p.Spent(1, 300), compact=True))
    table = cost_lines(p.Spending(p.Spent(3, 1_200), turns))
    lines = ["".join(text for text, _ in line) for line in table]
    assert [line.split()[0] for line in lines if line.startswith(("turn", "/"))] == ["/compact", "turn"]
