"""Resources, attachments and prompts of servers: keyboard only, on a core that says what a real one would."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.arguments import ArgumentsDialog
from hel_tui.tui.reducing import UPDATES_TOGETHER
from hel_tui.tui.screens.resources import ResourcesScreen, ViewerScreen
from tests.tui import scenes
from tests.tui.driving import Clock, Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text

GUIDE = ("notes", "note://guide.md")
NOTES = p.ServerChanged(
    "notes", "ready", tools=1, offers=("tools", "resources", "prompts", "completions", "subscriptions")
)
PLAIN = p.ServerChanged("plain", "ready", tools=1, offers=("tools", "resources"))


def core(*events: p.Event) -> FakeCore:
    made = FakeCore(
        resource_rows=scenes.RESOURCES[:4], prompt_rows=scenes.PROMPTS, contents=dict(scenes.CONTENTS)
    )
    made.put(
        p.SessionStarted("s", "/srv/x", "confirm", "1"),
        p.ModelChanged("a/b"),
        NOTES,
        PLAIN,
        p.PromptsChanged(1),
    )
    made.put(*events)
    return made


def attachment(server: str = "notes", uri: str = "note://guide.md", name: str = "Guide") -> p.Attachment:
    return p.Attachment(server, uri, name, "text/markdown", 2_140, 540)


async def open_resources(d: Driver) -> None:
    await d.press("f5", after=1)
    await d.until(lambda: d.app.screen is not d.app.main)
    await d.put(p.ResourcesChanged(1))
    await d.until(lambda: "Guide" in screen_text(d.app))


# ------------------------------------------------------------------- resources


async def test_of_thousands_of_resources_only_those_on_the_screen_are_drawn(monkeypatch):
    lists, lines = [], []
    rows_of, line_of = ResourcesScreen.rows, ResourcesScreen.line
    monkeypatch.setattr(ResourcesScreen, "rows", lambda self: (lists.append(1), rows_of(self))[1])
    monkeypatch.setattr(
        ResourcesScreen, "line", lambda self, key, width: (lines.append(key), line_of(self, key, width))[1]
    )
    made = core()
    made.resource_rows = tuple(p.ResourceRow("notes", f"note://{n}", f"Note {n}") for n in range(5_000))
    async with opened(made) as d:
        await d.press("f5", after=1)
        await d.put(p.ResourcesChanged(1))
        await d.until(lambda: "Note 0" in screen_text(d.app))
        assert 0 < len(set(lines)) < 50
        await d.press("end", after=1)
        await d.until(lambda: "Note 4999" in screen_text(d.app))
        assert len(set(lines)) < 100


async def test_a_counter_of_a_server_draws_no_list_anew(monkeypatch):
    lists = []
    rows_of = ResourcesScreen.rows
    monkeypatch.setattr(ResourcesScreen, "rows", lambda self: (lists.append(1), rows_of(self))[1])
    async with opened(core()) as d:
        await open_resources(d)
        before = len(lists)
        await d.put(replace(NOTES, noise=7, latency=0.5), replace(PLAIN, dropped=3))
        await d.until(lambda: d.app.main.view.servers["notes"].noise == 7)
        assert len(lists) == before
        await d.put(replace(PLAIN, phase="stopped"))
        await d.until(lambda: len(lists) == before + 1)


async def test_lists_are_read_when_the_sheet_opens_and_no_content_is():
    async with opened(core()) as d:
        assert d.core.commands == []
        await d.press("f5", after=1)
        await d.until(lambda: "reading the list" in screen_text(d.app))
        assert d.core.commands == [p.ListResources()]
        await d.put(p.ResourcesChanged(1))
        await d.until(lambda: "Guide" in screen_text(d.app))
        assert d.core.commands == [p.ListResources()]


async def test_enter_attaches_and_enter_again_takes_it_out():
    async with opened(core()) as d:
        await open_resources(d)
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.Attach))
        assert d.core.sent(p.Attach) == [p.Attach(*GUIDE)]
        await d.put(p.AttachmentsChanged((attachment(),)))
        await d.until(lambda: "attached" in screen_text(d.app))
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.Detach))
        assert d.core.sent(p.Detach) == [p.Detach(*GUIDE)]


@pytest.mark.parametrize(
    ("down", "uri", "shown", "hidden"),
    [
        (0, "note://guide.md", ["• one thought each", "Write short notes."], ["# Guide", "**short**"]),
        (1, "note://schema.json", ['"properties": {', '"title": {}'], ['{"type":"object",']),
        (2, "note://logo.png", ["image png 640×480 48.2 kB", "/srv/s/logo.png"], []),
    ],
    ids=["markdown", "json", "image"],
)
async def test_a_resource_is_shown_by_its_type(down, uri, shown, hidden):
    async with opened(core()) as d:
        await open_resources(d)
        await d.press(*["j"] * down, "v", after=1)
        await d.until(lambda: d.core.sent(p.ReadResource))
        assert d.core.sent(p.ReadResource) == [p.ReadResource("notes", uri)]
        assert "reading…" in screen_text(d.app)
        await d.put(p.ResourceRead("notes", uri))
        await d.until(lambda: shown[0] in screen_text(d.app))
        text = screen_text(d.app)
        assert all(part in text for part in shown) and not any(part in text for part in hidden)


async def test_a_resource_that_cannot_be_read_says_why():
    async with opened(core()) as d:
        await open_resources(d)
        await d.press("v", after=1)
        await d.put(p.ResourceRead(*GUIDE, problem="notes says: no such note."))
        await d.until(lambda: "no such note" in screen_text(d.app))
        assert d.core.sent(p.Attach) == []


async def test_an_answer_that_comes_before_the_view_is_drawn_is_shown():
    async with opened(core()) as d:
        view = ViewerScreen(d.app.main.offers, *GUIDE)
        view.got(p.ResourceRead(*GUIDE))
        d.app.push_screen(view)
        await d.until(lambda: "one thought" in screen_text(d.app))


async def test_the_keys_of_the_view():
    async with opened(core()) as d:
        await open_resources(d)
        await d.press("v", after=1)
        await d.put(p.ResourceRead(*GUIDE))
        await d.until(lambda: "one thought" in screen_text(d.app))
        await d.press("c", "r", "w", "enter", after=1)
        assert "Write **short** notes." in d.app.clipboard
        assert len(d.core.sent(p.ReadResource)) == 2
        assert d.core.sent(p.WatchResource) == [p.WatchResource(*GUIDE, True)]
        assert d.core.sent(p.Attach) == [p.Attach(*GUIDE)]
        await d.press("escape", "escape", after=1)
        await d.until(lambda: d.app.screen is d.app.main)


async def test_a_watched_resource_is_watched_no_more_on_the_same_key():
    async with opened(core()) as d:
        await open_resources(d)
        await d.press("j", "w", after=1)
        await d.until(lambda: d.core.sent(p.WatchResource))
        assert d.core.sent(p.WatchResource) == [p.WatchResource("notes", "note://schema.json", False)]


async def test_what_a_server_cannot_tell_of_is_not_watched():
    made = core()
    made.resource_rows = (p.ResourceRow("plain", "a://b", "Guide"),)
    async with opened(made) as d:
        await open_resources(d)
        await d.press("w", after=1)
        assert d.core.sent(p.WatchResource) == []


async def test_each_change_of_a_watched_resource_is_told_and_a_burst_in_one_line(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("hel_tui.tui.reducing.time", SimpleNamespace(monotonic=clock, time=clock))
    updated = p.ResourceUpdated(*GUIDE)
    async with opened(core()) as d:
        await d.put(updated)
        await d.until(lambda: "changed on the server: note://guide.md" in screen_text(d.app))
        await d.put(updated, updated)
        await d.until(lambda: "changed 3 times on the server: note://guide.md" in screen_text(d.app))
        assert len(d.app.bridge.state.items) == 1
        clock.now += UPDATES_TOGETHER
        await d.put(updated, p.ResourceUpdated("notes", "note://schema.json"))
        await d.until(lambda: "changed on the server: note://schema.json" in screen_text(d.app))
        assert screen_text(d.app).count("changed on the server: note://guide.md") == 1
        assert len(d.app.bridge.state.items) == 3


async def test_a_change_after_the_conversation_was_emptied_is_told_anew():
    async with opened(core(p.ResourceUpdated(*GUIDE), p.Cleared("s2"))) as d:
        await d.put(p.ResourceUpdated(*GUIDE))
        await d.until(lambda: "changed on the server: note://guide.md" in screen_text(d.app))


async def test_a_changed_resource_is_marked_until_it_is_looked_at():
    async with opened(core()) as d:
        await d.put(p.ResourceUpdated(*GUIDE))
        await open_resources(d)
        assert "changed" in screen_text(d.app, d.app.screen.list)
        await d.put(p.ResourceRead(*GUIDE))
        await d.until(lambda: "changed" not in screen_text(d.app, d.app.screen.list))
        await d.put(p.ResourceUpdated(*GUIDE))
        await d.until(lambda: "changed" in screen_text(d.app, d.app.screen.list))
        assert len(d.app.bridge.state.items) == 2


async def test_the_list_is_filtered_and_esc_clears_before_it_closes():
    async with opened(core()) as d:
        await open_resources(d)
        await d.press("slash", after=1)
        await d.type("schema")
        await d.press("enter", after=1)
        text = screen_text(d.app, d.app.screen.list)
        assert "Schema" in text and "Guide" not in text
        await d.press("escape", after=1)
        assert "Guide" in screen_text(d.app, d.app.screen.list)
        await d.press("escape", after=1)
        await d.until(lambda: d.app.screen is d.app.main)


async def test_a_template_asks_for_its_variables_with_suggestions_of_the_server():
    async with opened(core()) as d:
        await open_resources(d)
        await d.press("G", "v", after=1)
        await d.until(lambda: "Fill in Part of a note" in screen_text(d.app))
        await d.type("gu")
        await d.until(lambda: d.core.sent(p.CompleteArgument))
        await d.until(lambda: d.core.sent(p.CompleteArgument)[-1].value == "gu")
        asked = d.core.sent(p.CompleteArgument)[-1]
        assert (asked.kind, asked.server, asked.name, asked.argument) == (
            "template",
            "notes",
            "note://{name}/{part}",
            "name",
        )
        await d.put(p.Completed(asked.request, ("guide", "guests"), 2))
        await d.until(lambda: "guests" in screen_text(d.app))
        await d.press("down", "enter", after=1)
        await d.press("tab", after=1)
        await d.type("1 2")
        await d.until(lambda: d.core.sent(p.CompleteArgument)[-1].argument == "part")
        assert d.core.sent(p.CompleteArgument)[-1].given == (("name", "guide"),)
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.ReadResource))
        assert d.core.sent(p.ReadResource) == [p.ReadResource("notes", "note://guide/1%202")]


async def test_without_servers_that_have_resources_nothing_is_asked():
    made = FakeCore()
    made.put(p.ServerChanged("x", "ready", offers=("tools",)))
    async with opened(made) as d:
        await d.press("f5", after=1)
        await d.until(lambda: "No server that is ready offers resources" in screen_text(d.app))
        assert d.core.commands == []


# ----------------------------------------------------------------- attachments


async def test_attachments_stand_above_the_prompt_and_a_key_takes_out_the_last():
    two = (attachment(), attachment(uri="note://b", name="Other"))
    async with opened(core()) as d:
        await d.put(p.AttachmentsChanged(two))
        await d.until(lambda: "notes: Guide 2.1 kB ~540t" in screen_text(d.app))
        await d.press("alt+d", after=1)
        await d.until(lambda: d.core.sent(p.Detach))
        assert d.core.sent(p.Detach) == [p.Detach("notes", "note://b")]
        await d.put(p.AttachmentsChanged(()))
        await d.until(lambda: "Guide" not in screen_text(d.app))


async def test_the_chip_of_a_large_resource_says_that_only_a_part_goes_along():
    async with opened(core()) as d:
        await d.put(p.AttachmentsChanged((replace(attachment(), size=4_200_000, in_part=True),)))
        await d.until(lambda: "notes: Guide 4.2 MB, only a part goes along ~540t" in screen_text(d.app))


async def test_a_template_says_which_variables_it_needs_and_waits_for_them():
    made = core()
    made.resource_rows = (
        p.ResourceRow("notes", "log://{host}{?day}", "Log", "", "", 0, True, ("host", "day")),
    )
    async with opened(made) as d:
        await d.press("f5", after=1)
        await d.put(p.ResourcesChanged(1))
        await d.until(lambda: "template" in screen_text(d.app))
        await d.press("enter", after=1)
        await d.until(lambda: "host  needed" in screen_text(d.app))
        assert "day  optional" in screen_text(d.app)
        await d.press("ctrl+s", after=1)
        await d.until(lambda: "This is needed." in screen_text(d.app))
        await d.type("a")
        await d.press("ctrl+s", after=1)
        await d.until(lambda: d.core.sent(p.Attach))
        assert d.core.sent(p.Attach) == [p.Attach("notes", "log://a")]


async def test_a_click_on_a_chip_takes_it_out():
    async with opened(core()) as d:
        await d.put(p.AttachmentsChanged((attachment(), attachment(uri="note://b", name="Other"))))
        await d.until(lambda: d.app.main.attachments.is_attached and "Guide" in screen_text(d.app))
        await d.pilot.click(d.app.main.attachments, offset=(5, 0))
        await d.until(lambda: d.core.sent(p.Detach))
        assert d.core.sent(p.Detach) == [p.Detach(*GUIDE)]


async def test_many_attachments_fit_the_smallest_terminal():
    many = tuple(attachment(uri=f"note://{n}", name=f"Note number {n}") for n in range(50))
    async with opened(core(), size=(80, 24)) as d:
        await d.put(p.AttachmentsChanged(many))
        await d.until(lambda: "+49" in screen_text(d.app) or "+48" in screen_text(d.app))


async def test_what_was_attached_stands_below_the_message():
    async with opened(core()) as d:
        await d.put(p.TurnStarted(1, "look at it", ("notes:note://guide.md",)))
        await d.until(lambda: "▤ notes:note://guide.md" in screen_text(d.app))


# -------------------------------------------------------------------- mentions


async def test_an_at_sign_reads_the_lists_once_and_completes_resources():
    async with opened(core()) as d:
        await d.type("compare @")
        assert d.core.sent(p.ListResources) == [p.ListResources("notes"), p.ListResources("plain")]
        await d.put(p.ResourcesChanged(1))
        await d.until(lambda: "@notes:note://schema.json" in screen_text(d.app))
        await d.type("gui")
        await d.press("enter", after=1)
        assert d.app.main.prompt.text == "compare @notes:note://guide.md "
        await d.until(lambda: d.core.sent(p.Attach))
        assert d.core.sent(p.Attach) == [p.Attach(*GUIDE)]
        await d.type("please")
        await d.press("enter", after=1)
        assert d.core.sent(p.Submit) == [p.Submit("compare @notes:note://guide.md please")]
        assert len(d.core.sent(p.ListResources)) == 2


async def test_a_mention_in_the_middle_of_a_text_leaves_the_rest_alone():
    async with opened(core(p.ResourcesChanged(1))) as d:
        await d.type("first\n".replace("\n", "") + "  last")
        await d.press(*["left"] * 5, after=0.3)
        await d.type("@logo")
        await d.press("tab", after=1)
        assert d.app.main.prompt.text == "first @notes:note://logo.png  last"


async def test_an_address_with_an_at_sign_is_no_mention():
    async with opened(core(p.ResourcesChanged(1))) as d:
        await d.type("write to ana@note")
        assert not d.app.main.completion.is_open and d.core.sent(p.ListResources) == []


async def test_a_server_that_came_back_is_listed_again():
    async with opened(core()) as d:
        await d.type("@")
        await d.put(p.ServerChanged("notes", "restarting", offers=NOTES.offers), NOTES)
        await d.put(p.ServerChanged("notes", "failed", offers=()))
        await d.put(NOTES)
        await d.type("n")
        assert [one.server for one in d.core.sent(p.ListResources)] == ["notes", "plain", "notes"]


# --------------------------------------------------------------------- prompts


async def test_a_prompt_is_a_slash_command_whose_form_asks_for_what_it_needs():
    async with opened(core()) as d:
        await d.type("/summ")
        assert "/mcp__notes__summary note [style]" in screen_text(d.app)
        await d.press("enter", after=1)
        await d.until(lambda: "Name of the note." in screen_text(d.app))
        assert "needed" in screen_text(d.app) and "optional" in screen_text(d.app)
        await d.press("ctrl+s", after=1)
        await d.until(lambda: "This is needed." in screen_text(d.app))
        assert d.core.sent(p.UsePrompt) == []
        await d.type("guide")
        await d.press("enter", "enter", after=1)
        await d.until(lambda: d.core.sent(p.UsePrompt))
        assert d.core.sent(p.UsePrompt) == [p.UsePrompt("notes", "summary", (("note", "guide"),))]
        await d.until(lambda: d.app.screen is d.app.main)


async def test_arguments_in_the_line_skip_the_form_when_nothing_needed_is_missing():
    async with opened(core()) as d:
        await d.type('/mcp__notes__summary note="my guide" style=short')
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.UsePrompt))
        sent = p.UsePrompt("notes", "summary", (("note", "my guide"), ("style", "short")))
        assert d.core.sent(p.UsePrompt) == [sent]


async def test_what_was_given_in_the_line_stands_in_the_form():
    async with opened(core()) as d:
        await d.type("/mcp__notes__summary style=short")
        await d.press("enter", after=1)
        await d.until(lambda: "Name of the note." in screen_text(d.app))
        assert "short" in screen_text(d.app)


async def test_a_prompt_without_arguments_is_sent_at_once():
    async with opened(core()) as d:
        await d.type("/mcp__notes__weekly")
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.UsePrompt))
        assert d.core.sent(p.UsePrompt) == [p.UsePrompt("notes", "weekly")]


async def test_esc_leaves_the_field_and_then_the_form_and_sends_nothing():
    async with opened(core()) as d:
        await d.type("/mcp__notes__summary")
        await d.press("enter", after=1)
        await d.until(lambda: d.app.screen is not d.app.main)
        await d.until(lambda: not d.app.screen.completion.is_open)
        await d.press("escape", "escape", after=1)
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.UsePrompt) == []


async def test_arguments_that_were_filled_in_are_thrown_away_only_when_asked_for_twice():
    async with opened(core()) as d:
        await d.type("/mcp__notes__summary")
        await d.press("enter", after=1)
        await d.until(lambda: isinstance(d.app.screen, ArgumentsDialog) and d.app.screen.focused)
        await d.type("guide")
        await d.until(lambda: not d.app.screen.completion.is_open)
        await d.press("escape", "escape", after=1)
        await d.until(lambda: "Esc again throws away" in screen_text(d.app))
        await d.press("escape", after=1)
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.UsePrompt) == []


async def test_a_late_suggestion_for_another_field_is_dropped():
    async with opened(core()) as d:
        await d.type("/mcp__notes__summary")
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.CompleteArgument))
        first = d.core.sent(p.CompleteArgument)[0]
        await d.press("tab", after=1)
        await d.put(p.Completed(first.request, ("late",), 1))
        await d.pilot.pause(0.1)
        assert "late" not in screen_text(d.app)


async def test_the_prompts_sheet_uses_the_marked_one():
    async with opened(core()) as d:
        await d.press("f7", after=1)
        await d.until(lambda: "Summary of a note" in screen_text(d.app))
        await d.press("j", "enter", after=1)
        await d.until(lambda: d.core.sent(p.UsePrompt))
        assert d.core.sent(p.UsePrompt) == [p.UsePrompt("notes", "weekly")]


async def test_a_prompt_with_arguments_that_was_picked_in_the_sheet_is_sent():
    async with opened(core()) as d:
        await d.press("f7", after=1)
        await d.until(lambda: "Summary of a note" in screen_text(d.app))
        await d.press("enter", after=1)
        await d.until(lambda: "Name of the note." in screen_text(d.app))
        await d.until(lambda: isinstance(d.app.screen, ArgumentsDialog) and d.app.screen.focused)
        await d.type("guide")
        await d.press("ctrl+s", after=1)
        await d.until(lambda: d.core.sent(p.UsePrompt))
        assert d.core.sent(p.UsePrompt) == [p.UsePrompt("notes", "summary", (("note", "guide"),))]
        await d.until(lambda: d.app.screen is d.app.main)


async def test_a_prompt_can_be_looked_at_before_it_is_used():
    async with opened(core()) as d:
        await d.press("f7", after=1)
        await d.until(lambda: "Summary of a note" in screen_text(d.app))
        await d.press("v", after=1)
        await d.until(lambda: "How it should sound." in screen_text(d.app))
        text = screen_text(d.app)
        assert "/mcp__notes__summary" in text and "Summarises one note" in text
        assert "note  needed" in text and "style  optional" in text
        await d.press("escape", "j", "v", after=1)
        await d.until(lambda: "It takes no arguments." in screen_text(d.app))
        assert d.core.sent(p.UsePrompt) == []


@pytest.mark.parametrize(
    "line", ["/mcp__notes__summary colour=red", "/mcp__notes__summary x", '/mcp__notes__summary note="a']
)
async def test_arguments_that_cannot_be_read_come_back_with_a_sentence(line):
    async with opened(core()) as d:
        await d.type(line)
        await d.press("enter", after=1)
        assert d.app.main.prompt.text == line
        assert d.core.commands == []


# --------------------------------------------------------------- servers, words


async def test_the_key_of_a_server_that_needs_a_login_starts_it():
    async with opened(core(p.ServerChanged("jira", "needs login", transport="http"))) as d:
        assert "needs login (a)" in screen_text(d.app)
        await d.press("tab", "tab", "a", after=1)
        await d.until(lambda: d.core.sent(p.Login))
        assert d.core.sent(p.Login) == [p.Login("jira")]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/login notes", p.Login("notes")),
        ("/logout notes", p.Logout("notes")),
        ("/loglevel notes debug", p.SetLogLevel("notes", "debug")),
        ("/roots add ../lib", p.ChangeRoots(add=("../lib",))),
        ("/roots remove ../my lib", p.ChangeRoots(remove=("../my lib",))),
    ],
)
async def test_lines_about_servers_are_commands(line, command):
    async with opened(core()) as d:
        d.app.main.prompt.write(line)
        await d.press("escape", "enter", after=1)
        await d.until(lambda: d.core.commands)
        assert d.core.commands == [command]


@pytest.mark.parametrize(
    "line", ["/login nobody", "/loglevel notes loud", "/loglevel debug", "/roots away x"]
)
async def test_lines_about_servers_that_are_wrong_come_back(line):
    async with opened(core()) as d:
        d.app.main.prompt.write(line)
        await d.press("escape", "enter", after=1)
        await d.until(lambda: d.app.main.prompt.text == line)
        assert d.core.commands == []


OWN = tuple(p.ServerChanged(name, "ready", transport="http") for name in ("own", "ownold"))


@pytest.mark.parametrize("name", ["own", "ownold"])
async def test_enter_leaves_a_whole_name_alone_though_a_longer_one_begins_with_it(name):
    async with opened(core(*OWN)) as d:
        await d.type(f"/logout {name}")
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.Logout))
        assert d.core.commands == [p.Logout(name)]


async def test_enter_after_a_whole_name_goes_on_where_another_word_must_follow():
    async with opened(core(*OWN)) as d:
        await d.type("/loglevel own")
        await d.press("enter", after=1)
        await d.until(lambda: d.app.main.prompt.text == "/loglevel own ")
        await d.until(lambda: "emergency" in screen_text(d.app))
        await d.type("debug")
        await d.press("enter", after=1)
        await d.until(lambda: d.core.sent(p.SetLogLevel))
        assert d.core.commands == [p.SetLogLevel("own", "debug")]


async def test_the_palette_finds_prompts_and_resources():
    async with opened(core(p.ResourcesChanged(1))) as d:
        await d.press("ctrl+p", after=1)
        await d.until(lambda: d.app.screen is not d.app.main)
        await d.type("mcp__notes__weekly")
        await d.until(lambda: "What happened this week." in screen_text(d.app))
        await d.press("down", "enter", after=1)
        await d.until(lambda: d.core.sent(p.UsePrompt))
