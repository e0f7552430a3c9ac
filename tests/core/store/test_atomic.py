"""State files: whole, private, shared by several processes."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hel_tui.core.store.atomic import locked, read_toml, update_toml, write_atomic, write_new

COUNTING = """
import sys
from pathlib import Path
from hel_tui.core.store.atomic import update_toml
def add(document):
    document["n"] = document.get("n", 0) + 1
    document.setdefault("by", {}).setdefault(sys.argv[2], 0)
    document["by"][sys.argv[2]] += 1
for _ in range(20):
    failure = update_toml(Path(sys.argv[1]), add)
    assert failure is None, failure
"""
WITH_A_FULL_DISK = """
import resource, sys
from pathlib import Path
from hel_tui.core.store.atomic import write_atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
print(write_atomic(Path(sys.argv[1]), b"x" * 1000).sentence)
"""


def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.toml"
    before = os.umask(0)
    try:
        assert write_atomic(path, b"one") is None
        assert write_atomic(path, b"two") is None
    finally:
        os.umask(before)
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["a.toml"]


def test_a_linked_file_stays_linked(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "a.toml"
    real.parent.mkdir()
    real.write_text("old")
    (tmp_path / "a.toml").symlink_to(real)
    assert write_atomic(tmp_path / "a.toml", b"new") is None
    assert (tmp_path / "a.toml").is_symlink() and real.read_bytes() == b"new"


def test_when_the_disk_refuses_the_old_file_is_intact_and_nothing_is_left_beside(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"old")
    said = subprocess.run(
        [sys.executable, "-c", WITH_A_FULL_DISK, str(path)], capture_output=True, text=True, check=True
    ).stdout
    assert str(path) in said and "not saved" in said
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.toml"]


def test_a_path_that_cannot_exist_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for failure in (
        write_atomic(tmp_path / "file" / "a.toml", b""),
        update_toml(tmp_path / "file" / "a.toml", lambda document: document.update(a=1)),
    ):
        assert failure is not None and "not saved" in failure.sentence


def test_several_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "count.toml"
    running = [subprocess.Popen([sys.executable, "-c", COUNTING, str(path), f"p{n}"]) for n in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    document, problem = read_toml(path)
    assert problem == "" and document == {"n": 80, "by": {f"p{n}": 20 for n in range(4)}}


def test_a_lock_that_is_held_ends_in_a_sentence_not_in_waiting_for_ever(tmp_path: Path) -> None:
    with locked(tmp_path / "a.toml"):
        try:
            with locked(tmp_path / "a.toml", limit=0):
                raise AssertionError("entered twice")
        except TimeoutError as error:
            assert "another process" in str(error)


def test_a_damaged_file_is_kept_beside_and_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"not = [toml")
    assert "damaged" in read_toml(path)[1]
    assert update_toml(path, lambda document: document.update(a=1)) is None
    assert read_toml(path) == ({"a": 1}, "")
    assert (tmp_path / "a.toml.damaged").read_bytes() == b"not = [toml"


def test_an_unchanged_document_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"# by hand\na = 1\n")
    assert update_toml(path, lambda document: document.update(a=1)) is None
    assert path.read_bytes() == b"# by hand\na = 1\n"
    assert update_toml(tmp_path / "none.toml", lambda document: None) is None
    assert not (tmp_path / "none.toml").exists()


def test_a_new_file_takes_the_place_of_nothing(tmp_path: Path) -> None:
    there, link = tmp_path / "there", tmp_path / "link"
    there.write_text("mine")
    link.symlink_to(tmp_path / "nowhere")
    for path in (there, link):
        failed = write_new(path, b"other")
        assert failed is not None
        assert "not overwritten" in failed.sentence
    assert there.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()
    assert write_new(tmp_path / "new", b"text") is None
    assert (tmp_path / "new").read_bytes() == b"text"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_of_a_new_file_that_cannot_be_written_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    failed = write_new(tmp_path / "new", b"text")
    assert failed is not None
    assert "the disk is full" in failed.sentence
    assert not (tmp_path / "new").exists()


def test_a_link_that_is_not_to_be_followed_is_left_with_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "report.md").symlink_to("mine")
    problem = write_atomic(tmp_path / "report.md", b"theirs", follow=False)
    assert problem is not None and "is a link" in problem.sentence
    assert ((tmp_path / "report.md").is_symlink(), (tmp_path / "mine").read_text()) == (True, "mine")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine", "report.md"]
