"""At a terminal no command of hel lets foreign text steer it; a pipe gets the bytes as they are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.shell import HEL, ROOT, hel
from tests.e2e.terminal import Terminal
from tests.fixtures.hostile import FORBIDDEN, HOSTILE
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.labs.small import lay_lab
from tests.rig import KEY, environment, servers_file

OWN = (b"\x1b[1m", b"\x1b[0m", b"\b \b")
"""What hel itself does to a terminal in these commands."""
TEXT = HOSTILE.replace("\0", "")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    servers_file(tmp_path, fix={"mode": "hostile:hostile"}).rename(folder / ".mcp.json")
    (folder / "prompt.txt").write_text(TEXT)
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY=KEY)


def at_a_terminal(env: Mapping[str, str], cwd: Path, *arguments: str) -> bytes:
    """All bytes that `hel ARGUMENTS` writes onto a terminal."""
    given = {**env, "PYTHONPATH": str(ROOT)}
    with Terminal([*HEL, *arguments], env=given, cwd=cwd, columns=120) as terminal:
        terminal.wait_end()
        return bytes(terminal.raw)


def assert_harmless(raw: bytes) -> None:
    assert b"CLICK" in raw or b"begin" in raw or b" end " in raw, "nothing of it was written"
    for own in OWN:
        raw = raw.replace(own, b"")
    raw = raw.replace(b"\r\n", b"\n")
    bad = (*FORBIDDEN, b"\x1b", b"\x07", b"\x08", b"\r", "\u202e".encode())
    assert not [raw[max(0, raw.find(one) - 40) :][:80] for one in bad if one in raw]


@pytest.fixture
def session(project: Path, env: dict[str, str]) -> str:
    """A session of which every word is hostile; the beginning of its id."""
    with ScriptedModel([call(TEXT[:60], {"x": TEXT}), say(TEXT)]) as model:
        chosen = ("--model", "scripted/scripted", "--base-url", model.url, "--no-mcp")
        assert hel("run", TEXT, *chosen, env=env, cwd=project).status == 0
    return "2"


@pytest.mark.parametrize(
    "command",
    [
        ("export", "ID"),
        ("export", "ID", "--json"),
        ("show", "ID"),
        ("show", "ID", "--json"),
        ("list",),
        ("list", "--json"),
        ("search", "CLICK"),
        ("search", "CLICK", "--json"),
        ("rename", "ID", TEXT),
    ],
    ids=lambda command: " ".join(command)[:20],
)
def test_sessions(project: Path, env: dict[str, str], session: str, command: tuple[str, ...]) -> None:
    command = tuple(session if word == "ID" else word for word in command)
    assert_harmless(at_a_terminal(env, project, "sessions", *command))


def test_what_is_exported_into_a_pipe_is_what_was_said(
    project: Path, env: dict[str, str], session: str
) -> None:
    assert "\x1b]52;" in hel("sessions", "export", session, env=env, cwd=project).out


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("list", "--json"),
        ("tools", "fix"),
        ("tools", "fix", "--json"),
        ("call", "fix", "say"),
        ("call", "fix", "say", "--json"),
        ("call", "fix", "fail"),
        ("lint", "fix"),
        ("get", TEXT),
    ],
    ids=lambda command: " ".join(command)[:20],
)
def test_servers(project: Path, env: dict[str, str], command: tuple[str, ...]) -> None:
    hel("mcp", "trust", "--yes", env=env, cwd=project)
    raw = at_a_terminal(env, project, "mcp", *command)
    assert_harmless(raw if command != ("list",) and "--json" not in command else raw + b"CLICK")


def test_logs(project: Path, env: dict[str, str]) -> None:
    hel("mcp", "trust", "--yes", env=env, cwd=project)
    with ScriptedModel([say("hm")]) as model:
        hel("run", "hm", "--model", "a/b", "--base-url", model.url, env=env, cwd=project)
    assert_harmless(at_a_terminal(env, project, "mcp", "logs"))
    assert_harmless(at_a_terminal(env, project, "mcp", "logs", "--json"))


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_answer(project: Path, env: dict[str, str], more: tuple[str, ...]) -> None:
    with ScriptedModel([call(TEXT[:60], {"x": TEXT}), say(TEXT)]) as model:
        chosen = ("--model", "a/b", "--base-url", model.url, "--no-mcp")
        assert_harmless(at_a_terminal(env, project, "run", "go", *chosen, *more))


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_lab(tmp_path: Path, env: dict[str, str], more: tuple[str, ...]) -> None:
    with ScriptedModel([say(TEXT)] * 9) as model:
        lay_lab(tmp_path)
        chosen = ("--model", "a/b", "--base-url", model.url, "-n", "1")
        raw = at_a_terminal(env, tmp_path, "eval", str(tmp_path), *chosen, *more)
    assert_harmless(raw + b"CLICK")


def test_words_of_the_command_line_in_a_mistake(project: Path, env: dict[str, str]) -> None:
    assert_harmless(at_a_terminal(env, project, "mcp", "list", TEXT))
    assert_harmless(at_a_terminal(env, project, "mcp", TEXT) + b"CLICK")


def test_what_a_library_or_a_fault_writes(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom hel_tui.cli import streams\nstreams.prepare()\nstreams.prepare()\n"
        "print(sys.argv[1], file=sys.stderr)\nsys.stdout.writelines([sys.argv[1], '\\n'])\n"
        "streams.steer(sys.stdout, '\\x1b[1m')\nassert sys.stdout.isatty() and sys.stdout.fileno() == 1\n"
        "raise SystemError(sys.argv[1])"
    )
    env = {"PYTHONPATH": str(ROOT)}
    with Terminal([sys.executable, "-c", program, TEXT], env=env, cwd=tmp_path) as terminal:
        assert terminal.wait_end() == 1
        raw = bytes(terminal.raw)
    assert raw.count(b"CLICK") >= 3 and b"\x1b[1m" in raw
    assert_harmless(raw)
