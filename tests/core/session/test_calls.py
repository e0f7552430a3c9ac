"""The calls of a response: their order, their company, their results, and calls that cannot be made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, mode, say
from tests.rig import Driver, called, results

ECHO = "mcp__fix__echo"
MEET = "mcp__fix__meet"
DIE = "mcp__fix__die"

Open = Callable[..., Driver]


def load(*names: str):
    return call("load_mcp_tool", {"names": list(names)})


def test_one_question_at_a_time_and_one_result_a_call_in_order_in_the_very_next_request(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    several = calls(
        call(ECHO, {"text": "first"}, id="a"),
        call("read_file", {"path": "missing.txt"}, id="b"),
        call("bash", {"command": "echo third"}, id="c"),
        call("no_such_tool", {}, id="d"),
        call("read_file", {"path": "config.ini"}, id="e"),
    )
    with play(load(ECHO), several, say("done")) as driver:
        driver.send(p.Submit("go"))
        first = driver.question(p.ApprovalQuestion)
        assert first.tool == "echo"
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("deny"))
        driver.turn_end(0)
        opened = 0
        for event in driver.events:
            opened += isinstance(event, p.Asked) - isinstance(event, p.QuestionClosed)
            assert opened in (0, 1)
    last = model.requests[2]["messages"][-5:]
    assert [message["tool_call_id"] for message in last] == ["a", "b", "c", "d", "e"]
    said = results(model.requests[2])
    assert "first" in said[0]
    assert "missing.txt" in said[1]
    assert "refused" in said[2]
    assert "no tool named no_such_tool" in said[3]
    assert "port=7000" in said[4]


def test_calls_that_only_read_run_together(play: Open, model: ScriptedModel) -> None:
    server = {"mode": "work:meet", "trust_annotations": True, "timeout": 20}
    with play(load(MEET), calls(call(MEET), call(MEET)), say("met"), servers={"fix": server}) as driver:
        driver.ask("meet")
        assert not driver.of(p.Asked)
        assert [r.state for r in driver.results()] == ["ok"] * 3
    assert ["met" in text for text in results(model.requests[2])] == [True, True]


def test_calls_to_a_server_marked_parallel_run_together(play: Open) -> None:
    server = {"mode": "work:meet", "parallel": True, "timeout": 20}
    script = (load(MEET), calls(call(MEET), call(MEET)), say("met"))
    with play(*script, servers={"fix": server}, access="auto") as driver:
        driver.ask("meet")
        assert [r.state for r in driver.results()] == ["ok"] * 3


def test_other_calls_run_one_after_the_other(play: Open) -> None:
    script = (load(ECHO), calls(call(ECHO, {"text": "1"}), call(ECHO, {"text": "2"})), say("done"))
    with play(*script, access="auto") as driver:
        driver.ask("twice")
        states = [(e.call_id, e.state) for e in driver.of(p.CallChanged)][2:]
        assert [state for _, state in states] == ["running", "ok", "running", "ok"]
        assert states[0][0] == states[1][0] != states[2][0] == states[3][0]


def test_a_read_after_a_write_sees_what_was_written(play: Open, model: ScriptedModel) -> None:
    step = calls(
        call("read_file", {"path": "config.ini"}),
        call("write_file", {"path": "config.ini", "content": "port=1\n"}),
        call("read_file", {"path": "config.ini"}),
    )
    with play(step, say("done"), access="auto") as driver:
        driver.ask("go")
    said = results(model.requests[1])
    assert "port=7000" in said[0]
    assert "port=1" in said[2]


def test_an_unknown_name_is_answered_with_the_nearest_ones(play: Open, model: ScriptedModel) -> None:
    with play(mode("unknown-tool"), call("mcp__fix__ecko"), say("oh")) as driver:
        driver.ask("go")
        assert [r.state for r in driver.results()] == ["failed", "failed"]
    assert "Did you mean read_file" in results(model.requests[1])[0]
    assert ECHO in results(model.requests[2])[0]


@pytest.mark.parametrize(
    "impossible",
    [call("no_such_tool", {"a": 1}), call(ECHO, {"text": "x"}), call("read_file", '{"path": x}')],
    ids=["unknown", "not loaded", "unreadable"],
)
def test_a_call_that_cannot_be_made_is_remarked_on_and_not_asked_for_for_ever(
    play: Open, model: ScriptedModel, impossible: dict[str, Any]
) -> None:
    with play(*[impossible] * 40, say("never")) as driver:
        end = driver.ask("go")
    assert (end.reason, len(model.requests)) == ("limit", 8)
    assert "8 times" in end.message
    said = [results(body)[0] for body in model.requests[1:]]
    assert [n for n, one in enumerate(said, 1) if "Remark:" in one] == [3, 5]


@pytest.mark.parametrize("arguments", ['{"text": x}', '["x"]', '{"text": NaN}', '{"text": "x"', '"x"'])
def test_arguments_that_are_no_object_run_nothing(
    play: Open, model: ScriptedModel, tmp_path: Path, arguments: str
) -> None:
    with play(load(ECHO), call(ECHO, arguments), say("oh"), access="auto") as driver:
        driver.ask("go")
        assert driver.results()[-1].state == "failed"
    assert not called(tmp_path, "fix")
    assert "not executed" in results(model.requests[2])[0]


def test_arguments_against_the_schema_never_reach_the_server(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    with play(load(ECHO), call(ECHO, {"text": 5}), say("oh"), access="auto") as driver:
        driver.ask("go")
        assert driver.results()[-1].state == "failed"
    assert not called(tmp_path, "fix")
    assert "text" in results(model.requests[2])[0]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (ECHO, {"text": 5}),
        ("bash", {"cmd": "ls"}),
        ("write_file", {"path": 7, "content": ""}),
        ("search_replace", {"path": "config.ini", "search": "port"}),
    ],
)
def test_nobody_is_asked_about_a_call_whose_arguments_its_tool_does_not_take(
    play: Open, tool: str, arguments: dict[str, Any]
) -> None:
    with play(load(ECHO), call(tool, arguments), say("oh"), access="confirm") as driver:
        assert driver.ask("go").reason == "done"
        assert driver.results()[-1].state == "failed"
        assert not driver.of(p.ApprovalQuestion)


def test_a_repeated_call_gets_a_remark_at_the_third_fifth_and_eighth_time(
    play: Open, model: ScriptedModel
) -> None:
    same = call("read_file", {"path": "config.ini"})
    with play(*[same] * 9, say("enough")) as driver:
        driver.ask("go")
        told = [n.text for n in driver.of(p.Notice) if "same call" in n.text]
        assert len(told) == 1 and "8 times" in told[0]
    remarks = ["Remark:" in results(body)[0] for body in model.requests[1:]]
    assert [n for n, one in enumerate(remarks, 1) if one] == [3, 5, 8]


def test_a_different_call_in_between_starts_the_count_anew(play: Open, model: ScriptedModel) -> None:
    same, other = call("read_file", {"path": "config.ini"}), call("glob", {"pattern": "*"})
    with play(same, same, other, same, same, say("enough")) as driver:
        driver.ask("go")
    assert not any("Remark:" in results(body)[0] for body in model.requests[1:])


def test_a_call_by_hand_beside_the_turns_does_not_start_the_count_anew(
    play: Open, model: ScriptedModel
) -> None:
    same = call("read_file", {"path": "config.ini"})
    with play(same, same, say("so"), same, say("enough"), access="auto") as driver:
        driver.phase("fix", "ready")
        driver.ask("go")
        before = len(driver.results())
        driver.send(p.CallTool("fix.echo", "{}"))
        assert driver.call_end(before).state == "ok"
        driver.ask("on")
    assert "Remark:" in results(model.requests[-1])[0]


def test_two_calls_that_take_turns_get_a_remark_at_the_same_rounds(play: Open, model: ScriptedModel) -> None:
    one, other = call("read_file", {"path": "config.ini"}), call("glob", {"pattern": "*"})
    with play(*[one, other] * 9, say("enough")) as driver:
        driver.ask("go")
        told = [n.text for n in driver.of(p.Notice) if "in turn" in n.text]
        assert len(told) == 1 and "8 times" in told[0]
    remarks = ["took turns" in results(body)[0] for body in model.requests[1:]]
    assert [n for n, one in enumerate(remarks, 1) if one] == [5, 9, 15]


def test_a_server_that_dies_in_a_call_is_an_error_result_and_the_turn_goes_on(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    script = (load(DIE), call(DIE), call(DIE), say("it died"))
    with play(*script, servers={"fix": "life:die"}, access="auto") as driver:
        assert driver.ask("go").reason == "done"
    died, away = (results(body)[0] for body in model.requests[2:4])
    assert "unknown" in died
    assert "not made" in away
    assert len(called(tmp_path, "fix")) == 1


def test_calls_of_different_steps_with_one_id_have_cards_of_their_own(
    play: Open, model: ScriptedModel
) -> None:
    one, two = (call("read_file", {"path": name}, id="call_0") for name in ("config.ini", "missing"))
    with play(one, two, say("done")) as driver:
        driver.ask("go")
        started = [event.call_id for event in driver.of(p.CallStarted)]
        assert len(set(started)) == 2
        details = [driver.core.call(call_id) for call_id in started]
        assert "port=7000" in details[0].result and "port=7000" not in details[1].result
        assert [r.call_id for r in driver.results()] == started
    assert [m["tool_call_id"] for m in model.requests[2]["messages"] if m["role"] == "tool"] == ["call_0"] * 2


def test_fifty_calls_at_once_are_fifty_results(play: Open, model: ScriptedModel) -> None:
    with play(mode("many-calls"), say("done")) as driver:
        driver.ask("go")
    assert len(results(model.requests[1])) == 100
