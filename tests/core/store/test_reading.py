"""Configuration files from anybody's repository."""

import os
from pathlib import Path

from hel_tui.core.store.reading import Unreadable, read_plain


def sentence(path: Path, within: Path | None = None) -> str:
    found = read_plain(path, within=within)
    assert isinstance(found, Unreadable), found
    return found.sentence


def test_a_plain_file_is_read_and_a_missing_one_is_nothing(tmp_path: Path) -> None:
    (tmp_path / ".hel").mkdir()
    (tmp_path / ".hel" / "a").write_bytes(b"\x00data")
    assert read_plain(tmp_path / ".hel" / "a", within=tmp_path) == b"\x00data"
    assert read_plain(tmp_path / ".hel" / "b", within=tmp_path) is None
    assert read_plain(tmp_path / ".no" / "b", within=tmp_path) is None
    assert read_plain(tmp_path / ".hel" / "a" / "b") is None


def test_neither_a_linked_file_nor_a_linked_folder_is_followed_in_a_project(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("x")
    project = tmp_path / "project"
    project.mkdir()
    (project / "a").symlink_to(outside / "a")
    (project / ".hel").symlink_to(outside)
    assert "a is a link" in sentence(project / "a", project)
    assert ".hel is a link" in sentence(project / ".hel" / "a", project)
    assert read_plain(project / "a") == b"x"


def test_folders_fifos_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "fifo", tmp_path / "folder", Path("/dev/zero")):
        assert "regular" in sentence(path)


def test_a_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * (1 << 20))
    assert read_plain(tmp_path / "a") == b"x" * (1 << 20)
    (tmp_path / "a").write_bytes(b"x" * ((1 << 20) + 1))
    assert "1 MiB" in sentence(tmp_path / "a")
