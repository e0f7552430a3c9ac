"""A conversation that outgrows its model, in a pseudo-terminal: the card, the summary, the picture, by hand, Esc."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.session.test_compaction import is_request_for_summary, summarising, window
from tests.e2e.program import hel, submit
from tests.e2e.terminal import Terminal
from tests.fixtures.models.endpoint import ScriptedModel, call, mode, say


def leave(terminal: Terminal) -> None:
    """Esc by itself: what follows at once would make another key of it."""
    terminal.press("escape")
    terminal.wait_idle(0.5)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
def test_a_person_sees_what_became_of_it(tmp_path: Path, size: tuple[int, int]) -> None:
    window(tmp_path, 8192)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "long.txt").write_text("a line of a file\n" * 300)
    look = call("read_file", {"path": "long.txt"})
    replies = [reply for number in range(4) for reply in (look, say(f"answer {number}"))]
    with ScriptedModel() as model:
        answer = summarising(*replies)
        model.replies[:] = [answer] * 60
        with hel(tmp_path, "--no-mcp", url=model.url, size=size) as terminal:
            for number in range(3):
                submit(terminal, f"number {number}")
                terminal.wait(rf"answer {number}")
                terminal.wait(r"\A(?!.*interrupts)")
            submit(terminal, "/compact the port")
            terminal.wait(r"≡ shortened  [\d,]+ → [\d,]+ tokens")
            terminal.wait_idle(0.3)
            terminal.press("tab")
            terminal.wait("Enter open")
            terminal.wait_idle(0.3)
            terminal.press("enter")
            terminal.wait("this is what the model has instead")
            terminal.wait("The long story, and the port 8437")
            leave(terminal)
            submit(terminal, "/context")
            terminal.wait(r"of 8,192 tokens \(\d+ %\)")
            terminal.wait(r"◇ +summaries +1")
            leave(terminal)
            submit(terminal, "/cost")
            terminal.wait(r"session +\d+")
            leave(terminal)
            submit(terminal, "number 3")
            terminal.wait("answer 3")
            terminal.wait(r"\A(?!.*interrupts)")
            model.replies[:] = [mode("hang"), *[answer] * 9]
            submit(terminal, "/compact")
            terminal.wait("summarising…")
            terminal.press("escape")
            terminal.wait("Interrupted")
            assert any(is_request_for_summary(body) for body in model.requests[-1:])
            submit(terminal, "still there?")
            terminal.wait(r"still there\?.*done")
            terminal.wait_idle(0.3)
            terminal.press("ctrl+q")
            assert terminal.wait_end() == 0
            assert terminal.is_restored()
