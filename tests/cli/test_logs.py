"""`hel mcp logs`: the stderr of a project's servers, also while hel runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.options import Options
from hel_tui.core.store.places import PROJECT_MARK, find_places
from tests.cli.shell import HEL, ROOT
from tests.cli.typed import Typed
from tests.rig import LIMIT, Driver, servers_file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


@pytest.fixture
def typed(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Typed:
    return Typed(tmp_path, project, monkeypatch, capfd)


def session(typed: Typed, name: str, project: Path, age: float, **logs: str) -> None:
    folder = find_places(typed.env).session_dir(name)
    folder.mkdir(parents=True)
    (folder / PROJECT_MARK).write_text(f"{os.path.realpath(project)}\n")
    for server, text in logs.items():
        path = folder / f"{server}.stderr.log"
        path.write_text(text)
        os.utime(path, (time.time() - age,) * 2)


def test_the_newest_log_of_each_server_of_this_project(typed: Typed, project: Path, tmp_path: Path) -> None:
    session(typed, "1", project, 100, a="old a\n", b="only b\n")
    session(typed, "2", project, 50, a="one\n\x1b[31mtwo\r\nthree")
    session(typed, "3", tmp_path, 0, a="of another project\n")
    assert typed("mcp", "logs").out == "a | one\na | \\x1b[31mtwo\\r\na | three\nb | only b\n"
    assert typed("mcp", "logs", "a", "-n", "1").out == "\\x1b[31mtwo\\r\nthree\n"
    assert typed("mcp", "logs", "a", "--session", "1").out == "old a\n"
    rows = [json.loads(line) for line in typed("mcp", "logs", "b", "--json").out.splitlines()]
    assert rows == [{"server": "b", "session": "1", "text": "only b"}]


def test_what_is_not_there_is_a_sentence(typed: Typed) -> None:
    ran = typed("mcp", "logs")
    assert ran.status == 0 and "printed anything" in ran.err
    typed("mcp", "add", "inventory", "--", "x")
    assert typed("mcp", "logs", "inventory").status == 0
    ran = typed("mcp", "logs", "inventroy")
    assert ran.status == 1 and "did you mean inventory?" in ran.err
    assert typed("mcp", "logs", "--session", "x").status == 1
    assert typed("mcp", "logs", "-n", "-1").status == 2


def test_following_shows_what_a_running_hel_gets_to_hear(project: Path, tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "HEL_HOME": str(tmp_path / "hel"), "PYTHONPATH": str(ROOT)}
    named = servers_file(tmp_path, one="life:exit-at-once", two="life:exit-at-once")
    follower = subprocess.Popen(
        [*HEL, "mcp", "logs", "-f"],
        cwd=project,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # it may be ignored around here
    )
    try:
        with Driver(Options(project=project, environ=env, mcp_config=(named,))) as driver:
            driver.phase("one", "failed")
            driver.phase("two", "failed")
            seen: set[str] = set()
            end = time.monotonic() + LIMIT
            while seen != {"one", "two"} and time.monotonic() < end:
                assert follower.stdout is not None
                seen.add(follower.stdout.readline().partition(" | ")[0])
            assert seen == {"one", "two"}
    finally:
        follower.send_signal(signal.SIGINT)
        _, err = follower.communicate(timeout=LIMIT)
    assert follower.returncode == 130 and "Traceback" not in err
