"""The main screen: keys, commands, panes and the end, on a fake core."""

from __future__ import annotations

import time

import pytest
from textual import events

from hel_tui.core import protocol as p
from hel_tui.tui import keymap, slash
from hel_tui.tui.palette import part_of
from hel_tui.tui.places import Places
from hel_tui.tui.screens.closing import ClosingScreen
from hel_tui.tui.screens.server.screen import ServerScreen
from hel_tui.tui.widgets.tools import ToolsPane
from tests.tui import scenes
from tests.tui.driving import opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text


async def test_the_core_starts_only_after_the_first_paint():
    painted: list[str] = []

    class LateCore(FakeCore):
        def start(self) -> None:
            painted.append(screen_text(app))
            super().start()

    core = LateCore()
    from hel_tui.tui.app import HelApp

    app = HelApp(core)
    async with app.run_test(size=(100, 30)) as pilot:
        while not core.started:
            await pilot.pause(0.01)
    assert "ask, /command, @file or resource, !shell" in painted[0]


async def test_enter_sends_and_the_prompt_is_empty_again():
    async with opened() as d:
        await d.type("hello there")
        await d.press("enter", after=0.5)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Submit("hello there")]
        assert d.app.main.prompt.text == ""


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter"])
async def test_new_lines_do_not_send(key):
    async with opened() as d:
        await d.type("a")
        await d.press(key, after=0.5)
        await d.type("b")
        assert d.app.main.prompt.text == "a\nb"
        assert d.core.commands == []


async def test_a_paste_without_brackets_sends_nothing():
    async with opened() as d:
        await d.press(*"one\ntwo\nthree\n", after=0.001)
        await d.pilot.pause(0.15)
        assert d.core.commands == []
        assert d.app.main.prompt.text.split() == ["one", "two", "three"]


async def test_one_line_that_arrives_at_once_with_its_enter_is_sent():
    async with opened() as d:
        await d.press(*"hello\n", after=0.001)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Submit("hello")]


async def test_a_large_paste_becomes_a_stand_in_and_is_sent_whole():
    text = "line of text\n" * 80_000
    async with opened() as d:
        d.app.post_message(events.Paste("look: " + text))
        await d.until(lambda: d.app.main.prompt.text)
        assert d.app.main.prompt.text == "[pasted 1.0 MB]"
        await d.press("enter", after=1)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Submit("look: " + text.strip())]


async def test_a_paste_of_many_lines_becomes_a_stand_in():
    text = "\n".join(f"line {n}" for n in range(60))
    async with opened() as d:
        d.app.post_message(events.Paste(text))
        await d.until(lambda: d.app.main.prompt.text)
        assert d.app.main.prompt.text.startswith("[pasted ")
        await d.press("enter", after=1)
        await d.until(lambda: d.core.commands == [p.Submit(text)])


async def test_a_key_empties_the_prompt_and_another_brings_it_back():
    async with opened() as d:
        await d.type("one")
        await d.press("ctrl+j", after=0.5)
        await d.type("two")
        await d.press("alt+k", after=0.5)
        assert d.app.main.prompt.text == ""
        await d.press("up", after=0.5)
        assert d.app.main.prompt.text == "one\ntwo" and d.core.commands == []


async def test_news_is_told_where_somebody_has_scrolled_back():
    async with opened(size=(80, 24)) as d:
        await d.put(p.TurnStarted(1, "a\n" * 200), p.TurnEnded(1, "done"))
        await d.put(p.Notice("info", "seen at the end"))
        d.app.main.set_focus(d.app.main.conversation)
        await d.press("g")
        await d.until(lambda: not d.app.main.conversation.following)
        await d.put(p.Notice("info", "Put back: config.ini"))
        await d.until(lambda: [one.message for one in d.app._notifications] == ["Put back: config.ini"])


async def test_a_long_reason_for_another_try_leaves_room_for_the_key():
    async with opened(size=(80, 24)) as d:
        await d.put(p.TurnStarted(1, "x"), p.Retrying(1, 3, 3, 2.0, "the endpoint answered 503 " * 9))
        line = next(one for one in screen_text(d.app).splitlines() if "retrying 3/3" in one)
        assert "… · Esc interrupts" in line


async def test_a_small_paste_is_cleaned_text():
    async with opened() as d:
        d.app.post_message(events.Paste("a\x1b[2Jb\r\nc"))
        await d.until(lambda: d.app.main.prompt.text)
        assert d.app.main.prompt.text == "ab\nc"


async def test_up_and_down_walk_through_what_was_sent_and_back_to_the_draft(tmp_path):
    places = Places(history=tmp_path / "history.jsonl")
    async with opened(places=places) as d:
        for text in ("first", "second"):
            await d.type(text)
            await d.press("enter", after=0.5)
        await d.until(lambda: len(d.core.commands) == 2)
    async with opened(places=places) as d:
        await d.type("draft")
        await d.press("up", "up", after=0.5)
        assert d.app.main.prompt.text == "first"
        await d.press("down", "down", after=0.5)
        assert d.app.main.prompt.text == "draft"
    assert (tmp_path / "history.jsonl").stat().st_mode & 0o777 == 0o600


async def test_shift_tab_goes_through_the_access_levels():
    async with opened() as d:
        for level in ("auto", "read-only", "confirm"):
            await d.press("shift+tab")
            await d.until(lambda: d.core.commands)
            assert d.core.commands.pop() == p.SetAccess(level)
            await d.put(p.AccessChanged(level))
            assert d.app.bridge.state.access == level
        assert d.core.commands == []


async def test_escape_interrupts_a_turn_and_does_nothing_else():
    async with opened() as d:
        await d.press("escape")
        assert d.core.commands == []
        await d.put(p.TurnStarted(1, "x"), p.StepStarted(1, 1))
        assert "Esc interrupts" in screen_text(d.app)
        await d.press("escape")
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Interrupt()]


async def test_ctrl_c_interrupts_and_twice_quits_keeping_the_draft_until_then():
    async with opened() as d:
        await d.type("draft")
        await d.put(p.TurnStarted(1, "x"))
        await d.press("ctrl+c")
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Interrupt()]
        assert d.app.main.prompt.text == "draft"
        await d.press("ctrl+c")
        await d.until(lambda: d.core.sent(p.Shutdown))


async def test_ctrl_d_quits_only_on_an_empty_prompt():
    async with opened() as d:
        await d.type("x")
        await d.press("ctrl+d")
        assert d.core.commands == []
        await d.press("backspace", "ctrl+d", after=0.5)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Shutdown()]


async def test_closing_names_who_is_waited_for_and_a_second_ctrl_c_kills():
    core = scenes.busy_core()
    core.stops = False
    async with opened(core) as d:
        await d.type("/quit")
        await d.press("enter", after=1)
        await d.press("ctrl+d", after=0.5)  # a turn runs
        await d.until(lambda: isinstance(d.app.screen, ClosingScreen))
        await d.put(p.Closing(("inventory", "notes")))
        await d.until(lambda: "inventory, notes" in screen_text(d.app))
        await d.press("ctrl+c")
        await d.until(lambda: core.killed)


async def test_a_crash_of_the_core_is_a_readable_report():
    async with opened() as d:
        await d.put(p.CoreFailed("loop.py:12 in turn\nKeyError"))
        await d.until(lambda: d.app.screen is not d.app.main)
        assert "loop.py:12 in turn" in screen_text(d.app)
        await d.press("escape")
        await d.until(lambda: d.app._exit)
        assert d.app.return_value == 1


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/access auto", p.SetAccess("auto")),
        ("/model openai/gpt-5", p.SetModel("openai/gpt-5")),
        ("/model a/b http://127.0.0.1:1/v1", p.SetModel("a/b", "http://127.0.0.1:1/v1")),
        ("/load notes.search", p.LoadTools(("mcp__notes__search",))),
        ("/unload mcp__inventory__lookup_port", p.UnloadTools(("mcp__inventory__lookup_port",))),
        (
            '/call inventory.lookup_port {"service": "api"}',
            p.CallTool("inventory.lookup_port", '{"service": "api"}'),
        ),
        ("!ls -l", p.RunShell("ls -l")),
        ("/trust", p.ReviewTrust()),
    ],
)
async def test_typed_commands(line, command):
    async with opened(scenes.busy_core()) as d:
        d.app.main.prompt.write(line)
        await d.press("escape", "enter", after=1)
        if d.app.bridge.state.busy:
            d.core.commands = [c for c in d.core.commands if c != p.Interrupt()]
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [command]


async def test_a_mistaken_command_comes_back_to_be_mended():
    async with opened() as d:
        d.app.main.prompt.write('/call srv.tool {"a"')
        await d.press("enter", after=1)
        await d.until(lambda: d.app.main.prompt.text)
        assert d.app.main.prompt.text == '/call srv.tool {"a"'
        assert d.core.commands == []


async def test_commands_are_completed_with_tab():
    async with opened(scenes.busy_core()) as d:
        await d.type("/unl")
        await d.until(lambda: d.app.main.completion.is_open)
        assert "/unload" in screen_text(d.app)
        await d.press("tab", after=0.5)
        await d.type("lookup")
        await d.press("tab", after=0.5)
        assert d.app.main.prompt.text == "/unload inventory.lookup_port "


async def test_enter_completes_and_runs_what_needs_no_more_words():
    async with opened(scenes.busy_core()) as d:
        await d.type("/access a")
        await d.press("enter", after=0.5)
        await d.until(lambda: p.SetAccess("auto") in d.core.commands)
        await d.type("/ca")
        await d.press("enter", after=0.5)
        assert d.app.main.prompt.text == "/call "


async def test_a_new_line_takes_away_what_was_said_about_the_last_one():
    async with opened() as d:
        await d.type("/thme")
        await d.press("enter", "enter", after=0.5)
        await d.until(lambda: len(d.app._notifications) == 1)
        await d.press("ctrl+u", after=0.5)
        await d.type("hello")
        await d.press("enter", after=0.5)
        await d.until(lambda: not d.app._notifications)


async def test_a_warning_is_a_toast_only_where_the_conversation_does_not_show_it():
    async with opened(scenes.busy_core()) as d:
        await d.put(p.Notice("warning", "first"))
        assert not d.app._notifications
        await d.press("tab", "tab", "l", "f", after=0.5)
        await d.put(p.Notice("warning", "second"))
        assert [toast.message for toast in d.app._notifications] == ["second"]


async def test_a_server_that_is_slow_to_start_says_so():
    async with opened() as d:
        await d.put(p.ServerChanged("s", "starting", "slow: 31 s", since=time.time() - 31))
        assert "slow, 31 s" in screen_text(d.app) or "slow, 32 s" in screen_text(d.app)


async def test_f2_opens_the_server_that_needs_attention_and_says_why():
    async with opened(scenes.busy_core()) as d:
        await d.press("f2")
        await d.until(lambda: isinstance(d.app.screen, ServerScreen) and d.app.screen.tab is not None)
        assert d.app.screen.server == "weather"
        assert "KeyError: 'API_KEY'" in screen_text(d.app)
        await d.press("r", "d", after=0.5)
        await d.until(lambda: len(d.core.commands) == 2)
        assert d.core.commands == [p.RestartServer("weather"), p.SwitchServer("weather", False)]
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.app.main)


async def test_keys_in_the_list_of_servers_act_on_the_marked_one():
    async with opened(scenes.busy_core()) as d:
        await d.press("tab", "tab")
        await d.until(lambda: d.app.focused is d.app.main.side.servers)
        assert d.app.main.side.servers.current == "weather"
        await d.press("r", "d", after=0.5)
        await d.until(lambda: len(d.core.commands) == 2)
        assert d.core.commands == [p.RestartServer("weather"), p.SwitchServer("weather", False)]


async def test_a_tool_is_loaded_and_unloaded_by_key():
    async with opened(scenes.busy_core()) as d:
        await d.press("f4", "space", after=0.5)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.UnloadTools(("mcp__inventory__list_services",))]
        await d.press("G", "space", after=0.5)
        await d.until(lambda: len(d.core.commands) == 2)
        assert d.core.commands[-1] == p.LoadTools(("mcp__notes__search",))
        await d.press("p", "d", after=0.5)
        await d.until(lambda: len(d.core.commands) == 4)
        assert d.core.commands[-2:] == [
            p.PinTools(("mcp__notes__search",)),
            p.SwitchTool("notes", "search", on=False),
        ]


def many(count: int, loaded: int = 0) -> tuple[p.ToolRow, ...]:
    return tuple(
        p.ToolRow(
            f"s{n // 50:03}", f"tool_{n % 50:02}", f"mcp__s{n // 50:03}__t{n}", "Does.", 100, n < loaded
        )
        for n in range(count)
    )


async def test_tools_stand_under_their_servers_with_the_cost_of_each_and_of_all():
    core = FakeCore(rows=(*many(100, loaded=2), *scenes.TOOLS))
    core.put(p.ServerChanged("s000", "ready"), p.ToolsChanged(1, 4, 105, 325, listed=112, limit=128))
    async with opened(core) as d:
        await d.until(lambda: "112/128" in screen_text(d.app))
        shown = screen_text(d.app)
        assert "▸ s000" in shown and "2/50 · 200t/5.0kt" in shown
        assert "▾ notes" in shown and "◇ append" in shown and "– bad" in shown
        assert "◆ s000.tool_00" in shown and "s000.tool_02" not in shown
        pane = d.app.main.side.tools
        await d.press("f4", after=0.5)
        pane.select("s001")
        await d.press("d", after=0.5)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.SwitchServer("s001", on=True)]
        await d.press("enter", after=0.5)
        await d.until(lambda: "▾ s001" in screen_text(d.app))
        await d.press("j", "space", after=0.5)
        await d.until(lambda: len(d.core.commands) == 2)
        assert d.core.commands[-1] == p.LoadTools(("mcp__s001__t50",))


async def test_states_of_a_tool_are_told_by_signs_and_words():
    rows = (
        p.ToolRow("s", "a", "mcp__s__a", "", 10, False, off=True, reason="switched off by you"),
        p.ToolRow("s", "b", "mcp__s__b", "", 10, True, pinned=True),
        p.ToolRow("s", "c", "mcp__s__c", "", 10, False, changed=True),
        p.ToolRow("s", "d", "mcp__s__d", "", 10, False, warnings=1),
    )
    core = FakeCore(rows=rows)
    core.put(p.ServerChanged("s", "ready"), p.ToolsChanged(1, 1, 3, 10))
    async with opened(core) as d:
        await d.until(lambda: "▾ s" in screen_text(d.app))
        shown = screen_text(d.app)
        for text in ("○ a", "★ s.b", "▲ c", "⚠ d", "off", "changed"):
            assert text in shown, text


async def test_ten_thousand_tools_cost_a_frame_what_is_seen_of_them():
    def lines_drawn(count: int) -> int:
        pane = ToolsPane()
        pane.update(many(count, loaded=3))
        assert len(pane.rows) == 3 + count // 50
        return sum(bool(pane.rows[n].parts) for n in range(len(pane.rows)))

    assert lines_drawn(100) == lines_drawn(10_000) == 0, "lines are made when they are drawn"


async def test_the_view_of_a_tool_shows_what_was_sent_what_is_given_and_what_changed():
    row = p.ToolRow("notes", "search", "mcp__notes__search", "Search", 120, False, changed=True, warnings=1)
    core = scenes.busy_core()
    core.rows = tuple(row if tool.raw == "search" else tool for tool in core.rows)
    core.tool_details["notes", "search"] = p.ToolDetail(
        row,
        "Search the [red]notes[/red].\x1b[2J",
        '{"$ref": "#/x"}',
        given='{"type": "object"}',
        profile="gemini",
        adaptations=("top: `$ref` inlined",),
        diff='-{"$ref": "#/x"}\n+{"type": "object"}',
        claims=("read-only",),
        warnings=("its description holds invisible characters",),
        history=(p.DefinitionChange(1.0, "a" * 64), p.DefinitionChange(2.0, "b" * 64, "-one\n+two")),
    )
    async with opened(core, (120, 60)) as d:
        await d.press("f4", after=0.5)
        pane = d.app.main.side.tools
        pane.select(next(key for key, tool in pane.tools.items() if tool.raw == "search"))
        await d.press("enter", after=0.5)
        await d.until(lambda: "top: `$ref` inlined" in screen_text(d.app))
        shown = screen_text(d.app)
        for text in (
            "gemini",
            "read-only",
            "[red]notes[/red]",
            "+two",
            "invisible characters",
            "bbbbbbbbbbbbbbbb",
        ):
            assert text in shown, text
        assert p.SeenTool("notes", "search") in d.core.commands
        await d.press("p", after=0.5)
        await d.until(lambda: p.PinTools(("mcp__notes__search",)) in d.core.commands)


async def test_a_search_shows_hits_scores_and_why_servers_are_absent_and_a_number_loads_one():
    hit = p.SearchHit("mcp__notes__search", "notes", "search", 7.5, ("find", "note"))
    trace = p.SearchTrace(1, 1.0, "find a note", "person", (hit,), 3, 31, (("browser", "starting"),))
    async with opened(scenes.busy_core()) as d:
        await d.type("/search find a note")
        await d.press("enter", after=0.5)
        await d.until(lambda: d.core.commands == [p.SearchTools("find a note")])
        d.core.traces = (trace,)
        d.core.put(p.Searched(1))
        await d.until(lambda: "tools that match: 3 of 31" in screen_text(d.app))
        shown = screen_text(d.app)
        assert "7.50  notes.search" in shown and "browser  starting" in shown
        await d.press("1", after=0.5)
        await d.until(lambda: d.core.commands[-1] == p.LoadTools(("mcp__notes__search",)))


async def test_changed_server_files_are_a_line_until_they_are_applied_or_undone():
    async with opened(scenes.busy_core()) as d:
        d.core.put(p.ConfigChanged(added=("a",), removed=("b",), changed=("c[/]",)))
        await d.until(lambda: "server files changed: +a −b ~c[/]" in screen_text(d.app))
        await d.press("f8", after=0.5)
        await d.until(lambda: d.core.commands == [p.ApplyConfig()])
        d.core.put(p.ConfigChanged(), p.ServerRemoved("weather"))
        await d.until(lambda: "server files changed" not in screen_text(d.app))
        assert "weather" not in d.app.bridge.state.servers


async def test_a_tool_that_is_not_offered_is_not_loaded():
    async with opened(scenes.busy_core()) as d:
        await d.press("f4", after=0.5)
        pane = d.app.main.side.tools
        pane.select(next(key for key, tool in pane.tools.items() if tool.raw == "bad"))
        await d.press("space", after=0.5)
        assert d.core.commands == []


async def test_a_tool_listed_twice_and_tools_without_a_name_have_a_row_each():
    good = p.ToolRow("srv", "echo", "mcp__srv__echo", "", 10, loaded=False)
    twice = p.ToolRow("srv", "echo", "mcp__srv__echo", "", 0, loaded=False, reason="listed twice")
    nameless = p.ToolRow("srv", "", "", "", 0, loaded=False, reason="it has no name")
    core = FakeCore(rows=(nameless, nameless, twice, good))
    core.put(p.ServerChanged("srv", "ready"), p.ToolsChanged(1, 0, 4, 0))
    async with opened(core) as d:
        pane = d.app.main.side.tools
        assert list(pane.tools.values()) == [nameless, nameless, good, twice]
        assert len({row.key for row in pane.rows}) == 5
        await d.press("f4", "j", "j", "j", "space", after=0.5)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.LoadTools(("mcp__srv__echo",))]


async def test_tab_cycles_through_the_panes_there_are():
    async with opened(scenes.busy_core()) as d:
        seen = []
        for _ in range(5):
            await d.press("tab", after=0.5)
            seen.append(d.app.focused.id)
        assert seen[1:] == ["servers", "log", "tools", "prompt"]


async def test_the_cursor_stays_on_its_server_when_others_come():
    async with opened(scenes.busy_core()) as d:
        pane = d.app.main.side.servers
        pane.select("notes")
        await d.put(p.ServerChanged("aaa", "failed"))
        await d.until(lambda: "aaa" in screen_text(d.app))
        assert pane.current == "notes"


async def test_the_column_is_resized_by_key_and_by_mouse_and_remembered(tmp_path):
    places = Places(looks=tmp_path / "looks.toml")
    async with opened(places=places) as d:
        before = d.app.main.side.size.width
        await d.press("alt+left", after=0.5)
        await d.until(lambda: d.app.main.side.size.width == before + 2)
        await d.press("ctrl+d", after=0.5)
        await d.until(lambda: d.core.commands)
    async with opened(places=places) as d:
        assert d.app.main.side.size.width == before + 2


async def test_the_theme_is_switched_live_and_remembered(tmp_path):
    places = Places(looks=tmp_path / "looks.toml")
    async with opened(places=places) as d:
        await d.type("/theme paper")
        await d.press("escape", "enter", after=0.5)
        await d.until(lambda: d.app.theme == "paper")
        await d.press("ctrl+q")
        await d.until(lambda: d.core.commands)
    async with opened(places=places) as d:
        assert d.app.theme == "paper"


@pytest.mark.parametrize("theme", ["fjord", "ember", "paper", "frost", "contrast", "terminal"])
async def test_every_theme_draws_the_screen_and_a_decision(theme):
    async with opened(scenes.busy_core(), theme=theme) as d:
        assert "inventory" in screen_text(d.app)
        await d.ask(scenes.APPROVAL)
        assert "MCP call:" in screen_text(d.app)


async def test_a_queued_message_is_shown_and_taken_back():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"), p.Queued(("first thing", "second thing")))
        await d.until(lambda: "second thing" in screen_text(d.app))
        await d.press("alt+up", after=0.5)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Unqueue("second thing")]
        assert d.app.main.prompt.text == ""
        await d.put(p.Unqueued("second thing"), p.Queued(("first thing",)))
        assert d.app.main.prompt.text == "second thing"
        await d.press("alt+up", after=0.5)
        await d.until(lambda: d.core.commands[1:])
        await d.put(p.Unqueued("first thing"), p.Queued(()))
        assert d.app.main.prompt.text == "first thing\nsecond thing"


async def test_up_on_an_empty_prompt_takes_back_what_waits_before_it_brings_older_messages():
    async with opened() as d:
        await d.type("sent before")
        await d.press("enter", after=0.5)
        await d.put(p.TurnStarted(1, "x"), p.Queued(("what waits",)))
        await d.press("up", after=0.5)
        await d.until(lambda: p.Unqueue("what waits") in d.core.commands)
        await d.put(p.Queued(()))
        await d.press("up", after=0.5)
        await d.until(lambda: d.app.main.prompt.text == "sent before")


async def test_what_is_held_is_shown_as_held_and_enter_on_an_empty_prompt_sends_it_on():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"), p.TurnEnded(1, "interrupted"), p.Queued(("a", "b"), held=2))
        text = screen_text(d.app)
        assert text.count("held") == 2 and "Enter sends it on" in text
        await d.press("enter", after=0.5)
        await d.until(lambda: d.core.commands)
        await d.put(p.Queued(()))
        await d.press("enter", after=0.5)
        assert d.core.commands == [p.SendQueue()]


async def test_of_many_that_wait_the_newest_three_are_shown_and_the_others_counted():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"), p.Queued(("one", "two", "three", "four", "five"), held=3, joins=1))
        rows = [line for line in screen_text(d.app).splitlines() if "◷" in line]
        assert [row.split("◷")[1].split("  ")[0].strip() for row in rows] == [
            "held (2 more before it) three",
            "joins the turn four",
            "after the turn five",
        ]


async def test_what_enter_does_with_a_text_while_a_turn_runs_is_in_the_foot():
    async with opened() as d:
        foot = lambda: screen_text(d.app).splitlines()[-1]  # noqa: E731
        await d.type("and that")
        assert "Enter send" in foot() and "Alt+Q" not in foot()
        await d.put(p.TurnStarted(1, "x"))
        assert "Enter join the turn · Alt+Q after it · Ctrl+J newline · Alt+K empty" in foot()
        await d.put(p.TurnEnded(1, "done"))
        await d.until(lambda: "Enter send" in foot())
        await d.put(p.TurnStarted(2, "y"))
        await d.press("enter", after=0.5)
        await d.until(lambda: "Enter" not in foot())  # there is nothing to send
        assert foot().startswith(" Esc stop · Ctrl+J newline")
        await d.put(p.TurnEnded(2, "done"))
        await d.until(lambda: "Enter send" in foot())


@pytest.mark.parametrize("keys", [("ctrl+d",), ("ctrl+q",), ("/", "q", "u", "i", "t", "escape", "enter")])
async def test_quitting_while_something_runs_has_to_be_said_twice(keys):
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"))
        await d.press(*keys)
        await d.until(lambda: any("something is running" in one.message for one in d.app._notifications))
        assert not d.core.sent(p.Shutdown)
        await d.press("ctrl+d", after=0.5)
        await d.until(lambda: d.core.sent(p.Shutdown))


async def test_a_turn_that_ended_meanwhile_needs_no_second_word():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"), p.TurnEnded(1, "done"))
        await d.press("ctrl+d", after=0.5)
        await d.until(lambda: d.core.sent(p.Shutdown))


async def test_a_key_sends_for_when_the_turn_is_over():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"))
        await d.type("later")
        await d.press("alt+q", after=0.5)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Submit("later", later=True)]
        assert d.app.main.prompt.text == ""


async def test_a_message_that_joins_the_turn_stands_where_it_joined():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"), p.TextDelta(1, "a", "Well"), p.TextDone(1, "a"))
        await d.put(p.Joined(1, "and that"), p.TextDelta(1, "b", "Yes"))
        text = screen_text(d.app)
        assert text.index("Well") < text.index("and that") < text.index("Yes")


async def test_the_status_says_whether_the_model_thinks_or_answers():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "hi"), p.StepStarted(1, 1))
        assert "thinking…" in screen_text(d.app, d.app.main.status)
        await d.put(p.TextDelta(1, "a", "Well"))
        d.app.main.second()
        await d.until(lambda: "answering…" in screen_text(d.app, d.app.main.status))


async def test_retrying_is_told():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"), p.Retrying(1, 2, 5, 4.0, "503 from the endpoint"))
        assert "retrying 2/5 in 4 s: 503 from the endpoint" in screen_text(d.app)


async def test_every_action_of_the_palette_is_one_of_the_part_it_runs_in():
    async with opened() as d:
        for action in keymap.ACTIONS:
            if action.palette:
                name = f"action_{action.run.partition('(')[0]}"
                assert hasattr(part_of(d.app, action), name), action.id


async def test_the_palette_finds_actions_and_servers():
    async with opened(scenes.busy_core()) as d:
        await d.press("ctrl+p")
        await d.until(lambda: d.app.screen is not d.app.main)
        await d.type("restart wea")
        await d.until(lambda: "Restart weather" in screen_text(d.app))
        await d.press("enter", after=0.5)
        await d.until(lambda: d.core.sent(p.RestartServer))
        assert d.core.sent(p.RestartServer) == [p.RestartServer("weather")]


async def test_a_changed_key_works_and_the_footer_names_it(tmp_path):
    file = tmp_path / "keymap.toml"
    file.write_text('"app.servers" = "ctrl+k"', "utf-8")
    async with opened(scenes.busy_core(), places=Places(keymap=file)) as d:
        assert "Ctrl+K servers" in screen_text(d.app)
        await d.press("ctrl+k")
        await d.until(lambda: isinstance(d.app.screen, ServerScreen))


async def test_wide_characters_are_typed_and_deleted_whole():
    async with opened() as d:
        await d.type("한글 漢字")
        await d.press("backspace", after=0.5)
        assert d.app.main.prompt.text == "한글 漢"


async def test_the_conversation_shows_its_focus_by_a_card_and_by_its_keys():
    async with opened(scenes.busy_core()) as d:
        await d.press("tab")
        transcript = d.app.main.conversation.transcript
        assert transcript.marked == transcript.next_foldable(len(transcript.entries), -1)
        assert "c copy" in screen_text(d.app, d.app.main.footer)


async def test_a_card_is_run_again_with_its_arguments_in_the_prompt():
    core = scenes.busy_core()
    core.details["c2"] = p.CallDetail(
        "c2", "inventory", "lookup_port", '{\n  "service": "api"\n}', "8437", "ok"
    )
    async with opened(core) as d:
        await d.press("tab", "k", "e", after=0.5)
        await d.until(lambda: d.app.main.prompt.text)
        assert d.app.main.prompt.text == '/call inventory.lookup_port {"service": "api"}'


async def test_a_card_leads_to_the_log_of_its_server():
    async with opened(scenes.busy_core()) as d:
        await d.press("tab", "k", "l", after=0.5)
        await d.until(lambda: d.app.focused is d.app.main.side.log_view)
        assert "stderr: inventory" in screen_text(d.app)


async def test_the_finder_says_how_much_it_found_and_which_keys_it_has():
    async with opened(scenes.busy_core()) as d:
        await d.press("ctrl+f", after=0.5)
        await d.until(lambda: d.app.focused is d.app.main.finder)
        footer = screen_text(d.app, d.app.main.footer)
        assert "Enter keep · Esc clear" in footer and "send" not in footer
        await d.type("port")
        count = len(d.app.main.conversation._search.matches)
        assert count > 1
        await d.until(lambda: f"{count} found" in screen_text(d.app, d.app.main.finder))
        await d.type("zzz")
        await d.until(lambda: "0 found" in screen_text(d.app, d.app.main.finder))


async def test_the_log_of_a_call_begins_with_what_was_written_while_it_ran():
    core = scenes.busy_core()
    log = core.logs["inventory"]
    async with opened(core) as d:
        log.add(*["long before"] * 100)
        await d.put(p.CallStarted(9, "call", "inventory", "slow", ""), p.CallChanged("call", "running"))
        now = d.app.bridge.state.by_key["call"].started
        log.kept += [p.LogLine(now, "while it ran")]
        log.kept += [p.LogLine(now + 600, "after it")] * 100
        log.add()
        await d.put(p.CallChanged("call", "ok", 0.001))
        await d.press("tab", "G", "l", after=0.5)
        view = d.app.main.side.log_view
        await d.until(lambda: d.app.focused is view and "while it ran" in screen_text(d.app, view))
        rows = [row for row in screen_text(d.app, view).splitlines() if row.strip()]
        assert "while it ran" in rows[0] and "▌" in rows[0]
        assert "after it" in rows[1] and "▌" not in rows[1]
        await d.press("G", after=0.5)
        assert view.following


async def test_a_call_during_which_nothing_was_written_says_so():
    core = scenes.busy_core()
    async with opened(core) as d:
        await d.put(
            p.CallStarted(9, "call", "inventory", "quiet", ""),
            p.CallChanged("call", "running"),
            p.CallChanged("call", "ok", 0.001),
        )
        await d.press("tab", "G", "l", after=0.5)
        await d.until(lambda: any("nothing was written" in note.message for note in d.app._notifications))


async def test_the_column_is_dragged_with_the_mouse():
    async with opened(scenes.busy_core()) as d:
        before = d.app.main.side.size.width
        x = d.app.main.query_one("#splitter").region.x
        await d.pilot.mouse_down(offset=(x, 10))
        await d.pilot.hover(offset=(x - 6, 10))
        await d.pilot.mouse_up(offset=(x - 6, 10))
        await d.until(lambda: d.app.main.side.size.width == before + 6)


@pytest.mark.parametrize("theme", ["fjord", "paper", "terminal"])
async def test_the_row_under_the_cursor_is_seen(theme):
    async with opened(scenes.busy_core(), theme=theme) as d:
        pane = d.app.main.side.servers
        rest = {segment.style.bgcolor for segment in pane.render_line(0)}
        await d.press("tab", "tab", after=0.5)
        await d.until(lambda: pane.has_focus)
        marked, other = ({s.style.bgcolor for s in pane.render_line(y)} for y in (0, 1))
        assert other == rest
        assert not marked & rest


async def test_without_colour_the_cursor_is_seen_too(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(scenes.busy_core()) as d:
        await d.press("tab", "tab", after=0.5)
        pane = d.app.main.side.servers
        await d.until(lambda: pane.has_focus)
        assert all(segment.style.reverse for segment in pane.render_line(0))
        assert not any(segment.style.reverse for segment in pane.render_line(1))


async def test_korean(monkeypatch):
    monkeypatch.setenv("HEL_LANG", "ko")
    async with opened(scenes.busy_core(), size=(80, 24)) as d:
        await d.ask(scenes.TRUST)
        text = screen_text(d.app)
        assert "이 프로젝트가 서버 2개를 시작하려 합니다" in text
        assert "거절" in text
    monkeypatch.setenv("HEL_LANG", "en")


@pytest.mark.parametrize("line", ["more, please", "!ls", "/call notes.search {}"])
async def test_what_is_sent_brings_a_conversation_that_was_scrolled_back_to_its_end(line):
    async with opened(FakeCore(rows=scenes.TOOLS)) as d:
        await d.put(p.TurnStarted(1, "a\n" * 200), p.TurnEnded(1, "done"))
        d.app.main.conversation.action_start()
        await d.until(lambda: not d.app.main.conversation.following)
        d.app.main.commands.typed.run(line)
        await d.until(lambda: d.core.commands)
        view = d.app.main.conversation
        assert view.following
        assert view.scroll_offset.y == view.max_scroll_y > 0


async def test_a_line_that_was_not_understood_leaves_the_conversation_where_it_was():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "a\n" * 200), p.TurnEnded(1, "done"))
        d.app.main.conversation.action_start()
        await d.until(lambda: not d.app.main.conversation.following)
        d.app.main.commands.typed.run("/nothing")
        await d.pilot.pause()
        assert not d.app.main.conversation.following


async def test_while_a_decision_waits_the_status_names_the_key_that_decides_it():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "x"))
        await d.type("half")
        await d.put(p.Asked(scenes.APPROVAL))
        await d.until(lambda: d.app.main.waits.display)
        assert "F3 opens the decision" in screen_text(d.app)
        assert "interrupts" not in screen_text(d.app)
        await d.press("f3")
        await d.until(lambda: d.has_dialog)
        await d.until(lambda: d.app.main.status.asked)
        status = "".join(text for text, _ in d.app.main.status.lines()[0])
        assert "Esc denies" in status
        assert "interrupts" not in status


@pytest.mark.parametrize(("key", "pane"), [("f4", "tools"), ("shift+f6", "servers")])
async def test_going_into_the_folded_column_opens_it(key, pane):
    async with opened(scenes.busy_core(), size=(80, 24)) as d:
        assert d.app.main.side.mode == "icons"
        await d.press(key, after=0.5)
        await d.until(lambda: d.app.focused.id == pane)
        assert d.app.main.side.mode == "overlay"
        assert "lookup_port" in screen_text(d.app)


async def test_tab_goes_into_the_folded_column_through_it_and_out_again():
    async with opened(scenes.busy_core(), size=(80, 24)) as d:
        seen = []
        for _ in range(5):
            await d.press("tab", after=0.5)
            await d.pilot.pause()
            seen.append((d.app.focused.id, d.app.main.side.mode))
        assert seen[1:] == [
            ("servers", "overlay"),
            ("log", "overlay"),
            ("tools", "overlay"),
            ("prompt", "icons"),
        ]


async def test_on_a_narrow_screen_the_bottom_line_keeps_the_key_that_leads_to_the_others():
    async with opened(scenes.busy_core(), size=(80, 24)) as d:
        assert "F1 keys" in screen_text(d.app).splitlines()[-1]


async def palette_finds(d, query: str) -> list[str]:
    """Names that the palette finds for a query."""
    from hel_tui.tui.palette import HelProvider

    return [hit.text async for hit in HelProvider(d.app.screen).search(query)]


async def test_the_palette_finds_every_slash_command_and_each_tool():
    async with opened(scenes.busy_core()) as d:
        for spec in slash.SPECS:
            assert any(name.startswith(f"/{spec.name}") for name in await palette_finds(d, spec.name))
        found = await palette_finds(d, "load notes")
        assert "Load notes.search" in found
        assert "Load notes.bad" not in found
        assert "Unload inventory.lookup_port" in await palette_finds(d, "unload")


async def test_a_command_that_takes_words_is_put_into_the_prompt_by_the_palette():
    async with opened(scenes.busy_core()) as d:
        await d.press("tab", "tab", after=0.5)
        await d.press("ctrl+p", after=0.5)
        await d.until(lambda: d.app.screen is not d.app.main)
        await d.press(*"/model", after=0.3)
        await d.until(lambda: "PROVIDER/NAME" in screen_text(d.app))
        await d.press("enter", after=0.5)
        await d.until(lambda: d.app.screen is d.app.main)
        await d.until(lambda: d.app.main.prompt.text == "/model ")
        await d.until(lambda: d.app.focused is d.app.main.prompt)


@pytest.mark.parametrize("keys", [("tab",), ("tab", "tab"), ("f4",)])
async def test_ctrl_d_leaves_from_everywhere_but_not_while_something_is_written(keys):
    async with opened(scenes.busy_core()) as d:
        await d.type("x")
        await d.press(*keys, "ctrl+d", after=0.5)
        assert not d.core.sent(p.Shutdown)
        d.app.main.prompt.write("")
        await d.press("ctrl+d", "ctrl+d", after=0.5)  # twice: a turn runs
        await d.until(lambda: d.core.sent(p.Shutdown))


async def test_ctrl_d_in_a_dialog_does_not_leave():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await d.press("ctrl+d", after=0.5)
        assert d.has_dialog
        assert not d.core.sent(p.Shutdown)


async def test_a_filter_that_holds_is_seen_in_the_title_and_escape_clears_it():
    async with opened(scenes.busy_core()) as d:
        await d.press("f4", "slash", after=0.5)
        await d.until(lambda: d.app.focused is d.app.main.finder)
        await d.press(*"look", after=0.3)
        assert "filter tools · 1 found" in screen_text(d.app)
        await d.press("enter", after=0.5)
        await d.until(lambda: d.app.focused is d.app.main.side.tools)
        await d.until(lambda: "tools / look" in screen_text(d.app))
        await d.press("escape", after=0.5)
        await d.until(lambda: "tools / look" not in screen_text(d.app))
        assert len(d.app.main.side.tools.rows) == len(scenes.TOOLS) + 2, "and two servers"
        assert d.core.commands == []
        await d.press("escape", after=0.5)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [p.Interrupt()]


@pytest.mark.parametrize(
    ("term", "said"),
    [("xterm-256color", "copied 3 lines"), ("tmux-256color", "copied 3 lines (if the terminal allows it)")],
)
async def test_copying_the_log_says_how_many_lines_and_whether_that_is_sure(monkeypatch, term, said):
    async with opened(scenes.busy_core()) as d:
        monkeypatch.setenv("TERM", term)
        d.app.main.open_log("weather")
        await d.press("c", after=0.5)
        await d.until(lambda: [n.message for n in d.app._notifications] == [said])
        assert d.app.clipboard.count("\n") == 2


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ((), "/call SERVER.TOOL {}"),
        ((p.ToolRow("ev", "echo", "mcp__ev__echo", "", 9, False, "", '{"message": ""}'),), "/call ev.echo {"),
        ((p.ToolRow("ev", "echo", "", "", 9, False, "no schema"),), "/call SERVER.TOOL {}"),
    ],
)
async def test_the_workbench_shows_a_call_that_there_is(rows, shown):
    core = FakeCore()
    core.put(p.SessionStarted("s", "/srv/x", "confirm", "1"), p.ModelChanged("", ""))
    core.put(p.ServerChanged("ev", "ready", tools=1))
    async with opened(core) as d:
        core.rows = rows
        await d.put(p.ToolsChanged(1, 0, len(rows), 0))
        await d.until(lambda: shown in screen_text(d.app))


@pytest.mark.parametrize("width", [80, 99])
async def test_between_80_and_100_columns_servers_are_glyphs_in_four_cells(width):
    async with opened(scenes.busy_core(), size=(width, 30)) as d:
        side = d.app.main.side
        assert side.mode == "icons" and side.size.width == 4
        text = screen_text(d.app, side)
        assert "✗" in text and "●" in text
        assert not any(letter.isalpha() for letter in text)


async def test_tools_can_be_loaded_one_after_the_other_where_they_stand():
    rows = tuple(p.ToolRow("s", raw, f"mcp__s__{raw}", "", 10, False) for raw in "abcd")
    core = FakeCore(rows=rows)
    core.put(p.ServerChanged("s", "ready"), p.ToolsChanged(1, 0, 4, 0))
    async with opened(core) as d:
        await d.press("f4", "j", after=0.5)
        for count, raw in enumerate("abc", 1):
            await d.press("space", after=0.5)
            await d.until(lambda raw=raw: d.core.commands[-1:] == [p.LoadTools((f"mcp__s__{raw}",))])
            core.rows = tuple(
                p.ToolRow("s", one.raw, one.public, "", 10, one.loaded or one.raw == raw) for one in core.rows
            )
            core.put(p.ToolsChanged(count + 1, count, 4, 10 * count))
            await d.until(lambda raw=raw: f"◆ s.{raw}" in screen_text(d.app))
