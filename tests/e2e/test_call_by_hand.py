"""A tool called by hand in a pseudo-terminal: the form, a mistake, the approval over it, the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.program import HEL, decide
from tests.e2e.terminal import Terminal
from tests.rig import calls_received, environment


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
def test_a_person_fills_in_a_form_sends_it_and_sees_the_result(tmp_path: Path, size: tuple[int, int]) -> None:
    env = environment(tmp_path, PYTHONPATH=str(Path.cwd()), HEL_LANG="en")
    columns, rows = size
    with Terminal([*HEL, "demo", "project"], env=env, cwd=tmp_path, columns=columns, rows=rows) as terminal:
        decide(terminal, "y remember", "y")
        terminal.wait(r"●")
        terminal.wait_idle(0.3)
        terminal.type("/call inventory.lookup_port")
        terminal.press("enter")
        terminal.wait(r"call +inventory\.lookup_port.*service")
        terminal.wait_idle(0.3)
        terminal.press("escape")
        terminal.press("ctrl+s")
        terminal.wait("This is needed")
        assert not calls_received(tmp_path / "project")
        terminal.press("enter")
        terminal.wait_idle(0.3)
        terminal.type("worker")
        terminal.press("ctrl+s")
        terminal.wait(r"✓ done.*worker: 9123")
        assert calls_received(tmp_path / "project") == [("lookup_port", {"service": "worker"})]
        terminal.press("escape")
        terminal.wait(r"✓ inventory · lookup_port")
        terminal.wait_idle(0.3)
        terminal.press("ctrl+d")
        assert terminal.wait_end() == 0
        assert terminal.is_restored()
