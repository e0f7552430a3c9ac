"""A task's card opens its conversation: live while it runs, and afterwards what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.screens.task import TaskScreen
from hel_tui.tui.screens.text import TextScreen
from tests.fixtures.models.endpoint import ScriptedModel, call, mode, say
from tests.rig import options, sample
from tests.tui import scenes
from tests.tui.driving import Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.live import living
from tests.tui.screen_text import screen_text
from tests.tui.snapshots import same_as_kept

SIZES = [(80, 24), (120, 40), (200, 60)]
PROMPT = "Which port is in config.ini? Answer with the line."
DID: list[p.Event] = [
    p.TurnStarted(2, PROMPT),
    p.StepStarted(2, 1),
    p.ReasoningDelta(2, "t1", "The file is small: read it."),
    p.TextDone(2, "t1"),
    p.CallStarted(2, "t/1", "", "read_file", "config.ini"),
    p.CallChanged("t/1", "running"),
    p.CallChanged("t/1", "ok", 0.004, "port=7000", 1),
    p.StepStarted(2, 2),
    p.CallStarted(2, "t/2", "inventory", "lookup_port", "service=api"),
    p.CallChanged("t/2", "waiting"),
]
ENDS: list[p.Event] = [
    p.CallChanged("t/2", "ok", 0.011, "api: 8437", 1),
    p.StepStarted(2, 3),
    p.TextDelta(2, "t2", "`port=7000`, **line 1**; the api listens on 8437."),
    p.TextDone(2, "t2"),
    p.TurnEnded(2, "done"),
]
CARD: tuple[p.Event, ...] = (
    p.TurnStarted(2, "look where the port is"),
    p.CallStarted(2, "t", "", "task", f"{PROMPT} (full)"),
)
OVER = p.CallChanged("t", "ok", 3.4, "port=7000, line 1", 1)
KEPT = p.CallDetail("t", "", "task", f'{{"prompt": "{PROMPT}", "tools": "full"}}', "port=**7000**", "ok")


def core(*events: p.Event) -> FakeCore:
    made = FakeCore()
    made.put(*scenes.BEGIN, *CARD, *events)
    return made


async def open_task(d: Driver) -> TaskScreen:
    d.app.main.set_focus(d.app.main.conversation)
    await d.until(lambda: d.app.main.conversation.transcript.marked >= 0)
    await d.press("enter")
    await d.until(lambda: isinstance(d.app.screen, TaskScreen))
    return d.app.screen


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_conversation_of_a_task(size, lang, monkeypatch):
    monkeypatch.setenv("HEL_LANG", lang)
    made = core(OVER)
    made.tasks["t"] = [*DID, *ENDS]
    async with opened(made, size=size) as d:
        await open_task(d)
        await d.until(lambda: "8437." in screen_text(d.app))
        same_as_kept(f"task-{lang}-{size[0]}x{size[1]}", screen_text(d.app))


async def test_what_a_task_does_is_seen_as_it_does_it():
    made = core(p.CallChanged("t", "running"))
    made.tasks["t"] = DID[:2]
    async with opened(made) as d:
        await open_task(d)
        await d.until(lambda: "step 1" in screen_text(d.app))
        made.tasks["t"] = DID
        await d.until(lambda: "waits for you" in screen_text(d.app) and "step 2" in screen_text(d.app))
        made.tasks["t"] = [*DID, *ENDS]
        await d.until(lambda: "port=7000, line 1; the api" in screen_text(d.app))
        await d.put(OVER)
        await d.until(lambda: "3.4 s" in screen_text(d.app))
        await d.press("escape")
        await d.until(lambda: d.app.screen is d.app.main)
        assert d.core.sent(p.Interrupt) == []


async def test_a_task_that_has_not_begun_is_followed_once_it_does():
    made = core()
    made.details["t"] = p.CallDetail("t", "", "task", KEPT.arguments, "", "queued")
    async with opened(made) as d:
        await open_task(d)
        await d.until(lambda: PROMPT in screen_text(d.app))
        made.tasks["t"] = DID
        await d.until(lambda: "inventory · lookup_port" in screen_text(d.app))


async def test_after_a_resume_there_is_what_it_was_to_do_and_its_answer():
    made = core(OVER)
    made.details["t"] = KEPT
    async with opened(made) as d:
        await open_task(d)
        await d.until(lambda: "not kept any more" in screen_text(d.app))
        text = screen_text(d.app)
        assert f"▌ {PROMPT}" in text and "port=7000" in text


async def test_its_cards_open_and_are_copied_and_searched():
    made = core(OVER)
    made.tasks["t"] = [*DID, *ENDS]
    made.details["t/2"] = p.CallDetail(
        "t/2", "inventory", "lookup_port", '{"service": "api"}', "api: 8437", "ok"
    )
    async with opened(made) as d:
        screen = await open_task(d)
        await d.until(lambda: screen.conversation.transcript.marked >= 0)
        await d.press("enter")
        await d.until(lambda: "arguments" in screen_text(d.app))
        await d.press("c")
        await d.until(lambda: "api: 8437" in d.app.clipboard)
        await d.press("slash")
        await d.until(lambda: screen.finder.has_focus)
        await d.type("quiet")  # none of its letters is a key now
        await d.press("escape")
        await d.until(lambda: screen.conversation.has_focus)
        await d.press("f1")
        await d.until(lambda: isinstance(d.app.screen, TextScreen))
        assert "Conversation of a task" in screen_text(d.app)


async def test_a_decision_that_waits_is_announced_and_opens_over_it():
    made = core(p.CallChanged("t", "running"))
    made.tasks["t"] = DID
    async with opened(made) as d:
        await open_task(d)
        await d.put(p.Asked(scenes.APPROVAL))
        await d.until(lambda: "F3" in screen_text(d.app))
        await d.press("f3")
        await d.until(lambda: d.has_dialog)


# ------------------------------------------------------------------------ on core


async def test_a_task_that_never_ran_says_so():
    made = core(p.CallChanged("t", "refused", preview="refused: no"))
    made.details["t"] = replace(KEPT, result="refused: no", state="refused")
    async with opened(made) as d:
        await open_task(d)
        await d.until(lambda: "It never ran." in screen_text(d.app))
        text = screen_text(d.app)
        assert "refused: no" in text and "not kept" not in text


def replies(main, sub):
    left = {False: list(main), True: list(sub)}
    return lambda body: left["# Your task" in str(body["messages"][0]["content"])].pop(0)


async def test_a_task_of_the_real_core_is_watched_while_it_runs_and_read_after_a_resume(tmp_path: Path):
    project = sample(tmp_path)
    work = call("task", {"prompt": PROMPT})
    answer = replies([work, say("done")], [call("read_file", {"path": "config.ini"}), mode("hang-mid-text")])
    with ScriptedModel([answer] * 4) as model:
        async with living(options(project, tmp_path, model.url, mcp=False)) as live:
            await live.submit("look")
            await live.until(lambda: any(getattr(i, "is_task", False) for i in live.app.bridge.state.items))
            live.app.main.set_focus(live.app.main.conversation)
            await live.until(lambda: live.app.main.conversation.transcript.marked >= 0)
            await live.press("enter", after=0.5)
            await live.sees(PROMPT, "read_file", "step 2")
            assert live.app.bridge.state.busy
            await live.press("escape", after=0.5)
            await live.press("escape", after=0.5)  # of the main screen: it ends the task
            await live.until(lambda: not live.app.bridge.state.busy, "the end of the turn")
            session = live.app.bridge.state.session_id
        given = options(project, tmp_path, model.url, mcp=False, resume=session)
        async with living(given) as live:
            await live.until(lambda: any(getattr(i, "is_task", False) for i in live.app.bridge.state.items))
            live.app.main.set_focus(live.app.main.conversation)
            await live.until(lambda: live.app.main.conversation.transcript.marked >= 0)
            await live.press("enter", after=0.5)
            await live.sees("task", PROMPT, "not kept any more", "cancelled")
