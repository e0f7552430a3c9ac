"""Bugs of hel's own end in a report and a clean terminal; output of libraries never reaches the screen."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.program import BROKEN, assert_gone, descendants, hel, submit
from tests.rig import servers_file

SECRET = "sk-local-0123456789abcdefghij"


def test_a_crash_of_the_core_shows_a_report_and_leaves_a_clean_terminal(tmp_path: Path) -> None:
    servers = servers_file(tmp_path, fix="wire:ok")
    with hel(tmp_path, "core", "--mcp-config", servers, program=BROKEN) as terminal:
        terminal.wait(r"●")
        processes = descendants(terminal)
        started = [process for process in processes if "wire.py" in str(process.cmdline())]
        assert started
        submit(terminal, "break")
        terminal.wait(r"the core broke.*broken\.py")
        assert_gone(started)
        terminal.press("escape")
        assert terminal.wait_end() == 1
        assert terminal.is_restored()
        after = terminal.raw.decode().rpartition("\x1b[?1049l")[2]
        assert "the core broke" in after
        assert SECRET not in terminal.raw.decode()
        assert_gone(processes)


def test_a_crash_of_the_screen_prints_where_without_values_and_leaves_a_clean_terminal(
    tmp_path: Path,
) -> None:
    servers = servers_file(tmp_path, fix="wire:ok")
    with hel(tmp_path, "screen", "--mcp-config", servers, program=BROKEN) as terminal:
        terminal.wait(r"●")
        processes = descendants(terminal)
        terminal.press("f1")
        assert terminal.wait_end() == 1
        assert terminal.is_restored()
        after = terminal.raw.decode().rpartition("\x1b[?1049l")[2]
        assert "RuntimeError: the screen broke" in after
        assert "broken.py" in after
        assert SECRET not in terminal.raw.decode()
        assert "held" not in after
        assert_gone(processes)


def test_a_core_that_hangs_does_not_keep_the_screen_or_the_servers(tmp_path: Path) -> None:
    servers = servers_file(tmp_path, fix="wire:ok")
    with hel(tmp_path, "hangs", "--mcp-config", servers, program=BROKEN) as terminal:
        terminal.wait(r"●")
        processes = descendants(terminal)
        submit(terminal, "hang")
        terminal.type("still heard")
        terminal.wait("still heard")
        terminal.press("\x11")  # Ctrl+Q
        terminal.wait("Ctrl\\+C")
        terminal.press("ctrl+c")
        terminal.wait_end(limit=10)
        assert terminal.is_restored()
        assert_gone(processes)


def test_what_libraries_print_never_paints_the_screen(tmp_path: Path) -> None:
    servers = servers_file(tmp_path, fix="wire:ok")
    with hel(tmp_path, "prints", "--mcp-config", servers, program=BROKEN) as terminal:
        terminal.wait(r"●")
        terminal.type("typing meanwhile")
        terminal.wait("typing meanwhile")
        assert b"STRAY" not in terminal.raw
        terminal.press("\x11")  # Ctrl+Q
        assert terminal.wait_end() == 0
        assert terminal.is_restored()
