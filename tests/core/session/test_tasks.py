"""Tasks: parts of the work in conversations of their own, under the same rules and at the same cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.agent import crew
from hel_tui.core.agent.crew import MAX_STEPS
from hel_tui.core.models.prices import Listed
from hel_tui.core.models.profiles import PROFILES, Profile
from hel_tui.core.models.types import Prices, Rate
from tests.fixtures.models.endpoint import Reply, ScriptedModel, call, calls, fail, mode, say, usage
from tests.rig import KEY, Driver, called, results

Open = Callable[..., Driver]
Json = dict[str, Any]


def is_task(body: Json) -> bool:
    return "# Your task" in str(body["messages"][0]["content"])


def names(body: Json) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def answering(main: Sequence[Reply], task: Sequence[Reply]) -> Callable[[Json], Json]:
    """A model with replies for the conversation and others for its tasks."""
    left = {False: list(main), True: list(task)}

    def answer(body: Json) -> Json:
        replies = left[is_task(body)]
        reply = replies.pop(0) if replies else say("nothing more")
        return reply(body) if callable(reply) else reply

    return answer


def task(prompt: str = "look", tools: str | None = None) -> Json:
    return call("task", {"prompt": prompt, **({"tools": tools} if tools else {})})


def play_with(play: Open, main: Sequence[Reply], sub: Sequence[Reply], **more: Any) -> Driver:
    return play(*[answering(main, sub)] * 100, **{"servers": {}, **more})


def test_a_task_has_its_own_conversation_and_only_its_answer_comes_back(
    play: Open, model: ScriptedModel
) -> None:
    main = [task("Which port is in config.ini?"), say("It is 7000.")]
    sub = [call("read_file", {"path": "config.ini"}), say("port=7000, line 1")]
    with play_with(play, main, sub, access="read-only") as driver:
        assert driver.ask("the port?").reason == "done"
        card = next(one for one in driver.of(p.CallStarted) if one.tool == "task")
        window = driver.core.task(card.call_id, 0)
        assert [one.tool for one in driver.of(p.CallStarted)] == ["task"]
        assert window is not None
        kinds = [type(event).__name__ for event in window.events]
        assert kinds[0] == "TurnStarted" and kinds[-1] == "TurnEnded"
        started = next(one for one in window.events if isinstance(one, p.CallStarted))
        assert driver.core.call(started.call_id) is not None
        assert driver.core.task(card.call_id, window.next) == p.TaskWindow((), window.next)
        assert driver.core.task("no such", 0) is None
    asked = [body for body in model.requests if is_task(body)]
    assert [message["content"] for message in asked[0]["messages"][1:]] == ["Which port is in config.ini?"]
    assert results(model.requests[-1]) == ["port=7000, line 1"]
    assert all("task" not in names(body) and "todo_write" not in names(body) for body in asked)


def test_what_it_may_use_is_what_was_said(play: Open, model: ScriptedModel) -> None:
    main = [task(), task(tools="full"), task(tools="none"), say("done")]
    with play_with(play, main, [say("a"), say("b"), say("c")], access="auto") as driver:
        driver.ask("go")
    reads, full, none = (names(body) for body in model.requests if is_task(body))
    assert reads == ["read_file", "glob", "grep"]
    assert set(full) >= {"write_file", "search_replace", "bash"}
    assert none == []


def test_tools_of_servers_are_there_for_a_full_task_only(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    sub = [
        say("nothing there"),
        call("load_mcp_tool", {"names": ["mcp__fix__echo"]}),
        call("mcp__fix__echo", {"text": "x"}),
        say("echoed"),
    ]
    main = [task("look"), task("echo", "full"), say("done")]
    with play_with(play, main, sub, servers=None, access="auto") as driver:
        driver.ask("go")
    asked = [body for body in model.requests if is_task(body)]
    assert "load_mcp_tool" not in names(asked[0]) and "load_mcp_tool" in names(asked[1])
    assert [one["name"] for one in called(tmp_path, "fix")] == ["echo"]


def test_its_calls_are_asked_about_and_say_which_task_asks(play: Open, project: Path) -> None:
    write = call("write_file", {"path": "new", "content": "x"})
    main = [task("make a file", "full"), say("done")]
    with play_with(play, main, [write, say("made")], access="confirm") as driver:
        driver.send(p.Submit("go"))
        question = driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        assert (question.tool, question.task) == ("write_file", "make a file")
        assert driver.turn_end(0).reason == "done"
        assert (project / "new").read_text() == "x"
        driver.wait(lambda _: [row.turn for row in driver.core.checkpoints()] == [1], "the checkpoint")


def test_denying_one_of_its_calls_and_stopping_stops_the_whole_turn(play: Open, model: ScriptedModel) -> None:
    write = call("write_file", {"path": "new", "content": "x"})
    main = [task("make", "full"), say("never")]
    with play_with(play, main, [write, say("never")], access="confirm") as driver:
        driver.send(p.Submit("go"))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("stop"))
        assert driver.turn_end(0).reason == "interrupted"
    assert len(model.requests) == 2


def test_reading_tasks_run_at_the_same_time(play: Open, model: ScriptedModel) -> None:
    both = calls(*[task(f"part {n}") for n in (1, 2)])
    slow = say("one two three", pause=0.05)
    with play_with(play, [both, say("done")], [slow, slow]) as driver:
        assert driver.ask("go").reason == "done"
        states = [one.state for one in driver.of(p.CallChanged)]
    assert states == ["running", "running", "ok", "ok"]
    assert results(model.requests[-1]) == ["one two three"] * 2


def test_full_tasks_never_overlap(play: Open, model: ScriptedModel, project: Path) -> None:
    log = project / "log"
    step = call("bash", {"command": "echo in >> log; sleep 0.2; echo out >> log"})
    both = calls(*[task(f"part {n}", "full") for n in (1, 2)])
    with play_with(play, [both, say("done")], [step, say("a"), step, say("b")], access="auto") as driver:
        assert driver.ask("go").reason == "done"
    assert log.read_text().split() == ["in", "out"] * 2
    assert results(model.requests[-1]) == ["a", "b"]


def test_what_it_costs_is_counted(play: Open) -> None:
    with play_with(play, [task(), say("done")], [call("glob", {"pattern": "*"}), say("x")]) as driver:
        driver.ask("go")
        spent = driver.core.spending()
        assert spent is not None and spent.session.requests == 4
        assert [turn.spent.requests for turn in spent.turns] == [4]


def test_what_it_costs_counts_for_the_bound_on_cost(
    play: Open, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    priced = Listed(0, Prices((Rate(1.0, 0.1, 10.0, 1.25),)))
    monkeypatch.setattr("hel_tui.core.models.choose.listed", lambda _url, _name: priced)
    million = usage(1_000_000, 0)
    looks = [{**call("glob", {"pattern": f"*{n}"}), "usage": million} for n in range(9)]
    main = [{**task(), "usage": million}, say("never")]
    with play_with(play, main, looks, max_cost=3.5) as driver:
        assert driver.ask("go").reason == "limit"
        assert driver.results()[-1].state == "failed"
        spent = driver.core.spending()
        assert spent is not None and spent.session.cost == pytest.approx(4.0)
    assert [is_task(body) for body in model.requests] == [False, True, True, True]


def test_stopping_the_turn_ends_all_tasks_that_run(play: Open, model: ScriptedModel) -> None:
    three = calls(*[task(f"part {n}") for n in range(3)])
    with play_with(play, [three, say("went on")], [mode("hang-mid-text")] * 3) as driver:
        driver.send(p.Submit("go"))
        cards = driver.wait(lambda _: driver.of(p.CallStarted)[2:] and driver.of(p.CallStarted), "three")
        windows = lambda: [driver.core.task(card.call_id, 0) for card in cards]  # noqa: E731

        def all_talk(_: object) -> bool:
            return all(one and any(isinstance(e, p.TextDelta) for e in one.events) for one in windows())

        driver.wait(all_talk, "all to talk")
        driver.send(p.Interrupt(whole=True))
        assert driver.turn_end(0).reason == "interrupted"
        assert [one.state for one in driver.results()] == ["cancelled"] * 3
        for window in windows():
            assert window is not None and isinstance(window.events[-1], p.TurnEnded)
        driver.ask("and now?")
    said = [one for one in model.requests[-1]["messages"] if one["role"] == "tool"]
    assert len(said) == 3 and all("cancelled by the person" in one["content"] for one in said)


def test_interrupting_ends_the_task_and_all_it_runs(play: Open, project: Path, model: ScriptedModel) -> None:
    step = call("bash", {"command": "touch began; sleep 60; touch ended"})
    with play_with(play, [task("wait", "full"), say("went on")], [step], access="auto") as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: (project / "began").exists(), "the command")
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason in ("done", "interrupted")
        card = driver.of(p.CallStarted)[0].call_id
        assert driver.results()[-1].state == "cancelled"
        window = driver.core.task(card, 0)
        assert window is not None and isinstance(window.events[-1], p.TurnEnded)
        nested = [one for one in window.events if isinstance(one, p.CallChanged)]
        assert nested[-1].state == "cancelled"
        driver.ask("and now?")
    assert not (project / "ended").exists()


def test_its_step_limit_asks_nobody(play: Open, model: ScriptedModel) -> None:
    endless = [call("glob", {"pattern": f"*{n}"}) for n in range(MAX_STEPS + 5)]
    with play_with(play, [task(), say("done")], endless) as driver:
        assert driver.ask("go").reason == "done"
        assert not driver.of(p.Asked)
    assert sum(map(is_task, model.requests)) == MAX_STEPS
    assert "did not come to its end: Stopped after 30 steps" in results(model.requests[-1])[0]


def test_a_fault_of_its_endpoint_is_its_result(play: Open, model: ScriptedModel) -> None:
    with play_with(play, [task(), say("done")], [fail(401, "no such key")]) as driver:
        assert driver.ask("go").reason == "done"
        assert driver.results()[-1].state == "failed"
    assert "did not come to its end" in results(model.requests[-1])[0]


def test_a_long_answer_is_cut_like_other_results(play: Open, model: ScriptedModel) -> None:
    with play_with(play, [task(), say("done")], [say("word " * 20_000)]) as driver:
        driver.ask("go")
    result = results(model.requests[-1])[0]
    assert "[Cut here." in result and len(result) < 10_000


def test_a_long_answer_is_saved_without_the_secrets_in_it(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    long = say("x" * 4080 + KEY + "\n" + "word " * 20_000 + KEY)
    with play_with(play, [task(), say("done")], [long]) as driver:
        driver.ask("go")
        (detail,) = [driver.core.call(event.call_id) for event in driver.of(p.CallStarted)]
    (saved,) = map(Path, detail.saved)
    assert saved.read_text().count("‹redacted›") == 2
    assert all(KEY not in path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())


def test_wrong_arguments_start_nothing(play: Open, model: ScriptedModel) -> None:
    main = [calls(task(" "), task("x", "all"), call("task", {})), say("done")]
    with play_with(play, main, []) as driver:
        driver.ask("go")
    empty, unknown, missing = results(model.requests[-1])
    assert "is empty" in empty and "one of read-only, full, none" in unknown and "required" in missing
    assert not any(map(is_task, model.requests))


def test_a_task_is_a_card_again_after_a_resume(play: Open) -> None:
    with play_with(play, [task("the port"), say("done")], [say("7000")]) as driver:
        driver.ask("go")
        session = driver.of(p.SessionStarted)[0].session_id
    with play(servers={}, resume=session) as driver:
        driver.wait(lambda _: driver.of(p.SessionRestored), "the session")
        card = driver.of(p.CallStarted)[0]
        detail = driver.core.call(card.call_id)
        assert detail is not None and detail.result == "7000"
        assert json.loads(detail.arguments)["prompt"] == "the port"
        assert driver.core.task(card.call_id, 0) is None


def test_the_calls_of_old_tasks_are_let_go(play: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "MOST_TASKS", 1)
    look = call("read_file", {"path": "config.ini"})
    with play_with(play, [task(), task(), say("done")], [look, say("a"), look, say("b")]) as driver:
        driver.ask("go")
        cards = [one.call_id for one in driver.of(p.CallStarted) if one.tool == "task"]
        windows = [driver.core.task(card, 0) for card in cards]
        made = [
            event.call_id
            for window in windows
            if window is not None
            for event in window.events
            if isinstance(event, p.CallStarted)
        ]
        assert [driver.core.call(call_id) is not None for call_id in made] == [False, True]


def test_without_the_tool_in_the_list_there_are_no_tasks(play: Open, model: ScriptedModel) -> None:
    with play_with(play, [say("hi")], [], tools=("read_file",)) as driver:
        driver.ask("hi")
    assert names(model.requests[0]) == ["read_file"]


def test_one_model_stands_in_for_all_tasks_of_a_turn_and_is_told_once(
    play: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedModel([say("a"), say("b")]) as other:
        monkeypatch.setitem(PROFILES, "standby", Profile("standby", other.url))
        down = fail(429, "busy", headers={"Retry-After": "600"})
        main = [calls(task("one") | {"id": "1"}, task("two") | {"id": "2"}), say("both are done")]
        with play_with(play, main, [down, down], fallback_model="standby/s") as driver:
            assert driver.ask("go").reason == "done"
            told = [one for one in driver.of(p.Notice) if "answers the rest of this turn" in one.text]
            assert len(told) == 1
        assert len(other.requests) == 2
