"""Leaving hel and coming back to the same conversation, in a real terminal."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import hel, submit
from tests.e2e.terminal import Terminal
from tests.fixtures.models.endpoint import ScriptedModel, mode, say


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


def leave(terminal: Terminal) -> None:
    """End hel as a person does."""
    terminal.press("ctrl+q")
    terminal.wait_end()


def test_hel_says_how_to_go_on_and_goes_on(tmp_path: Path, model: ScriptedModel) -> None:
    model.replies[:] = [say("The port is 8437."), say("As I said.")]
    with hel(tmp_path, url=model.url) as terminal:
        submit(terminal, "which port?")
        terminal.wait("The port is 8437.")
        terminal.wait_idle(0.5)
        leave(terminal)
        found = re.search(r"hel -r (\d{8}-\d{6}-\w{8})", terminal.text)
    assert found is not None
    for options in (("-c",), ("-r", found[1][:15])):
        model.replies[:] = [say("As I said.")]
        with hel(tmp_path, *options, url=model.url) as terminal:
            terminal.wait("which port\\?")
            terminal.wait("The port is 8437.")
            submit(terminal, "once more")
            terminal.wait("As I said.")
            terminal.wait_idle(0.5)
            leave(terminal)
    contents = [message["content"] for message in model.requests[-1]["messages"][1:]]
    assert contents[:4] == ["which port?", "The port is 8437.", "once more", "As I said."]
    assert json.dumps(contents).count("once more") == 2


def test_nothing_is_said_of_a_session_in_which_nothing_was(tmp_path: Path, model: ScriptedModel) -> None:
    with hel(tmp_path, url=model.url) as terminal:
        terminal.wait("ask, /command, @file or resource, !shell")
        leave(terminal)
        assert "hel -r" not in terminal.text


def test_a_killed_hel_comes_back_with_the_text_that_was_on_the_screen(
    tmp_path: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [mode("flood-endless")]
    with hel(tmp_path, url=model.url) as terminal:
        submit(terminal, "talk")
        terminal.wait("word word word")
        terminal.kill(signal.SIGKILL)
        terminal.wait_end()
    with hel(tmp_path, "-c", url=model.url) as terminal:
        terminal.wait("word word word")
        terminal.wait("hel ended before this turn did")
        leave(terminal)


def test_a_session_is_chosen_from_a_list_before_the_app_opens(tmp_path: Path, model: ScriptedModel) -> None:
    for text in ("alpha", "beta"):
        model.replies[:] = [say(f"{text} it is")]
        with hel(tmp_path, url=model.url) as terminal:
            submit(terminal, text)
            terminal.wait(f"{text} it is")
            terminal.wait_idle(0.5)
            leave(terminal)
    with hel(tmp_path, "-r", url=model.url) as terminal:
        terminal.wait(r"1  .*beta\s+2  .*alpha\s+Which one")
        terminal.type("2")
        terminal.press("enter")
        terminal.wait("alpha it is")
        leave(terminal)
