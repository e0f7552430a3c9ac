"""Going back: files as they were before a turn, the conversation in a fork, and nothing overwritten unasked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.session.rewinding import ALREADY, NOTHING
from tests.fixtures.models.endpoint import Reply, ScriptedModel, call, calls, say
from tests.rig import Driver

Open = Callable[..., Driver]

WORK: tuple[Reply, ...] = (
    call("write_file", {"path": "config.ini", "content": "port=1\n"}),
    say("first"),
    calls(
        call("search_replace", {"path": "config.ini", "search": "port=1", "replace": "port=2"}),
        call("bash", {"command": "mkdir -p src && echo x > src/new && mv config.ini port.ini"}),
    ),
    say("second"),
)
TOOLS = ("write_file", "search_replace", "bash")


def worked(driver: Driver) -> None:
    driver.ask("write it")
    driver.ask("move it")


def rewound(driver: Driver, command: p.Rewind) -> p.Rewound:
    before = len(driver.of(p.Rewound))
    driver.send(command)
    found: p.Rewound = driver.wait(lambda _: driver.of(p.Rewound)[before:], "going back")[0]
    return found


def names(project: Path) -> list[str]:
    return sorted(str(one.relative_to(project)) for one in project.rglob("*") if ".hel" not in one.parts)


def test_undo_gives_files_back_turn_by_turn_and_the_model_hears_of_it(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(*WORK, say("ok"), servers={}, access="auto", tools=TOOLS) as driver:
        worked(driver)
        assert [(row.turn, row.count) for row in driver.core.checkpoints()] == [(1, 1), (2, 3)]
        assert rewound(driver, p.Rewind()) == p.Rewound(2, False, restored=3)
        assert (project / "config.ini").read_text() == "port=1\n"
        assert names(project) == ["config.ini"]
        assert rewound(driver, p.Rewind()) == p.Rewound(1, False, restored=1)
        assert (project / "config.ini").read_text() == "port=7000\n"
        assert driver.core.checkpoints() == ()
        assert rewound(driver, p.Rewind()).restored == 0
        assert driver.of(p.Notice)[-1].text == ALREADY
        driver.ask("and now?")
    told = [str(message["content"]) for message in model.requests[-1]["messages"]]
    assert any("put files back as they were before turn 2: config.ini" in text for text in told)


def test_both_go_back_and_the_conversation_left_is_whole(
    play: Open, project: Path, model: ScriptedModel
) -> None:
    with play(*WORK, say("third"), servers={}, access="auto", tools=TOOLS) as driver:
        worked(driver)
        first = driver.of(p.SessionStarted)[0].session_id
        assert rewound(driver, p.Rewind(2, conversation=True)) == p.Rewound(2, True)
        restored = driver.of(p.SessionRestored)[-1]
        assert (restored.parent, restored.turns) == (first, 1)
        assert (project / "config.ini").read_text() == "port=1\n"
        driver.wait(lambda _: [row.turn for row in driver.core.checkpoints()] == [1], "the checkpoints")
        driver.ask("do it otherwise")
        assert driver.of(p.TurnStarted)[-1].turn == 2
        assert rewound(driver, p.Rewind(1, conversation=True)) == p.Rewound(1, True)
        assert driver.of(p.SessionRestored)[-1].turns == 0
        assert (project / "config.ini").read_text() == "port=7000\n"
        driver.send(p.ResumeSession(first))
        driver.wait(lambda _: driver.of(p.SessionRestored)[2:], "the first session")
        assert driver.of(p.SessionRestored)[-1].turns == 2
    said = [message["content"] for message in model.requests[-1]["messages"] if message["role"] == "user"]
    assert said == ["write it", "do it otherwise"]


def test_the_conversation_alone_leaves_the_files(play: Open, project: Path) -> None:
    with play(*WORK, servers={}, access="auto", tools=TOOLS) as driver:
        worked(driver)
        rewound(driver, p.Rewind(1, conversation=True, files=False))
    assert (project / "port.ini").read_text() == "port=2\n"


def test_what_the_person_changed_since_is_asked_about_with_the_difference(play: Open, project: Path) -> None:
    with play(*WORK[:2], servers={}, access="auto", tools=TOOLS) as driver:
        driver.ask("write it")
        (project / "config.ini").write_text("port=1\nmine=1\n")
        for decision, text in (("cancel", "port=1\nmine=1\n"), ("keep", "port=1\nmine=1\n")):
            driver.send(p.Rewind(1))
            asked = driver.answer(p.RestoreQuestion, p.RestoreAnswer(decision))  # type: ignore[arg-type]
            assert asked.changed[0].path == "config.ini"
            assert "-mine=1" in asked.changed[0].diff and "+port=7000" in asked.changed[0].diff
            assert (project / "config.ini").read_text() == text
        driver.wait(lambda _: p.Rewound(1, False, kept=1) in driver.events)
        driver.send(p.Rewind(1))
        driver.answer(p.RestoreQuestion, p.RestoreAnswer("overwrite"))
        driver.wait(lambda _: p.Rewound(1, False, restored=1) in driver.events)
    assert (project / "config.ini").read_text() == "port=7000\n"


def test_checkpoints_are_there_after_a_resume(play: Open, project: Path) -> None:
    with play(*WORK, servers={}, access="auto", tools=TOOLS) as driver:
        worked(driver)
        session = driver.of(p.SessionStarted)[0].session_id
    with play(say("hm"), servers={}, access="auto", tools=TOOLS, resume=session) as driver:
        driver.wait(lambda _: len(driver.core.checkpoints()) == 2, "the checkpoints")
        assert rewound(driver, p.Rewind(1)).restored == 3
    assert names(project) == ["config.ini"]
    assert (project / "config.ini").read_text() == "port=7000\n"


def test_nothing_goes_back_while_a_turn_runs(play: Open, project: Path) -> None:
    with play(
        *WORK[:2], call("bash", {"command": "sleep 50"}), servers={}, access="auto", tools=TOOLS
    ) as driver:
        driver.ask("write it")
        driver.send(p.Submit("wait"))
        driver.wait(lambda _: [e for e in driver.of(p.CallChanged) if e.state == "running"][1:])
        driver.send(p.Rewind(1))
        driver.wait(lambda _: [e for e in driver.of(p.Notice) if "stop it first" in e.text])
        driver.send(p.Interrupt())
        driver.turn_end(1)
    assert (project / "config.ini").read_text() == "port=1\n"


def test_a_command_of_the_persons_own_is_not_undone(play: Open, project: Path) -> None:
    with play(servers={}, access="auto") as driver:
        driver.send(p.RunShell("echo mine > mine"))
        driver.turn_end(0)
        rewound(driver, p.Rewind())
    assert (project / "mine").exists()


@pytest.mark.parametrize("how", ["hel ends", "a new session begins"])
def test_what_a_command_changed_that_was_cut_off_is_undone_in_the_session_it_ran_in(
    play: Open, project: Path, how: str
) -> None:
    step = call("bash", {"command": "echo port=9 > config.ini; touch began; sleep 60"})
    with play(step, servers={}, access="auto", tools=TOOLS) as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: (project / "began").exists(), "the command")
        session = driver.of(p.SessionStarted)[0].session_id
        if how == "a new session begins":
            driver.send(p.NewSession())
            driver.wait(lambda _: driver.of(p.Cleared), "the new session")
            assert driver.core.checkpoints() == ()
    with play(servers={}, access="auto", tools=TOOLS, resume=session) as driver:
        driver.wait(lambda _: driver.core.checkpoints(), "the checkpoints")
        assert rewound(driver, p.Rewind(1)).restored == 2
    assert names(project) == ["config.ini"]
    assert (project / "config.ini").read_text() == "port=7000\n"


def test_what_was_given_back_is_said_apart_from_what_never_was(play: Open, project: Path) -> None:
    with play(*WORK, servers={}, access="auto", tools=TOOLS) as driver:
        rewound(driver, p.Rewind())
        assert driver.of(p.Notice)[-1].text == NOTHING
        driver.ask("write it")
        (project / "config.ini").write_text("port=7000\n")  # the person was quicker
        assert rewound(driver, p.Rewind()).restored == 0
        assert driver.of(p.Notice)[-1].text == "The files are as they were before turn 1 already."
        rewound(driver, p.Rewind())
        assert driver.of(p.Notice)[-1].text == ALREADY
        session = driver.of(p.SessionStarted)[0].session_id
    with play(resume=session, servers={}, access="auto", tools=TOOLS) as driver:
        rewound(driver, p.Rewind())
        assert driver.of(p.Notice)[-1].text == ALREADY
