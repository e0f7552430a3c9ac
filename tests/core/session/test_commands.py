"""What a person can do besides asking: queue, begin anew, call by hand, run a command, switch servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.store.memory import recall
from hel_tui.core.store.places import find_places
from tests.fixtures.models.endpoint import ScriptedModel, call, mode, say
from tests.rig import Driver, called, environment, heard

ECHO = "mcp__fix__echo"
LOAD = call("load_mcp_tool", {"names": [ECHO]})

Open = Callable[..., Driver]


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body["tools"]]


def by_hand(driver: Driver, target: str, arguments: str = "") -> p.CallChanged:
    before = len(driver.results())
    driver.send(p.CallTool(target, arguments))
    return driver.call_end(before)


def test_what_is_said_while_a_turn_runs_waits_and_can_be_taken_back(play: Open, model: ScriptedModel) -> None:
    with play(mode("hang-mid-text"), say("two"), servers={}) as driver:
        driver.send(p.Submit("one"))
        driver.wait(lambda _: driver.of(p.TextDelta), "the first answer")
        driver.send(p.Submit("two"))
        driver.send(p.Submit("three"))
        driver.wait(lambda events: p.Queued(("two", "three"), joins=2) in events, "two that wait")
        driver.send(p.Unqueue())
        driver.wait(lambda events: events[-1] == p.Queued(("two",), joins=1), "one that waits")
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        driver.send(p.SendQueue())
        assert driver.turn_end(1).reason == "done"
        assert [event.text for event in driver.of(p.TurnStarted)] == ["one", "two"]
        assert driver.of(p.Queued)[-1] == p.Queued(())
    assert len(model.requests) == 2


def test_a_new_session_has_no_history_and_nothing_loaded(play: Open, model: ScriptedModel) -> None:
    with play(LOAD, say("first answer"), say("second answer"), access="auto") as driver:
        driver.ask("first question")
        first = driver.of(p.SessionStarted)[0].session_id
        assert [row.loaded for row in driver.core.tools()] == [True]
        driver.send(p.NewSession())
        cleared = driver.wait(lambda _: driver.of(p.Cleared), "a new session")[0]
        assert cleared.session_id != first
        assert [row.loaded for row in driver.core.tools()] == [False]
        driver.ask("second question")
    body = model.requests[2]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert ECHO not in names(body)


def test_a_new_session_in_the_middle_of_a_turn_leaves_nothing_of_it(play: Open, model: ScriptedModel) -> None:
    with play(mode("hang-mid-text"), say("fresh"), servers={}) as driver:
        driver.send(p.Submit("old words"))
        driver.wait(lambda _: driver.of(p.TextDelta), "half an answer")
        driver.send(p.Submit("queued words"))
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Cleared), "a new session")
        assert driver.of(p.TurnEnded), "the old turn ends before the new session begins"
        before = len(driver.of(p.TurnEnded))
        driver.send(p.Submit("new words"))
        driver.turn_end(before)
    assert len(model.requests) == 2
    said = str(model.requests[1])
    assert "new words" in said
    assert not any(old in said for old in ("old words", "Half an ans", "queued words"))


def test_each_session_has_a_record_of_its_own(play: Open, tmp_path: Path) -> None:
    with play(say("one"), say("two"), servers={}) as driver:
        driver.ask("alpha question")
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Cleared), "a new session")
        driver.ask("beta question")
        ids = [driver.of(p.SessionStarted)[0].session_id, driver.of(p.Cleared)[0].session_id]
    records = {path.parent.name: path.read_text() for path in (tmp_path / "hel").rglob("record.jsonl")}
    assert set(records) == set(ids)
    assert "alpha" in records[ids[0]] and "beta" not in records[ids[0]]
    assert "beta" in records[ids[1]] and "alpha" not in records[ids[1]]


def test_a_call_by_hand_needs_no_model_and_the_same_approval(play: Open, tmp_path: Path) -> None:
    with play(model=None, base_url=None) as driver:
        driver.phase("fix", "ready")
        assert driver.of(p.ModelChanged)[-1].label == ""
        driver.send(p.CallTool("fix.echo", '{"text": "by hand"}'))
        question = driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        assert (question.server, question.tool) == ("fix", "echo")
        driver.call_end(0)
        started = driver.of(p.CallStarted)[0]
        assert started.by_hand and started.server == "fix"
        assert driver.results()[0].state == "ok" and "by hand" in driver.results()[0].preview
        driver.send(p.CallTool("fix.echo", '{"text": "again"}'))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("deny"))
        driver.call_end(1)
        assert driver.results()[1].state == "refused"
        assert started.call_id != driver.of(p.CallStarted)[1].call_id
    assert [params["arguments"]["text"] for params in called(tmp_path, "fix")] == ["by hand"]


def test_a_call_by_hand_is_refused_in_read_only_and_leaves_the_conversation_alone(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    with play(say("hello"), access="read-only") as driver:
        driver.phase("fix", "ready")
        by_hand(driver, "fix.echo", '{"text": "x"}')
        assert driver.results()[0].state == "refused"
        assert not driver.of(p.Asked)
        driver.ask("hi")
    assert not called(tmp_path, "fix")
    assert [message["role"] for message in model.requests[0]["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("target", "arguments", "words"),
    [
        ("fix.nothing", "", "no tool named fix.nothing"),
        ("fix.echo", "{text: 1}", "not valid JSON"),
        ("nowhere.tool", "{}", "no tool named"),
        ("read_file", '{"path": "config.ini"}', "port=7000"),
    ],
)
def test_what_a_person_calls_by_name_is_answered_in_words(
    play: Open, target: str, arguments: str, words: str
) -> None:
    with play(model=None, base_url=None) as driver:
        driver.phase("fix", "ready")
        by_hand(driver, target, arguments)
        assert words in driver.results()[0].preview


def test_without_a_model_a_question_is_answered_with_how_to_get_one(play: Open) -> None:
    with play(model=None, base_url=None, servers={}) as driver:
        end = driver.ask("hello?")
        assert end.reason == "failed"
        assert "--model" in end.message


def test_a_command_of_the_person_runs_unasked_and_the_model_hears_of_it(
    play: Open, model: ScriptedModel
) -> None:
    with play(say("I see."), servers={}) as driver:
        driver.send(p.RunShell("echo one-$((1 + 1))-three"))
        driver.turn_end(0)
        assert not driver.of(p.Asked)
        assert driver.results()[0].state == "ok"
        driver.ask("and?")
    said = model.requests[0]["messages"][1]["content"]
    assert "one-2-three" in said
    assert said.endswith("and?")


def test_servers_are_switched_and_restarted_by_hand(play: Open, tmp_path: Path) -> None:
    with play(servers={"fix": "wire:ok", "other": "wire:ok"}) as driver:
        first = driver.phase("fix", "ready").pid
        driver.phase("other", "ready")
        driver.send(p.SwitchServer("fix", False))
        driver.phase("fix", "off")
        assert {row.server for row in driver.core.tools()} == {"other"}
        driver.send(p.SwitchServer("fix", True))
        second = driver.phase("fix", "ready").pid
        driver.send(p.RestartServer("fix"))
        driver.wait(lambda _: driver.phase("fix", "ready").pid not in (first, second), "a third process")
        driver.send(p.RestartServer("nobody"))
        driver.wait(lambda _: any("nobody" in notice.text for notice in driver.of(p.Notice)), "a notice")
    assert len([m for m in heard(tmp_path, "fix") if m.get("method") == "initialize"]) == 3


def test_a_person_loads_and_unloads_tools_as_the_model_does(play: Open, model: ScriptedModel) -> None:
    with play(say("one"), say("two")) as driver:
        driver.phase("fix", "ready")
        driver.send(p.LoadTools((ECHO, "mcp__fix__nothing")))
        driver.ask("one")
        driver.send(p.UnloadTools((ECHO,)))
        driver.ask("two")
    assert ECHO in names(model.requests[0])
    assert ECHO not in names(model.requests[1])


def test_switching_to_a_model_that_cannot_be_keeps_the_one_there_is(play: Open) -> None:
    with play(say("still here"), servers={}) as driver:
        driver.send(p.SetModel("nonsense"))
        driver.wait(lambda _: len(driver.of(p.ModelChanged)) == 2, "an answer")
        changed = driver.of(p.ModelChanged)[-1]
        assert changed.label == "scripted/scripted"
        assert "PROVIDER/NAME" in changed.note
        driver.wait(lambda events: p.Notice("warning", changed.note) in events, "the reason")
        assert driver.ask("hi").reason == "done"


def test_a_model_that_was_switched_to_is_remembered_but_not_the_demo(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    with play(servers={}) as driver:
        for name, url in (("scripted/other", model.url), ("demo/walk-through", None)):
            driver.send(p.SetModel(name, url))
            driver.wait(lambda _, name=name: [e for e in driver.of(p.ModelChanged) if e.label == name], name)
    assert recall(find_places(environment(tmp_path))).model == "scripted/other"


def test_what_was_allowed_for_a_session_ends_with_it(play: Open) -> None:
    with play(model=None, base_url=None) as driver:
        driver.phase("fix", "ready")
        driver.send(p.CallTool("fix.echo", "{}"))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("session"))
        driver.call_end(0)
        driver.send(p.CallTool("fix.echo", "{}"))
        driver.call_end(1)
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Cleared), "a new session")
        driver.send(p.CallTool("fix.echo", "{}"))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("deny"))
        driver.call_end(2)
        assert [result.state for result in driver.results()] == ["ok", "ok", "refused"]


def test_saved_results_go_to_the_session_that_is_open(play: Open, project: Path) -> None:
    (project / "long.txt").write_text("a line that is read\n" * 5_000)
    script = [
        call("bash", {"command": "cat long.txt"}),
        say("one"),
        call("bash", {"command": "cat long.txt"}),
        say("two"),
    ]
    with play(*script, servers={}, access="auto") as driver:
        driver.ask("first")
        (first,) = driver.results()
        saved = [driver.core.call(first.call_id).saved]
        driver.send(p.NewSession())
        cleared = driver.wait(lambda _: driver.of(p.Cleared), "a new session")[0]
        assert driver.core.call(first.call_id) is None, "its card is nobody's any more"
        driver.ask("second")
        ids = [driver.of(p.SessionStarted)[0].session_id, cleared.session_id]
        saved.append(driver.core.call(driver.results()[-1].call_id).saved)
    assert all(session in paths[0] for session, paths in zip(ids, saved, strict=True))


def test_a_slow_server_does_not_hold_back_what_went_wrong_with_another(play: Open) -> None:
    with play(servers={"a": "life:silent", "b": "life:exit-at-once"}, model=None, base_url=None) as driver:
        driver.wait(lambda _: [e for e in driver.of(p.ServerFailed) if e.server == "b"], "the news of b")
        states = [e for e in driver.of(p.ServerChanged) if e.name == "a"]
        assert states[-1].phase == "starting" and "slow" not in states[-1].reason
