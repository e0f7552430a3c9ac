"""What is to do, beside the conversation: a list, a line, or how much of it is done."""

from __future__ import annotations

import time

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui import strings
from hel_tui.tui.reducing import reduce
from hel_tui.tui.state import ViewState
from hel_tui.tui.widgets.bars import StatusBar
from hel_tui.tui.widgets.lines import width_of
from hel_tui.tui.widgets.todos import MOST_ROWS, one_bar, todo_lines
from tests.tui import scenes
from tests.tui.driving import opened
from tests.tui.screen_text import screen_text
from tests.tui.snapshots import same_as_kept

SIZES = [(80, 24), (120, 40), (200, 60)]
ITEMS = (
    ("done", "read how ports are assigned"),
    ("in_progress", "포트를 config.ini에 적기"),
    ("pending", "run the tests and say which \x1b[31mfail"),
)


@pytest.fixture(autouse=True)
def still_time(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(StatusBar.__init__, "__defaults__", (lambda: 0.0,))


def tag(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def words(lines) -> list[str]:
    return ["".join(text for text, _ in line).strip() for line in lines]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_list_stands_beside_the_conversation(size, language, monkeypatch):
    monkeypatch.setenv("HEL_LANG", language)
    async with opened(scenes.busy_core(), size=size) as d:
        await d.put(p.TodosChanged(ITEMS))
        same_as_kept(f"todos-{language}-{tag(size)}", screen_text(d.app))
    strings.use("en")


async def test_it_folds_away_and_comes_back():
    async with opened(scenes.busy_core()) as d:
        await d.put(p.TodosChanged(ITEMS))
        assert "read how ports" in screen_text(d.app)
        await d.press("alt+t")
        shown = screen_text(d.app)
        assert "read how ports" not in shown and "1/3" in shown
        await d.pilot.click("#todos-title")
        await d.pilot.pause()
        assert "read how ports" in screen_text(d.app)


async def test_on_a_narrow_screen_it_is_one_line_that_folds_too():
    async with opened(scenes.busy_core(), size=(80, 24)) as d:
        await d.put(p.TodosChanged(ITEMS))
        assert "▸ 1/3 포트를 config.ini에 적기" in screen_text(d.app)
        await d.press("alt+t")
        assert "1/3" not in screen_text(d.app)


async def test_all_done_leaves_how_much_and_a_new_session_nothing():
    async with opened(scenes.busy_core()) as d:
        await d.put(p.TodosChanged(tuple(("done", text) for _, text in ITEMS)))
        shown = screen_text(d.app)
        assert "3/3" in shown and "read how ports" not in shown
        await d.put(p.Cleared("s2"))
        assert "3/3" not in screen_text(d.app)


@pytest.mark.parametrize("done", [0, 1, 5, 20, 28, 29, 30])
def test_a_long_list_shows_what_is_being_done(done):
    items = [("done", f"item {n}.") for n in range(done)]
    items += [("pending", f"item {n}.") for n in range(done, 30)]
    lines = words(todo_lines(items, 40))
    assert len(lines) == MOST_ROWS
    assert any(f"item {min(done, 29)}." in line for line in lines)
    shown = sum("item" in line for line in lines)
    hidden = [int(line.split()[0]) for line in lines if "item" not in line]
    assert shown + sum(hidden) == 30


def test_no_line_is_wider_than_its_place():
    items = [("in_progress", "아주 긴 할 일 " * 20), ("odd", "x" * 500)]
    for width in (8, 20, 38, 80):
        assert all(width_of(line) <= width for line in todo_lines(items, width))
    for width in (30, 80):
        assert width_of(one_bar(items, width)) <= width


def test_the_list_of_the_session_that_is_left_is_gone():
    state = ViewState()
    reduce(state, [p.TodosChanged(ITEMS)])
    assert state.todos == ITEMS
    assert reduce(state, [p.Cleared("s2")]).todos
    assert state.todos == ()
