"""bash: answers, limits, and that nothing a command started is left."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hel_tui.core.guard import COMMAND
from hel_tui.core.reaper import find_marked
from hel_tui.core.tools.bash import KEPT_OUTPUT, NO_SANDBOX, Bash, command_environment
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.processes import Bounded
from hel_tui.core.vocabulary import Invocation, Outcome

PATIENCE = 60.0
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
"""The interpreter itself: one in a virtual environment below /tmp is not seen inside a sandbox."""
SETSID = (
    f"{PYTHON} -c 'import os, sys; os.setsid(); os.mkdir(sys.argv[1]); os.execvp(sys.argv[2], sys.argv[2:])'"
)
"""Leaves the process group of its parent, makes a folder to say so, and becomes another program."""


@pytest.fixture(params=["sandboxed", "bare"])
def tool(tmp_path: Path, request: pytest.FixtureRequest) -> Bash:
    return made(tmp_path, sandboxed=request.param == "sandboxed")


def made(tmp_path: Path, *, sandboxed: bool, **environ: str) -> Bash:
    """A tool in a project of its own, with a sandbox or (no program for one on PATH) without."""
    project = tmp_path / "project"
    project.mkdir()
    workspace = Workspace(project, tmp_path / "files")
    bare = tmp_path / "bin"
    bare.mkdir()
    (bare / "bash").symlink_to("/bin/bash")
    tool = Bash(workspace, {**os.environ, **environ, **({} if sandboxed else {"PATH": str(bare)})})
    if sandboxed and not tool.sandboxed:
        pytest.skip("no sandbox on this system")
    tool._environ["PATH"] = os.environ["PATH"]
    assert tool.sandboxed == sandboxed
    return tool


async def bash(tool: Bash, command: str, **arguments: object) -> Outcome:
    return await tool.run({"command": command, **arguments}, Invocation("1"))


async def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        await asyncio.sleep(0.01)


def sleepers(mark: str) -> list[psutil.Process]:
    """Running processes with `mark` as an argument."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


async def test_the_answer_is_the_code_then_stdout_then_stderr(tool: Bash) -> None:
    outcome = await bash(tool, "echo err >&2; printf out; pwd | sed 's,.*/,,'")
    assert outcome == Outcome("exit=0\noutproject\nerr\n")


async def test_a_code_other_than_zero_is_a_failure(tool: Bash) -> None:
    assert await bash(tool, "echo x; exit 3") == Outcome("exit=3\nx\n", failed=True)
    assert await bash(tool, "kill -9 $$") == Outcome("exit=137\n", failed=True)
    assert (await bash(tool, "no-such-program")).text.startswith("exit=127\n")
    assert (await bash(tool, "if")).failed


async def test_input_is_closed_and_every_shell_is_fresh(tool: Bash) -> None:
    assert (await bash(tool, "cat; read x; cd /; export A=1; echo done")).text == "exit=0\ndone\n"
    assert (await bash(tool, 'pwd | sed "s,.*/,,"; echo "[$A]"')).text == "exit=0\nproject\n[]\n"


async def test_startup_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "start").write_text("echo started")
    tool = made(tmp_path, sandboxed=False, BASH_ENV=str(tmp_path / "start"), ENV=str(tmp_path / "start"))
    assert (await bash(tool, "echo x")).text == "exit=0\nx\n"


def test_keys_and_startup_variables_do_not_reach_a_command() -> None:
    given = {
        "OPENAI_API_KEY": "1",
        "MY_APIKEY": "1",
        "ANTHROPIC_AUTH_TOKEN": "1",
        "HEL_HOME": "1",
        "BASH_ENV": "x",
        "PATH": "/bin",
        "KEYBOARD": "us",
    }
    kept = command_environment(given)
    assert {"PATH", "KEYBOARD", "TERM"} <= set(kept)
    assert not set(kept) & {"OPENAI_API_KEY", "MY_APIKEY", "ANTHROPIC_AUTH_TOKEN", "HEL_HOME", "BASH_ENV"}


async def test_what_runs_in_the_background_ends_with_the_command(tool: Bash) -> None:
    mark = f"86{os.getpid()}1"
    left = f"sleep {mark} & {SETSID} one sleep {mark} & ({SETSID} two nohup sleep {mark} &)"
    outcome = await bash(tool, f"{left}; until [ -e one -a -e two ]; do :; done; echo on")
    assert outcome.text == "exit=0\non\n"
    await until(lambda: not sleepers(mark))


async def test_at_the_time_limit_all_of_it_is_ended_and_output_so_far_is_kept(tool: Bash) -> None:
    mark = f"86{os.getpid()}2"
    command = f"echo begun; trap '' TERM; {SETSID} one sleep {mark} & sleep {mark} & sleep {mark}; echo never"
    outcome = await bash(tool, command, timeout=1)
    assert outcome.failed
    assert outcome.text.startswith("exit=124\nbegun\n")
    assert "Stopped after 1 seconds" in outcome.text
    assert "never" not in outcome.text
    await until(lambda: not sleepers(mark))


async def test_cancelling_ends_all_of_it(tool: Bash) -> None:
    mark = f"86{os.getpid()}3"
    command = f"trap '' TERM INT; {SETSID} one sleep {mark} & sleep {mark} & sleep {mark}"
    task = asyncio.create_task(bash(tool, command))
    await until(lambda: len(sleepers(mark)) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not sleepers(mark))


async def test_a_flood_is_cut_in_the_middle_and_saved(tool: Bash, tmp_path: Path) -> None:
    outcome = await bash(tool, "echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert outcome.text.startswith("exit=0\nfirst\nxxx")
    assert outcome.text.endswith("x\nlast\n")
    assert len(outcome.text) < 6_000
    assert len(outcome.saved) == 1
    saved = outcome.saved[0].read_text()
    assert saved == outcome.full
    assert "bytes left out here" in saved
    assert KEPT_OUTPUT <= len(saved) < KEPT_OUTPUT + 100


async def test_bytes_that_are_no_text_do_not_break_the_answer(tool: Bash) -> None:
    assert (await bash(tool, "printf '\\xff\\x00ok'")).text == "exit=0\n�\0ok\n"


async def test_progress_tells_the_last_line_now_and_then(tmp_path: Path) -> None:
    tool = made(tmp_path, sandboxed=False)
    told: list[str] = []
    invocation = Invocation("1", lambda _done, _total, message: told.append(message))
    command = "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.1; done"
    await tool.run({"command": command}, invocation)
    assert told
    assert len(told) < 4
    assert all(line.startswith("line ") for line in told)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"command": "  "}, "empty"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "\ud800"}, "surrogates"),
        ({"command": "x", "timeout": 601}, "at `timeout`: 601 is more than 600"),
        ({}, "at `command`: it is required"),
        ({"command": "x" * 3_000_000}, "not started"),
    ],
)
async def test_what_cannot_run_is_a_sentence(
    tmp_path: Path, arguments: dict[str, object], words: str
) -> None:
    outcome = await made(tmp_path, sandboxed=False).run(arguments, Invocation("1"))
    assert outcome.failed
    assert words in outcome.text


def test_without_a_sandbox_it_says_so(tmp_path: Path) -> None:
    tool = made(tmp_path, sandboxed=False)
    assert tool.warnings == (NO_SANDBOX,)
    assert tool.subject({"command": "git log\n--all"}) == "git log\n--all"
    assert tool.summary({"command": "git log\n--all"}) == "git log…"


@pytest.mark.parametrize("sizes", [[5], [10], [11], [3, 3, 3, 3], [1] * 57, [100]])
def test_bounded_output_keeps_beginning_and_end(sizes: list[int]) -> None:
    data = bytes(33 + number % 90 for number in range(sum(sizes)))
    bounded, at = Bounded(10), 0
    for size in sizes:
        bounded.feed(data[at : at + size])
        at += size
    text = data.decode()
    if len(data) <= 10:
        assert bounded.text() == text
    else:
        assert bounded.text() == f"{text[:5]}\n[{len(data) - 10} bytes left out here]\n{text[-5:]}"


def test_a_command_gets_no_credential_whatever_its_name_but_proxies_stay() -> None:
    given = {
        "GITHUB_TOKEN": "plain words 77",
        "DB_PASSWORD": "correct horse",
        "ANYTHING": "ghp_0123456789abcdefghij01",
        "https_proxy": "http://me:secret1@proxy:3128",
        "SSH_AUTH_SOCK": "/tmp/agent",
        "EDITOR": "vi",
    }
    kept = set(command_environment(given)) & set(given)
    assert kept == {"https_proxy", "SSH_AUTH_SOCK", "EDITOR"}
    assert set(given) <= set(command_environment(given, with_secrets=True)), "what the person types is theirs"


def begin(program: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


async def test_a_command_outside_the_sandbox_ends_when_hel_is_killed(tmp_path: Path) -> None:
    program = (
        "import asyncio, os\n"
        "from pathlib import Path\n"
        "from hel_tui.core.tools.processes import command_guard, run_program\n"
        "print(command_guard().run, flush=True)\n"
        "asyncio.run(run_program(['sleep', '60'], cwd=Path('/'), env=dict(os.environ), limit=60,\n"
        "    out=len, err=len, find_marked=True))\n"
    )
    hel = begin(program)
    assert hel.stdout is not None
    run = hel.stdout.readline().strip()
    await until(lambda: bool(find_marked(COMMAND, run)))
    hel.kill()
    hel.wait()
    hel.stdout.close()
    await until(lambda: not find_marked(COMMAND, run))
