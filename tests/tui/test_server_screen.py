"""The server screen: its tabs, its keys, the switches, and that decisions open over it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.screens.call.screen import CallScreen
from hel_tui.tui.screens.server.listed import ListedTab
from hel_tui.tui.screens.server.screen import NAMES, ServerScreen
from hel_tui.tui.widgets.tools import ToolsPane
from tests.tui import scenes
from tests.tui.driving import Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text
from tests.tui.server_scenes import ENTRY, inside_core

SIZES = [(80, 24), (120, 40), (200, 60)]


async def at(d: Driver, server: str, tab: str = "overview") -> ServerScreen:
    d.app.open_server(server, tab)
    await d.until(lambda: isinstance(d.app.screen, ServerScreen) and d.app.screen.tab is not None)
    screen = d.app.screen
    assert isinstance(screen, ServerScreen)
    await d.until(lambda: screen.active == tab and screen.focused is not None)
    return screen


async def test_the_overview_says_what_was_negotiated_what_it_may_ask_and_how_requests_went():
    async with opened(inside_core()) as d:
        await at(d, "inventory")
        shown = screen_text(d.app)
        for words in (
            *("inventory-server 1.2.0", "(initialize)", "84t of 125t loaded", "[x] roots", "[ ] sampling"),
            *(
                "declared from the next start on",
                "tools.listChanged",
                "tools/call",
                "1,204",
                "250 ms",
                "<1 ms",
            ),
            "Ask for a service by its short name.",
        ):
            assert words in shown, words


async def test_a_switch_is_turned_by_enter_and_the_core_is_told():
    async with opened(inside_core()) as d:
        await at(d, "inventory")
        await d.press("j", "j", "enter", after=0.5)
        await d.until(lambda: d.core.sent(p.SetSwitch))
        assert d.core.sent(p.SetSwitch) == [p.SetSwitch("inventory", "sampling", True)]


@pytest.mark.parametrize(("key", "tab"), list(zip("123456789", NAMES, strict=True)))
async def test_every_tab_has_a_number(key, tab):
    async with opened(inside_core()) as d:
        screen = await at(d, "inventory")
        await d.press(key, after=0.5)
        await d.until(lambda: screen.active == tab)
        assert screen.tab is not None and screen.tab.display


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("tab", NAMES)
async def test_every_tab_draws_at_every_size(size, tab):
    async with opened(inside_core(), size=size) as d:
        screen = await at(d, "inventory", tab)
        await d.pilot.pause(0.05)
        assert "inventory ─ stdio" in screen_text(d.app)
        await d.press("]", "[", after=0.5)
        await d.until(lambda: screen.active == tab)


async def test_processes_are_watched_only_while_they_are_seen_and_only_a_leftover_can_be_ended():
    async with opened(inside_core()) as d:
        await at(d, "inventory", "process")
        await d.until(lambda: d.core.sent(p.WatchProcesses))
        assert "helper --fast" in screen_text(d.app) and "42.0 MB" in screen_text(d.app)
        await d.press("enter", after=0.5)
        await d.until(lambda: d.core.sent(p.EndProcess))
        assert d.core.sent(p.EndProcess) == [p.EndProcess("inventory", 999)]
        await d.press("1", after=0.5)
        await d.until(lambda: len(d.core.sent(p.WatchProcesses)) == 2)
        watched = d.core.sent(p.WatchProcesses)
        assert watched == [p.WatchProcesses("inventory", True), p.WatchProcesses("inventory", False)]


async def test_until_the_first_look_at_processes_it_says_that_they_are_looked_for():
    core = inside_core()
    core.process_rows.clear()
    async with opened(core) as d:
        await at(d, "inventory", "process")
        assert "No process of it runs." in screen_text(d.app)
        await d.put(replace(d.app.bridge.state.servers["inventory"], pid=4711))
        await d.until(lambda: "Looking for its processes…" in screen_text(d.app))


async def test_leaving_the_screen_ends_the_watch():
    async with opened(inside_core()) as d:
        await at(d, "inventory", "process")
        await d.until(lambda: d.core.sent(p.WatchProcesses))
        await d.press("escape", after=0.5)
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.WatchProcesses)[-1] == p.WatchProcesses("inventory", False)


async def test_the_configuration_says_where_variables_come_from_and_what_is_shadowed():
    async with opened(inside_core(), size=(120, 50)) as d:
        await at(d, "inventory", "config")
        shown = screen_text(d.app)
        for words in (
            "‹redacted›",
            "environment · env.TOKEN",
            "not set",
            "/.mcp.json",
            "*.py",
            "approved for",
        ):
            assert words in shown, words


LOGIN = p.LoginDetail(
    "https://login.example.com",
    "…4711",
    "dynamic",
    "https://shop.example.com/mcp",
    ("read",),
    ("read", "write"),
    has_token=True,
    obtained=1_000_000_000.0,
    expires=1_000_086_400.0,
    renewable=True,
)


async def test_the_configuration_says_what_a_login_gave_and_until_when():
    core = inside_core()
    core.entries["inventory"] = replace(ENTRY, login=LOGIN)
    async with opened(core, size=(120, 50)) as d:
        await at(d, "inventory", "config")
        shown = screen_text(d.app)
        for words in (
            "login.example.com",
            "…4711 · registered",
            "2001-09-0",
            "not granted     write",
            "by itself",
        ):
            assert words in shown, words
        core.entries["inventory"] = replace(ENTRY, login=p.LoginDetail("https://x", "c", "configured"))
        await at(d, "inventory", "config")
        assert "no token now" in screen_text(d.app)


async def test_health_shows_the_worst_first_with_what_helps_and_looks_again_by_key():
    async with opened(inside_core()) as d:
        await at(d, "inventory", "health")
        shown = screen_text(d.app)
        assert shown.index("no protocol") < shown.index("$schema") < shown.index("/usr/bin/python runs")
        assert "→ print to stderr" in shown and "gemini" in shown and "and 1 more" in shown
        await d.press("H", after=0.5)
        await d.until(lambda: d.core.sent(p.Diagnose))
        assert d.core.sent(p.Diagnose) == [p.Diagnose("inventory")]


async def test_a_tool_is_loaded_and_called_from_its_tab():
    async with opened(inside_core()) as d:
        await at(d, "inventory", "tools")
        await d.press("space", "p", after=0.5)
        await d.until(lambda: len(d.core.commands) >= 2)
        assert isinstance(d.core.commands[0], p.LoadTools | p.UnloadTools)
        assert isinstance(d.core.commands[1], p.PinTools)
        await d.press("n", after=0.5)
        await d.until(lambda: not isinstance(d.app.screen, ServerScreen))
        assert d.app.screen is not d.app.main


async def test_the_next_server_is_shown_by_key_and_the_tab_stays():
    async with opened(inside_core()) as d:
        screen = await at(d, "inventory", "log")
        names = [one.name for one in screen.list.servers]
        await d.press("alt+down", after=0.5)
        expected = names[(names.index("inventory") + 1) % len(names)]
        await d.until(lambda: screen.server == expected)
        assert screen.active == "log"


async def test_a_decision_opens_over_the_server_screen():
    async with opened(inside_core()) as d:
        await at(d, "inventory")
        await d.ask(scenes.APPROVAL)
        assert d.has_dialog


async def test_a_server_that_is_taken_out_makes_room_for_another():
    async with opened(inside_core()) as d:
        screen = await at(d, "inventory")
        await d.put(p.ServerRemoved("inventory"))
        await d.until(lambda: screen.server != "inventory")
        assert screen.server in d.app.bridge.state.servers


async def test_the_tools_of_the_main_screen_are_not_those_of_the_tab():
    async with opened(inside_core()) as d:
        screen = await at(d, "inventory", "tools")
        pane = screen.query_one("#server-tools", ToolsPane)
        assert {tool.server for tool in pane.tools.values()} == {"inventory"}


async def test_the_list_of_servers_is_shown_on_a_narrow_screen_while_it_has_the_focus():
    async with opened(inside_core(), size=(80, 24)) as d:
        screen = await at(d, "inventory")
        assert not screen.list.display or not screen.list.region.width
        await d.press("tab", after=0.5)
        await d.until(lambda: screen.focused is screen.list)
        await d.until(lambda: screen.list.region.width > 0)
        assert "weather" in screen_text(d.app)


async def test_f2_before_any_server_is_known_opens_the_screen_which_then_shows_the_first():
    async with opened(FakeCore()) as d:
        await d.press("f2")
        await d.until(lambda: isinstance(d.app.screen, ServerScreen) and d.app.screen.tab is not None)
        assert "no servers yet" in screen_text(d.app)
        await d.put(p.ServerChanged("notes", "ready", tools=3))
        await d.until(lambda: "notes ─ stdio" in screen_text(d.app))


async def test_on_a_wide_screen_the_marked_tool_is_told_beside_the_list():
    async with opened(inside_core(), size=(200, 60)) as d:
        screen = await at(d, "inventory", "tools")
        tab = screen.tab
        assert isinstance(tab, ListedTab)
        await d.until(lambda: tab.sheet.region.x >= tab.list.region.right > 0)
        assert tab.sheet.region.width > 60 and "What it says of itself" in screen_text(d.app, tab.sheet)


async def test_n_without_a_tool_chosen_goes_to_the_tools_and_says_so_or_calls_the_only_one():
    core = inside_core()
    async with opened(core) as d:
        screen = await at(d, "notes")
        await d.press("n", after=0.5)
        await d.until(lambda: screen.active == "tools")
        assert any("choose the tool, then n calls it" in one.message for one in d.app._notifications)
    core = inside_core()
    only = next(row for row in core.rows if row.server == "notes")
    core.rows = [row for row in core.rows if row.server != "notes" or row == only]
    async with opened(core) as d:
        await at(d, "notes")
        await d.press("n", after=0.5)
        await d.until(lambda: isinstance(d.app.screen, CallScreen))


async def test_n_on_a_heading_of_the_pane_goes_to_its_first_tool_and_says_so():
    async with opened(inside_core()) as d:
        pane = d.app.main.side.tools
        await d.press("f4", after=0.5)
        await d.until(lambda: d.app.focused is pane)
        pane.select("notes")
        await d.press("n", after=0.5)
        await d.until(lambda: pane.current in pane.tools)
        assert pane.tools[pane.current].server == "notes"
        assert any("choose the tool" in one.message for one in d.app._notifications)
        await d.press("n", after=0.5)
        await d.until(lambda: isinstance(d.app.screen, CallScreen))
