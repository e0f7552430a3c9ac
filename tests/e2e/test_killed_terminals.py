"""A terminal whose hel was killed: its modes are taken back, unless somebody else has it."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.e2e.program import HEL, descendants, hel, submit
from tests.e2e.terminal import Terminal
from tests.fixtures.models.endpoint import ScriptedModel, call
from tests.rig import environment

SHELL = ("sh", "-c", f'{shlex.join(HEL)} "$@"; echo "ended with $?"; read line; echo "read: $line"', "sh")
PROMPT = "ask, /command"


def app_of(terminal: Terminal) -> psutil.Process:
    """hel itself, which a shell has started."""
    (found,) = (one for one in descendants(terminal) if "hel_tui" in one.cmdline())
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_the_terminal_of_a_killed_app_is_as_it_was(tmp_path: Path, number: signal.Signals) -> None:
    with hel(tmp_path, "--no-mcp", program=SHELL) as terminal:
        terminal.wait(PROMPT)
        app_of(terminal).send_signal(number)
        terminal.wait(f"ended with {128 + number}")
        terminal.wait_for(terminal.is_restored)
        terminal.type("words\r")
        terminal.wait("read: words")


def test_an_interactive_shell_reads_on_where_its_app_was_killed(tmp_path: Path) -> None:
    env = environment(tmp_path, PYTHONPATH=str(Path.cwd()), HEL_LANG="en", PS1="shell> ")
    with Terminal(["bash", "--norc", "--noprofile", "-i"], env=env, cwd=tmp_path) as terminal:
        terminal.wait("shell>")
        terminal.type(f"{shlex.join(HEL)} --no-mcp\r")
        terminal.wait(PROMPT)
        app_of(terminal).kill()
        terminal.wait_for(lambda: b"\x1b[?1049l" in terminal.raw and b"shell> " in terminal.raw[9:])
        terminal.type("stty -a | grep -c '[-]echo ' ; echo $((40+2))\r")
        terminal.wait_for(lambda: b"\r\n42\r\n" in terminal.raw)
        assert b"\r0\r\n42\r\n" in terminal.raw
        assert terminal.raw.count(b"\x1b[?1049l") == 1


def test_an_app_that_ended_by_itself_leaves_nothing_to_take_back(tmp_path: Path) -> None:
    with hel(tmp_path, "--no-mcp", program=SHELL) as terminal:
        terminal.wait(PROMPT)
        app = app_of(terminal)
        reapers = [one for one in app.children() if any("reaper" in part for part in one.cmdline())]
        assert reapers
        terminal.press("ctrl+d")
        terminal.wait("ended with 0")
        psutil.wait_procs(reapers, timeout=30)
        terminal.wait_idle(0.2)
        assert terminal.raw.count(b"\x1b[?1049l") == 1


def test_a_program_that_took_the_terminal_over_keeps_its_modes(tmp_path: Path) -> None:
    env = environment(tmp_path, PYTHONPATH=str(Path.cwd()), HEL_LANG="en", PS1="shell> ")
    with Terminal(["bash", "--norc", "--noprofile", "-i"], env=env, cwd=tmp_path) as terminal:
        terminal.wait("shell>")
        terminal.type(f"{shlex.join(HEL)} --no-mcp\r")
        terminal.wait(PROMPT)
        app = app_of(terminal)
        reapers = [one for one in app.children() if any("reaper" in part for part in one.cmdline())]
        for one in reapers:
            one.suspend()  # what it does comes late
        app.kill()
        terminal.wait_for(lambda: b"Killed" in terminal.raw)
        terminal.type(f'{sys.executable} -c \'print("begun" + " here"); input()\'\r')
        terminal.wait_for(lambda: b"begun here" in terminal.raw)
        for one in reapers:
            one.resume()
        psutil.wait_procs(reapers, timeout=30)
        terminal.wait_idle(0.2)
        assert b"\x1b[?1049l" not in terminal.raw


def test_what_a_killed_app_kept_in_temporary_folders_goes_with_it(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("not hel's")
    command = f"echo x > $TMPDIR/made; ln -s {tmp_path / 'kept'} $TMPDIR/link; sleep 300"
    with ScriptedModel([call("bash", {"command": command})]) as model:
        options = ("--no-mcp", "--access", "auto")
        with hel(tmp_path, *options, url=model.url, TMPDIR=str(temporary)) as terminal:
            submit(terminal, "go")
            terminal.wait_for(lambda: any(temporary.glob("hel-*/link")))
            terminal.kill(signal.SIGKILL)
            terminal.wait_end()
            terminal.wait_for(lambda: not any(temporary.glob("hel-*")))
    assert (tmp_path / "kept" / "file").exists()
