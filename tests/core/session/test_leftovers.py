"""Servers of an earlier run that still run: offered for ending at the start, never ended unasked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from hel_tui.core import protocol as p
from hel_tui.core.mcp.leftovers import FOLDER
from hel_tui.core.store import remains
from hel_tui.core.store.places import find_places
from tests.rig import Driver, environment

Open = Callable[..., Driver]


@pytest.fixture
def left(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a record of a hel that is gone."""
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(300)"], start_new_session=True
    )
    folder = find_places(environment(tmp_path)).state / FOLDER
    folder.mkdir(parents=True)
    created = psutil.Process(process.pid).create_time()
    server = {"server": "old", "pid": process.pid, "created": created, "command_line": "python old.py"}
    (folder / "1.json").write_text(
        json.dumps({"hel": {"pid": process.pid, "created": 5.0}, "servers": [server]})
    )
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("end", [True, False])
def test_what_an_earlier_run_left_is_ended_only_when_asked(
    end: bool, play: Open, left: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    record = find_places(environment(tmp_path)).state / FOLDER / "1.json"
    with play(servers={}) as driver:
        question = driver.answer(p.LeftoversQuestion, p.LeftoversAnswer(end))
        assert question.servers == (f"old, pid {left.pid}: python old.py",)
        if end:
            left.wait(10)
            driver.wait(lambda _events: not record.exists())
        assert not driver.of(p.Notice)
    assert record.exists() is not end
    assert end or left.poll() is None


def test_headless_it_is_only_told(play: Open, left: subprocess.Popen[bytes]) -> None:
    with play(servers={}, answerable=False) as driver:
        driver.wait(lambda _events: [n for n in driver.of(p.Notice) if f"old, pid {left.pid}" in n.text])
    assert left.poll() is None


def test_what_a_killed_hel_had_begun_goes_when_the_next_one_starts(
    play: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = find_places(environment(tmp_path))
    begun = places.sessions / ".new-20260101-120000-0123abcd"
    begun.mkdir(parents=True)
    part = places.state / remains.part_name()
    part.write_text("half")
    monkeypatch.setattr(remains, "OLD", -1.0)
    with play(servers={}) as driver:
        driver.wait(lambda _: not begun.exists() and not part.exists(), "both to go")
