"""`hel mcp login` and `hel mcp logout`, with a real authorization server and a real terminal."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cli.shell import HEL, ROOT, hel
from tests.e2e.terminal import Terminal
from tests.fixtures.authserver.place import Place
from tests.rig import environment

LIMIT = 60.0


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    with Place() as one:
        yield one


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, PYTHON_KEYRING_BACKEND="keyring.backends.null.Keyring", PYTHONPATH=str(ROOT))


@pytest.fixture
def file(place: Place, tmp_path: Path) -> Path:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"servers": {"shop": {"url": place.mcp}}}))
    return path


def browse(url: str) -> httpx.Response:
    with httpx.Client(follow_redirects=True, timeout=LIMIT, trust_env=False) as client:
        return client.get(url)


def end_of(url: str) -> str:
    with httpx.Client(timeout=LIMIT, trust_env=False) as client:
        return client.get(url).headers["location"]


def url_in(text: str) -> str:
    """The address to open, also where a narrow terminal broke it."""
    found = re.search(r"^http\S+/authorize\?\S+", text, re.M)
    return found[0] if found else ""


def test_without_a_terminal_the_browser_can_still_come_back(file: Path, env: dict[str, str]) -> None:
    process = subprocess.Popen(
        [*HEL, "mcp", "login", "shop", "--mcp-config", str(file)],
        env={**env, "DISPLAY": ":0", "BROWSER": "false"},
        cwd=file.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(LIMIT, process.kill)
    watchdog.daemon = True
    watchdog.start()
    told = ""
    assert process.stderr is not None
    while "in a terminal, where you can paste" not in told:
        line = process.stderr.readline()
        assert line, told
        told += line
    assert browse(url_in(told)).status_code == 200
    out, rest = process.communicate(timeout=LIMIT)
    assert (process.returncode, out) == (0, "Logged in at shop: ready, 1 tool.\n"), told + rest
    assert "Opening" not in told
    assert hel("mcp", "tools", "shop", "--mcp-config", str(file), env=env, cwd=file.parent).status == 0


def test_in_a_terminal_the_address_may_be_pasted(file: Path, env: dict[str, str], place: Place) -> None:
    command = [*HEL, "mcp", "login", "shop", "--no-browser", "--mcp-config", str(file)]
    with Terminal(command, env=env, cwd=file.parent, columns=1000) as terminal:
        terminal.wait("press Enter|and press Enter")
        end = end_of(url_in(terminal.text))
        padding = "&padding=" + "x" * 6000  # more than a line of a terminal holds
        terminal.press("not this", "\x7f" * 8, "nor that one\r")
        terminal.wait("Please paste again")
        assert "\nnor that one\n" in terminal.text
        terminal.press(end + padding + "\r")
        terminal.wait("Logged in at shop: ready, 1 tool")
        assert end[:60] not in terminal.text
        assert terminal.process.wait(LIMIT) == 0
    assert len(place.bank.tokens) == 1


def test_enter_alone_gives_the_login_up(file: Path, env: dict[str, str], place: Place) -> None:
    command = [*HEL, "mcp", "login", "shop", "--no-browser", "--mcp-config", str(file)]
    with Terminal(command, env=env, cwd=file.parent) as terminal:
        terminal.wait("Enter alone gives up")
        terminal.press("\n")
        terminal.wait("no login at shop: the login was given up")
        assert terminal.process.wait(LIMIT) == 1
    assert place.bank.tokens == []


def test_ctrl_c_leaves_the_terminal_as_it_was(file: Path, env: dict[str, str]) -> None:
    import termios

    command = [*HEL, "mcp", "login", "shop", "--no-browser", "--mcp-config", str(file)]
    with Terminal(command, env=env, cwd=file.parent) as terminal:
        terminal.wait("Enter alone gives up")
        terminal.press("\x03")
        assert terminal.process.wait(LIMIT) == 130
        assert termios.tcgetattr(terminal._slave) == terminal.before


def test_logging_out_revokes_and_forgets(file: Path, env: dict[str, str], place: Place) -> None:
    test_in_a_terminal_the_address_may_be_pasted(file, env, place)
    asked = len(place.asked("/mcp"))
    ran = hel("mcp", "logout", "shop", "--mcp-config", str(file), env=env, cwd=file.parent)
    assert (ran.status, ran.out) == (0, "Logged out at shop.\n")
    assert len(place.asked("/mcp")) == asked, "the server itself is left alone"
    assert not place.bank.tokens[0].access_good
    ran = hel("mcp", "tools", "shop", "--mcp-config", str(file), env=env, cwd=file.parent)
    assert ran.status == 1
    assert "needs login" in ran.err


@pytest.mark.parametrize(
    ("entry", "status", "part"),
    [
        ({"url": "{mcp}", "headers": {"Authorization": "Bearer x-static-one"}}, 1, "header of its own"),
        ({"url": "{mcp}", "oauth": False}, 1, "`oauth`"),
        ({"url": "{mcp}", "oauth": {"callbackPort": 0}}, 1, "port"),
        ({"command": "true"}, 1, "program of this machine"),
    ],
)
def test_where_no_login_can_be_the_sentence_says_why(
    file: Path, env: dict[str, str], place: Place, entry: dict[str, object], status: int, part: str
) -> None:
    text = json.dumps({"servers": {"shop": entry}}).replace("{mcp}", place.mcp)
    file.write_text(text)
    ran = hel("mcp", "login", "shop", "--mcp-config", str(file), env=env, cwd=file.parent)
    assert ran.status == status
    assert part in ran.err
    assert "Traceback" not in ran.err
    assert place.asked("/register") == []


def test_a_server_that_is_not_configured_or_not_approved_is_not_contacted(
    env: dict[str, str], tmp_path: Path, place: Place
) -> None:
    project = tmp_path / "other"
    project.mkdir()
    (project / ".mcp.json").write_text(json.dumps({"servers": {"shop": {"url": place.mcp}}}))
    assert hel("mcp", "login", "nobody", env=env, cwd=project).status == 1
    for command in ("login", "logout"):
        ran = hel("mcp", command, "shop", env=env, cwd=project)
        assert ran.status == 4
        assert "hel mcp trust" in ran.err
    assert place.seen == []
