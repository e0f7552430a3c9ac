"""The sheet of sessions in a real terminal: found by a word of a turn, gone on with, forked, exported, deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import hel, submit
from tests.e2e.terminal import Terminal
from tests.fixtures.models.endpoint import ScriptedModel, mode, say

PORT, KEYS = "The port is 8437.", "Three keys are renamed."


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


@pytest.fixture
def home(tmp_path: Path, model: ScriptedModel) -> Path:
    """With one session that is kept."""
    model.replies[:] = [say(PORT)]
    with hel(tmp_path, url=model.url) as terminal:
        submit(terminal, "which one does the api have?")
        terminal.wait(PORT)
        terminal.wait_idle(0.5)
        leave(terminal)
    return tmp_path


def leave(terminal: Terminal) -> None:
    terminal.press("ctrl+q")
    terminal.wait_end()


def a_second(terminal: Terminal, model: ScriptedModel) -> None:
    """Say something in the session that is open."""
    model.replies[:] = [say(KEYS)]
    submit(terminal, "rename the keys")
    terminal.wait(KEYS)
    terminal.wait_idle(0.5)


def test_an_older_session_is_found_by_what_was_said_in_it_and_gone_on_with(
    home: Path, model: ScriptedModel
) -> None:
    with hel(home, url=model.url) as terminal:
        a_second(terminal, model)
        terminal.press("ctrl+s")
        terminal.wait(
            r"Sessions of this project · 2.*rename the keys.*open here.*which one does the api have"
        )
        terminal.type("/8437")
        terminal.wait(r"turn 1 .*8437.*▌ which one does the api have\?\s+│.*The port is 8437")
        assert "rename the keys" not in sheet(terminal)
        terminal.press("enter")
        terminal.wait_idle(0.3)
        terminal.press("enter")
        terminal.wait(r"Open again: which one does the api have\?")
        terminal.wait(PORT)
        assert KEYS not in terminal.text
        model.replies[:] = [say("As I said.")]
        submit(terminal, "once more")
        terminal.wait("As I said.")
        leave(terminal)
    contents = [message["content"] for message in model.requests[-1]["messages"][1:]]
    assert contents == ["which one does the api have?", PORT, "once more"]


def sheet(terminal: Terminal) -> str:
    """What stands inside the frame of the sheet."""
    lines = (line.split("│") for line in terminal.text.splitlines())
    return "\n".join(max(parts, key=len) for parts in lines if len(parts) > 2)


def test_a_session_is_named_forked_exported_and_deleted(home: Path, model: ScriptedModel) -> None:
    with hel(home, url=model.url) as terminal:
        terminal.wait("ask, /command")
        terminal.type("/sessions")
        terminal.wait_idle(0.3)
        terminal.press("enter")
        terminal.wait("Sessions of this project · 1.*which one does")
        terminal.press("r")
        terminal.wait("title; empty")
        terminal.type("Ports of services")
        terminal.press("enter")
        terminal.wait(r"   Ports of services ")
        terminal.press("x")
        terminal.wait(r"The session\s")
        terminal.press("f")
        terminal.wait("This is a fork of")
        terminal.wait(PORT)
        terminal.press("ctrl+s")
        terminal.wait(r"Sessions of this project · 2.*open here fork.*\n.*   Ports of services")
        terminal.press("down", "d")
        terminal.wait("Delete this session")
        terminal.wait_idle(0.8)
        terminal.press("y")
        terminal.wait("Sessions of this project · 1")
        leave(terminal)
    (file,) = (home / "project").glob("session-*.md")
    assert PORT in file.read_text()
    kept = list((home / "hel" / "state" / "sessions").glob("2*/session.jsonl"))
    assert len(kept) == 1


def test_a_turn_that_runs_is_asked_about_before_another_session_is_opened(
    home: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [mode("hang-mid-text")]
    with hel(home, url=model.url) as terminal:
        submit(terminal, "take your time")
        terminal.wait("Esc ")
        terminal.wait_for(lambda: len(model.requests) == 2)
        terminal.press("ctrl+s")
        terminal.wait(r"Sessions of this project · 2")
        terminal.press("down", "enter")
        terminal.wait("Something is running")
        terminal.press("escape")
        terminal.wait_idle(0.3)
        terminal.press("enter")
        terminal.wait("Something is running")
        terminal.wait_idle(0.8)  # a decision counts once the dialog was there for a moment
        terminal.press("y")
        terminal.wait("Open again")
        terminal.wait(PORT)
        leave(terminal)


def test_a_session_that_another_hel_has_open_is_marked_and_goes_on_as_a_fork(
    home: Path, model: ScriptedModel
) -> None:
    with hel(home, "-c", url=model.url) as one, hel(home, url=model.url, size=(80, 24)) as two:
        one.wait(PORT)
        two.wait("ask, /command")
        two.press("ctrl+s")
        two.wait(r"which one does.*open elsewhere")
        two.press("d")
        two.wait("cannot be")
        two.press("enter")
        two.wait("is open elsewhere")
        two.wait(PORT)
        model.replies[:] = [say("Here, too.")]
        submit(two, "and here?")
        two.wait("Here, too.")
        assert "and here?" not in one.text
        leave(two)
        leave(one)
