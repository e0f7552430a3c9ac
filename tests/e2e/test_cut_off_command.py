"""hel is killed in the middle of a command, in a real terminal: the next one gives the files back."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.e2e.program import decide, hel, submit
from tests.fixtures.models.endpoint import ScriptedModel, call


def test_what_a_command_changed_until_hel_was_killed_is_told_and_can_be_had_back(tmp_path: Path) -> None:
    command = "echo new > notes.txt; mkdir made; echo x > made/x; touch there; sleep 60"
    project = tmp_path / "project"
    with ScriptedModel([call("bash", {"command": command})]) as model:
        with hel(tmp_path, "--access", "auto", url=model.url) as terminal:
            (project / "notes.txt").write_text("old\n")
            submit(terminal, "change it")
            terminal.wait_for((project / "there").exists)
            terminal.kill(signal.SIGKILL)
            terminal.wait_end()
        assert (project / "notes.txt").read_text() == "new\n"
        with hel(tmp_path, "-c", url=model.url) as terminal:
            terminal.wait(r"hel was ended while bash ran in turn 1, and 4 paths of the project")
            submit(terminal, "/undo")
            terminal.wait(r"\+old")
            decide(terminal, "Overwrite what was changed since", "y")
            terminal.wait("3 files are as they were before turn 1")
            assert (project / "notes.txt").read_text() == "old\n"
            assert not (project / "made").exists() and not (project / "there").exists()
            terminal.press("ctrl+q")
            terminal.wait_end()
