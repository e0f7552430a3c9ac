"""`hel` in a pseudo-terminal, and what is done with it again and again."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.e2e.terminal import Terminal
from tests.rig import KEY, environment

HEL = (sys.executable, "-m", "hel_tui")
BROKEN = (sys.executable, str(Path(__file__).with_name("broken.py")))


def hel(
    folder: Path,
    *arguments: str | Path,
    program: Sequence[str] = HEL,
    url: str = "",
    size: tuple[int, int] = (120, 40),
    **env: str,
) -> Terminal:
    """The program in a home of its own in `folder`, its project beside it; `url` is a scripted model's."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    model = ("--model", "scripted/scripted", "--base-url", url) if url else ()
    given = environment(folder, PYTHONPATH=str(Path.cwd()), HEL_LANG="en", HEL_API_KEY=KEY, **env)
    command = [*program, *map(str, arguments), *model]
    return Terminal(command, env=given, cwd=project, columns=size[0], rows=size[1])


def submit(terminal: Terminal, text: str) -> None:
    """Type into the prompt and send."""
    terminal.wait("ask, /command, @file or resource, !shell")
    terminal.type(text)
    terminal.wait_idle(0.3)  # a line that came all at once would be a paste
    terminal.press("enter")


def decide(terminal: Terminal, dialog: str, key: str) -> None:
    """Answer a decision as a person does: look at it to its end, press one key, again if it was not heard."""
    terminal.wait(dialog)
    for _ in range(10):
        terminal.wait_idle(0.6)  # dialogs are deaf at first, and on a busy machine for longer
        terminal.press("end", key)
        for _ in range(20):
            terminal.wait_idle(0.1)
            if not re.search(dialog, terminal.text, re.S):
                return
    raise AssertionError(f"the decision stays:\n{terminal.text}")


def descendants(terminal: Terminal) -> list[psutil.Process]:
    """Every process the program started and that still runs."""
    try:
        return psutil.Process(terminal.process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def assert_gone(processes: Sequence[psutil.Process]) -> None:
    """None of these runs any more, or will in a moment; dead ones that nobody has buried do not count."""
    end = time.monotonic() + 15
    while left := [process for process in processes if runs(process)]:
        assert time.monotonic() < end, [process.cmdline() for process in left]
        psutil.wait_procs(left, timeout=0.1)


def runs(process: psutil.Process) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
