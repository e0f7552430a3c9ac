"""What is said while a turn runs: it joins the turn at its next step, or waits; order is kept, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.models.prices import Listed
from hel_tui.core.models.types import Prices, Rate
from hel_tui.core.store.places import find_places
from hel_tui.core.store.sessions.exporting import as_json
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, mode, say, usage
from tests.rig import Driver, environment

Open = Callable[..., Driver]
GATE = call("bash", {"command": "touch begun; until [ -e go ]; do sleep 0.02; done"})
"""A step that lasts until there is a file `go`."""


def said(model: ScriptedModel, request: int) -> list[str]:
    """Who says what in a request, results as `tool`."""
    messages = model.requests[request]["messages"][1:]
    return [
        str(one["content"]) if one["role"] == "user" else f"({one['role']})"
        for one in messages
        if one["role"] != "assistant" or one.get("content")
    ]


def waits(driver: Driver, *texts: str, held: int = 0) -> None:
    def told(_: object) -> bool:
        return [(one.texts, one.held) for one in driver.of(p.Queued)[-1:]] == [(texts, held)]

    driver.wait(told, f"{texts} to wait")


def begun(driver: Driver, project: Path, text: str = "go") -> None:
    driver.send(p.Submit(text))
    driver.wait(lambda _: (project / "begun").exists(), "the command")


def test_what_is_said_joins_the_running_turn_before_its_next_request(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(GATE, say("both"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("and this"))
        driver.send(p.Submit("and that"))
        waits(driver, "and this", "and that")
        (project / "go").touch()
        assert driver.turn_end(0).reason == "done"
        assert [one.text for one in driver.of(p.TurnStarted)] == ["go"]
        assert driver.of(p.Joined) == [p.Joined(1, "and this"), p.Joined(1, "and that")]
        waits(driver)
        session = driver.of(p.SessionStarted)[0].session_id
    assert said(model, 1) == ["go", "(tool)", "and this\n\nand that"]
    with play(say("hm"), servers={}, resume=session) as driver:
        driver.wait(lambda _: driver.of(p.SessionRestored), "the session")
        assert [one.text for one in driver.of(p.Joined)] == ["and this", "and that"]
        driver.ask("again")
    assert said(model, 2)[:3] == ["go", "(tool)", "and this\n\nand that"]


def test_where_no_step_follows_it_is_the_next_turn(play: Open, model: ScriptedModel) -> None:
    with play(say("one two three", pause=0.1), say("fine"), servers={}) as driver:
        driver.send(p.Submit("first"))
        driver.wait(lambda _: driver.of(p.TextDelta), "the answer")
        driver.send(p.Submit("second"))
        assert driver.turn_end(1).reason == "done"
        assert [one.text for one in driver.of(p.TurnStarted)] == ["first", "second"]
        assert not driver.of(p.Joined)


def test_nothing_overtakes_what_has_to_be_a_turn_of_its_own(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(GATE, say("a"), say("b"), say("c"), servers={}, access="auto") as driver:
        begun(driver, project)
        for command in (
            p.Submit("joins"),
            p.RunShell("true"),
            p.Submit("after the shell"),
            p.Submit("later", later=True),
        ):
            driver.send(command)
        waits(driver, "joins", "!true", "after the shell", "later")
        assert driver.of(p.Queued)[-1].joins == 1
        (project / "go").touch()
        driver.turn_end(3)
        assert [one.text for one in driver.of(p.TurnStarted)] == ["go", "", "after the shell", "later"]
        assert [one.text for one in driver.of(p.Joined)] == ["joins"]


def test_what_is_said_beside_a_line_for_the_shell_comes_after_it(play: Open, project: Path) -> None:
    with play(say("a"), servers={}, access="auto") as driver:
        driver.send(p.RunShell("touch begun; until [ -e go ]; do sleep 0.02; done"))
        driver.wait(lambda _: (project / "begun").exists(), "the line")
        driver.send(p.Submit("words"))
        waits(driver, "words")
        assert driver.of(p.Queued)[-1].joins == 0
        (project / "go").touch()
        driver.turn_end(1)
        assert [one.text for one in driver.of(p.TurnStarted)] == ["", "words"]
        assert not driver.of(p.Joined)


def test_what_is_to_go_later_waits_for_the_end_of_the_turn(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(GATE, say("a"), say("b"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("later", later=True))
        waits(driver, "later")
        (project / "go").touch()
        assert driver.turn_end(1).reason == "done"
    assert said(model, 1) == ["go", "(tool)"]
    assert said(model, 2)[-1] == "later"


def test_what_waits_is_taken_back_one_by_one(play: Open, project: Path, model: ScriptedModel) -> None:
    with play(GATE, say("a"), servers={}, access="auto") as driver:
        begun(driver, project)
        for text in ("one", "two", "three", "two"):
            driver.send(p.Submit(text))
        waits(driver, "one", "two", "three", "two")
        driver.send(p.Unqueue("two"))
        waits(driver, "one", "two", "three")
        driver.send(p.Unqueue())
        waits(driver, "one", "two")
        driver.send(p.Unqueue("three"))
        driver.send(p.Unqueue("one"))
        waits(driver, "two")
        assert [one.text for one in driver.of(p.Unqueued)] == ["two", "three", "one"]
        (project / "go").touch()
        driver.turn_end(0)
        driver.send(p.Unqueue("two"))
    assert [one.text for one in driver.of(p.Unqueued)] == ["two", "three", "one"]
    assert said(model, 1) == ["go", "(tool)", "two"]


def test_an_interrupted_call_lets_what_waits_go_in_at_once(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(GATE, say("a"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("rather this"))
        waits(driver, "rather this")
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "done"
    assert said(model, 1) == ["go", "(tool)", "rather this"]


@pytest.mark.parametrize("end", ["interrupted", "failed"])
def test_after_a_stopped_turn_nothing_goes_by_itself(play: Open, model: ScriptedModel, end: str) -> None:
    first = mode("hang-mid-text") if end == "interrupted" else fail(401, "no such key")
    replies = [say("new"), say("one"), say("two")]
    with play(first, *replies, servers={}) as driver:
        for text in ("first", "one", "two"):
            driver.send(p.Submit(text))
        if end == "interrupted":
            waits(driver, "one", "two")
            driver.wait(lambda _: driver.of(p.TextDelta), "the answer")
            driver.send(p.Interrupt(whole=True))
        assert driver.turn_end(0).reason == end
        waits(driver, "one", "two", held=2)
        assert driver.ask("something new").reason == "done"
        waits(driver, "one", "two", held=2)
        driver.send(p.Unqueue())
        waits(driver, "one", held=1)
        driver.send(p.SendQueue())
        assert driver.turn_end(2).reason == "done"
        waits(driver)
        assert [one.text for one in driver.of(p.TurnStarted)] == ["first", "something new", "one"]


def test_denying_and_stopping_holds_what_waits(play: Open, model: ScriptedModel) -> None:
    write = call("write_file", {"path": "new", "content": "x"})
    with play(write, say("one"), servers={}) as driver:
        driver.send(p.Submit("write"))
        driver.question(p.ApprovalQuestion)
        driver.send(p.Submit("and then push it"))
        waits(driver, "and then push it")
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("stop"))
        assert driver.turn_end(0).reason == "interrupted"
        waits(driver, "and then push it", held=1)
    assert len(model.requests) == 1


def test_a_new_session_gives_back_what_waits_and_what_is_held(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(GATE, say("hello"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("one"))
        waits(driver, "one")
        driver.send(p.Interrupt(whole=True))
        waits(driver, "one", held=1)
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Unqueued), "what was held")
        assert driver.of(p.Queued)[-1] == p.Queued(())
        kinds = [type(event) for event in driver.events]
        assert kinds.index(p.Cleared) < kinds.index(p.Unqueued)
        assert driver.of(p.Unqueued) == [p.Unqueued("one")]
        driver.ask("hi")
    assert said(model, 1) == ["hi"]


def test_a_message_that_begins_with_a_path_is_given_back_as_words(play: Open, project: Path) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("/etc/hosts has a wrong line"))
        driver.send(p.Submit("and this"))
        waits(driver, "/etc/hosts has a wrong line", "and this")
        driver.send(p.NewSession())
        back = driver.wait(lambda _: driver.of(p.Unqueued), "what waited")
        assert back == [p.Unqueued("/etc/hosts has a wrong line\nand this")]


def test_what_is_said_during_the_last_step_that_may_be_is_held(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(GATE, say("well"), servers={}, access="auto", max_steps=1) as driver:
        begun(driver, project)
        driver.send(p.Submit("do something else"))
        waits(driver, "do something else")
        (project / "go").touch()
        asked = driver.question(p.ContinueQuestion)
        driver.send(p.Reply(asked.id, p.ContinueAnswer(False)))
        assert driver.turn_end(0).reason == "limit"
        waits(driver, "do something else", held=1)
        assert not driver.of(p.Joined)
        driver.send(p.SendQueue())
        driver.turn_end(1)
    assert said(model, 1)[-1] == "do something else"


def test_what_is_said_when_the_money_is_spent_is_held(
    play: Open, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate = Listed(0, Prices((Rate(1.0, 0.1, 10.0, 1.25),)))
    monkeypatch.setattr("hel_tui.core.models.choose.listed", lambda _url, _name: rate)
    dear = {**GATE, "usage": usage(3_000_000, 0)}
    with play(dear, servers={}, access="auto", max_cost=2.0) as driver:
        begun(driver, project)
        driver.send(p.Submit("do something else"))
        waits(driver, "do something else")
        (project / "go").touch()
        assert driver.turn_end(0).reason == "limit"
        waits(driver, "do something else", held=1)
    assert not driver.of(p.Joined)


@pytest.mark.parametrize("to", ["new", "kept", "fork", "back"])
def test_leaving_a_session_while_a_turn_runs_gives_messages_back_and_names_the_rest(
    play: Open, project: Path, model: ScriptedModel, to: str
) -> None:
    with play(say("one"), servers={}) as driver:
        driver.ask("earlier")
        kept = driver.of(p.SessionStarted)[0].session_id
    with play(say("b"), GATE, say("never"), servers={}, access="auto") as driver:
        driver.ask("before")
        begun(driver, project)
        for command in (p.Submit("this"), p.RunShell("touch ran"), p.Compact(), p.Submit("that", later=True)):
            driver.send(command)
        waits(driver, "this", "!touch ran", "/compact", "that")
        driver.send(
            {
                "new": p.NewSession(),
                "kept": p.ResumeSession(kept),
                "fork": p.ForkSession(),
                "back": p.Rewind(1, conversation=True, files=False),
            }[to]
        )
        driver.wait(lambda _: driver.of(p.Unqueued), "what waited")
        named = "Not run, because another session is open: !touch ran, /compact"
        driver.wait(lambda _: p.Notice("warning", named) in driver.events, "what did not run")
        assert driver.of(p.Unqueued) == [p.Unqueued("this\nthat")]
        assert driver.of(p.Queued)[-1] == p.Queued(())
        assert driver.turn_end(1).reason == "interrupted"
    assert not (project / "ran").exists()
    assert len(model.requests) == 3


def test_what_was_attached_to_what_waited_is_attached_again_in_the_other_session(
    play: Open, project: Path
) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Attach("", "config.ini"))
        attached = driver.wait(lambda _: driver.of(p.AttachmentsChanged)[-1:], "the file")
        driver.send(p.Submit("look at it"))
        waits(driver, "look at it")
        assert driver.of(p.AttachmentsChanged)[-1].attachments == ()
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Unqueued), "what waited")
        assert driver.of(p.AttachmentsChanged)[-1:] == attached


def test_what_joined_is_found_and_exported(play: Open, project: Path, tmp_path: Path) -> None:
    with play(GATE, say("both"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("mind the otter"))
        waits(driver, "mind the otter")
        (project / "go").touch()
        driver.turn_end(0)
        session = driver.of(p.SessionStarted)[0].session_id
    folder = find_places(environment(tmp_path)).session_dir(session)
    assert "mind the otter" in as_json(folder)


def test_what_joined_and_is_refused_is_held_and_no_part_of_the_conversation(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    poison = fail(400, "messages[3]: content is not allowed")
    with play(GATE, poison, say("fine"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("harmless"))
        driver.send(p.Submit("poison"))
        waits(driver, "harmless", "poison")
        (project / "go").touch()
        assert driver.turn_end(0).reason == "failed"
        waits(driver, "harmless", "poison", held=2)
        assert driver.ask("something else").reason == "done"
        session = driver.of(p.SessionStarted)[0].session_id
    assert said(model, 2) == ["go", "(tool)", "something else"]
    with play(servers={}, resume=session) as driver:
        waits(driver, "harmless", "poison", held=2)


def test_what_joined_before_a_stop_is_held_where_nothing_of_an_answer_came(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(GATE, mode("hang-before-headers"), say("fine"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("and this"))
        waits(driver, "and this")
        (project / "go").touch()
        driver.wait(lambda _: len(model.requests) == 2, "the request")
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        waits(driver, "and this", held=1)
        driver.send(p.SendQueue())
        assert driver.turn_end(1).reason == "done"
    assert said(model, 2) == ["go", "(tool)", "and this"]
