"""The reaper's search for marked processes: none is passed over, whatever it is doing at the moment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hel_tui.core.reaper import find_marked, kill_marked

LOOKS = 300
MARK = "HEL_TEST_MARK"


@pytest.fixture
def restless(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A marked process that becomes another program over and over: for moments it has no environment."""
    script = tmp_path / "again"
    script.write_text('#!/bin/sh\nexec "$0"\n')
    script.chmod(0o755)
    process = subprocess.Popen([script], env={**os.environ, MARK: f"{tmp_path}-1"})
    yield process
    process.kill()
    process.wait()


def test_a_process_that_becomes_another_program_is_found_each_time(
    restless: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    missed = [look for look in range(LOOKS) if restless.pid not in find_marked(MARK, str(tmp_path))]
    assert missed == []


def test_a_process_that_becomes_another_program_is_ended(
    restless: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    kill_marked(MARK, str(tmp_path))
    assert restless.wait(timeout=60) == -9


def test_one_without_any_environment_is_passed_over_and_the_search_ends(tmp_path: Path) -> None:
    bare = subprocess.Popen(["/usr/bin/env", "-i", "/bin/sleep", "60"])
    try:
        assert bare.pid not in find_marked(MARK, str(tmp_path))
    finally:
        bare.kill()
        bare.wait()
