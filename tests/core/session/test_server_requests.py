"""What servers ask in a conversation: through the desk, the session's model, and headless."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.models.prices import Listed
from hel_tui.core.models.types import Prices, Rate
from tests.fixtures.models.endpoint import ScriptedModel, call, mode, say, usage
from tests.rig import Driver, heard

Open = Callable[..., Driver]

ASK = "fix.ask"
FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
SAMPLE = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}],
        "systemPrompt": "Be brief.",
        "maxTokens": 50,
    },
}


def by_hand(driver: Driver, arguments: dict[str, Any]) -> None:
    """Call the asking tool and approve it."""
    driver.phase("fix", "ready")
    driver.send(p.CallTool(ASK, json.dumps(arguments)))
    driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))


def result(driver: Driver) -> str:
    """The result of the call, once it ended."""
    ended: p.CallChanged = driver.wait(lambda _events: driver.results()[-1:])[0]
    detail = driver.core.call(ended.call_id)
    assert detail is not None
    return detail.result


def test_a_form_of_a_server_is_answered_in_the_conversation(play: Open) -> None:
    with play(servers={"fix": "asks:asks"}) as driver:
        by_hand(driver, FORM)
        question = driver.answer(p.FormQuestion, p.FormAnswer("accept", (("name", "Ada"),)))
        assert (question.server, question.tool) == ("fix", "ask")
        assert json.loads(result(driver)) == {"action": "accept", "content": {"name": "Ada"}}


def test_the_sessions_model_answers_a_server_when_the_person_allows_both(
    play: Open, model: ScriptedModel
) -> None:
    servers = {"fix": {"mode": "asks:asks", "sampling": True}}
    with play(say("hi there"), servers=servers) as driver:
        by_hand(driver, SAMPLE)
        before = driver.answer(p.SamplingQuestion, p.SamplingAnswer(True))
        assert (before.stage, before.model) == ("request", "scripted/scripted")
        after = driver.answer(p.SamplingQuestion, p.SamplingAnswer(True))
        assert "hi there" in after.text
        got = json.loads(result(driver))
    assert got["content"] == {"type": "text", "text": "hi there"}
    (body,) = model.requests
    assert [one["content"] for one in body["messages"]] == ["Be brief.", "Say hi"]
    assert "tools" not in body
    limits = {key: value for key, value in body.items() if "max" in key}
    assert list(limits.values()) == [50]


def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dollar a million tokens of input, ten of output."""
    rate = Listed(0, Prices((Rate(1.0, 0.1, 10.0, 1.25),)))
    monkeypatch.setattr("hel_tui.core.models.choose.listed", lambda _url, _name: rate)


def ask_twice(driver: Driver) -> str:
    """The server has the model asked twice, one after the other; what came of the second."""
    by_hand(driver, SAMPLE)
    driver.answer(p.SamplingQuestion, p.SamplingAnswer(True))
    driver.answer(p.SamplingQuestion, p.SamplingAnswer(True))
    driver.call_end(0)
    driver.send(p.CallTool(ASK, json.dumps(SAMPLE)))
    driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
    driver.answer(p.SamplingQuestion, p.SamplingAnswer(True))
    driver.call_end(1)
    detail = driver.core.call(driver.of(p.CallStarted)[1].call_id)
    assert detail is not None
    return detail.result


def test_what_a_server_asks_of_the_model_is_held_to_the_bound_on_cost(
    play: Open, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    priced(monkeypatch)
    servers = {"fix": {"mode": "asks:asks", "sampling": True}}
    dear = say("hi there", usage=usage(3_000_000, 0))
    with play(dear, say("never"), servers=servers, max_cost=2.0) as driver:
        assert "Stopped after 3.0000 dollars, the limit on cost." in ask_twice(driver)
        assert driver.ask("and now?").reason == "limit"
        assert driver.of(p.UsageChanged)[-1].cost == pytest.approx(3.0)
    assert len(model.requests) == 1


def test_what_a_server_asked_and_was_cut_off_is_estimated_and_part_of_its_turn(
    play: Open, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    priced(monkeypatch)
    servers = {"fix": {"mode": "asks:asks", "sampling": True}}
    with play(say("one"), mode("disconnect-mid-stream"), servers=servers) as driver:
        driver.ask("first")
        by_hand(driver, SAMPLE)
        driver.answer(p.SamplingQuestion, p.SamplingAnswer(True))
        assert "the model failed" in result(driver)
        spent = driver.core.spending()
    assert spent is not None
    assert (spent.session.requests, spent.session.uncounted) == (2, 1)
    assert [turn.spent.requests for turn in spent.turns] == [2]


def test_sampling_is_off_unless_the_entry_says_so(play: Open, model: ScriptedModel) -> None:
    with play(say("never"), servers={"fix": "asks:asks"}) as driver:
        by_hand(driver, SAMPLE)
        assert json.loads(result(driver))["code"] == -32601
    assert model.requests == []


def test_headless_servers_are_declined_and_the_run_goes_on(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    script = (
        call("load_mcp_tool", {"names": ["mcp__fix__ask"]}),
        call("mcp__fix__ask", FORM),
        call("mcp__fix__ask", SAMPLE),
        say("done"),
    )
    servers = {"fix": {"mode": "asks:asks", "sampling": True}}
    with play(*script, servers=servers, access="auto", answerable=False) as driver:
        assert driver.ask("go").reason == "done"
        notes = [one.text for one in driver.of(p.Notice)]
    assert sum("declined" in one for one in notes) == 2
    answers = [message for message in heard(tmp_path, "fix") if "method" not in message]
    assert answers[0]["result"] == {"action": "decline"}
    assert answers[1]["error"]["code"] == -1


def test_quitting_while_a_form_is_open_answers_the_server_with_cancel(play: Open, tmp_path: Path) -> None:
    with play(servers={"fix": "asks:asks"}) as driver:
        by_hand(driver, FORM)
        driver.question(p.FormQuestion)
    answers = [message for message in heard(tmp_path, "fix") if "method" not in message]
    assert all(one.get("result") == {"action": "cancel"} for one in answers)


def test_interrupting_the_call_closes_its_form(play: Open) -> None:
    with play(servers={"fix": "asks:asks"}) as driver:
        by_hand(driver, FORM)
        question = driver.question(p.FormQuestion)
        driver.send(p.Interrupt())
        driver.call_end(0)
        driver.wait(lambda events: p.QuestionClosed(question.id) in events)


def test_roots_can_be_added_and_taken_away(play: Open, project: Path, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    with play(servers={"fix": "asks:asks"}) as driver:
        driver.phase("fix", "ready")
        driver.send(p.ChangeRoots(add=(str(more), str(tmp_path / "none"))))
        told: list[Any] = []

        def roots(_events: Any) -> Any:
            told[:] = [one["roots"] for one in heard(tmp_path, "fix") if "roots" in one]
            return told

        driver.wait(roots)
        assert told[-1] == [project.as_uri(), more.as_uri()]
        driver.wait(lambda _events: any("is not a folder" in one.text for one in driver.of(p.Notice)))
        driver.send(p.ChangeRoots(remove=(str(more), str(project))))
        driver.wait(lambda events: roots(events)[-1] == [project.as_uri()])


def test_a_log_level_is_set_by_command(play: Open, tmp_path: Path) -> None:
    with play(servers={"fix": "asks:logs"}) as driver:
        driver.phase("fix", "ready")
        driver.send(p.SetLogLevel("fix", "error"))
        driver.wait(lambda _events: any("Log level: error" in one.text for one in driver.of(p.Notice)))
    assert any(one.get("level") == "error" for one in heard(tmp_path, "fix"))


def test_what_a_server_asked_and_what_became_of_it_is_in_the_record(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    servers = {"fix": {"mode": "asks:asks", "sampling": True}}
    with play(say("hi there"), servers=servers) as driver:
        by_hand(driver, FORM)
        driver.answer(p.FormQuestion, p.FormAnswer("accept", (("name", "Ada-the-secret"),)))
        result(driver)
        driver.send(p.CallTool(ASK, json.dumps(SAMPLE)))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        driver.answer(p.SamplingQuestion, p.SamplingAnswer(True))
        driver.answer(p.SamplingQuestion, p.SamplingAnswer(False))
        driver.wait(lambda _events: len(driver.results()) == 2)
    (record,) = tmp_path.rglob("record.jsonl")
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    asked = [(line["asked"], line["decision"]) for line in lines if "asked" in line]
    assert asked == [("form", "accept"), ("sampling: request", "allow"), ("sampling: answer", "deny")]
    assert [line["kind"] for line in lines if line.get("sampling")] == ["request", "response"]
    assert not any("Ada-the-secret" in json.dumps(line) for line in lines if "asked" in line)


def test_a_call_by_hand_waits_for_a_server_that_is_still_starting(play: Open) -> None:
    servers = {"fix": {"mode": "life:slow-start", "env": {"DELAY": "1"}}}
    with play(servers=servers) as driver:
        driver.send(p.CallTool("fix.echo", '{"text": "x"}'))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        assert driver.call_end(0).state == "ok"
        assert "x" in result(driver)


def test_a_call_by_hand_to_a_server_that_does_not_come_up_says_that_it_is_starting(play: Open) -> None:
    servers = {"fix": {"mode": "life:slow-start", "env": {"DELAY": "60"}}}
    with play(servers=servers, server_wait=0.1) as driver:
        driver.phase("fix", "starting")
        driver.send(p.CallTool("fix.echo", "{}"))
        end = driver.call_end(0)
        assert (end.state, "still starting" in end.preview) == ("failed", True)


def test_a_server_that_dies_while_nothing_is_asked_of_it_is_told(play: Open) -> None:
    with play() as driver:
        os.kill(driver.phase("fix", "ready").pid, signal.SIGKILL)
        driver.wait(lambda _events: any("bring it back" in one.sentence for one in driver.of(p.ServerFailed)))
        driver.phase("fix", "ready")


def test_a_model_that_looks_for_a_tool_too_early_hears_who_is_still_starting(
    play: Open, model: ScriptedModel
) -> None:
    servers = {"fix": {"mode": "life:slow-start", "env": {"DELAY": "60"}}, "good": "wire:ok"}
    early = call("load_mcp_tool", {"names": ["mcp__fix__echo"]})
    script = (early, call("mcp__fix__echo"), say("later"))
    with play(*script, servers=servers, server_wait=0.1) as driver:
        driver.phase("good", "ready")
        driver.phase("fix", "starting")
        driver.ask("look")
    told = [one["content"] for one in model.requests[-1]["messages"] if one["role"] == "tool"]
    assert all("Still starting: fix" in one for one in told) and len(told) == 2


def test_a_form_that_stays_open_does_not_lift_the_limit_of_later_calls(play: Open) -> None:
    with play(servers={"fix": {"mode": "asks:forgets", "timeout": 0.5}}) as driver:
        by_hand(driver, FORM)
        driver.question(p.FormQuestion)
        driver.call_end(0)
        driver.send(p.CallTool("fix.hang", "{}"))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        driver.call_end(1)
        assert "did not answer within 0.5 s" in driver.results()[-1].preview
