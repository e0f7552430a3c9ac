"""Interrupting at every stage of a turn; the next request is always one that a strict provider takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import Json, ScriptedModel, call, calls, mode, say
from tests.rig import Driver, called, heard, results

ECHO = "mcp__fix__echo"
SLOW = "mcp__fix__slow"
LOAD = call("load_mcp_tool", {"names": [ECHO, SLOW]})
SERVERS = {"fix": "life:slow"}

Open = Callable[..., Driver]


def cancelled(folder: Path) -> list[dict[str, Any]]:
    return [note for note in heard(folder, "fix") if note.get("method") == "notifications/cancelled"]


def started(driver: Driver, kind: type[Any]) -> None:
    driver.wait(lambda events: any(isinstance(event, kind) for event in events), kind.__name__)


def running(driver: Driver, number: int) -> str:
    """Wait until the call of this number runs; returns its id."""

    def runs(events: Sequence[p.Event]) -> str:
        ids = [event.call_id for event in events if isinstance(event, p.CallStarted)]
        running = {
            event.call_id for event in events if isinstance(event, p.CallChanged) and event.state == "running"
        }
        return ids[number] if len(ids) > number and ids[number] in running else ""

    return str(driver.wait(runs, f"call {number} running"))


@pytest.mark.parametrize(
    ("stage", "sign", "kept"),
    [
        ("hang-before-headers", p.StepStarted, None),
        ("hang", p.StepStarted, None),
        ("hang-mid-reasoning", p.ReasoningDelta, ""),
        ("hang-mid-text", p.TextDelta, "Half an ans"),
    ],
)
def test_an_interrupt_while_the_model_answers_ends_the_turn_and_keeps_its_words(
    play: Open, model: ScriptedModel, stage: str, sign: type[Any], kept: str | None
) -> None:
    with play(mode(stage), say("hello"), servers={}) as driver:
        driver.send(p.Submit("first"))
        started(driver, sign)
        driver.wait(lambda _: model.requests, "the request")
        driver.send(p.Interrupt())
        end = driver.turn_end(0)
        assert (end.reason, end.give_back) == ("interrupted", kept is None)
        assert driver.ask("hi").reason == "done"
    messages = model.requests[1]["messages"][1:]
    answers = [message["content"] for message in messages if message["role"] == "assistant"]
    assert answers == ([kept] if kept else [])
    assert ("first" in messages[0]["content"]) == (
        kept is not None
    )  # what nobody answered is back in the prompt
    assert messages[-1]["content"].endswith("hi")


def test_an_interrupt_while_a_call_is_written_makes_no_call(play: Open, model: ScriptedModel) -> None:
    with play(mode("hang-mid-arguments"), say("hello"), servers={}) as driver:
        driver.send(p.Submit("first"))
        driver.wait(lambda _: model.requests, "the request")
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        assert driver.ask("hi").reason == "done"
        assert not driver.of(p.CallStarted)


@pytest.mark.parametrize(
    ("stage", "sign", "output"),
    [("hang-before-headers", p.StepStarted, 0), ("hang-mid-text", p.TextDelta, 3)],
)
def test_a_request_that_was_cut_off_is_counted_by_an_estimate(
    play: Open, model: ScriptedModel, stage: str, sign: type[Any], output: int
) -> None:
    with play(mode(stage), say("hello"), servers={}) as driver:
        driver.send(p.Submit("first"))
        started(driver, sign)
        driver.wait(lambda _: model.requests, "the request")
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        spending = driver.core.spending()
        assert spending is not None
        spent = spending.session
        assert (spent.requests, spent.uncounted, spent.output_tokens) == (1, 1, output)
        assert spent.input_tokens > 500  # the system prompt and the definitions of tools
        assert [(one.turn, one.spent) for one in spending.turns] == [(1, spent)]
        usage = driver.of(p.UsageChanged)[-1]
        assert (usage.requests, usage.uncounted, usage.input_tokens) == (1, 1, spent.input_tokens)
        driver.ask("hi")
        spending = driver.core.spending()
        assert spending is not None
        assert (spending.session.requests, spending.session.uncounted) == (2, 1)


def test_a_summary_that_was_cut_off_is_counted_by_an_estimate(play: Open, model: ScriptedModel) -> None:
    with play(say("one"), say("two"), mode("hang-mid-text"), servers={}) as driver:
        driver.ask("first")
        driver.ask("second")
        driver.send(p.Compact())
        driver.wait(lambda _: len(model.requests) == 3, "the request for a summary")
        driver.send(p.Interrupt())
        assert driver.turn_end(2).reason == "interrupted"
        spending = driver.core.spending()
        assert spending is not None
        summaries = spending.summaries
        assert (summaries.requests, summaries.uncounted) == (1, 1)
        assert summaries.input_tokens > 500
        assert driver.of(p.UsageChanged)[-1].requests == 3


def test_an_interrupt_between_tries_ends_the_wait(play: Open, model: ScriptedModel) -> None:
    limit: Json = {"status": 429, "error": {"message": "slow down"}, "headers": {"Retry-After": "50"}}
    with play(limit, say("hello"), servers={}) as driver:
        driver.send(p.Submit("first"))
        started(driver, p.Retrying)
        driver.send(p.Interrupt())
        assert (driver.turn_end(0).reason, driver.turn_end(0).give_back) == ("interrupted", True)
        spending = driver.core.spending()
        assert spending is not None and spending.session.requests == 0  # it was refused
        assert driver.ask("hi").reason == "done"
    assert len(model.requests) == 2


def test_an_interrupt_at_a_question_takes_it_back_and_runs_nothing(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    with play(LOAD, call(ECHO, {"text": "x"}), say("fine"), servers=SERVERS) as driver:
        driver.send(p.Submit("echo"))
        question = driver.question(p.ApprovalQuestion)
        driver.send(p.Interrupt())
        driver.wait(lambda events: p.QuestionClosed(question.id) in events, "the question to close")
        assert driver.turn_end(0).reason == "done"
        assert driver.results()[-1].state == "cancelled"
        driver.send(p.Reply(question.id, p.ApprovalAnswer("once")))
        model.replies.append(say("hello"))
        driver.ask("hi")
    assert not called(tmp_path, "fix")
    assert "not executed" in results(model.requests[2])[0]


def test_an_interrupt_cancels_the_running_call_and_its_server_hears_it(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    script = (LOAD, call(SLOW), call(ECHO, {"text": "still here"}), say("fine"), say("hello"))
    with play(*script, servers=SERVERS, access="auto") as driver:
        driver.send(p.Submit("slow"))
        running(driver, 1)
        driver.wait(lambda _: called(tmp_path, "fix"), "the server to have the call")
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "done"
        assert [r.state for r in driver.results()] == ["ok", "cancelled", "ok"]
        driver.ask("hi")
    assert len(cancelled(tmp_path)) == 1
    assert "cancelled by the person" in results(model.requests[2])[0]
    assert "still here" in results(model.requests[3])[0]


def test_an_interrupt_in_the_second_of_three_calls_leaves_the_others_their_results(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    three = calls(
        call(ECHO, {"text": "one"}, id="a"), call(SLOW, {}, id="b"), call(ECHO, {"text": "three"}, id="c")
    )
    with play(LOAD, three, say("fine"), say("hello"), servers=SERVERS, access="auto") as driver:
        driver.send(p.Submit("three"))
        running(driver, 2)
        driver.send(p.Interrupt())
        driver.turn_end(0)
        driver.ask("hi")
    said = [message for message in model.requests[2]["messages"] if message["role"] == "tool"][1:]
    assert [message["tool_call_id"] for message in said] == ["a", "b", "c"]
    one, two, three_said = results(model.requests[2])
    assert "one" in one and "cancelled" in two and "three" in three_said


def test_a_running_command_is_ended_with_what_it_started(play: Open, tmp_path: Path, project: Path) -> None:
    line = "touch begun; sleep 300; touch ended"
    with play(servers={}) as driver:
        driver.send(p.RunShell(line))
        driver.wait(lambda _: (project / "begun").exists(), "the command to begin")
        driver.send(p.Interrupt())
        driver.turn_end(0)
        assert driver.results()[-1].state == "cancelled"
    assert not (project / "ended").exists()


def test_a_second_interrupt_ends_the_turn_with_the_calls_that_wait(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    commands = [call("bash", {"command": f"touch begun{n}; sleep 30"}, id=f"c{n}") for n in range(4)]
    with play(calls(*commands), say("hello"), servers={}, access="auto") as driver:
        driver.send(p.Submit("wait"))
        for number in range(2):
            driver.wait(lambda _, n=number: (project / f"begun{n}").exists(), "a command to begin")
            driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        assert [one.state for one in driver.results()] == ["cancelled"] * 4
        assert driver.ask("hi").reason == "done"
    assert not (project / "begun2").exists()
    assert len([one for one in model.requests[-1]["messages"] if one["role"] == "tool"]) == 4


def test_an_interrupt_at_the_step_limit_ends_the_turn(play: Open, model: ScriptedModel) -> None:
    look = call("read_file", {"path": "config.ini"})
    with play(look, say("hello"), servers={}, max_steps=1) as driver:
        driver.send(p.Submit("look"))
        question = driver.question(p.ContinueQuestion)
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        assert p.QuestionClosed(question.id) in driver.events
        driver.ask("hi")


def test_an_interrupt_with_nothing_running_does_nothing(play: Open, model: ScriptedModel) -> None:
    with play(say("hello"), servers={}) as driver:
        driver.send(p.Interrupt())
        assert driver.ask("hi").reason == "done"
        driver.send(p.Interrupt())


def test_quitting_ends_the_calls_whose_turn_never_came(play: Open, tmp_path: Path) -> None:
    several = calls(call(SLOW, id="a"), call(ECHO, {"text": "x"}, id="b"), call(ECHO, {"text": "y"}, id="c"))
    with play(LOAD, several, servers=SERVERS, access="auto") as driver:
        driver.send(p.Submit("go"))
        running(driver, 1)
    ends = {one.call_id: one.state for one in driver.results()}
    assert {ends[name] for name in "abc"} == {"cancelled"}
    assert len(called(tmp_path, "fix")) == 1


def test_quitting_at_every_stage_answers_what_is_open_with_not_done(
    play: Open, tmp_path: Path, project: Path
) -> None:
    with play(LOAD, call(ECHO, {"text": "x"}), servers=SERVERS) as driver:
        driver.send(p.Submit("echo"))
        driver.question(p.ApprovalQuestion)
    assert isinstance(driver.events[-1], p.Stopped)
    assert not called(tmp_path, "fix")
    with play(LOAD, call(SLOW), servers=SERVERS, access="auto") as driver:
        driver.send(p.Submit("slow"))
        running(driver, 1)
    assert isinstance(driver.events[-1], p.Stopped)
    with play(mode("hang-mid-text"), servers={}) as driver:
        driver.send(p.Submit("talk"))
        started(driver, p.TextDelta)
    assert isinstance(driver.events[-1], p.Stopped)
