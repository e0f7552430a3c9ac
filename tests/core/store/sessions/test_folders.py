"""Sessions are found by their folders, and taken away with all that is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions import folders
from hel_tui.core.store.sessions.folders import delete_session
from hel_tui.core.store.sessions.journal import Journal
from hel_tui.core.store.sessions.locking import Lock


def session(folder: Path) -> Journal:
    journal = Journal(folder, Redactor(), Lock(folder))
    journal.write({"k": "session", "v": 1, "id": folder.name})
    (folder / "files").mkdir()
    (folder / "files" / "result.txt").write_text("a result")
    return journal


def test_a_session_goes_with_all_its_files_and_its_neighbours_stay(tmp_path: Path) -> None:
    for name in ("one", "two"):
        session(tmp_path / name).close()
    assert delete_session(tmp_path / "one") == ""
    assert [path.name for path in tmp_path.iterdir()] == ["two"]


def test_one_that_is_open_stays(tmp_path: Path) -> None:
    journal = session(tmp_path / "one")
    assert delete_session(tmp_path / "one") == "one is open; close it first."
    assert (tmp_path / "one" / "files" / "result.txt").read_text() == "a result"
    journal.close()


def test_what_a_crash_left_of_a_deletion_goes_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        session(tmp_path / name).close()

    def crash(_path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(folders.shutil, "rmtree", crash)
        with pytest.raises(KeyboardInterrupt):
            delete_session(tmp_path / "one")
    assert len(list(tmp_path.iterdir())) == 2, "it is out of sight, and still there"
    assert delete_session(tmp_path / "two") == ""
    assert list(tmp_path.iterdir()) == []
