"""hel is killed while a command runs: what the command changed can be had back all the same."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hel_tui.core.tools.checkpoints.keeper import UNKNOWN
from hel_tui.core.tools.checkpoints.looks import NAME, left_look
from tests.cli.shell import ROOT
from tests.core.tools.checkpoints.desk import Desk


def killed_during(base: Path, desk: Desk, command: str) -> None:
    """Another process runs a command in the project and is killed once the command made the file `there`."""
    program = (
        f"import asyncio; from pathlib import Path; from {Desk.__module__} import Desk\n"
        f"desk = Desk.__new__(Desk); desk.project = Path({str(desk.project)!r})\n"
        f"desk.session = Path({str(desk.session)!r}); desk.told = []; desk.open()\n"
        f"asyncio.run(desk.bash(3, {command + '; touch there; sleep 60'!r}))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True
    )
    try:
        end = time.monotonic() + 30
        while not (desk.project / "there").exists() and time.monotonic() < end:
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    desk.open()


@pytest.fixture
def old(desk: Desk) -> Desk:
    (desk.project / "a").write_text("old")
    (desk.project / "gone").write_text("was here")
    (desk.project / "d").mkdir()
    (desk.project / "d" / "f").write_text("f")
    (desk.project / ".env").write_text("TOKEN=anything")
    for path in desk.project.rglob("*"):
        os.utime(path, (1_000_000, 1_000_000))
    time.sleep(0.06)  # the clock of the file system moves on
    return desk


COMMAND = "printf new > a; rm gone; mkdir -p made; printf x > made/x; rm -r d"


def test_the_person_is_asked_about_each_path_and_has_all_back(old: Desk, tmp_path: Path) -> None:
    before = old.picture()
    killed_during(tmp_path, old, COMMAND)
    old.checkpoints.load()
    assert [(row.turn, row.count) for row in old.checkpoints.rows] == [(3, 5)]
    (told,) = old.told
    assert told.startswith("hel was ended while bash ran in turn 3, and 7 paths of the project have changed")
    steps = old.steps(3)
    assert {path for path, step in steps.items() if step.fate == "changed"} == {
        *("a", "gone", "made/x", "d", "d/f", "there")
    }
    assert "-new" in steps["a"].diff and "+old" in steps["a"].diff
    done = old.undo(3, overwrite=True)
    assert (done.problems, old.picture()) == ((), before)
    assert not (old.session / NAME).exists()


def test_nothing_is_overwritten_unasked(old: Desk, tmp_path: Path) -> None:
    killed_during(tmp_path, old, COMMAND)
    (old.project / "a").write_text("the person's")
    done = old.undo(3)
    assert done.restored == () and "a" in done.kept
    assert (old.project / "a").read_text() == "the person's"


def test_a_later_tool_on_the_same_file_does_not_make_it_known(old: Desk, tmp_path: Path) -> None:
    killed_during(tmp_path, old, COMMAND)
    (old.project / "a").write_text("the person's")
    asyncio.run(old.call("write", 4, path="a", content="later"))
    assert old.steps(3)["a"].fate == "changed"
    old.undo(4)
    assert (old.project / "a").read_text() == "the person's"


def test_a_secret_that_was_in_memory_only_is_told_as_lost(old: Desk, tmp_path: Path) -> None:
    killed_during(tmp_path, old, "echo TOKEN=other > .env")
    old.checkpoints.load()
    assert "Of 1 what they were is not kept." in old.told[0]
    assert old.steps(3)[".env"].fate == "lost"


def test_a_command_that_is_over_leaves_no_look(old: Desk) -> None:
    asyncio.run(old.bash(1, "true"))
    assert not (old.session / NAME).exists()
    old.open()
    old.checkpoints.load()
    assert (old.told, old.checkpoints.rows) == ([], ())


@pytest.mark.parametrize("data", [b"", b"[", b"[]", b'{"turn":1}', b'{"turn":1,"tool":"t","at":1,"cut":0}'])
def test_a_damaged_look_is_none(old: Desk, data: bytes) -> None:
    old.session.mkdir(parents=True)
    (old.session / NAME).write_bytes(data)
    assert left_look(old.session) is None
    assert old.steps(1) == {}


def test_a_look_is_private(old: Desk) -> None:
    old.checkpoints.turn = 1
    old.checkpoints.before_command("bash")
    assert (old.session / NAME).stat().st_mode & 0o777 == 0o600
    look = left_look(old.session)
    assert look is not None and look.survey.states["a"].stamp is not None
    assert UNKNOWN not in look.survey.states.values()
    old.checkpoints.after_command()
    assert left_look(old.session) is None
