"""What a killed hel had begun to write goes once it is old; nothing else does."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hel_tui.core.store import remains
from hel_tui.core.store.atomic import write_atomic
from hel_tui.core.store.remains import part_name, sweep_parts, sweep_sessions

NEW = ".new-20260101-120000-0123abcd"
DELETED = ".deleted-20260101-120000-0123abcd-0a1b2c"


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes everything that is there by now old."""
    now = time.time()
    return lambda: monkeypatch.setattr(remains.time, "time", lambda: now + 2 * remains.OLD)


@pytest.fixture
def whole(tmp_path: Path) -> set[Path]:
    """What stays however old it is: other names, links, folders."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    stay = {
        tmp_path / name for name in (".hel-0123.part", "x.part", ".hel-0123456789abcdef.part.txt", "file")
    }
    for path in stay:
        path.write_text("x")
    for name in (part_name(), ".new-20260101-120000-ffffffff"):
        (tmp_path / name).symlink_to(outside)
        stay.add(tmp_path / name)
    for name in (part_name(), ".new-mine", ".deleted-", "20260101-120000-0123abcd"):
        (tmp_path / name).mkdir()
        stay.add(tmp_path / name)
    return {*stay, outside, outside / "kept"}


def test_old_parts_go_and_all_else_stays(tmp_path: Path, whole: set[Path], late: Callable[[], None]) -> None:
    part = tmp_path / part_name()
    part.write_text("half")
    sweep_parts(tmp_path)
    assert part.exists(), "it may still be written"
    late()
    sweep_parts(tmp_path)
    assert set(tmp_path.rglob("*")) == whole


def test_the_folder_may_be_a_descriptor_and_may_be_gone(tmp_path: Path, late: Callable[[], None]) -> None:
    (tmp_path / part_name()).write_text("half")
    late()
    handle = os.open(tmp_path, os.O_RDONLY)
    sweep_parts(handle)
    os.fstat(handle)
    os.close(handle)
    assert not list(tmp_path.iterdir())
    sweep_parts(tmp_path / "gone")
    sweep_sessions(tmp_path / "gone")


@pytest.mark.parametrize("name", [NEW, DELETED])
def test_begun_and_half_deleted_sessions_go_and_all_else_stays(
    tmp_path: Path, whole: set[Path], late: Callable[[], None], name: str
) -> None:
    (tmp_path / name / "files").mkdir(parents=True)
    (tmp_path / name / "files" / "link").symlink_to(tmp_path / "outside")
    os.utime(tmp_path / name, (0, 0))
    sweep_sessions(tmp_path)
    assert (tmp_path / name).exists(), "it may still be written, whatever time it has"
    late()
    sweep_sessions(tmp_path)
    assert set(tmp_path.rglob("*")) == whole


def test_one_whose_newest_file_is_young_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / NEW).mkdir()
    (tmp_path / NEW / "big").write_text("x")
    young = (tmp_path / NEW / "big").lstat().st_ctime_ns
    real = remains._is_old
    monkeypatch.setattr(remains, "_is_old", lambda state: state.st_ctime_ns != young or real(state))
    sweep_sessions(tmp_path)
    assert (tmp_path / NEW).exists()


def test_the_next_writer_takes_old_parts_away(tmp_path: Path, late: Callable[[], None]) -> None:
    (tmp_path / part_name()).write_text("half")
    late()
    assert write_atomic(tmp_path / "settings.toml", b"x") is None
    assert [one.name for one in tmp_path.iterdir()] == ["settings.toml"]


def test_a_name_as_long_as_names_may_be_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    assert write_atomic(path, b"x") is None
    assert path.read_bytes() == b"x"
