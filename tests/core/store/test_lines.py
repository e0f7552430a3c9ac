"""Files that only grow: also when somebody takes them away while they are open."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hel_tui.core.store.lines import LineFile


def test_a_file_that_was_taken_away_is_written_anew_with_all_that_was_in_it(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "folder" / "lines")
    file.append(b"one\n" * 1000)
    shutil.rmtree(tmp_path / "folder")
    assert file.is_gone
    file.append(b"two\n")
    assert file.path.read_bytes() == b"one\n" * 1000 + b"two\n"
    assert (file.returned, file.size, file.is_gone) == (1, 4004, False)
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.close()


def test_a_file_that_is_held_comes_back_though_nothing_was_written_yet(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"one\ntorn")
    file = LineFile(tmp_path / "lines")
    assert file.hold()
    file.path.unlink()
    file.append(b"two\n")
    assert file.path.read_bytes() == b"one\ntorn\ntwo\n"
    file.close()
    assert not LineFile(tmp_path / "none").hold()
    assert not (tmp_path / "none").exists()


def test_a_file_that_somebody_replaced_is_written_on_as_it_is_now(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "lines")
    file.append(b"one\n")
    (tmp_path / "other").write_bytes(b"edited\n")
    (tmp_path / "other").replace(file.path)
    file.append(b"two\n")
    assert (file.path.read_bytes(), file.returned) == (b"edited\ntwo\n", 0)
    file.close()


def test_what_was_in_it_is_kept_until_it_can_be_written_anew(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "folder" / "lines")
    file.append(b"one\n")
    shutil.rmtree(tmp_path / "folder")
    (tmp_path / "folder").write_text("in the way")
    for _ in range(2):
        with pytest.raises(OSError):
            file.append(b"two\n")
    (tmp_path / "folder").unlink()
    file.append(b"three\n")
    assert file.path.read_bytes() == b"one\nthree\n"
    file.close()


def test_a_link_that_was_put_in_its_place_is_not_followed(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "lines")
    file.append(b"one\n")
    file.path.unlink()
    file.path.symlink_to(tmp_path / "victim")
    with pytest.raises(OSError):
        file.append(b"two\n")
    assert os.listdir(tmp_path) == ["lines"]
    file.close()
