"""The sheet of sessions: the list, searching while typing, a look inside, going on, forks, names, deletion."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.screens.picker import SheetKeys
from hel_tui.tui.screens.sessions import screen as sheet
from hel_tui.tui.screens.sessions import texts
from hel_tui.tui.screens.sessions.screen import SessionsScreen
from hel_tui.tui.screens.sessions.turns import TurnsScreen
from hel_tui.tui.screens.text import KeysScreen, TextScreen
from hel_tui.tui.strings import t
from tests.tui import scenes
from tests.tui.driving import Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text
from tests.tui.snapshots import same_as_kept

SIZES = [(80, 24), (120, 40), (200, 60)]
NOW = 1_800_000_000.0
HOUR = 3_600.0
HERE = "/srv/code/notes-app"
"""The project of the scene."""


def row(session_id: str, title: str, hours: float, **more) -> p.SessionRow:
    given = {"turns": 3, "size": 12_400, "model": "deepseek/deepseek-chat", "cost": 0.04, **more}
    updated = NOW - hours * HOUR
    return p.SessionRow(
        session_id,
        title,
        more.pop("project", HERE),
        0.0,
        updated,
        **{key: value for key, value in given.items() if key != "project"},
    )


PORTS = row("20270101-090000-aaaaaaaa", "which port does the api have?", 2, turns=14, size=1_240_000)
ROWS = (
    row("s1", "put the port in config.ini", 0.01, is_open=True, turns=1, cost=None),
    PORTS,
    row("20270101-080000-bbbbbbbb", "rename the config keys", 30, is_open=True, parent=PORTS.session_id),
    row("20261224-070000-cccccccc", "설정 파일의 포트를 찾아 줘", 200, damaged=2),
    row("20260401-060000-dddddddd", "", 9_000, turns=1, cost=None, model=""),
)
OTHER = row("20270101-070000-eeeeeeee", "of another folder", 3, project="/srv/code/other app")
HIT = p.SessionHit(
    PORTS.session_id, PORTS.title, 12, "…config says port 8437 for the api…", ((18, 22),), NOW, turns=3
)
GLANCE = p.SessionGlance(
    PORTS.session_id,
    0,
    (
        p.Said(13, "person", "which port does the api have?"),
        p.Said(13, "call", "inventory.lookup_port service=api"),
        p.Said(13, "model", "The api service listens on port 8437, and config.ini says so too."),
        p.Said(14, "person", "thanks"),
        p.Said(14, "note", "Interrupted. What arrived so far is kept."),
    ),
    ((12, "is it in config.ini?"), (13, "which port does the api have?"), (14, "thanks")),
)


@pytest.fixture(autouse=True)
def stand_still(monkeypatch):
    monkeypatch.setattr(sheet, "now", lambda: NOW)


class Core(FakeCore):
    """Answers lists at once, with what it has."""

    def send(self, command: p.Command) -> None:
        super().send(command)
        if isinstance(command, p.ListSessions) and command.rows:
            self.put(p.SessionsListed(command.text, len(self.session_rows), 0, everywhere=command.everywhere))


def core(*rows: p.SessionRow) -> Core:
    made = Core(**vars(scenes.busy_core()))
    made.session_rows = rows or ROWS
    return made


def idle(*rows: p.SessionRow) -> Core:
    """One in which no turn runs."""
    made = Core()
    made.put(*scenes.BEGIN)
    made.session_rows = rows or ROWS
    return made


async def open_sheet(d: Driver) -> SessionsScreen:
    await d.press("ctrl+s")
    await d.until(lambda: isinstance(d.app.screen, SessionsScreen))
    screen = d.app.screen
    await d.until(lambda: screen.found.sessions is not None)
    return screen


async def looked(d: Driver, glance: p.SessionGlance = GLANCE) -> None:
    """The core has looked into the marked session."""
    asked = p.LookAtSession(glance.session_id, glance.turn)
    await d.until(lambda: asked in d.core.commands)
    d.core.glance = glance
    await d.put(p.SessionLookedAt(glance.session_id, glance.turn))


async def search(d: Driver, text: str) -> None:
    await d.press("slash")
    await d.until(lambda: d.app.screen.finder.has_focus)
    await d.type(text)


def toasts(d: Driver) -> str:
    return "\n".join(one.message for one in d.app._notifications)


def keys(screen: SessionsScreen) -> list[str]:
    return [one.key for one in screen.list.rows if one.live]


# ------------------------------------------------------------------------ frames


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_sheet_of_sessions(size):
    async with opened(core(), size=size) as d:
        await open_sheet(d)
        await d.press("j")
        await looked(d)
        await d.pilot.pause(0.05)
        same_as_kept(f"sessions-{size[0]}x{size[1]}", screen_text(d.app))


async def test_the_sheet_in_korean(monkeypatch):
    monkeypatch.setenv("HEL_LANG", "ko")
    async with opened(core(), size=(80, 24)) as d:
        await open_sheet(d)
        await d.press("j")
        await looked(d)
        await d.pilot.pause(0.05)
        same_as_kept("sessions-ko-80x24", screen_text(d.app))


async def test_a_search_shows_the_turns_below_their_session():
    async with opened(core(), size=(80, 24)) as d:
        screen = await open_sheet(d)
        await search(d, "8437")
        await found(d, "8437", HIT, replace(HIT, turn=9, excerpt="the 8437 again", marks=((4, 8),)))
        await d.until(lambda: len(keys(screen)) == 3)
        await d.until(lambda: "1 session found · 3 turns" in screen_text(d.app))
        same_as_kept("sessions-found-80x24", screen_text(d.app))


async def found(d: Driver, text: str, *hits: p.SessionHit) -> None:
    """The core has searched."""
    await d.until(lambda: p.ListSessions(text, rows=False) in d.core.commands)
    d.core.found_hits = hits
    await d.put(p.SessionsListed(text, len(ROWS), len(hits), rows=False))


# --------------------------------------------------------------------- searching


async def test_titles_are_searched_at_once_and_turns_a_moment_after_the_last_key():
    async with opened(core()) as d:
        screen = await open_sheet(d)
        await search(d, "config keys")
        assert keys(screen) == ["20270101-080000-bbbbbbbb"]
        await d.until(lambda: p.ListSessions("config keys", rows=False) in d.core.commands)
        searched = [one.text for one in d.core.sent(p.ListSessions) if not one.rows]
        assert len(searched) < len("config keys")


async def test_what_is_typed_right_behind_the_key_that_opens_a_line_is_not_lost():
    async with opened(core()) as d:
        screen = await open_sheet(d)
        await d.press("slash", *"rename the ", *"drfx")
        await d.until(lambda: screen.finder.value == "rename the drfx")
        assert d.core.sent(p.ExportSession) == d.core.sent(p.ForkSession) == []
        assert d.app.screen is screen


async def test_an_answer_to_an_older_search_is_dropped():
    async with opened(core()) as d:
        screen = await open_sheet(d)
        await search(d, "8437")
        d.core.found_hits = (HIT,)
        await d.put(p.SessionsListed("84", 5, 1, rows=False))
        assert screen.found.hits == {} and screen.found.searching
        await d.put(p.SessionsListed("8437", 5, 1, everywhere=True, rows=False))
        assert screen.found.hits == {}
        await found(d, "8437", HIT)
        assert keys(screen) == [PORTS.session_id, f"{PORTS.session_id} 12"]
        assert "in 2 more turns" in screen_text(d.app)


async def test_nothing_found_is_said_only_when_all_was_searched():
    async with opened(core()) as d:
        await open_sheet(d)
        await search(d, "nowhere")
        assert "searching" in screen_text(d.app) and "Nothing has that" not in screen_text(d.app)
        await found(d, "nowhere")
        await d.until(lambda: "Nothing has that" in screen_text(d.app))


async def test_while_older_sessions_are_read_the_newest_are_shown_already():
    async with opened(core()) as d:
        screen = await open_sheet(d)
        d.core.session_rows = ROWS[:2]
        await d.put(p.SessionsListed("", 2, 0, behind=3))
        assert len(keys(screen)) == 2 and "3 more are being read" in screen_text(d.app)
        d.core.session_rows = ROWS
        await d.put(p.SessionsListed("", 5, 0))
        assert len(keys(screen)) == 5 and "being read" not in screen_text(d.app)


async def test_of_thousands_of_sessions_only_those_on_the_screen_are_drawn(monkeypatch):
    drawn = []
    line_of = SessionsScreen.line
    monkeypatch.setattr(
        SessionsScreen, "line", lambda self, key, width: (drawn.append(key), line_of(self, key, width))[1]
    )
    many = [row(f"20260101-000000-{n:08x}", f"session {n}", n) for n in range(5_000)]
    async with opened(core(*many)) as d:
        screen = await open_sheet(d)
        await search(d, "session 49")
        await d.until(lambda: len(keys(screen)) == sum("49" in str(n) for n in range(5_000)))
        assert 0 < len(drawn) < 1_500


# ---------------------------------------------------------------------- going on


async def test_enter_goes_on_with_the_session():
    async with opened(idle()) as d:
        await open_sheet(d)
        await d.press("j", "enter")
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.ResumeSession) == [p.ResumeSession(PORTS.session_id)]
        await d.put(
            p.Cleared(PORTS.session_id, restoring=True), p.SessionRestored(PORTS.session_id, "t", 1, 1)
        )
        await d.until(lambda: "Open again: t" in toasts(d))


async def test_a_turn_that_runs_is_ended_only_when_the_person_says_so():
    async with opened(core()) as d:
        await d.put(p.TurnStarted(2, "more"), p.Queued(("and this",)))
        await open_sheet(d)
        await d.press("j", "enter")
        await d.until(lambda: d.has_dialog)
        await d.listening()
        assert "What waits comes back to the prompt" in screen_text(d.app)
        await d.press("escape")
        await d.until(lambda: isinstance(d.app.screen, SessionsScreen))
        assert d.core.sent(p.ResumeSession) == []
        await d.press("enter")
        await d.until(lambda: d.has_dialog)
        await d.listening()
        await d.decide("y")
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.ResumeSession) == [p.ResumeSession(PORTS.session_id)]


@pytest.mark.parametrize("way", ["ctrl+n", "/clear", "/new"])
@pytest.mark.parametrize(
    ("state", "told"),
    [
        ([p.TurnStarted(2, "more")], "Going to another session ends it"),
        ([p.Queued(("and this",), held=1)], "Something is not sent yet"),
    ],
)
async def test_a_new_session_ends_what_runs_only_when_the_person_says_so(way: str, state, told: str):
    async def begin_anew(d) -> None:
        if way.startswith("/"):
            d.app.main.prompt.write(way)
            await d.press("enter")
        else:
            await d.press(way)

    async with opened(idle()) as d:
        await d.put(*state)
        await begin_anew(d)
        await d.until(lambda: d.has_dialog)
        await d.listening()
        assert told in screen_text(d.app)
        await d.decide("n")
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.NewSession) == []
        d.app.main.prompt.write("")
        await begin_anew(d)
        await d.until(lambda: d.has_dialog)
        await d.listening()
        await d.decide("y")
        await d.until(lambda: d.core.sent(p.NewSession) == [p.NewSession()])
        await d.put(p.Cleared("new"), p.Queued(()), p.Unqueued("and this"))
        await d.until(lambda: d.app.main.prompt.text == "and this")


async def test_a_found_turn_is_shown_when_its_session_is_open():
    async with opened(idle()) as d:
        await open_sheet(d)
        await search(d, "8437")
        await found(d, "8437", HIT)
        await d.press("enter")
        await d.until(lambda: not d.app.screen.finder.has_focus)
        await d.press("j", "enter")
        await d.until(lambda: d.core.sent(p.ResumeSession))
        turns = [
            event
            for number in range(1, 40)
            for event in (p.TurnStarted(number, f"message {number}"), p.TurnEnded(number, "done"))
        ]
        restored = p.SessionRestored(PORTS.session_id, "t", 39, 1)
        await d.put(p.Cleared(PORTS.session_id, restoring=True), *turns, restored)
        await d.until(lambda: "message 12" in screen_text(d.app))


async def test_the_session_that_is_open_is_not_opened_again():
    async with opened(idle()) as d:
        await open_sheet(d)
        assert "open here" in screen_text(d.app)
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.ResumeSession) == []


async def test_a_session_of_another_project_is_told_how_to_open():
    async with opened(idle(OTHER, *ROWS)) as d:
        await open_sheet(d)
        await d.press("a")
        await d.until(lambda: p.ListSessions(everywhere=True) in d.core.commands)
        await d.press("enter", "f", "t")
        command = "hel '/srv/code/other app' -r 20270101-070000-eeeeeeee"
        await d.until(lambda: toasts(d).count(command) == 3)
        assert d.core.sent(p.ResumeSession) == d.core.sent(p.ForkSession) == []


async def test_a_fork_ends_with_the_session_or_with_the_turn_that_is_chosen():
    async with opened(idle()) as d:
        await open_sheet(d)
        await d.press("j", "f")
        await d.until(lambda: d.core.sent(p.ForkSession) == [p.ForkSession(PORTS.session_id)])
        await open_sheet(d)
        await d.press("j")
        await looked(d)
        await d.press("t")
        await d.until(lambda: isinstance(d.app.screen, TurnsScreen))
        assert "is it in config.ini?" in screen_text(d.app)
        await d.press("j")
        await d.until(lambda: p.LookAtSession(PORTS.session_id, 13) in d.core.commands)
        await d.press("enter")
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.ForkSession)[-1] == p.ForkSession(PORTS.session_id, 13)


# ---------------------------------------------------------- names, files, the end


async def test_a_title_is_given_in_place():
    async with opened(idle()) as d:
        screen = await open_sheet(d)
        await d.press("j", "r")
        await d.until(lambda: screen.title_field.has_focus)
        assert screen.title_field.value == PORTS.title
        await d.press("escape")
        await d.until(lambda: screen.list.has_focus)
        assert d.core.sent(p.RenameSession) == []
        await d.press("r")
        await d.until(lambda: screen.title_field.has_focus)
        await d.type("Ports")
        await d.press("enter")
        assert d.core.sent(p.RenameSession) == [p.RenameSession("Ports", PORTS.session_id)]
        d.core.session_rows = tuple(replace(one, title="Ports") if one == PORTS else one for one in ROWS)
        await d.put(p.SessionDone("renamed", PORTS.session_id, "Session has another title."))
        await d.until(lambda: "   Ports" in screen_text(d.app) and "another title" in toasts(d))


async def ask_to_delete(d: Driver) -> None:
    await d.press("d")
    await d.until(lambda: d.has_dialog)
    await d.listening()


@pytest.mark.parametrize("refusal", ["n", "escape", "enter", "ctrl+c"])
async def test_deleting_asks_first_and_every_no_keeps_the_session(refusal):
    async with opened(idle()) as d:
        await open_sheet(d)
        await d.press("j")
        await ask_to_delete(d)
        assert "which port does the api have?" in screen_text(d.app)
        await d.decide(refusal)
        await d.until(lambda: isinstance(d.app.screen, SessionsScreen))
        await d.decide("y")
        assert d.core.sent(p.DeleteSession) == []
        await ask_to_delete(d)
        await d.decide("y")
        await d.until(lambda: d.core.sent(p.DeleteSession) == [p.DeleteSession(PORTS.session_id)])
        assert isinstance(d.app.screen, SessionsScreen)


async def test_what_is_typed_into_the_question_deletes_nothing():
    async with opened(idle()) as d:
        await open_sheet(d)
        await d.press("j", *"day by day")  # `d` asks, and the rest falls into the question
        await d.until(lambda: d.has_dialog)
        await d.listening()
        await d.press(*"ya yes", after=0.05)
        d.clock.now += 1
        await d.pilot.pause(0.1)
        assert d.has_dialog and d.core.sent(p.DeleteSession) == []


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_question_before_a_session_is_deleted(size, lang, monkeypatch):
    monkeypatch.setenv("HEL_LANG", lang)
    async with opened(idle(), size=size) as d:
        await open_sheet(d)
        await d.press("j")
        await ask_to_delete(d)
        await d.until(lambda: not d.dialog.bar.locked)
        await d.pilot.pause(0.05)
        same_as_kept(f"session-delete-{lang}-{size[0]}x{size[1]}", screen_text(d.app))


@pytest.mark.parametrize("down", [0, 2], ids=["here", "elsewhere"])
async def test_a_session_that_is_open_is_not_deleted(down):
    async with opened(idle()) as d:
        await open_sheet(d)
        await d.press(*["j"] * down, "d", "y")
        await d.until(lambda: "cannot be deleted" in toasts(d))
        assert d.core.sent(p.DeleteSession) == []


async def test_an_export_says_where_it_is_or_why_it_is_not():
    async with opened(idle()) as d:
        await open_sheet(d)
        await d.press("j", "x", "X")
        assert d.core.sent(p.ExportSession) == [
            p.ExportSession("", "markdown", PORTS.session_id),
            p.ExportSession("", "json", PORTS.session_id),
        ]
        await d.put(p.SessionDone("exported", PORTS.session_id, "The session is in /srv/x.md."))
        await d.until(lambda: "is in /srv/x.md" in toasts(d))
        await d.put(p.SessionDone("exported", PORTS.session_id, "/srv/x.md is there already", done=False))
        await d.until(lambda: "is there already" in toasts(d))


async def test_the_command_that_opens_it_is_copied():
    async with opened(idle()) as d:
        await open_sheet(d)
        await d.press("j", "y")
        assert d.app.clipboard == f"hel {HERE} -r {PORTS.session_id}"


# --------------------------------------------------------------------- commands


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/resume 20270101-0900", p.ResumeSession("20270101-0900")),
        ("/resume last", p.ResumeSession("last")),
        ("/fork", p.ForkSession()),
        ("/fork 2", p.ForkSession(turn=2)),
        ("/rename A better name", p.RenameSession("A better name")),
        ("/export", p.ExportSession()),
        ("/export json", p.ExportSession(form="json")),
        ("/export md notes/a b.md", p.ExportSession("notes/a b.md")),
        ("/export out.json", p.ExportSession("out.json", "json")),
    ],
)
async def test_commands_without_the_sheet(line, command):
    async with opened(idle()) as d:
        await d.type(line)
        await d.press("enter", after=1)
        await d.until(lambda: command in d.core.commands)


@pytest.mark.parametrize("line", ["/sessions config keys", "/resume config keys"])
async def test_words_search_the_sheet(line):
    async with opened(idle()) as d:
        await d.type(line)
        await d.press("enter", after=1)
        await d.until(lambda: isinstance(d.app.screen, SessionsScreen))
        await d.until(lambda: keys(d.app.screen) == ["20270101-080000-bbbbbbbb"])


async def test_a_turn_that_is_no_number_is_given_back():
    async with opened(idle()) as d:
        await d.type("/fork two")
        await d.press("enter", after=1)
        await d.until(lambda: d.app.main.prompt.text == "/fork two")
        assert d.core.sent(p.ForkSession) == []


# ------------------------------------------------------------------------ foreign


async def test_foreign_words_cannot_write_to_the_terminal():
    evil = "\x1b]0;owned\x07[red]\u202eevil\nsecond"
    bad = replace(PORTS, title=evil, model=evil, project=HERE, parent=evil)
    glance = replace(GLANCE, said=(p.Said(1, "person", evil), p.Said(1, "call", evil)))
    async with opened(core(bad)) as d:
        await open_sheet(d)
        await looked(d, glance)
        await search(d, "evil")
        await found(d, "evil", replace(HIT, excerpt=evil, marks=((15, 19),)))
        await d.until(lambda: "turn 12" in screen_text(d.app))
        text = screen_text(d.app)
        assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_marks_stay_at_their_places_when_what_is_before_them_is_made_safe():
    hit = replace(HIT, excerpt="\x1b[2J a 8437 b", marks=((7, 11),))
    assert [text for text, style in texts.marked(hit) if style == "key"] == ["8437"]


@pytest.mark.parametrize(
    ("hours", "text"),
    [(0, "just now"), (0.5, "30 min"), (5, "5 h"), (24, "1 day"), (70, "2 days"), (-3, "just now")],
)
def test_ages_are_short(hours, text):
    assert texts.age(NOW - hours * HOUR, NOW) == text


def test_as_much_of_a_glance_is_shown_as_fits():
    lines = texts.fitting(GLANCE.said, 40, 3, newest=True)
    assert len(lines) == 3 and "thanks" in str(lines[0]) and "Interrupted" in str(lines[1])
    long = (p.Said(1, "model", "word " * 200),)
    assert len(texts.fitting(long, 40, 3, newest=False)) == 3


async def test_what_a_session_ends_with_is_read_in_full_on_a_sheet_of_its_own():
    async with opened(idle(), size=(80, 24)) as d:
        await open_sheet(d)
        await d.press("j")
        await looked(d)
        await d.press("space")
        await d.until(lambda: isinstance(d.app.screen, TextScreen))
        text = screen_text(d.app)
        assert "turn 13" in text and "turn 14" in text and "Interrupted" in text
        await d.press("f1")
        await d.until(lambda: isinstance(d.app.screen, KeysScreen))
        assert "go on" in screen_text(d.app) and "PgDn" in screen_text(d.app)
        await d.press("f1")
        await d.until(lambda: not isinstance(d.app.screen, KeysScreen))
        await d.press("escape")
        await d.until(lambda: isinstance(d.app.screen, SessionsScreen))
        await d.press("space")
        await d.until(lambda: isinstance(d.app.screen, TextScreen))
        await d.press("enter")
        await d.until(lambda: d.core.sent(p.ResumeSession) == [p.ResumeSession(PORTS.session_id)])


@pytest.mark.parametrize("lang", ["en", "ko"])
async def test_all_keys_of_the_sheet_are_named_in_a_small_terminal_and_its_own_come_first(lang, monkeypatch):
    monkeypatch.setenv("HEL_LANG", lang)
    async with opened(idle(), size=(80, 24)) as d:
        await open_sheet(d)
        foot = screen_text(d.app)
        for action, word in SessionsScreen.foot:
            assert f"{keymap.label(action)} {t(word)}" in foot
        await d.press("f1")
        await d.until(lambda: isinstance(d.app.screen, KeysScreen))
        first = d.app.screen.lines_shown[0][0][0]
        assert first == t("where.sessions")


async def test_a_sheet_that_is_opened_anew_looks_anew():
    async with opened(idle()) as d:
        for _ in range(2):
            await open_sheet(d)
            d.core.commands.clear()
            await d.press("j")
            await looked(d)
            await d.press("escape")
            await d.until(lambda: d.app.screen is d.app.main)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_foot_says_how_the_sheet_is_closed(size):
    async with opened(core(), size=size) as d:
        screen = await open_sheet(d)
        keys = "\n".join("".join(text for text, _ in line) for line in screen.query_one(SheetKeys).lines())
        assert f"Esc {t('short.picker.close')}" in keys and "F1 " in keys


async def test_a_key_that_opens_a_sheet_works_over_a_text_and_closes_it():
    async with opened(core()) as d:
        d.app.main.commands.typed.run("/cost")
        await d.until(lambda: isinstance(d.app.screen, TextScreen))
        await open_sheet(d)
        assert not any(isinstance(one, TextScreen) for one in d.app.screen_stack)
        await d.press("f1", after=0.5)
        await d.until(lambda: isinstance(d.app.screen, KeysScreen))
        await d.press("ctrl+s", after=0.5)  # of a sheet over a sheet: it stays
        assert isinstance(d.app.screen, KeysScreen)
