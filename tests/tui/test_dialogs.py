"""Decisions on a real screen: what they show, which keys answer, and what never does."""

from __future__ import annotations

import json
import time

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.gate import DEAF, PAUSE, SETTLE
from tests.tui import scenes
from tests.tui.driving import opened
from tests.tui.screen_text import screen_text


def approval(arguments: str = '{"a": 1}', **more: object) -> p.ApprovalQuestion:
    return p.ApprovalQuestion("q9", "c9", "srv", "tool", arguments, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "decision"),
    [("y", "once"), ("s", "session"), ("p", "project"), ("n", "deny"), ("N", "stop"), ("escape", "deny")],
)
async def test_each_key_gives_its_answer(key, decision):
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await d.decide(key)
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.ApprovalAnswer(decision)]
        await d.until(lambda: not d.has_dialog)


async def test_ctrl_c_in_a_dialog_denies_and_does_not_quit():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await d.press("ctrl+c")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.ApprovalAnswer("deny")]
        assert not d.core.sent(p.Shutdown)


async def test_enter_does_the_marked_choice_which_is_to_deny():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await d.decide("enter")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.ApprovalAnswer("deny")]


async def test_keys_in_the_deaf_time_are_dropped():
    async with opened() as d:
        d.clock.now += PAUSE
        await d.put(p.Asked(scenes.APPROVAL))
        await d.until(lambda: d.has_dialog and d.dialog.gate.deaf_until != float("inf"))
        await d.press("y", "n", "escape", "enter", after=DEAF / 8)
        d.clock.now += SETTLE * 2
        await d.pilot.pause(0.1)
        assert d.core.answers() == []
        assert d.has_dialog


@pytest.mark.parametrize("moment", [1, 4, 7, 10])
async def test_typed_ahead_text_never_approves_and_is_kept(moment):
    text = "yes always"
    async with opened() as d:
        await d.type(text[:moment])
        await d.put(p.Asked(scenes.APPROVAL))
        await d.type(text[moment:])
        await d.pilot.pause(0.1)
        assert not d.has_dialog
        assert d.app.main.prompt.text == text
        d.clock.now += PAUSE + 0.01
        await d.until(lambda: d.has_dialog)
        await d.type("yes always\n")
        d.clock.now += SETTLE * 2
        await d.pilot.pause(0.1)
        assert d.core.answers() == []
        assert d.app.main.prompt.text == text


async def test_keys_pressed_while_the_screen_was_stuck_are_judged_by_their_own_time():
    async with opened() as d:
        d.clock.now += PAUSE
        await d.put(p.Asked(scenes.APPROVAL))
        await d.until(lambda: d.has_dialog and d.dialog.gate.deaf_until != float("inf"))
        late, d.clock.now = d.clock.now + 5, d.clock.now - 0.5
        await d.press("y", "enter", after=0.1)
        d.clock.now = late
        await d.pilot.pause(0.1)
        assert d.core.answers() == []


async def test_pasted_text_answers_nothing():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await d.press("y", "enter", after=0.002)
        d.clock.now += SETTLE * 2
        await d.pilot.pause(0.1)
        assert d.core.answers() == []
        assert d.has_dialog


async def test_a_bar_announces_the_decision_while_somebody_types_and_f3_opens_it():
    async with opened() as d:
        await d.type("half a sent")
        await d.put(p.Asked(scenes.APPROVAL))
        await d.until(lambda: d.app.main.waits.display)
        assert "approval waits: inventory · lookup_port" in screen_text(d.app)
        assert not d.has_dialog
        await d.press("f3")
        await d.until(lambda: d.has_dialog)


async def test_one_dialog_at_a_time_in_order():
    async with opened() as d:
        d.clock.now += PAUSE + 0.01
        await d.put(p.Asked(scenes.APPROVAL), p.Asked(scenes.EDIT))
        await d.until(lambda: d.has_dialog)
        assert "1 more after this" in screen_text(d.app)
        await d.listening()
        await d.decide("y")
        await d.until(lambda: len(d.core.answers()) == 1)
        d.clock.now += PAUSE
        await d.until(lambda: d.has_dialog and d.dialog.question.id == "q2")
        assert not d.dialog.gate.hears(d.clock.now)


async def test_the_answer_to_one_dialog_does_not_fall_into_the_next():
    async with opened() as d:
        d.clock.now += PAUSE + 0.01
        await d.put(p.Asked(scenes.APPROVAL), p.Asked(scenes.EDIT))
        await d.until(lambda: d.has_dialog)
        await d.listening()
        await d.press("escape")
        await d.press("y", "y", after=0.02)
        d.clock.now += PAUSE + SETTLE
        await d.until(lambda: d.has_dialog and d.dialog.question.id == "q2")
        assert d.core.answers() == [p.ApprovalAnswer("deny")]


async def test_a_question_that_became_moot_is_taken_down():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await d.put(p.QuestionClosed("q1"))
        await d.until(lambda: not d.has_dialog)
        assert d.core.answers() == []


async def test_allowing_needs_the_end_to_have_been_seen():
    long = json.dumps({f"key{n}": n for n in range(200)}, indent=2)
    async with opened() as d:
        await d.ask(approval(long, session_rule="x"))
        assert "scroll to the end" in screen_text(d.app)
        await d.decide("y")
        assert d.core.answers() == []
        await d.press("end", after=1)
        await d.until(lambda: not d.dialog.bar.locked)
        assert "key199" in screen_text(d.app)
        await d.decide("y")
        await d.until(lambda: d.core.answers())


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\u202e", "⟨U+202E⟩"),
        ("\x1b[2K\r", "⟨U+001B⟩"),
        ("\U000e0020", "⟨U+E0020⟩"),
        ("\u00a0", "⟨U+00A0⟩"),
        ("\u3000", "⟨U+3000⟩"),
        ("\u200b", "⟨U+200B⟩"),
        (" " * 500, "⟨500 spaces⟩"),
        ("\\n" * 200, "danger"),
        ("x" * 5000, "danger"),
    ],
)
async def test_nothing_hides_behind_what_is_not_drawn(hidden, shown):
    async with opened(size=(80, 24)) as d:
        await d.ask(approval('{"cmd": "ls' + hidden + 'danger"}'))
        await d.press("end", after=1)
        await d.until(lambda: d.dialog.pane.end_seen)
        text = screen_text(d.app)
        assert shown in text and "danger" in text.replace("\n", "").replace("│", "").replace(" ", "")


async def test_every_character_of_long_arguments_can_be_reached():
    letters = "".join(chr(ord("a") + n % 26) for n in range(3000))
    async with opened(size=(80, 24)) as d:
        await d.ask(approval(letters))
        await d.until(lambda: d.dialog.pane._rows)
        seen: list[str] = []
        pane = d.dialog.pane
        for row in range(len(pane._rows)):
            text = "".join(part for part, _ in pane.line_at(row))
            strip = pane.paint(pane.line_at(row), pane.columns)
            assert strip.text.rstrip() == text.rstrip()
            seen.append(text.removeprefix("│ "))
        assert letters in "".join(seen)


async def test_the_size_is_stated():
    async with opened() as d:
        await d.ask(approval("{\n" + "x" * 5008 + "\n}"))
        assert "5\u202f012 characters, 3 lines" in screen_text(d.app)


@pytest.mark.parametrize("nothing", ["", "{}"])
async def test_no_arguments_are_stated_plainly(nothing):
    async with opened() as d:
        await d.ask(approval(nothing))
        assert "No arguments." in screen_text(d.app)


async def test_a_comment_goes_with_the_answer_and_its_letters_decide_nothing():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await d.press("tab", after=1)
        await d.until(lambda: d.dialog.focused is not None)
        await d.press(*"yes n", after=0.3)
        assert d.core.answers() == []
        await d.press("enter", after=0.3)
        d.clock.now += DEAF
        await d.decide("n")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.ApprovalAnswer("deny", "yes n")]


async def test_edited_arguments_are_checked_and_sent():
    async with opened() as d:
        await d.ask(approval('{"a": 1}'))
        await d.press("e", after=1)
        await d.until(lambda: d.dialog.focused is d.dialog.arguments)
        d.dialog.arguments.text = '{"a": 2'
        await d.press("ctrl+s", after=0.5)
        assert "Not JSON" in screen_text(d.app)
        d.dialog.arguments.text = '{"a": 2}'
        await d.press("ctrl+s", after=0.5)
        assert "Arguments, edited by you" in screen_text(d.app)
        d.clock.now += DEAF
        await d.decide("y")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.ApprovalAnswer("once", "", '{"a": 2}')]


async def test_a_choice_without_a_rule_is_not_offered():
    async with opened() as d:
        await d.ask(approval())
        assert "session" not in screen_text(d.app)
        await d.decide("s")
        assert d.core.answers() == []


async def test_full_screen_and_back():
    async with opened() as d:
        await d.ask(scenes.EDIT)
        await d.press("f", after=1)
        assert d.dialog.query_one(".dialog").size.width > 110
        await d.press("f", after=1)
        assert d.dialog.query_one(".dialog").size.width <= 110


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("y", p.TrustAnswer("remember", frozenset({"inventory", "setup"}))),
        ("r", p.TrustAnswer("remember", frozenset({"inventory", "setup"}))),
        ("o", p.TrustAnswer("once", frozenset({"inventory", "setup"}))),
        ("n", p.TrustAnswer("refuse")),
        ("escape", p.TrustAnswer("refuse")),
        ("enter", p.TrustAnswer("refuse")),
    ],
)
async def test_trust_keys(key, answer):
    async with opened() as d:
        await d.ask(scenes.TRUST)
        await d.decide(key)
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [answer]


async def test_an_unchecked_server_is_not_trusted():
    async with opened() as d:
        await d.ask(scenes.TRUST)
        await d.press("tab", after=1)
        await d.press(" ", after=1)
        assert "[ ] setup" in screen_text(d.app)
        await d.decide("y")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.TrustAnswer("remember", frozenset({"inventory"}))]


async def test_trusting_nothing_is_no_answer():
    async with opened() as d:
        await d.ask(scenes.TRUST)
        await d.press(" ", "tab", " ", after=1)
        await d.decide("y")
        assert d.core.answers() == []


@pytest.mark.parametrize(("key", "go_on"), [("y", True), ("n", False), ("escape", False)])
async def test_going_on(key, go_on):
    async with opened() as d:
        await d.ask(p.ContinueQuestion("k1", 50))
        assert "50 steps" in screen_text(d.app)
        await d.decide(key)
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.ContinueAnswer(go_on)]


@pytest.mark.parametrize(("key", "end"), [("y", True), ("n", False), ("escape", False)])
async def test_ending_what_an_earlier_run_left(key, end):
    async with opened() as d:
        await d.ask(p.LeftoversQuestion("l1", ("old, pid 77: python server.py",)))
        assert "old, pid 77: python server.py" in screen_text(d.app)
        await d.decide(key)
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.LeftoversAnswer(end)]


async def test_the_palette_does_not_open_over_a_dialog():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await d.press("ctrl+p", after=1)
        assert d.has_dialog


async def test_a_click_on_a_choice_decides_and_does_not_in_the_deaf_time():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        d.dialog.gate.deaf_until = time.monotonic() + 1e6
        await d.pilot.click(d.dialog.bar, offset=(4, 0))
        await d.pilot.pause(0.1)
        assert d.core.answers() == []
        d.dialog.gate.deaf_until = 0.0
        await d.pilot.click(d.dialog.bar, offset=(4, 0))
        d.clock.now = time.monotonic() + SETTLE
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.ApprovalAnswer("deny")]


async def test_what_changed_about_a_tool_is_shown_before_it_is_approved():
    async with opened() as d:
        await d.ask(
            approval(warnings=("The tool is not what was approved.",), redefined="-Looks up.\n+Sends.")
        )
        shown = screen_text(d.app)
        for part in ("not what was approved", "compared with what was approved", "+Sends.", "-Looks up."):
            assert part in shown


async def test_after_an_edit_nothing_speaks_of_the_old_arguments_and_no_rule_is_offered():
    question = approval(
        diff="--- a\n+++ a\n-old line\n+new line",
        changed='-"a": 0\n+"a": 1',
        session_rule="mcp__srv__tool",
        project_rule="mcp__srv__tool",
    )
    async with opened() as d:
        await d.ask(question)
        assert "mcp__srv__tool" in screen_text(d.app)
        await d.press("e", after=1)
        await d.until(lambda: d.dialog.focused is d.dialog.arguments)
        d.dialog.arguments.text = '{"a": 2}'
        await d.press("ctrl+s", after=0.5)
        shown = screen_text(d.app)
        assert "Edited: the change will be shown on its card." in shown
        assert "s and p are not offered for edited arguments." in shown
        for stale in ("old line", "compared with the last call", "mcp__srv__tool", "s session", "p project"):
            assert stale not in shown
        d.clock.now += DEAF
        await d.decide("s")
        await d.decide("p")
        assert d.core.answers() == []
        await d.press("e", after=1)
        await d.until(lambda: d.dialog.focused is d.dialog.arguments)
        d.dialog.arguments.text = '{"a": 1}'
        await d.press("ctrl+s", after=0.5)
        assert "s session" in screen_text(d.app)
        assert "mcp__srv__tool" in screen_text(d.app)


async def test_the_sign_of_enter_stands_at_a_choice_only_while_no_field_has_the_focus():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        assert "↵ n deny" in screen_text(d.app)
        await d.press("tab", after=1)
        await d.until(lambda: d.dialog.focused is not None)
        await d.pilot.pause()
        assert "↵" not in screen_text(d.app)
        await d.press(*"why", after=0.3)
        assert "comment for the model" in screen_text(d.app)
        await d.press("enter", after=0.3)
        await d.until(lambda: d.dialog.focused is None)
        await d.pilot.pause()
        assert "↵ n deny" in screen_text(d.app)


async def test_the_trust_dialog_marks_one_thing_only():
    async with opened(size=(120, 60)) as d:
        await d.ask(scenes.TRUST)
        assert screen_text(d.app).count("›") == 1
