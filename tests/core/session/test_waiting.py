"""What was sent and reached nobody is not lost with hel: it comes back once, held, and is not sent by itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.session.waiting import command_of, record_of
from hel_tui.core.store.places import find_places
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.rig import Driver, environment

Open = Callable[..., Driver]
GATE = call("bash", {"command": "touch begun; until [ -e go ]; do sleep 0.02; done"})
"""A step that lasts until there is a file `go`."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return find_places(environment(tmp_path)).sessions


def killed(home: Path, keep: Callable[[dict[str, Any]], bool] | None = None) -> str:
    """What a kill would have left of the only session that has lines: a copy, up to the last line for which
    `keep` holds. Returns its id.
    """
    (folder,) = [one for one in home.iterdir() if (one / "session.jsonl").exists()]
    copy = folder.with_name(f"{folder.name}-killed")
    shutil.copytree(folder, copy)
    file = copy / "session.jsonl"
    every = file.read_text().splitlines(keepends=True)
    last = max(n for n, line in enumerate(every) if keep is None or keep(json.loads(line)))
    file.write_text("".join(every[: last + 1]))
    return copy.name


def of_kind(kind: str, **fields: Any) -> Callable[[dict[str, Any]], bool]:
    return lambda line: line["k"] == kind and all(line.get(name) == one for name, one in fields.items())


def queue_of(driver: Driver) -> p.Queued:
    """What waits in a session that was opened again."""

    def told(_: object) -> Any:
        return driver.of(p.SessionRestored) and driver.of(p.Queued)

    found: p.Queued = driver.wait(told, "the queue")[-1]
    return found


def with_queue(driver: Driver, project: Path) -> None:
    """Let a turn run, and send a message, one for later, a command and a line for the shell behind it."""
    driver.send(p.Submit("go"))
    driver.wait(lambda _: (project / "begun").exists(), "the command")
    for command in (p.Submit("first"), p.Submit("later", True), p.Compact("keep"), p.RunShell("echo hi")):
        driver.send(command)
    driver.wait(lambda _: any(len(one.texts) == 4 for one in driver.of(p.Queued)), "all to wait")


ALL = ("first", "later", "/compact keep", "!echo hi")


def test_what_waited_when_hel_was_killed_is_held_and_not_sent_by_itself(
    play: Open, project: Path, home: Path, model: ScriptedModel
) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        with_queue(driver, project)
        session = killed(home)
        requests = len(model.requests)
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver) == p.Queued(ALL, held=4)
        assert any("held in the queue" in one.text for one in driver.of(p.Notice))
    with play(say("a"), say("b"), say("c"), servers={}, resume=session, access="auto") as driver:
        assert queue_of(driver) == p.Queued(ALL, held=4), "it is still there when hel was opened and closed"
        assert len(model.requests) == requests
        driver.send(p.SendQueue())
        driver.turn_end(4)
        assert [one.text for one in driver.of(p.TurnStarted)] == ["go", "first", "later", "", ""]
        assert driver.of(p.Queued)[-1] == p.Queued(())
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver) == p.Queued(())


def test_what_is_taken_back_is_not_given_again(play: Open, project: Path, home: Path) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        with_queue(driver, project)
        driver.send(p.Unqueue("later"))
        driver.wait(lambda _: driver.of(p.Unqueued))
        driver.wait(lambda _: len(driver.of(p.Queued)[-1].texts) == 3)
        session = killed(home)
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("first", "/compact keep", "!echo hi")


def test_what_waits_at_an_orderly_end_waits_when_the_session_is_opened_again(
    play: Open, project: Path
) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        with_queue(driver, project)
    with play(servers={}, resume="last") as driver:
        assert queue_of(driver) == p.Queued(ALL, held=4)


def test_what_goes_to_another_session_with_the_person_is_left_in_none(
    play: Open, project: Path, home: Path
) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        with_queue(driver, project)
        driver.send(p.NewSession())
        assert driver.wait(lambda _: driver.of(p.Unqueued))[0].text == "first\nlater"
        session = killed(home)
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver) == p.Queued(())


def test_a_kill_between_two_lines_neither_loses_nor_doubles_what_is_just_sent(
    play: Open, project: Path, home: Path
) -> None:
    with play(GATE, say("both"), say("well"), servers={}, access="auto") as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: (project / "begun").exists(), "the command")
        driver.send(p.Submit("joins"))
        driver.send(p.Submit("later", True))
        driver.wait(lambda _: any(len(one.texts) == 2 for one in driver.of(p.Queued)))
        (project / "go").touch()
        driver.turn_end(1)
    (folder,) = [one for one in home.iterdir() if (one / "session.jsonl").exists()]
    lines = (folder / "session.jsonl").read_text().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    at = next(n for n, one in enumerate(records) if one["k"] == "queued")
    for end in range(at, len(records)):
        copy = folder.with_name(f"cut-{end}")
        copy.mkdir()
        (copy / "session.jsonl").write_text("".join(lines[: end + 1]))
        with play(servers={}, resume=copy.name) as driver:
            waiting = queue_of(driver).texts
            shown = [one.text for one in driver.of(p.Joined)]
            shown += [one.text for one in driver.of(p.TurnStarted)][1:]
            sent = any(one["k"] == "StepStarted" and one["turn"] == 2 for one in records[: end + 1])
            assert waiting.count("joins") + shown.count("joins") == 1, end
            if any(one.get("text") == "later" for one in records[: end + 1] if one["k"] == "queued"):
                assert waiting.count("later") == (not sent), end
        shutil.rmtree(copy)


def test_a_message_that_began_a_turn_and_reached_nobody_is_held_once(
    play: Open, home: Path, model: ScriptedModel
) -> None:
    with play(say("fine"), servers={}) as driver:
        driver.ask("hello there")
    session = killed(home, of_kind("TurnStarted"))
    for _ in range(2):
        with play(servers={}, resume=session) as driver:
            assert queue_of(driver) == p.Queued(("hello there",), held=1)
    with play(say("fine"), servers={}, resume=session) as driver:
        queue_of(driver)
        driver.send(p.SendQueue())
        driver.turn_end(1)
    said = [one["content"] for one in model.requests[-1]["messages"] if one["role"] == "user"]
    assert said == ["hello there"]
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver) == p.Queued(())


def test_one_that_was_put_down_for_the_model_but_not_sent_is_not_told_twice(
    play: Open, home: Path, model: ScriptedModel
) -> None:
    with play(say("fine"), servers={}) as driver:
        driver.ask("hello there")
    session = killed(home, of_kind("message", role="user"))
    with play(say("fine"), servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("hello there",)
        driver.send(p.SendQueue())
        driver.turn_end(1)
    said = [one["content"] for one in model.requests[-1]["messages"] if one["role"] == "user"]
    assert said == ["hello there"]


def test_a_prompt_of_a_server_that_was_not_sent_is_one_again(play: Open, home: Path) -> None:
    prompt = p.UsePrompt("fix", "greet", (("who", "otter"),))
    with play(servers={"fix": "life:silent"}) as driver:
        driver.send(prompt)
        driver.wait(lambda _: driver.of(p.TurnStarted))
        line = driver.of(p.TurnStarted)[0].text
        session = killed(home)
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver) == p.Queued((line,), held=1)


def test_a_message_that_waits_for_servers_when_hel_ends_waits_in_the_queue(play: Open) -> None:
    with play(servers={"fix": "life:silent"}) as driver:
        driver.send(p.Submit("hello there"))
        driver.wait(lambda _: driver.of(p.TurnStarted))
    with play(servers={}, resume="last") as driver:
        assert queue_of(driver) == p.Queued(("hello there",), held=1)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_message_whose_turn_is_stopped_before_it_was_sent_is_given_back(play: Open, at_once: bool) -> None:
    with play(servers={"fix": "life:silent"}) as driver:
        driver.send(p.Submit("hello there"))
        if not at_once:
            driver.wait(lambda _: driver.of(p.TurnStarted))
        driver.send(p.Interrupt())
        end = driver.turn_end(0)
    assert (end.reason, end.give_back) == ("interrupted", True)
    with play(servers={}, resume="last") as driver:
        assert queue_of(driver) == p.Queued(())


def test_where_nobody_is_there_it_goes_on_waiting(
    play: Open, project: Path, home: Path, model: ScriptedModel
) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        with_queue(driver, project)
        session = killed(home)
    with play(say("fine"), servers={}, resume=session, answerable=False) as driver:
        queue_of(driver)
        driver.send(p.Submit("by a script"))
        assert driver.turn_end(1).reason == "done"
        assert [one.text for one in driver.of(p.TurnStarted)] == ["go", "by a script"]
    assert "first" not in str(model.requests[-1]["messages"])
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver) == p.Queued(ALL, held=4)


def test_a_fork_has_nothing_that_waits(play: Open, project: Path, home: Path) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        with_queue(driver, project)
        session = killed(home)
    with play(servers={}) as driver:
        driver.send(p.ForkSession(session, 1))
        assert queue_of(driver) == p.Queued(())


@pytest.mark.parametrize(
    "command",
    [
        p.Submit("a\nb"),
        p.Submit("a", later=True, behind="<stdin>x</stdin>", names=("<stdin>",)),
        p.UsePrompt("server", "prompt", (("a", "b"), ("c", ""))),
        p.Compact("focus"),
        p.RunShell("ls -l"),
    ],
)
def test_a_record_gives_the_command_again(command: Any) -> None:
    assert command_of(json.loads(json.dumps(record_of(command)))) == command


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"what": "message"},
        {"what": "message", "text": 1},
        {"what": "rm", "text": "x"},
        {"what": "prompt", "server": "s", "prompt": ["x"]},
    ],
)
def test_what_is_no_such_record_gives_nothing(record: dict[str, Any]) -> None:
    assert command_of(record) is None


def test_what_was_attached_is_named_since_it_is_not_attached_any_more(
    play: Open, project: Path, home: Path
) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: (project / "begun").exists(), "the command")
        driver.send(p.Attach("", "config.ini"))
        driver.wait(lambda _: driver.of(p.AttachmentsChanged), "the file")
        driver.send(p.Submit("look"))
        driver.wait(lambda _: any(one.texts == ("look",) for one in driver.of(p.Queued)))
        session = killed(home)
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("look",)
        assert any("config.ini" in one.text for one in driver.of(p.Notice))
