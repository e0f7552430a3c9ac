"""Where hel keeps things."""

import os
import stat
from pathlib import Path

import pytest

from hel_tui.core.store.places import find_places, make_private, project_key


def test_hel_home_holds_everything(tmp_path: Path) -> None:
    places = find_places({"HEL_HOME": str(tmp_path)})
    assert (places.config, places.state, places.cache) == tuple(
        tmp_path / n for n in ("config", "state", "cache")
    )
    assert places.session_dir("abc") == tmp_path / "state" / "sessions" / "abc"
    assert places.user_servers == tmp_path / "config" / "mcp.json"


def test_without_hel_home_the_platform_decides() -> None:
    places = find_places({})
    assert places.config.name == "hel" and places.state.is_absolute()


def test_a_project_has_one_key_for_every_spelling(tmp_path: Path) -> None:
    real = tmp_path / "My Project"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    key = project_key(real)
    assert key.startswith("My-Project-")
    assert project_key(link) == project_key(tmp_path / "x" / ".." / "My Project") == key
    assert project_key(tmp_path) != key


def test_folders_are_private_under_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    for folder in (tmp_path / "a", tmp_path / "a" / "b"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_in_the_way_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(OSError):
        make_private(tmp_path / "f")
