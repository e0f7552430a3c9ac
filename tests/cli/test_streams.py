"""Standard streams that are closed, full, gone or not UTF-8, and folders that are not there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import ROOT, hel
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import environment

FULL = Path("/dev/full")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {**environment(tmp_path), "PYTHONPATH": str(ROOT)}


def shell(line: str, env: dict[str, str], cwd: Path) -> tuple[int, str, str]:
    """Status and output of a shell's line in which `hel` is hel."""
    program = f'hel() {{ "{sys.executable}" -m hel_tui "$@"; }}; {line}'
    done = subprocess.run(
        ["/bin/sh", "-c", program], env=env, cwd=cwd, capture_output=True, timeout=120, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["--help", "--version", "help trust", "mcp list", "run --help"])
def test_output_that_does_not_fit_is_a_failure_in_one_line(command: str, env, tmp_path: Path) -> None:
    status, _, said = shell(f"hel {command} >/dev/full", env, tmp_path)
    assert status == 1
    assert "Traceback" not in said and "Exception ignored" not in said


@pytest.mark.parametrize("command", ["--help", "help trust", "mcp list", "mcp list --json"])
def test_a_reader_that_is_gone_is_a_failure_without_a_trace(command: str, env, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "hel_tui", *command.split()],
            env=env,
            cwd=tmp_path,
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    finally:
        os.close(write)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["mcp list", "--help", "run -", "demo --lay-only made"])
def test_closed_streams_leave_no_trace(command: str, closed: str, env, tmp_path: Path) -> None:
    status, out, said = shell(f"hel {command} </dev/null {closed}", env, tmp_path)
    assert status == (2 if command == "run -" else 0)
    assert "Traceback" not in out + said and "Exception ignored" not in out + said


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["", "--json"])
def test_a_run_whose_output_does_not_fit_fails_without_a_trace(option: str, env, tmp_path: Path) -> None:
    with ScriptedModel([say("hello")]) as model:
        line = f"hel run --base-url {model.url} --model a/b {option} hi >/dev/full"
        status, _, said = shell(line, env, tmp_path)
    assert status == 1 and "Traceback" not in said and "Exception ignored" not in said


def test_a_prompt_is_utf_8_in_every_locale(env, tmp_path: Path) -> None:
    env |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with ScriptedModel([say("grün"), say("b")]) as model:
        common = f"hel run --base-url {model.url} --model a/b"
        status, out, said = shell(f"{common} 'héé'; printf 'h\\303\\251\\377' | {common} -", env, tmp_path)
        asked = [request["messages"][-1]["content"] for request in model.requests]
    assert status == 0 and "Traceback" not in said
    assert "gr\\xfcn" in out
    assert "héé" in asked[0] and "hé\ufffd" in asked[1]


@pytest.mark.parametrize("command", ["mcp list", "run --model a/b hi", "demo --lay-only made"])
def test_a_home_that_cannot_be_named_is_a_sentence(command: str, env, tmp_path: Path) -> None:
    ran = hel(*command.split(), env={**env, "HEL_HOME": "~nobody-of-that-name/x"}, cwd=tmp_path)
    assert ran.status == 2 and "HEL_HOME=~nobody-of-that-name/x" in ran.err and "Traceback" not in ran.err


def test_a_folder_of_nobody_is_a_sentence(env, tmp_path: Path) -> None:
    ran = hel("mcp", "list", "-C", "~nobody-of-that-name", env=env, cwd=tmp_path)
    assert ran.status == 2 and "~nobody-of-that-name" in ran.err and "Traceback" not in ran.err


@pytest.mark.parametrize("command", ["mcp list", "mcp list -C .", "run --model a/b hi"])
def test_a_current_folder_that_is_gone_is_a_sentence(command: str, env, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    status, _, said = shell(f"cd gone; rmdir ../gone; hel {command}", env, tmp_path)
    assert status == 2 and "folder" in said and "Traceback" not in said
