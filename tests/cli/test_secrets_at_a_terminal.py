"""Values that a person types for servers: never echoed, kept, passed to the server, hidden from then on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hel_tui.core.store.places import find_places
from tests.cli.shell import HEL, ROOT, hel
from tests.e2e.terminal import Terminal
from tests.rig import SERVERS, environment

VALUE = "typed-in-secret-1"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    null = "keyring.backends.null.Keyring"
    return environment(tmp_path, PYTHONPATH=str(ROOT), PYTHON_KEYRING_BACKEND=null)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


def typed(terminal: Terminal, prompt: str, line: str) -> None:
    terminal.wait_for(lambda: terminal.text.rstrip().endswith(prompt))
    terminal.type(f"{line}\n")


def test_a_value_is_asked_for_without_echo_and_reaches_the_server(
    project: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    server = [sys.executable, "-S", "-E", str(SERVERS / "life.py"), "report"]
    command = [
        *HEL,
        "mcp",
        "add",
        "fix",
        "--secret",
        "TOKEN",
        "-e",
        f"EVENTS={tmp_path}/events",
        "--",
        *server,
    ]
    with Terminal(command, env=env, cwd=project, columns=200) as terminal:
        typed(terminal, "TOKEN:", VALUE)
        terminal.wait_for(lambda: "Added fix" in terminal.text and "hel mcp tools fix" in terminal.text)
        assert VALUE not in terminal.text
    assert VALUE not in find_places(env).local_servers(project).read_text()
    ran = hel("mcp", "call", "fix", "report", env=env, cwd=project)
    assert ran.status == 0 and "TOKEN" in ran.out
    assert VALUE not in ran.out + ran.err and "redacted" in ran.out


def test_a_server_whose_value_is_not_kept_is_not_started_and_says_what_to_do(
    project: Path, env: dict[str, str]
) -> None:
    hel("mcp", "add", "fix", "-e", "T=${keyring:nobody.has}", "--", "sh", env=env, cwd=project)
    ran = hel("mcp", "tools", "fix", env=env, cwd=project)
    assert ran.status == 1
    assert "not started: keyring entry nobody.has is not set: hel mcp secret set nobody.has" in ran.err


def test_a_credential_for_a_committed_file_is_offered_a_better_place(
    project: Path, env: dict[str, str]
) -> None:
    command = [*HEL, "mcp", "add", "fix", "-s", "project", "-e", f"API_TOKEN={VALUE}", "--", "x"]
    with Terminal(command, env=env, cwd=project, columns=200) as terminal:
        typed(terminal, "instead? [y/N]", "y")
        terminal.wait_for(lambda: "hel mcp trust fix" in terminal.text)
    servers = json.loads((project / ".hel" / "mcp.json").read_text())["servers"]
    assert servers["fix"]["env"] == {"API_TOKEN": "${keyring:fix.API_TOKEN}"}
    assert VALUE in (find_places(env).state / "secrets.toml").read_text()


def test_giving_up_at_a_question_changes_nothing_and_ends_with_130(
    project: Path, env: dict[str, str]
) -> None:
    command = [*HEL, "mcp", "add", "fix", "--secret", "TOKEN", "--", "x"]
    with Terminal(command, env=env, cwd=project, columns=200) as terminal:
        terminal.wait_for(lambda: terminal.text.rstrip().endswith("TOKEN:"))
        terminal.type("\x03")
        assert terminal.wait_end() == 130
        assert "Traceback" not in terminal.text
    assert not find_places(env).local_servers(project).exists()
