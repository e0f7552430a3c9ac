"""How a turn ends: limits, refusals, faults of the endpoint; each with a sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.agent.calls import BROKEN
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, fail, mode, say
from tests.rig import Driver

LOOK = call("read_file", {"path": "config.ini"})

Open = Callable[..., Driver]


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        ("cut-text", "length", "output limit"),
        ("cut-arguments", "length", "output limit"),
        ("filtered", "filter", "content filter"),
        ("refusal", "refusal", "refused"),
        ("ok-text", "done", ""),
    ],
)
def test_each_finish_reason_has_its_own_sentence(
    play: Open, model: ScriptedModel, name: str, reason: str, words: str
) -> None:
    with play(mode(name), say("hello"), servers={}) as driver:
        end = driver.ask("go")
        assert end.reason == reason
        assert words in end.message
        assert bool(end.message) == bool(words)
        assert driver.ask("hi").reason == "done"


def test_a_cut_off_call_is_not_executed_and_said(play: Open) -> None:
    with play(mode("cut-arguments"), servers={}) as driver:
        driver.ask("go")
        assert not driver.of(p.CallStarted)
        assert any("cut off and not executed" in notice.text for notice in driver.of(p.Notice))


def test_going_on_at_the_step_limit_gives_as_many_steps_again(play: Open, model: ScriptedModel) -> None:
    with play(*[LOOK] * 5, say("done"), servers={}, max_steps=2) as driver:
        driver.send(p.Submit("look"))
        for steps in (2, 4):
            question = driver.answer(p.ContinueQuestion, p.ContinueAnswer(True))
            assert question.steps == steps
            assert len(driver.of(p.StepStarted)) >= steps
        assert driver.turn_end(0).reason == "done"
    assert len(model.requests) == 6


@pytest.mark.parametrize("answer", [p.ContinueAnswer(False), p.NotAnswered("nobody")])
def test_not_going_on_ends_with_the_limit(play: Open, model: ScriptedModel, answer: p.Answer) -> None:
    with play(LOOK, LOOK, say("hello"), servers={}, max_steps=2) as driver:
        driver.send(p.Submit("look"))
        driver.answer(p.ContinueQuestion, answer)
        end = driver.turn_end(0)
        assert end.reason == "limit"
        assert "2 steps" in end.message
        assert driver.ask("hi").reason == "done"


def test_a_rate_limit_is_waited_out_in_sight(play: Open, model: ScriptedModel) -> None:
    with play(fail(429, "Slow down", headers={"Retry-After": "0"}), say("hello"), servers={}) as driver:
        assert driver.ask("go").reason == "done"
        retry = driver.of(p.Retrying)[0]
        assert (retry.attempt, retry.delay > 0) == (1, True)
        assert "Slow down" in retry.why
    assert len(model.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_not_tried_again(play: Open, model: ScriptedModel, status: int) -> None:
    with play(fail(status, "That will not do."), say("hello"), servers={}) as driver:
        end = driver.ask("go")
        assert end.reason == "failed"
        assert "That will not do" in end.message
        assert not driver.of(p.Retrying)
        assert driver.ask("hi").reason == "done"
    assert len(model.requests) == 2


def test_a_full_context_says_so_and_what_to_do(play: Open, model: ScriptedModel) -> None:
    with play(mode("context-length"), servers={}) as driver:
        end = driver.ask("go")
        assert end.reason == "failed"
        assert "context" in end.message
    assert len(model.requests) == 1


def test_a_broken_answer_keeps_what_arrived(play: Open, model: ScriptedModel) -> None:
    with play(mode("disconnect-mid-stream"), say("hello"), servers={}) as driver:
        end = driver.ask("go")
        assert end.reason == "failed"
        assert "broke off" in end.message
        driver.ask("hi")
    assert "Half an ans" in str(model.requests[1]["messages"])


def test_an_endpoint_that_is_not_there_is_one_sentence(play: Open, model: ScriptedModel) -> None:
    gone = "http://127.0.0.1:9/v1"
    with play(servers={}, base_url=gone) as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: driver.of(p.Retrying), "a retry")
        assert "nothing listens" in driver.of(p.Retrying)[0].why
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"


def test_an_empty_answer_is_said_to_be_empty(play: Open) -> None:
    with play(say(""), servers={}) as driver:
        end = driver.ask("go")
        assert "nothing" in end.message


@pytest.mark.parametrize("name", ["flood", "one-huge-chunk"])
def test_a_flood_is_taken_whole(play: Open, name: str) -> None:
    with play(mode(name), servers={}) as driver:
        assert driver.ask("go").reason == "done"
        assert sum(len(event.text) for event in driver.of(p.TextDelta)) > 10_000


def test_a_call_written_as_text_is_not_made_and_the_model_is_asked_once_to_make_it(
    play: Open, model: ScriptedModel
) -> None:
    with play(mode("text-tool-call"), mode("text-tool-call"), servers={}) as driver:
        assert driver.ask("go").reason == "done"
        assert not driver.of(p.CallStarted)
        notes = [notice.text for notice in driver.of(p.Notice)]
    assert notes.count("The model wrote a tool call as text; it was not executed.") == 2
    assert notes.count("The model was asked once to make its call of read_file properly.") == 1
    assert len(model.requests) == 2
    assert "call of read_file as text" in model.requests[1]["messages"][-1]["content"]


def test_a_model_that_then_makes_the_call_goes_on(play: Open, model: ScriptedModel) -> None:
    with play(mode("text-tool-call"), LOOK, say("done"), servers={}) as driver:
        assert driver.ask("go").reason == "done"
        assert len(driver.of(p.CallStarted)) == 1
    assert len(model.requests) == 3


def test_an_answer_about_calls_of_tools_that_are_not_there_is_left_alone(
    play: Open, model: ScriptedModel
) -> None:
    text = 'A call looks like this: <tool_call>{"name": "get_weather", "arguments": {}}</tool_call>'
    with play(say(text), servers={}) as driver:
        assert driver.ask("how do models call?").reason == "done"
    assert len(model.requests) == 1


def test_a_result_the_model_invented_is_pointed_out(play: Open) -> None:
    with play(mode("invented-result"), servers={}) as driver:
        driver.ask("go")
        notes = [notice.text for notice in driver.of(p.Notice)]
    assert "The model wrote a tool result itself; no tool gave it." in notes


def test_a_bug_beside_a_call_ends_the_turn_with_a_sentence_and_each_call_has_its_result(
    play: Open, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> str:
        raise ZeroDivisionError("by hel")

    monkeypatch.setattr("hel_tui.core.tools.edit.EditTool.preview", broken)
    three = calls(LOOK, call("write_file", {"path": "new", "content": "x"}), LOOK)
    with play(three, say("hello"), servers={}) as driver:
        end = driver.ask("go")
        assert end.reason == "failed" and "ZeroDivisionError: by hel" in end.message
        assert [one.state for one in driver.results()] == ["ok", "cancelled", "cancelled"]
        assert driver.ask("hi").reason == "done"
    said = [one["content"] for one in model.requests[1]["messages"] if one["role"] == "tool"]
    assert "port=7000" in said[0] and said[1:] == [BROKEN, BROKEN]
