"""The ends of `hel run` that come from outside: nobody reads, nobody ends what is piped in, signals."""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from hel_tui.cli.bounds import UNREAD
from hel_tui.cli.lines import Json
from hel_tui.cli.streams import MOST
from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime
from tests.cli.shell import HEL, ROOT
from tests.e2e.terminal import Terminal
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, mode, say
from tests.rig import KEY, environment

LONG = 60.0
"""Seconds after which a run that should have ended is stuck."""
Run = subprocess.Popen[bytes]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY=KEY, PYTHONPATH=str(ROOT))


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


@pytest.fixture
def begin(project: Path, env, model) -> Iterator[Callable[..., Run]]:
    """Starts `hel run`, its output in pipes that nobody reads yet."""
    begun: list[Run] = []

    def go(*arguments: str, stdin: int | IO[bytes] = subprocess.DEVNULL) -> Run:
        chosen = ("--no-mcp", "--access", "auto", "--model", "scripted/scripted", "--base-url", model.url)
        command = [*HEL, "run", *arguments, *chosen]
        pipe = subprocess.PIPE
        begun.append(subprocess.Popen(command, env=env, cwd=project, stdin=stdin, stdout=pipe, stderr=pipe))
        return begun[-1]

    yield go
    for run in begun:
        with contextlib.suppress(OSError):
            run.kill()
        run.communicate()


def wait_for(true: Callable[[], object]) -> None:
    end = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def results_no_pipe_holds(model: ScriptedModel) -> None:
    """Then calls that each leave a line in late.txt, for longer than anybody waits here."""
    big = call("bash", {"command": "seq 1 9000 | head -c 45000"})
    late = call("bash", {"command": "echo late >> late.txt; sleep 0.3"})
    model.replies[:] = [big, big, big, *[late] * 300]


def last_line(run: Run) -> dict[str, object]:
    out, err = run.communicate(timeout=LONG)
    assert b"Traceback" not in err
    line = json.loads(out.splitlines()[-1])
    assert line["type"] == "result"
    return line


@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM])
def test_calls_end_with_the_run_although_nobody_reads_it(begin, model, project: Path, number) -> None:
    results_no_pipe_holds(model)
    late = project / "late.txt"
    run = begin("go", "--json", "--max-steps=300", *(("--timeout", "4") if number is None else ()))
    if number is not None:
        wait_for(late.exists)
        run.send_signal(number)
    assert run.wait(LONG) == (3 if number is None else 130)
    made = late.read_text() if late.exists() else ""
    time.sleep(1)
    assert (late.read_text() if late.exists() else "") == made


@pytest.mark.parametrize("number", [None, signal.SIGHUP])
def test_an_answer_that_nobody_reads_ends_with_its_run(begin, model, number) -> None:
    model.replies[:] = [mode("flood-endless")]
    run = begin("go", *(("--timeout", "3") if number is None else ()))
    if number is not None:
        assert run.stdout.read(10) == b"word word "
        run.send_signal(number)
    assert run.wait(LONG) == (3 if number is None else 130)


def test_a_second_signal_ends_it_before_what_runs_has_ended(begin, model, project: Path) -> None:
    results_no_pipe_holds(model)
    model.replies[3:] = [call("bash", {"command": "trap '' TERM; touch late.txt; sleep 20 & wait; sleep 20"})]
    run = begin("go", "--json")
    wait_for((project / "late.txt").exists)
    run.send_signal(signal.SIGINT)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    assert run.wait(UNREAD) == 130


def test_signals_that_come_at_once_are_one_and_end_it_in_order(begin, model, project: Path) -> None:
    command = "trap 'echo asked > asked.txt; exit' TERM; touch begun.txt; while :; do sleep 0.05; done"
    model.replies[:] = [call("bash", {"command": command})]
    run = begin("go", "--json")
    wait_for((project / "begun.txt").exists)
    for number in (signal.SIGSTOP, signal.SIGHUP, signal.SIGTERM, signal.SIGCONT):  # both wait for it at once
        run.send_signal(number)
    result = last_line(run)
    assert (run.returncode, result["status"]) == (130, "interrupted")
    assert (project / "asked.txt").exists()


def test_a_reader_that_pauses_loses_nothing(begin, model) -> None:
    text = "word " * 60_000
    model.replies[:] = [say(text)]
    run = begin("go")
    time.sleep(UNREAD + 0.5)
    assert run.communicate(timeout=LONG)[0].decode() == text + "\n"
    assert run.returncode == 0


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("prompt", ["-", "what is this?"])
@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM])
def test_what_is_piped_in_without_an_end_holds_no_run(begin, model, pipe, prompt: str, number) -> None:
    os.write(pipe[1], b"it begins, ")
    run = begin(prompt, "--json", *(("--timeout", "2") if number is None else ()), stdin=pipe[0])
    if number is not None:
        wait_for(lambda: not _unread(pipe[0]))
        run.send_signal(number)
    result = last_line(run)
    expected = (3, "limit") if number is None else (130, "interrupted")
    assert (run.returncode, result["status"], result["exit"]) == (*expected, expected[0])
    assert model.requests == []


def _unread(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])


@pytest.mark.parametrize("prompt", ["-", "what is this?"])
def test_more_than_is_read_of_a_pipe_is_a_usage_error(begin, model, tmp_path: Path, prompt: str) -> None:
    with (tmp_path / "long.txt").open("w+b") as file:
        file.truncate(MOST + 1)
        run = begin(prompt, stdin=file)
        out, err = run.communicate(timeout=LONG)
    assert (run.returncode, out, model.requests) == (2, b"", [])
    assert b"more than 32 MiB" in err


def test_at_a_terminal_the_value_stands_there_once(env, model, project: Path) -> None:
    schema = {"type": "object", "properties": {"port": {"type": "integer"}}}
    (project / "schema.json").write_text(json.dumps(schema))
    look = calls(call("glob", {"pattern": "*"}), text="I look first.")
    model.replies[:] = [look, say('{"port": 1234}')]
    chosen = ("--output-schema", "schema.json", "--no-mcp", "--model", "s/s", "--base-url", model.url)
    with Terminal([*HEL, "run", "port?", *chosen], env=env, cwd=project) as terminal:
        assert terminal.wait_end() == 0
        written = terminal.raw.decode()
    assert written.count("1234") == 1 and "I look first." in written


def test_at_a_terminal_an_answer_that_does_not_fit_is_shown(env, model, project: Path) -> None:
    (project / "schema.json").write_text('{"type": "object"}')
    model.replies[:] = [say("no such port")] * 3
    chosen = ("--output-schema", "schema.json", "--no-mcp", "--model", "s/s", "--base-url", model.url)
    with Terminal([*HEL, "run", "port?", *chosen], env=env, cwd=project) as terminal:
        assert terminal.wait_end() == 1
        assert terminal.raw.decode().count("no such port") == 3


def test_an_error_that_ends_the_run_is_told_once(tmp_path: Path) -> None:
    sentence = "Session 2026 cannot be opened: permission denied."
    out = io.StringIO()
    printer = Json(Runtime(Options(tmp_path, environ={})), out=out)
    printer.take(p.Notice("error", sentence))
    printer.take(p.TurnEnded(1, "failed", sentence))
    assert printer.finish() == 1
    told = [line for line in map(json.loads, out.getvalue().splitlines()) if line["type"] == "error"]
    assert [line["message"] for line in told] == [sentence]
