"""The whole program in a pseudo-terminal: start, trust, ask, approve, quit; and every way to end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import HEL, assert_gone, decide, descendants, submit
from tests.e2e.terminal import Terminal
from tests.rig import KOREAN, environment, received

ENGLISH = "Look up the port of the api service on the inventory server and put it into config.ini."


def demo(tmp_path: Path, columns: int = 120, rows: int = 40) -> Terminal:
    """`hel demo` on a fresh project, with a home of its own."""
    env = environment(tmp_path, PYTHONPATH=str(Path.cwd()), HEL_LANG="en")
    return Terminal([*HEL, "demo", "project"], env=env, cwd=tmp_path, columns=columns, rows=rows)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


@pytest.fixture(params=[(120, 40), (80, 24)], ids=["120x40", "80x24"])
def terminal(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    with demo(tmp_path, *request.param) as one:
        yield one


@pytest.mark.parametrize("request_text", [ENGLISH, KOREAN], ids=["english", "korean"])
def test_a_person_trusts_asks_approves_and_quits(
    terminal: Terminal, project: Path, request_text: str
) -> None:
    terminal.wait(r"inventory\.py.*y remember")  # the trust dialog with the whole command line
    assert not received(project)
    decide(terminal, "y remember", "y")
    terminal.wait(r"●")
    submit(terminal, request_text)
    for tool in ("list_services", "lookup_port"):
        decide(terminal, rf"inventory · {tool}.*y once", "y")
    terminal.wait(r"\+port=8437")  # the approval with the diff in view
    assert (project / "config.ini").read_bytes() == b"port=7000\n"
    decide(terminal, r"search_replace.*y once", "y")
    terminal.wait_for(lambda: (project / "config.ini").read_bytes() == b"port=8437\n")
    terminal.wait(r"✓ search_replace")
    servers = descendants(terminal)
    assert servers
    terminal.wait("Enter send")  # the turn is over
    terminal.press("ctrl+d")
    assert terminal.wait_end() == 0
    assert terminal.is_restored()
    assert_gone(servers)


def test_refusing_starts_nothing_and_hel_works_on(terminal: Terminal, project: Path) -> None:
    decide(terminal, r"inventory\.py.*y remember", "n")
    terminal.wait_for(lambda: "y remember" not in terminal.text)
    submit(terminal, "Which services are there?")
    terminal.wait("no tool|scripted demo")
    assert not received(project)
    terminal.wait("Enter send")  # the turn is over
    terminal.press("ctrl+d")
    assert terminal.wait_end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_restores_the_terminal_and_leaves_no_server(
    tmp_path: Path, project: Path, number: signal.Signals
) -> None:
    with demo(tmp_path) as terminal:
        decide(terminal, r"inventory\.py.*y remember", "y")
        terminal.wait(r"●")
        servers = descendants(terminal)
        assert servers
        terminal.kill(number)
        terminal.wait_end()
        assert terminal.is_restored()
        assert_gone(servers)


def test_after_kill_9_no_server_is_left(tmp_path: Path) -> None:
    with demo(tmp_path) as terminal:
        decide(terminal, r"inventory\.py.*y remember", "y")
        terminal.wait(r"●")
        servers = descendants(terminal)
        assert servers
        terminal.kill(signal.SIGKILL)
        terminal.wait_end()
        assert_gone(servers)
