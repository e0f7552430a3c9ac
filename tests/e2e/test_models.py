"""Models in a pseudo-terminal: the sheet of all there are, one that stands in, a message that reached nobody."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.e2e.program import decide, hel, submit
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, say

BUSY = fail(429, "busy", headers={"Retry-After": "600"})
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=["80x24", "120x40", "200x60"])


@SIZES
def test_one_of_four_hundred_is_found_and_chosen_and_answers(tmp_path: Path, size: tuple[int, int]) -> None:
    names = [f"maker-{n % 20}/large-{n:03}" for n in range(400)]
    with (
        ScriptedModel([say("from the new one")], names) as model,
        hel(tmp_path, "--no-mcp", url=model.url, size=size) as terminal,
    ):
        terminal.wait("ask, /command, @file or resource, !shell")
        terminal.press("\x1bm")
        terminal.wait("400 models")
        terminal.press("/")
        terminal.wait_idle(0.3)
        terminal.type("maker-7 387")
        terminal.wait("1 found")
        terminal.press("enter")
        terminal.wait_idle(0.3)
        terminal.press("enter")
        terminal.wait(r"\A[^\n]*large-387")
        submit(terminal, "hello")
        terminal.wait("from the new one")
    assert [body["model"] for body in model.requests] == ["maker-7/large-387"]


@SIZES
def test_who_stands_in_is_seen_while_the_turn_runs(tmp_path: Path, size: tuple[int, int]) -> None:
    write = call("write_file", {"path": "a.txt", "content": "x"})
    with (
        ScriptedModel([BUSY, write, say("written")]) as model,
        hel(tmp_path, "--no-mcp", "--fallback-model", "scripted/o", url=model.url, size=size) as terminal,
    ):
        submit(terminal, "write it")
        terminal.wait(r"\A[^\n]*scripted/o \(stands in\)")
        decide(terminal, "y once", "y")
        terminal.wait(r"answers the rest of\s[\s│]*this turn")
        terminal.wait(r"\A[^\n]*scripted/scripted")
        terminal.wait("written")
    assert [body["model"] for body in model.requests] == ["scripted", "o", "o"]


def test_a_message_that_reached_nobody_is_back_in_the_prompt(tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        with hel(tmp_path, "--no-mcp", url=url, size=(80, 24)) as terminal:
            submit(terminal, "is anybody there?")
            terminal.wait(r"nothing listens\s[\s│]*there")
            terminal.wait(r"> is anybody there\?")
