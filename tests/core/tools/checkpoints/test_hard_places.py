"""Going back where permissions, owners, links and other names of files stand in the way."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hel_tui.core.tools.checkpoints import states
from tests.cli.shell import ROOT
from tests.core.tools.checkpoints.desk import Desk
from tests.persons import as_a_person


def there_and_back(base: Path, setup: str, command: str) -> dict[str, object]:
    """Lay a project, let a command change it, go back; what is other than it was, and what went wrong."""
    desk = Desk(base)
    subprocess.run(setup, shell=True, cwd=desk.project, check=True)
    before = desk.picture()
    asyncio.run(desk.bash(1, command))
    changed = desk.picture() != before
    done = desk.undo(1)
    after = desk.picture()
    other = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return {"changed": changed, "other": other, "problems": done.problems}


@pytest.mark.parametrize(
    ("setup", "command"),
    [
        ("mkdir ro; echo a > ro/f; chmod 555 ro", "chmod 755 ro; rm -rf ro"),
        ("mkdir ro; echo a > ro/f; chmod 555 ro", "chmod 755 ro; echo b > ro/f"),
        ("mkdir ro; echo a > ro/f; chmod 555 ro", "chmod 755 ro; echo b > ro/g; chmod 555 ro"),
        ("mkdir ro; echo a > ro/f; chmod 555 ro", "echo b > ro/f"),
        ("echo a > x", "mkdir -p d/e; echo b > d/e/f; chmod 555 d/e d"),
        ("mkdir -p a/b; echo a > a/b/f; chmod 555 a/b a", "chmod -R 755 a; rm -r a; echo file > a"),
    ],
)
def test_folders_that_may_not_be_written_in_come_back_with_all_that_is_in_them(
    tmp_path: Path, setup: str, command: str
) -> None:
    program = (
        f"from {__name__} import *\nprint(there_and_back(Path({str(tmp_path)!r}), {setup!r}, {command!r}))"
    )
    argv = as_a_person([sys.executable, "-c", program])
    ran = subprocess.run(argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert ran.stdout == "{'changed': True, 'other': [], 'problems': ()}\n", ran.stderr
    subprocess.run(["chmod", "-R", "u+rwx", str(tmp_path)], check=True)


async def test_a_folder_that_was_moved_behind_a_link_of_its_name_comes_back_unasked(desk: Desk) -> None:
    project = desk.project
    for name in ("A", "A/deep", "B"):
        (project / name).mkdir()
    (project / "A" / "x").write_text("x")
    (project / "A" / "deep" / "y").write_text("y")
    before = desk.picture()
    await desk.bash(1, "mv A B/; ln -s B/A A")
    assert {step.fate for step in desk.steps(1).values()} == {"restore"}
    done = desk.undo(1)
    assert (done.kept, done.problems, desk.picture()) == ((), (), before)


async def test_a_folder_that_the_person_put_a_link_in_the_place_of_is_asked_about_and_then_had_back(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (desk.project / "d").mkdir()
    (desk.project / "d" / "f").write_text("old")
    before = desk.picture()
    await desk.bash(1, "rm -r d")
    (desk.project / "d").symlink_to(tmp_path / "outside")
    assert {path: step.fate for path, step in desk.steps(1).items()} == {"d": "changed", "d/f": "changed"}
    assert desk.undo(1).kept == ("d", "d/f")
    done = desk.undo(1, overwrite=True)
    assert (done.problems, desk.picture()) == ((), before)
    assert os.listdir(tmp_path / "outside") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("command", ["echo b > f", "rm f", "rm f; echo mine > f; chown 1234 f", "rm -r d"])
async def test_files_and_folders_keep_their_owner(desk: Desk, command: str) -> None:
    (desk.project / "d").mkdir()
    for name in ("f", "d", "d/g"):
        path = desk.project / name
        if not path.exists():
            path.write_text("a\n")
        os.chown(path, 1234, 1235)
    (desk.project / "f").chmod(0o4755)
    before = desk.picture()
    await desk.bash(1, command)
    desk.open()
    desk.undo(1)
    assert desk.picture() == before
    assert {(desk.project / name).stat().st_uid for name in ("f", "d", "d/g")} == {1234}


async def test_a_file_with_other_names_stays_one_file(desk: Desk, tmp_path: Path) -> None:
    path, other, outside = desk.project / "a", desk.project / "b", tmp_path / "outside"
    path.write_text("old")
    other.hardlink_to(path)
    outside.hardlink_to(path)
    before = desk.picture()
    await desk.bash(1, "printf new > a")
    assert sorted(desk.steps(1)) == ["a", "b"]
    done = desk.undo(1)
    assert (done, desk.picture()) == (type(done)(("a", "b"), (), ()), before)
    assert path.samefile(other) and path.samefile(outside)


async def test_a_file_that_became_another_name_of_one_outside_is_replaced_and_that_one_left(
    desk: Desk, tmp_path: Path
) -> None:
    path, outside = desk.project / "a", tmp_path / "outside"
    path.write_text("old")
    (tmp_path / "first").hardlink_to(path)
    outside.write_text("the person's")
    await desk.bash(1, f"ln -f {outside} a")
    desk.undo(1)
    assert (path.read_text(), outside.read_text()) == ("old", "the person's")


def test_what_a_folder_holds_that_cannot_be_looked_into_does_not_count_as_made(tmp_path: Path) -> None:
    """The names of a folder without its x bit can be read, and nothing else of them."""
    program = (
        f"from {__name__} import *\n"
        f"desk = Desk(Path({str(tmp_path)!r}))\n"
        "(desk.project / 'd').mkdir(); (desk.project / 'd' / 'f').write_text('mine')\n"
        "(desk.project / 'd').chmod(0o600)\n"
        "asyncio.run(desk.bash(1, 'chmod 700 d'))\n"
        "print(sorted(desk.steps(1)))\n"
    )
    argv = as_a_person([sys.executable, "-c", program])
    ran = subprocess.run(argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert ran.stdout == "['d']\n", ran.stderr


def test_a_file_that_is_written_while_it_is_read_is_not_taken_for_what_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = desk.project / "a"
    path.write_text("old")
    os.utime(path, (1_000_000, 1_000_000))
    read = states._read

    def slow(handle: int, most: int) -> bytes:
        path.write_text("")  # a command truncates it before it writes
        return read(handle, most)

    monkeypatch.setattr(states, "_read", slow)
    found, data = states.state_at(desk.project, ("a",), 1_000)
    assert (found.kind, found.hash, data) == ("file", "", None)
