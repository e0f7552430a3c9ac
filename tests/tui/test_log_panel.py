"""A log with its own lines: filters, search, wrapping, selection, colours, calls, a million lines."""

from __future__ import annotations

import re
import time

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.widgets.log import CallMark, LogView
from hel_tui.tui.widgets.log_panel import LogPanel
from tests.tui.fake_core import FakeLog
from tests.tui.panels import Hand, mounted

SINCE = 1_700_000_000.0


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


class Log(FakeLog):
    """A log whose matching knows levels and patterns, as the core's does."""

    levels = ("debug", "info", "notice", "warning", "error", "critical")

    def __init__(self, texts: list[str] | None = None) -> None:
        super().__init__(texts)
        self.asked: list[tuple[int, int]] = []

    def line(self, text: str, **facts) -> None:
        self.kept.append(p.LogLine(SINCE + len(self.kept), text, **facts))
        self._version += 1

    def matches(self, query: p.LogQuery, start: int, stop: int) -> list[int]:
        self.asked.append((start, stop))
        try:
            pattern = re.compile(query.text if query.is_regex else re.escape(query.text), re.IGNORECASE)
        except re.error as error:
            raise ValueError(f"this is no regular expression: {error}") from error
        base = max(start, self.first)
        found = self.kept[base - self.first : max(stop - self.first, 0)]
        return [
            base + at
            for at, line in enumerate(found)
            if pattern.search(line.text) and (not query.level or self._is_at_least(line.level, query.level))
        ]

    def _is_at_least(self, level: str, least: str) -> bool:
        return level in self.levels and self.levels.index(level) >= self.levels.index(least)


def on(log: FakeLog, size: tuple[int, int] = (80, 14), server: str = "srv", theme: str = "fjord"):
    return mounted(LogPanel(), lambda panel: panel.show(server, log), size, theme)


def rows(hand: Hand[LogPanel]) -> list[str]:
    """The rows of the log itself."""
    return [row.rstrip(" ▁▂▃▄▅▆▇█▔") for row in hand.text.split("\n")[1:-1]]


def numbered(count: int) -> Log:
    return Log([f"line {number:04}" for number in range(count)])


async def test_a_filter_by_text_shows_the_newest_matches_and_how_many():
    async with on(numbered(1000)) as hand:
        await hand.press("slash")
        await hand.type("7")
        await hand.until(lambda: "271 of 1,000" in hand.text)
        assert "line 0997" in hand.text and "line 0999" not in hand.text
        await hand.press("escape")
        assert "1,000 lines" in hand.text and "line 0999" in hand.text


async def test_a_filter_can_be_a_regular_expression_and_one_that_is_none_says_why():
    async with on(numbered(1000)) as hand:
        await hand.press("slash")
        await hand.type("00[12]0$")
        await hand.press("enter")
        assert "no line matches" in hand.text
        await hand.press("R")
        await hand.until(lambda: "2 of 1,000" in hand.text)
        await hand.press("slash", *["backspace"] * 3, "enter")
        assert "this is no regular expression" in hand.text and "line 0999" in hand.text


async def test_levels_are_gone_through_by_a_key():
    log = Log()
    for level in ("debug", "info", "warning", "error"):
        log.line(f"a {level} line", level=level)
    log.line("no level")
    async with on(log) as hand:
        for said, left in (("info and above", 3), ("warning and above", 2), ("error and above", 1)):
            await hand.press("L")
            assert said in hand.text and f"{left} of 5" in hand.text
        await hand.press("L")
        assert "5 lines" in hand.text and "no level" in hand.text


async def test_a_search_hides_nothing_and_goes_from_match_to_match():
    async with on(numbered(500)) as hand:
        await hand.press("s")
        await hand.type("line 01")
        await hand.press("enter")
        await hand.until(lambda: hand.panel.view.at == 199)
        assert "line 0198" in hand.text and "line 0200" in hand.text
        await hand.press("N")
        assert hand.panel.view.at == 198
        await hand.press("n", "n")
        await hand.until(lambda: hand.panel.view.at == 100)
        assert "around the end" in hand.text
        await hand.press("escape")
        assert "search" not in rows(hand)[0] and not hand.panel.view.search_text


async def test_a_search_that_finds_nothing_says_so_and_stays():
    async with on(numbered(100)) as hand:
        await hand.press("s")
        await hand.type("zzz")
        await hand.until(lambda: "not found" in hand.text)
        assert "line 0099" in hand.text


async def test_a_search_within_a_filter_goes_only_to_lines_that_are_shown():
    async with on(numbered(100)) as hand:
        hand.panel.view.set_filter("5")
        hand.panel.view.search("line 00")
        await hand.until(lambda: hand.panel.view.at == 95)
        await hand.press("N")
        assert hand.panel.view.at == 85


async def test_wrapped_lines_show_all_of_them_and_the_last_is_at_the_bottom():
    log = Log([f"{number} " + "word " * 40 + f"end{number}" for number in range(50)])
    async with on(log) as hand:
        assert "end49" not in hand.text
        await hand.press("W")
        assert rows(hand)[-1].endswith("end49")
        log.add("short")
        await hand.frame()
        assert rows(hand)[-1].endswith("short") and rows(hand)[-2].endswith("end49")


async def test_scrolling_through_wrapped_lines_shows_every_row_once_both_ways():
    pieces = [[f"[{number}.{piece}]" for piece in range(number % 5 * 5 + 1)] for number in range(10)]
    log = Log([" ".join(f"{piece} {'.' * 50}" for piece in line) for line in pieces])
    async with on(log, (80, 12)) as hand:
        await hand.press("W")
        for key, last in (("k", "[0.0]"), ("j", "[9.20]")):
            seen: list[list[str]] = [rows(hand)]
            for _ in range(800):
                await hand.press(key)
                shown, before = rows(hand), seen[-1]
                if shown == before:
                    break
                moved = shown[1:] == before[:-1] if key == "k" else shown[:-1] == before[1:]
                assert moved, f"not by one row:\n{hand.text}"
                seen.append(shown)
            text = "\n".join(row for shown in seen for row in shown)
            assert [piece for line in pieces for piece in line if piece not in text] == []
            assert last in hand.text


async def test_lines_are_selected_by_keys_and_copied_with_their_times():
    async with on(numbered(100)) as hand:
        await hand.press("v", "k", "k")
        assert "3 lines selected" in hand.text
        ground = hand.panel.view.style_of("selected").bgcolor
        lit = [all(one.style.bgcolor == ground for one in hand.panel.view.render_line(y)) for y in range(12)]
        assert lit == [False] * 9 + [True] * 3
        await hand.press("c")
        copied = hand.app.last(LogView.CopyRequested)
        assert copied.lines == 3
        assert copied.text.split("\n")[0] == "22:14:57 line 0097"
        assert copied.text.split("\n")[2] == "22:14:59 line 0099"
        await hand.press("escape")
        assert "selected" not in hand.text


async def test_a_selection_reaches_beyond_what_is_seen_and_over_a_filter():
    async with on(numbered(1000)) as hand:
        hand.panel.view.set_filter("9")
        await hand.until(lambda: not hand.panel.view.sieve.behind)
        await hand.press("v", *["k"] * 30, "c")
        copied = hand.app.last(LogView.CopyRequested)
        assert copied.lines == 31 and all("9" in row for row in copied.text.split("\n"))


async def test_lines_are_selected_by_dragging():
    async with on(numbered(100)) as hand:
        view = hand.panel.view
        top = view._page[0][0]
        await hand.pilot.mouse_down(view, offset=(5, 2))
        await hand.pilot.hover(view, offset=(9, 5))
        await hand.pilot.mouse_up(view, offset=(9, 5))
        assert view.selected == (top + 2, top + 5)


@pytest.mark.parametrize(
    ("typed", "number"), [("501", 500), ("22:21:40", 500), ("22:22", 520), ("99999", 999)]
)
async def test_one_goes_to_a_time_or_to_a_line(typed, number):
    async with on(numbered(1000)) as hand:
        await hand.press("colon")
        await hand.type(typed)
        await hand.press("enter")
        assert hand.panel.view.at == number and f"line {number:04}" in hand.text


async def test_what_is_no_place_says_so():
    async with on(numbered(10)) as hand:
        await hand.press("colon")
        await hand.type("noon")
        await hand.press("enter")
        assert "no time of day" in list(hand.app._notifications)[-1].message


async def test_saving_asks_for_a_file_and_takes_the_filter_along():
    async with on(numbered(10)) as hand:
        hand.panel.view.set_filter("7")
        await hand.press("x")
        await hand.type("a b.log")
        await hand.press("enter")
        asked = hand.app.last(LogPanel.SaveRequested)
        assert (asked.server, asked.path, asked.query) == ("srv", "a b.log", p.LogQuery("7"))


async def test_forgetting_all_lines_takes_two_presses():
    log = numbered(10)
    async with on(log) as hand:
        await hand.press("D")
        assert log.end - log.first == 10
        await hand.press("D")
        assert log.end == log.first and "0 lines" in hand.text


async def test_a_log_of_all_servers_says_whose_each_line_is():
    log = Log()
    log.line("started", server="inventory")
    log.line("x", server="notes")
    async with on(log, server="") as hand:
        assert re.search(r"inventory +started", hand.text) and re.search(r"notes +x", hand.text)


async def test_a_start_is_a_rule_with_its_pid_and_a_message_says_its_level():
    log = Log()
    log.line("started, pid 4321", stream="start")
    log.line("disk is full", stream="message", level="error")
    log.line("exit 1", stream="hel")
    async with on(log) as hand:
        start, message, remark = rows(hand)[:3]
        assert start.startswith("── 22:13:20 started, pid 4321 ──────") and len(start) > 70
        assert "error disk is full" in message and "▮ exit 1" in remark


async def test_lines_of_a_call_are_bracketed_and_lead_to_its_card_and_frames():
    log = numbered(10)
    calls = [CallMark("card-1", "srv", "tool", SINCE + 3, SINCE + 6)]
    for line in range(10):
        log.kept[line] = p.LogLine(SINCE + line, f"line {line}", server="srv")
    async with on(log) as hand:
        hand.panel.mark_calls(calls)
        await hand.frame()
        assert [row[:1] for row in rows(hand)[:10]] == [" "] * 3 + ["╭", "│", "│", "╰"] + [" "] * 3
        await hand.press("o")
        assert hand.app.last(LogPanel.OpenCall).call_id == "card-1"
        await hand.press("w")
        frames = hand.app.last(LogPanel.OpenFrames)
        assert (frames.server, frames.call_id) == ("srv", "card-1")


async def test_of_calls_that_overlap_the_latest_counts_and_one_that_runs_has_no_end():
    log = numbered(10)
    calls = [
        CallMark("long", "", "a", SINCE + 1, SINCE + 8),
        CallMark("short", "", "b", SINCE + 2, SINCE + 3),
        CallMark("open", "", "c", SINCE + 9),
    ]
    async with on(log) as hand:
        hand.panel.mark_calls(calls)
        await hand.frame()
        view = hand.panel.view
        assert [row[:1] for row in rows(hand)[:10]] == [" ", "╭", "╭", "╰", "│", "│", "│", "│", "╰", "╭"]
        for number, call in ((1, "long"), (2, "short"), (3, "short"), (5, "long"), (9, "open")):
            view.at = number
            assert view.call_here().call == call


@pytest.mark.parametrize("theme", ["fjord", "paper", "contrast", "terminal"])
async def test_colours_of_a_program_are_shown_and_what_steers_a_terminal_is_not(theme):
    log = Log(["\x1b[31mred\x1b[0m \x1b[1;38;5;208morange\x1b[0m \x1b[2J\x1b]0;title\x07plain"])
    async with on(log, theme=theme) as hand:
        assert rows(hand)[0] == " 22:13:20 red orange plain"
        view = hand.panel.view
        styles = {segment.text: segment.style for segment in view.render_line(0)}
        assert styles["red"].color == view.style_of("bad").color
        assert styles["orange"].bold
        assert styles[" plain"].color == view.style_of("").color


async def test_a_million_lines_are_filtered_in_slices_and_read_only_where_seen():
    log = Log()
    line = p.LogLine(SINCE, "a line like any other")
    special = p.LogLine(SINCE, "a special one")
    log.kept = [line if number % 1000 else special for number in range(1_000_000)]
    async with on(log) as hand:
        log.reads = 0
        await hand.press("pageup", "g", "pagedown", "G")
        assert log.reads < 10 * 14 * 4
        log.asked.clear()
        hand.panel.view.set_filter("special")
        assert max(stop - start for start, stop in log.asked) <= 16_384
        assert sum(stop - start for start, stop in log.asked) < 1_000_000, "not all in one go"
        assert "filtering" in hand.text or await _frame(hand)
        await hand.until(lambda: not hand.panel.view.sieve.behind)
        assert "1,000 of 1,000,000" in hand.text


async def _frame(hand: Hand[LogPanel]) -> bool:
    await hand.frame()
    return "filtering" in hand.text


async def test_a_paused_view_with_a_filter_stays_on_its_lines_while_older_ones_are_found():
    log = Log()
    log.kept = [p.LogLine(SINCE, f"line {number}") for number in range(200_000)]
    async with on(log) as hand:
        hand.panel.view.set_filter("line")
        await hand.press("pageup")
        top = rows(hand)[0]
        assert hand.panel.view.sieve.behind, "the filter still looks at older lines"
        await hand.until(lambda: not hand.panel.view.sieve.behind)
        assert rows(hand)[0] == top and hand.panel.view.count == 200_000


async def test_keys_find_their_lines_at_any_moment_of_a_long_filter():
    log = Log()
    log.kept = [p.LogLine(SINCE, f"line {number}") for number in range(300_000)]
    async with on(log) as hand:
        hand.panel.view.set_filter("line")
        for _ in range(6):
            bottom = next(row for row in reversed(rows(hand)) if "line" in row)
            assert bottom.endswith("line 299999"), hand.text
            hand.panel.view.refresh()
            await hand.frame()
        assert hand.panel.view.sieve.behind
        await hand.press("k")
        assert rows(hand)[-1].endswith("line 299998")
        await hand.press("pageup")
        assert rows(hand)[-1].endswith("line 299987")
        assert hand.panel.view.row(299_987) - hand.panel.view.scroll_offset.y == 11


async def test_a_sparse_filter_reads_no_more_lines_than_it_shows():
    log = numbered(100_000)
    async with on(log) as hand:
        hand.panel.view.set_filter("00000")
        await hand.until(lambda: not hand.panel.view.sieve.behind)
        log.reads = 0
        await hand.press("G")
        assert log.reads < 100


@pytest.mark.parametrize("size", [(1, 1), (2, 60), (200, 2), (20, 5), (39, 8)])
async def test_no_size_is_too_small(size):
    async with on(numbered(100), size) as hand:
        await hand.press("W", "v", "k", "slash")
        await hand.pilot.resize_terminal(120, 40)
        await hand.until(lambda: "line 0099" in hand.text)


async def test_without_colours_what_is_selected_and_found_is_still_told_apart(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with on(Log(["\x1b[31;1mred\x1b[0m one", "two one"])) as hand:
        hand.panel.view.search("one")
        await hand.until(lambda: hand.panel.view.at == 1)
        await hand.press("v")
        first, second = (list(hand.panel.view.render_line(y)) for y in (0, 1))
        assert next(part.style for part in first if part.text == "one").underline
        assert next(part.style for part in first if part.text == "red").bold
        assert all(part.style.reverse for part in second)
