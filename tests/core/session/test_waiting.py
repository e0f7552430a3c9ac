"""What was sent and reached nobody is not lost with hel: it comes back once, held, and is not sent by itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.session.kept import Opened, open_session
from hel_tui.core.session.waiting import command_of, record_of
from hel_tui.core.store.places import find_places
from hel_tui.core.store.sessions.forking import Fork, fork_session
from hel_tui.core.vocabulary import UserMessage
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.rig import Driver, environment

Open = Callable[..., Driver]
GATE = call("bash", {"command": "touch begun; until [ -e go ]; do sleep 0.02; done"})
"""A step that lasts until there is a file `go`."""
RAN = "I ran a command myself:\n$ "


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return find_places(environment(tmp_path)).sessions


def killed(home: Path, keep: Callable[[dict[str, Any]], bool] | None = None, *, of: str = "") -> str:
    """What a kill would have left of the session `of`, or of the only one that has lines: a copy, up to the
    last line for which `keep` holds. Returns its id.
    """
    (folder,) = [one for one in home.iterdir() if (one / "session.jsonl").exists() and of in ("", one.name)]
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


SAID = ("go", "joins", "later", "!echo hi")


def what_is_there(folder: Path) -> list[str]:
    """What the person said, as far as the session has it: what its model was told, then what is held."""
    opened = open_session(folder)
    assert isinstance(opened, Opened)
    opened.lock.release()
    messages = opened.kept.messages[: len(opened.kept.messages) - opened.held.unsent]
    told = [one.text for one in (*messages, *opened.messages, *opened.untold) if isinstance(one, UserMessage)]
    held = [command_of(record) for _, record in opened.held.waiting]
    lines = [f"!{one.command}" if isinstance(one, p.RunShell) else getattr(one, "text", "") for one in held]
    return [*map(in_short, told), *lines]


def in_short(text: str) -> str:
    """A message as the person gave it: a line for the shell, and a call whose result the model is to know."""
    if text.startswith(RAN):
        return f"!{text.removeprefix(RAN).splitlines()[0]}"
    return "shared" if text.startswith("I called a tool myself") else text


def written(records: list[dict[str, Any]]) -> set[str]:
    """What these lines say that the person said."""
    texts = {str(one.get("text")) for one in records if one["k"] in ("queued", "TurnStarted", "message")}
    ran = {"!echo hi"} if any(one.get("what") == "shell" for one in records) else set()
    return {one for one in SAID if one in texts} | ran


def assert_all_is_there(folder: Path, records: list[dict[str, Any]], where: object) -> None:
    """Nothing that was said up to here is lost, doubled or out of order."""
    found = what_is_there(folder)
    begun = any(str(one.get("call_id")).startswith("shell-") for one in records)
    told = any(one["k"] == "message" and one["text"].startswith(RAN) for one in records)
    expected = written(records) - ({"!echo hi"} if begun and not told else set())
    assert [one for one in found if one != "shared"] == [one for one in SAID if one in expected], where
    assert found.count("shared") == any(one["k"] == "untold" for one in records), where


def lines_of(folder: Path) -> list[str]:
    return (folder / "session.jsonl").read_text().splitlines(keepends=True)


def cut(folder: Path, lines: list[str], name: str) -> Path:
    """A session with only these lines of it."""
    copy = folder.with_name(name)
    copy.mkdir()
    (copy / "session.jsonl").write_text("".join(lines))
    return copy


def test_a_kill_between_any_two_lines_and_again_after_that_loses_and_doubles_nothing(
    play: Open, project: Path, home: Path
) -> None:
    with play(GATE, say("both"), say("well"), servers={}, access="auto") as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: (project / "begun").exists(), "the command")
        for command in (p.Submit("joins"), p.Submit("later", True), p.RunShell("echo hi")):
            driver.send(command)
        driver.send(p.CallTool("read_file", '{"path": "config.ini"}', share=True))
        driver.wait(lambda _: (one := driver.core.call("hand-1")) is not None and one.shared, "the call")
        driver.wait(lambda _: any(len(one.texts) == 3 for one in driver.of(p.Queued)), "all to wait")
        (project / "go").touch()
        driver.turn_end(2)
    (folder,) = [one for one in home.iterdir() if (one / "session.jsonl").exists()]
    lines = lines_of(folder)
    records = [json.loads(line) for line in lines]
    assert what_is_there(folder).count("shared") == 1
    again = 0
    for end in range(next(n for n, one in enumerate(records) if one["k"] == "TurnStarted"), len(lines)):
        first = cut(folder, lines[: end + 1], f"cut-{end}")
        assert_all_is_there(first, records[: end + 1], end)
        with play(*[say("well")] * 4, servers={}, resume=first.name, access="auto") as driver:
            queue_of(driver)
            if end % 2:
                driver.send(p.SendQueue())
                driver.wait(lambda _: not driver.of(p.Queued)[-1].texts, "nothing to wait")
                driver.wait(lambda _: len(driver.of(p.TurnEnded)) == len(driver.of(p.TurnStarted)), "the end")
        after = lines_of(first)
        for later in range(end + 1, len(after)):
            second = cut(folder, after[: later + 1], f"cut-{end}-{later}")
            assert_all_is_there(second, [json.loads(line) for line in after[: later + 1]], (end, later))
            shutil.rmtree(second)
            again += 1
        shutil.rmtree(first)
    assert again > len(lines)


def test_what_was_on_its_way_into_a_turn_is_held_also_when_something_else_is_said_first(
    play: Open, project: Path, home: Path
) -> None:
    with play(GATE, say("x"), servers={}, access="auto") as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: (project / "begun").exists(), "the command")
        driver.send(p.Submit("later", True))
        driver.wait(lambda _: any(len(one.texts) == 1 for one in driver.of(p.Queued)))
        (project / "go").touch()
        driver.turn_end(1)
    session = killed(home, of_kind("unqueued"))
    with play(say("other answer"), servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("later",)
        driver.ask("another message")
        assert driver.of(p.Queued)[-1].texts == ("later",)
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("later",)
    again = killed(home, of_kind("TurnStarted", turn=2), of=session)
    with play(servers={}, resume=again) as driver:
        assert queue_of(driver).texts == ("another message", "later")


@pytest.mark.parametrize("command", [p.RunShell("echo hi"), p.Compact("keep")])
def test_a_command_whose_turn_began_and_did_nothing_is_held(play: Open, home: Path, command: Any) -> None:
    with play(say("fine"), servers={}, access="auto") as driver:
        driver.ask("hello there")
        driver.send(command)
        driver.turn_end(1)
    session = killed(home, of_kind("TurnStarted", turn=2))
    with play(servers={}, resume=session) as driver:
        waiting = queue_of(driver)
    assert len(waiting.texts) == waiting.held == 1


def test_what_was_said_and_not_sent_is_held_before_what_waited_behind_it(play: Open) -> None:
    with play(servers={"fix": "life:silent"}) as driver:
        driver.send(p.Submit("first"))
        driver.wait(lambda _: driver.of(p.TurnStarted))
        driver.send(p.Submit("second"))
        driver.send(p.Submit("third", True))
        driver.wait(lambda _: any(len(one.texts) == 2 for one in driver.of(p.Queued)))
    for _ in range(2):
        with play(servers={}, resume="last") as driver:
            assert queue_of(driver).texts == ("first", "second", "third")


def test_a_kill_while_hel_ends_doubles_nothing(play: Open, home: Path) -> None:
    with play(servers={"fix": "life:silent"}) as driver:
        driver.send(p.Submit("hello there"))
        driver.wait(lambda _: driver.of(p.TurnStarted))
    session = killed(home, of_kind("queued"))
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("hello there",)


def test_a_kill_after_a_message_was_taken_out_of_the_conversation_leaves_it_held(
    play: Open, home: Path
) -> None:
    with play(say("slow", pause=30.0), servers={}) as driver:
        driver.send(p.Submit("hello there"))
        driver.wait(lambda _: driver.of(p.StepStarted))
        driver.send(p.Interrupt(whole=True))
        driver.turn_end(0)
    session = killed(home, of_kind("withdraw"))
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("hello there",)


def test_a_call_by_hand_beside_a_message_that_waits_does_not_send_it(play: Open, home: Path) -> None:
    with play(servers={"fix": "life:silent"}) as driver:
        driver.send(p.Submit("hello there"))
        driver.wait(lambda _: driver.of(p.TurnStarted))
        driver.send(p.CallTool("read_file", '{"path": "config.ini"}'))
        driver.wait(lambda _: any(one.state == "ok" for one in driver.of(p.CallChanged)))
        session = killed(home)
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("hello there",)


def test_a_result_that_waits_for_the_end_of_a_turn_reaches_the_model_after_a_kill(
    play: Open, project: Path, home: Path, model: ScriptedModel
) -> None:
    with play(GATE, say("x"), servers={}, access="auto") as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: (project / "begun").exists(), "the command")
        driver.send(p.CallTool("read_file", '{"path": "config.ini"}', share=True))
        driver.wait(lambda _: '"untold"' in (home / driver.core.kept() / "session.jsonl").read_text())
        session = killed(home)
        (project / "go").touch()
        driver.turn_end(0)
    for _ in range(2):
        with play(say("y"), servers={}, resume=session) as driver:
            driver.wait(lambda _: driver.of(p.SessionRestored))
            driver.ask("next")
        assert str(model.requests[-1]["messages"]).count("I called a tool myself") == 1


def test_a_call_by_hand_that_outlasted_its_turn_is_over_after_a_kill(
    play: Open, project: Path, home: Path
) -> None:
    with play(say("one"), say("two"), servers={}, access="auto") as driver:
        driver.ask("first")
        driver.send(p.CallTool("bash", json.dumps(GATE["calls"][0]["arguments"]), key="1"))
        driver.wait(lambda _: (project / "begun").exists(), "the command")
        driver.ask("second")
        session = killed(home)
        (project / "go").touch()
    for _ in range(2):
        with play(servers={}, resume=session) as driver:
            driver.wait(lambda _: driver.of(p.SessionRestored))
            states = [one.state for one in driver.of(p.CallChanged) if one.call_id == "hand-1"]
            detail = driver.core.call("hand-1")
        assert states[-1:] == ["cancelled"]
        assert states.count("cancelled") == 1
        assert detail is not None
        assert detail.state == "cancelled"


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
    with play(servers={}, resume=session) as driver:
        assert queue_of(driver).texts == ("hello there",)
    again = killed(home, of_kind("queued"), of=session)
    for opened in (session, again):
        with play(say("fine"), servers={}, resume=opened) as driver:
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


def test_a_fork_with_a_prompt_that_was_not_sent_has_it_as_a_prompt(play: Open, home: Path) -> None:
    prompt = p.UsePrompt("fix", "greet", (("who", "otter"),))
    with play(servers={"fix": "life:silent"}) as driver:
        driver.send(prompt)
        driver.wait(lambda _: driver.of(p.TurnStarted))
        driver.send(p.Submit("and this"))
        driver.wait(lambda _: any(len(one.texts) == 1 for one in driver.of(p.Queued)))
        session = killed(home)
    fork = fork_session(home / session, 1)
    assert isinstance(fork, Fork)
    opened = open_session(fork.folder)
    assert isinstance(opened, Opened)
    opened.lock.release()
    assert [command_of(record) for _, record in opened.held.waiting] == [prompt]


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
