"""Speaking while hel works, in a real terminal: into the turn, later, taken back, held after a stop; and what was
written and not sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hel_tui.core.store.places import find_places
from tests.e2e.program import hel, submit
from tests.e2e.terminal import Terminal
from tests.fixtures.models.endpoint import ScriptedModel, call, mode, say
from tests.rig import environment

LATER = "\x1bq"
"""Alt+Q as terminals send it."""
GATE = call("bash", {"command": "touch begun; until [ -e go ]; do sleep 0.02; done"})


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


def contents(model: ScriptedModel) -> list[str]:
    """What the person said, as the last request has it."""
    return [str(one["content"]) for one in model.requests[-1]["messages"] if one["role"] == "user"]


def begin(terminal: Terminal) -> None:
    submit(terminal, "go")
    terminal.wait("running a call")


def test_what_is_sent_while_a_call_runs_joins_the_turn_and_the_rest_waits(
    tmp_path: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [GATE, say("Both it is."), say("Now that.")]
    with hel(tmp_path, "--access", "auto", url=model.url) as terminal:
        begin(terminal)
        submit(terminal, "this as well")
        terminal.wait("joins the turn this as well")
        terminal.type("and later that")
        terminal.wait_idle(0.3)
        terminal.press(LATER)
        terminal.wait("after the turn and later that")
        submit(terminal, "a slip")
        terminal.wait("after the turn a slip")
        terminal.press("up")
        terminal.wait_for(lambda: "after the turn a slip" not in terminal.text)
        next(tmp_path.rglob("begun")).with_name("go").touch()
        terminal.wait("Now that.")
        assert terminal.text.index("this as well") < terminal.text.index("Both it is.")
        terminal.wait("Enter send")  # the turn is over
        terminal.press("ctrl+q")
        terminal.wait_end()
    assert contents(model) == ["go", "this as well", "and later that"]


def test_after_a_stop_what_waits_is_held_until_enter(tmp_path: Path, model: ScriptedModel) -> None:
    model.replies[:] = [mode("hang-mid-text"), say("Pushed.")]
    with hel(tmp_path, url=model.url) as terminal:
        submit(terminal, "begin")
        terminal.wait("Half an an")
        submit(terminal, "and push it")
        terminal.wait("joins the turn and push it")
        terminal.press("escape")
        terminal.wait("held and push it")
        assert len(model.requests) == 1
        terminal.press("enter")
        terminal.wait("Pushed.")
        terminal.wait("Enter send")  # the turn is over
        terminal.press("ctrl+q")
        terminal.wait_end()
    assert contents(model)[-1] == "and push it"


def test_what_waited_when_hel_was_killed_is_held_when_it_is_opened_again(
    tmp_path: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [mode("hang-mid-text"), say("Pushed.")]
    with hel(tmp_path, url=model.url) as terminal:
        submit(terminal, "begin")
        terminal.wait("Half an an")
        submit(terminal, "and push it")
        terminal.wait("joins the turn and push it")
        terminal.process.kill()
        terminal.wait_end()
    with hel(tmp_path, "-c", url=model.url) as terminal:
        terminal.wait("held and push it")
        assert len(model.requests) == 1
        submit(terminal, "")
        terminal.wait("Pushed.")
        terminal.wait("Enter send")  # the turn is over
        terminal.press("ctrl+q")
        terminal.wait_end()
    assert contents(model)[-1] == "and push it"
    with hel(tmp_path, "-c", url=model.url) as terminal:
        terminal.wait("Pushed.")
        assert "held and push it" not in terminal.text
        terminal.press("ctrl+q")
        terminal.wait_end()


def test_what_was_in_the_prompt_when_hel_was_killed_is_there_again_once(
    tmp_path: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [say("Well."), say("Indeed.")]
    sessions = find_places(environment(tmp_path)).sessions

    def drafts() -> list[str]:
        return [one.read_text() for one in sessions.glob("*/draft")]

    with hel(tmp_path, url=model.url) as terminal:
        submit(terminal, "begin")
        terminal.wait("Well.")
        terminal.type("half a thought")
        terminal.wait_for(lambda: drafts() == ["half a thought"])
        terminal.process.kill()
        terminal.wait_end()
    with hel(tmp_path, "-c", url=model.url) as terminal:
        terminal.wait("half a thought")
        assert len(model.requests) == 1
        terminal.type(", whole")
        terminal.wait_for(lambda: drafts() == ["half a thought, whole"])
        terminal.press("enter")
        terminal.wait("Indeed.")
        terminal.wait_for(lambda: drafts() == [])
        terminal.process.kill()
        terminal.wait_end()
    assert contents(model)[-1] == "half a thought, whole"
    with hel(tmp_path, "-c", url=model.url) as terminal:
        terminal.wait("Indeed.")
        terminal.wait("ask, /command, @file or resource, !shell")
        assert terminal.text.count("half a thought") == 1
        terminal.press("ctrl+q")
        terminal.wait_end()


def test_a_credential_that_was_typed_is_in_no_file_and_what_comes_back_without_it_says_so(
    tmp_path: Path, model: ScriptedModel
) -> None:
    secret = "sk-proj-" + "0a1B2c3D" * 5
    model.replies[:] = [say("Well.")]
    with hel(tmp_path, url=model.url) as terminal:
        submit(terminal, f"take {secret} for it")
        terminal.wait("Well.")
        terminal.type(f"and {secret}")
        terminal.wait_for(lambda: list(tmp_path.rglob("draft")))
        terminal.press("ctrl+q")
        terminal.wait_end()
    assert secret in str(contents(model))
    files = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert "history.jsonl" in [one.name for one in files]
    assert [one for one in files if secret.encode() in one.read_bytes()] == []
    with hel(tmp_path, "-c", url=model.url) as terminal:
        terminal.wait("stands for a secret")
        terminal.wait("and ‹redacted›")
        terminal.press("ctrl+q")
        terminal.wait_end()
