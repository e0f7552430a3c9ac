"""Going back to before a turn, as a person sees it and asks for it."""

from __future__ import annotations

import time

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui import strings
from hel_tui.tui.screens.going_back import ESCAPE_WITHIN
from hel_tui.tui.screens.rewind import RewindScreen
from hel_tui.tui.widgets.bars import StatusBar
from tests.tui import scenes
from tests.tui.driving import opened
from tests.tui.screen_text import screen_text
from tests.tui.snapshots import same_as_kept

SIZES = [(80, 24), (120, 40), (200, 60)]
FILES = (
    p.CheckpointRow(1, (p.CheckpointFile("config.ini", "changed"),), 1),
    p.CheckpointRow(
        3,
        (
            p.CheckpointFile("src/새 파일.py", "made"),
            p.CheckpointFile("old\x1b[2Jname", "removed"),
            *(p.CheckpointFile(f"src/{n}.py", "changed") for n in range(8)),
        ),
        64,
    ),
)
TURNS: tuple[p.Event, ...] = (
    *scenes.TURN,
    p.TurnEnded(1, "done"),
    p.TurnStarted(2, "why is it 7000?"),
    p.TurnEnded(2, "done"),
    p.TurnStarted(3, "포트를 전부 바꿔 줘\nand run the tests"),
    p.TurnEnded(3, "done"),
)
QUESTION = p.RestoreQuestion(
    "q9",
    3,
    (
        p.ChangedFile("src/app.py", "--- a/src/app.py\n+++ b/src/app.py\n@@ -1,2 +1,2 @@\n x\n-mine\n+old\n"),
        p.ChangedFile("logo.png", "file of 9,021 bytes, mode 644 → nothing\n"),
    ),
    more=2,
    others=5,
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
    core.changed_files = FILES
    return core


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_sheet_of_turns(size, language, monkeypatch):
    monkeypatch.setenv("HEL_LANG", language)
    async with opened(a_core(), size=size) as d:
        await d.put(*TURNS)
        d.app.main.action_rewind()
        await d.until(lambda: isinstance(d.app.screen, RewindScreen))
        await d.pilot.pause()
        same_as_kept(f"rewind-{language}-{tag(size)}", screen_text(d.app))
    strings.use("en")


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("enter", p.Rewind(2, conversation=True, files=True)),
        ("f", p.Rewind(2, conversation=False, files=True)),
        ("c", p.Rewind(2, conversation=True, files=False)),
    ],
)
async def test_each_key_goes_back_with_what_it_says(key, command):
    async with opened(a_core()) as d:
        await d.put(*TURNS)
        d.app.main.commands.typed.run("/rewind")
        await d.until(lambda: isinstance(d.app.screen, RewindScreen))
        await d.press("j", key)
        assert d.core.sent(p.Rewind) == [command]
        assert d.app.screen is d.app.main


async def test_what_was_said_comes_back_to_be_said_again():
    async with opened(a_core()) as d:
        await d.put(*TURNS)
        d.app.main.action_rewind()
        await d.until(lambda: isinstance(d.app.screen, RewindScreen))
        await d.press("enter")
        await d.put(p.Cleared("fork"), p.SessionRestored("fork", "", 2, 1, "s1"), p.Rewound(3, True))
        assert d.app.main.prompt.text == "포트를 전부 바꿔 줘\nand run the tests"


async def test_what_was_said_comes_back_before_what_is_written_already():
    async with opened(a_core()) as d:
        await d.put(*TURNS)
        await d.type("half a thought")
        d.app.main.action_rewind()
        await d.until(lambda: isinstance(d.app.screen, RewindScreen))
        await d.press("enter")
        await d.put(p.Cleared("fork"), p.SessionRestored("fork", "", 2, 1, "s1"), p.Rewound(3, True))
        assert d.app.main.prompt.text == "포트를 전부 바꿔 줘\nand run the tests\nhalf a thought"


async def test_escape_twice_on_an_empty_prompt_opens_the_sheet():
    async with opened(a_core()) as d:
        await d.put(*TURNS)
        d.app.main.set_focus(d.app.main.prompt)
        await d.press("escape")
        await d.press("escape", after=ESCAPE_WITHIN + 0.1)
        assert d.app.screen is d.app.main
        await d.press("escape", after=0.2)
        await d.until(lambda: isinstance(d.app.screen, RewindScreen))


async def test_what_joined_a_turn_is_no_turn_to_go_back_to():
    async with opened(a_core()) as d:
        await d.put(p.TurnStarted(1, "go"), p.Joined(1, "and that, too"), p.TurnEnded(1, "done"))
        d.app.main.action_rewind()
        await d.until(lambda: isinstance(d.app.screen, RewindScreen))
        assert d.app.screen.turns == {3: "", 1: "go"}


@pytest.mark.parametrize("keys", [("escape", "escape"), ("enter", "enter"), ("f", "c"), ("escape", "enter")])
async def test_two_keys_at_once_close_the_sheet_once_and_nothing_else(keys):
    async with opened(a_core()) as d:
        await d.put(*TURNS)
        d.app.main.action_rewind()
        await d.until(lambda: isinstance(d.app.screen, RewindScreen))
        await d.press(*keys)  # the second is on its way before the first closed the sheet
        await d.until(lambda: d.app.screen is d.app.main)
        await d.put(p.Notice("info", "later"))
        assert (
            d.app.screen is d.app.main
            and d.app.is_running
            and len(d.core.sent(p.Rewind)) == (keys[0] != "escape")
        )


async def test_escape_twice_in_a_text_leaves_it():
    async with opened(a_core()) as d:
        await d.put(*TURNS)
        await d.type("half a thought")
        await d.press("escape", "escape", after=0.1)
        assert d.app.screen is d.app.main
        assert d.app.main.prompt.text == "half a thought"


async def test_nothing_goes_back_while_a_turn_runs():
    async with opened(a_core()) as d:
        await d.put(*TURNS, p.TurnStarted(4, "go"))
        d.app.main.commands.typed.run("/undo")
        d.app.main.action_rewind()
        await d.until(lambda: isinstance(d.app.screen, RewindScreen))
        await d.press("enter")
        assert d.core.sent(p.Rewind) == []


async def test_undo_gives_the_files_of_the_last_turn_back():
    async with opened(a_core()) as d:
        await d.put(*TURNS)
        d.app.main.commands.typed.run("/undo")
        assert d.core.sent(p.Rewind) == [p.Rewind()]


@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_question_before_files_are_overwritten(size):
    async with opened(a_core(), size=size) as d:
        await d.ask(QUESTION)
        same_as_kept(f"restore-{tag(size)}", screen_text(d.app))


@pytest.mark.parametrize(("key", "decision"), [("y", "overwrite"), ("k", "keep"), ("n", "cancel")])
async def test_its_keys(key, decision):
    async with opened(a_core(), size=(120, 60)) as d:
        await d.ask(QUESTION)
        await d.press("end")
        await d.decide(key)
        assert d.core.sent(p.Reply) == [p.Reply("q9", p.RestoreAnswer(decision))]
