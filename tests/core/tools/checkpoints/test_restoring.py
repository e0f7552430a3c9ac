"""Checkpoints: what tools change can be had back exactly, and nothing of the person's is overwritten unasked."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from hel_tui.core.store.sessions.forking import CHECKPOINT_FILES, CHECKPOINT_LOG, fork_session
from hel_tui.core.tools.checkpoints import blobs, keeper, survey
from hel_tui.core.tools.checkpoints.restoring import Done, plan, restore
from tests.core.tools.checkpoints.desk import Desk


async def test_an_edited_file_a_new_one_and_its_permissions_come_back(desk: Desk) -> None:
    (desk.project / "run.sh").write_bytes(b"#!/bin/sh\r\necho \xc3\xa9\r\n")
    (desk.project / "run.sh").chmod(0o750)
    before = desk.picture()
    await desk.call("swap", 1, path="run.sh", search="echo", replace="exec echo")
    await desk.call("write", 1, path="new.txt", content="new")
    assert desk.picture() != before
    done = desk.undo(1)
    assert done == Done(("new.txt", "run.sh"), (), ())
    assert desk.picture() == before


async def test_what_a_command_changes_comes_back_whatever_it_was(desk: Desk) -> None:
    project = desk.project
    (project / "deep" / "er").mkdir(parents=True)
    (project / "deep" / "er" / "bytes.bin").write_bytes(bytes(range(256)) * 40)
    (project / "deep" / "text").write_text("한국어\n")
    (project / "moved").write_text("here")
    (project / "tool").write_text("#!/bin/sh\n")
    (project / "tool").chmod(0o755)
    (project / "pointer").symlink_to("moved")
    (project / "turned").write_text("a file")
    (project / "empty").mkdir(mode=0o711)
    (project / "emptied").write_text("full")
    before = desk.picture()
    await desk.bash(
        1,
        "rm -r deep; mv moved elsewhere; chmod 600 tool; ln -sfn /etc/passwd pointer; "
        "rm turned && mkdir turned && echo x > turned/in; rmdir empty; : > emptied; "
        "mkdir -p made/below && printf '\\0\\1' > made/below/file; ln -s .. made/up",
    )
    assert desk.picture() != before
    done = desk.undo(1)
    assert done.problems == ()
    assert desk.picture() == before
    assert desk.steps(1) == {}


async def test_turns_come_back_one_by_one_or_many_at_once(desk: Desk) -> None:
    path = desk.project / "a"
    for turn in (1, 2, 3):
        await desk.call("write", turn, path="a", content=f"turn {turn}")
    desk.undo(3)
    assert path.read_text() == "turn 2"
    await desk.call("write", 4, path="a", content="turn 4")
    desk.undo(2)
    assert path.read_text() == "turn 1"
    desk.undo(1)
    assert not path.exists()


async def test_a_file_that_the_person_changed_since_is_shown_and_left(desk: Desk) -> None:
    (desk.project / "a").write_text("one\ntwo\n")
    (desk.project / "b").write_text("b")
    await desk.call("swap", 1, path="a", search="two", replace="2")
    await desk.call("write", 1, path="b", content="B")
    (desk.project / "a").write_text("one\n2\nmine\n")
    step = desk.steps(1)["a"]
    assert step.fate == "changed"
    assert "-mine" in step.diff and "+two" in step.diff
    done = desk.undo(1)
    assert (done.restored, done.kept) == (("b",), ("a",))
    assert (desk.project / "a").read_text() == "one\n2\nmine\n"
    assert desk.undo(1, overwrite=True).restored == ("a",)
    assert (desk.project / "a").read_text() == "one\ntwo\n"


async def test_a_change_between_the_look_and_the_restoring_is_not_overwritten(desk: Desk) -> None:
    await desk.call("write", 1, path="a", content="hel's")
    steps = plan(desk.checkpoints, 1)
    (desk.project / "a").write_text("the person's")
    done = restore(desk.checkpoints, 1, steps, overwrite=True)
    assert done.restored == ()
    assert "meanwhile" in done.problems[0]
    assert (desk.project / "a").read_text() == "the person's"


async def test_no_link_is_followed_when_something_is_put_back(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("not the project's")
    (desk.project / "folder").mkdir()
    (desk.project / "folder" / "a").write_text("old")
    await desk.call("write", 1, path="folder/a", content="new")
    (desk.project / "folder" / "a").unlink()
    (desk.project / "folder").rmdir()
    (desk.project / "folder").symlink_to(outside)
    desk.undo(1, overwrite=True)
    assert (outside / "a").read_text() == "not the project's"
    (desk.project / "folder").unlink()
    (desk.project / "folder").mkdir()
    (desk.project / "folder" / "a").symlink_to(outside / "a")
    assert desk.undo(1, overwrite=True).restored == ("folder/a",)
    assert (desk.project / "folder" / "a").read_text() == "old"
    assert (outside / "a").read_text() == "not the project's"


async def test_a_file_that_the_person_put_into_a_new_folder_stays(desk: Desk) -> None:
    await desk.bash(1, "mkdir out && echo x > out/made")
    (desk.project / "out" / "mine").write_text("mine")
    desk.undo(1)
    assert os.listdir(desk.project / "out") == ["mine"]


async def test_checkpoints_outlive_the_process_and_an_undo_is_not_done_twice(desk: Desk) -> None:
    (desk.project / "a").write_text("old")
    await desk.call("write", 1, path="a", content="new")
    await desk.bash(2, "echo newer > a")
    desk.open()
    desk.undo(2)
    assert (desk.project / "a").read_text() == "new"
    desk.open()
    assert list(desk.steps(1)) == ["a"]
    assert desk.checkpoints.log.changes[-1].turn == 1
    desk.undo(1)
    assert (desk.project / "a").read_text() == "old"


async def test_torn_and_foreign_lines_of_the_log_do_no_harm(desk: Desk) -> None:
    await desk.call("write", 1, path="a", content="new")
    with (desk.session / CHECKPOINT_LOG).open("ab") as file:
        state = '{"kind":"none"}'
        for path in ("../out", "/etc/x", ".hel/config.toml", "a//b", ""):
            line = f'{{"k":"change","turn":1,"tool":"t","path":"{path}","before":{state},"after":{state}}}\n'
            file.write(line.encode())
        file.write(b'\0\0\n{"k":"change"}\n[1]\n{"k":"cha')
    desk.open()
    done = desk.undo(1)
    assert done.restored == ("a",)
    assert len(done.problems) == 5


async def test_what_is_kept_is_private_and_no_secret_is_written_down(desk: Desk) -> None:
    os.umask(0)
    try:
        (desk.project / ".env.local").write_text("TOKEN=anything")
        (desk.project / "code.py").write_text("key = 'hunter2-hunter2'")
        (desk.project / "plain").write_text("plain")
        await desk.bash(1, "for f in .env.local code.py plain; do echo gone > $f; done")
    finally:
        os.umask(0o022)
    kept = list((desk.session / CHECKPOINT_FILES).iterdir())
    assert {stat.S_IMODE(one.stat().st_mode) for one in [*kept, desk.session / CHECKPOINT_LOG]} == {0o600}
    assert stat.S_IMODE((desk.session / CHECKPOINT_FILES).stat().st_mode) == 0o700
    assert len(kept) == 1
    assert desk.undo(1).problems == ()
    assert (desk.project / "code.py").read_text() == "key = 'hunter2-hunter2'"
    desk.open()
    await desk.call("write", 2, path=".env.local", content="TOKEN=other")
    desk.open()
    assert desk.steps(2)[".env.local"].fate == "lost"


async def test_the_end_lets_go_of_what_no_change_needs(desk: Desk) -> None:
    for number in range(5):
        (desk.project / f"f{number}").write_text(f"content {number}")
    await desk.bash(1, "echo changed > f3")
    assert len(os.listdir(desk.session / CHECKPOINT_FILES)) == 5
    desk.checkpoints.close()
    assert len(os.listdir(desk.session / CHECKPOINT_FILES)) == 1
    desk.open()
    desk.undo(1)
    assert (desk.project / "f3").read_text() == "content 3"


async def test_the_folder_of_git_is_left_alone(desk: Desk) -> None:
    (desk.project / ".git").mkdir()
    (desk.project / ".git" / "index").write_bytes(b"\1\2")
    (desk.project / "a").write_text("a")
    await desk.bash(1, "echo x > .git/index; echo y > .git/new; echo b > a")
    assert list(desk.steps(1)) == ["a"]
    desk.undo(1)
    assert (desk.project / ".git" / "index").read_text() == "x\n"
    assert (desk.project / ".git" / "new").exists()


async def test_a_command_that_is_stopped_leaves_its_changes_undoable(desk: Desk) -> None:
    (desk.project / "a").write_text("old")
    running = asyncio.ensure_future(desk.call("bash", 1, command="echo new > a; touch b; sleep 60"))
    while not (desk.project / "b").exists():  # noqa: ASYNC110 - made by another process
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    desk.undo(1)
    assert (desk.project / "a").read_text() == "old"
    assert not (desk.project / "b").exists()


async def test_a_change_within_one_tick_of_the_clock_is_found(desk: Desk) -> None:
    """Same size, and times set back: only the content tells."""
    path = desk.project / "a"
    path.write_text("old")
    await desk.bash(1, "printf new > a; touch -d 2020-01-01 a")
    await desk.bash(2, "printf neu > a; touch -d 2020-01-01 a")
    desk.undo(2)
    assert path.read_text() == "new"
    desk.undo(1)
    assert path.read_text() == "old"


async def test_too_large_a_project_is_said_once_and_kept_in_part(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "MOST_FILES", 3)
    for name in "abcde":
        (desk.project / name).write_text(name)
    await desk.bash(1, "echo x > a; echo x > e; rm b")
    await desk.bash(2, "true")
    assert list(desk.steps(1)) == ["a"]
    assert len(desk.told) == 1 and "too large" in desk.told[0]


async def test_a_huge_folder_hides_neither_its_neighbours_nor_what_is_above_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "MOST_FILES", 30)
    monkeypatch.setattr(survey, "MOST_IN_FOLDER", 10)
    for number in range(12):
        (desk.project / "built").mkdir(exist_ok=True)
        (desk.project / "built" / f"{number}.o").write_text("o")
        folder = desk.project / "a" / "deep" / f"d{number}"
        folder.mkdir(parents=True)
        for name in "xyz":
            (folder / name).write_text(name)
    (desk.project / "src").mkdir()
    (desk.project / "src" / "main.c").write_text("int main;")
    before = desk.picture()
    await desk.bash(
        1, "echo x > src/main.c; echo x > src/new.c; mkdir made; echo x > made/one; rm -r a/deep/d0"
    )
    assert len(desk.told) == 1 and "too large" in desk.told[0]
    assert {"src/main.c", "src/new.c", "made", "made/one"} <= set(desk.steps(1))
    await desk.bash(2, "mkdir -p a/deep/d0; for f in x y z; do printf $f > a/deep/d0/$f; done")
    desk.undo(1)
    assert {path: it for path, it in desk.picture().items() if not path.startswith("a/")} == {
        path: it for path, it in before.items() if not path.startswith("a/")
    }


async def test_a_command_does_not_wait_until_all_is_read_and_what_it_is_quicker_than_is_not_made_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "MOST_WAIT", -1.0)
    monkeypatch.setattr(keeper, "AT_ONCE", 1)
    for number in range(40):
        path = desk.project / f"{number:02}"
        path.write_text(f"old {number}")
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    await asyncio.sleep(keeper.FRESH / 1e9)  # the clock of the file system moves on
    before = desk.picture()
    await desk.bash(1, "for f in *; do echo new > $f; done")
    steps = desk.steps(1)
    assert len(steps) == 40 and steps["39"].fate == "restore"
    assert {one.fate for one in steps.values()} <= {"restore", "lost"}
    done = desk.undo(1)
    after = desk.picture()
    assert all(after[name] == before[name] for name in done.restored)
    lost = {path for path, one in steps.items() if one.fate == "lost"}
    assert lost == {line.partition(":")[0] for line in done.problems}


async def test_what_was_not_read_before_a_command_is_read_while_it_runs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "MOST_WAIT", -1.0)
    for number in range(200):
        (desk.project / f"{number:03}").write_text(f"old {number}")
    await asyncio.sleep(keeper.FRESH / 1e9)
    kept = desk.session / CHECKPOINT_FILES
    await desk.bash(1, f"until [ $(ls {kept} | wc -l) -ge 200 ]; do sleep 0.02; done; rm *")
    assert len(desk.undo(1).restored) == 200


async def test_large_files_are_told_of_though_they_cannot_come_back(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "MOST_SURVEYED", 1_000)
    (desk.project / "big").write_bytes(b"x" * 2_000)
    await desk.bash(1, "printf y >> big")
    assert desk.steps(1)["big"].fate == "lost"
    assert "big: what it was is not kept." in desk.undo(1).problems


async def test_no_room_left_is_said_and_the_change_is_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "MOST_ON_DISK", 10)
    (desk.project / "a").write_text("old " * 100)
    await desk.call("write", 1, path="a", content="new")
    assert (desk.project / "a").read_text() == "new"
    assert "no more room" in desk.told[0]
    assert desk.steps(1)["a"].fate == "lost"


async def test_a_disk_that_takes_nothing_does_not_keep_a_tool_from_working(desk: Desk) -> None:
    desk.session.parent.mkdir(parents=True)
    desk.session.write_text("a file where the folder should be")
    (desk.project / "a").write_text("old")
    outcome = await desk.call("write", 1, path="a", content="new")
    assert not outcome.failed
    assert (desk.project / "a").read_text() == "new"
    assert "cannot be kept" in desk.told[0]


async def test_a_fork_has_the_checkpoints_of_its_turns(desk: Desk) -> None:
    await desk.call("write", 1, path="a", content="one")
    await desk.call("write", 2, path="a", content="two")
    turns = "".join(f'{{"k":"TurnStarted","turn":{turn},"text":""}}\n' for turn in (1, 2))
    (desk.session / "session.jsonl").write_text('{"k":"session","v":1}\n' + turns)
    fork = fork_session(desk.session, 1)
    assert not isinstance(fork, str)
    desk.undo(2)
    desk.checkpoints.turn_over(fork.folder)
    desk.checkpoints.load()
    assert [row.turn for row in desk.checkpoints.rows] == [1]
    desk.undo(1)
    assert not (desk.project / "a").exists()
    desk.checkpoints.turn_over(desk.session)
    desk.checkpoints.load()
    assert [row.turn for row in desk.checkpoints.rows] == [1]


async def test_names_that_are_no_text_come_back_too(desk: Desk) -> None:
    name = os.fsdecode(b"caf\xe9")
    (desk.project / name).write_text("old")
    await desk.bash(1, "rm caf*")
    desk.open()
    desk.undo(1)
    assert (desk.project / name).read_text() == "old"
