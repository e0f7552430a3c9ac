"""The header: what it says, and what it leaves out when there is no room."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from hel_tui.core import protocol as p
from hel_tui.tui import strings
from hel_tui.tui.reducing import reduce
from hel_tui.tui.state import ViewState
from hel_tui.tui.widgets.header import header_line, short_path
from hel_tui.tui.widgets.lines import width_of
from hel_tui.tui.widgets.servers import row as server_row
from hel_tui.tui.widgets.tools import tool_row
from tests.tui import scenes


def text(state: ViewState, width: int) -> str:
    return "".join(part for part, _ in header_line(state, width))


@pytest.fixture
def state() -> ViewState:
    state = ViewState()
    reduce(state, scenes.BEGIN)
    return state


def test_it_says_everything_when_there_is_room(state):
    line = text(state, 120)
    for part in ("notes-app", "deepseek/deepseek-chat", "confirm", "31%", "$0.04", "servers 2/5"):
        assert part in line


@pytest.mark.parametrize("width", [40, 60, 79, 80, 100, 120, 200])
@pytest.mark.parametrize("level", p.ACCESS_LEVELS)
def test_the_access_level_is_always_there_and_the_line_fits(state, width, level):
    reduce(state, [p.AccessChanged(level)])
    line = text(state, width)
    assert {"read-only": "read-only", "confirm": "confirm", "auto": "AUTO"}[level] in line
    assert cell_len(line) <= max(width, 50)


def test_auto_stands_out(state):
    reduce(state, [p.AccessChanged("auto")])
    assert (" AUTO ", "alert") in header_line(state, 120)


def test_the_demo_is_labelled_loudly(state):
    reduce(state, [p.ModelChanged("demo", is_demo=True)])
    assert (" DEMO (scripted) ", "alert") in header_line(state, 120)


def test_without_a_model_it_says_so(state):
    reduce(state, [p.ModelChanged("", note="set a key")])
    assert "no model" in text(state, 120)
    assert "ctx" not in text(state, 120)


def test_foreign_names_cannot_write_to_the_terminal(state):
    reduce(state, [p.ModelChanged("\x1b]0;owned\x07[/]evil")])
    assert "\x1b" not in text(state, 120)


@pytest.mark.parametrize("width", [20, 30, 38, 60])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_rows_of_servers_and_tools_fill_their_width(width, language):
    strings.use(language)
    try:
        for server in [
            *scenes.SERVERS,
            p.ServerChanged("한글서버이름", "failed", reason="이유가 깁니다" * 4),
        ]:
            assert width_of(server_row(server, width, 0.0)) <= width
        for tool in scenes.TOOLS:
            assert width_of(tool_row(tool, width)) <= width
    finally:
        strings.use("en")


def test_a_path_keeps_its_last_folder():
    assert short_path("/a/very/long/path/to/the/project", 20).endswith("/project")
    assert len(short_path("/a/very/long/path/to/the/project", 20)) <= 20


def test_where_nobody_knows_the_window_it_says_how_many_tokens_there_are(state):
    reduce(state, [p.ModelChanged("fake/m1"), p.UsageChanged(12_345, 1, 1, 0, 0, 0)])
    assert "ctx 12k" in text(state, 120)
    reduce(state, [p.ModelChanged("fake/m1", window=32_768), p.UsageChanged(12_345, 1, 1, 32_768, 0, 0)])
    assert "38%" in text(state, 120)
