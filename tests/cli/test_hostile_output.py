"""What servers, models and files say reaches a plain terminal as text too."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.shell import hel
from tests.fixtures.hostile import FORBIDDEN, HOSTILE
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, say
from tests.rig import SERVERS, environment, servers_file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def assert_harmless(*outputs: str) -> None:
    written = "\n".join(outputs).encode("utf-8", "surrogatepass")
    assert not [bad for bad in (*FORBIDDEN, b"\x1b", b"\x07", b"\x08") if bad in written]


def test_hel_run_writes_words_and_nothing_that_steers_a_terminal(project: Path, tmp_path: Path) -> None:
    with ScriptedModel() as model:
        model.replies[:] = [
            call("load_mcp_tool", {"names": ["mcp__fix__say", "mcp__fix__fail"]}),
            call("mcp__fix__say", {"text": HOSTILE}),
            call("mcp__fix__fail", {"text": HOSTILE}),
            call(HOSTILE, {"x": HOSTILE}),
            say("서버 👩\u200d💻\n\ttabbed " + HOSTILE),
        ]
        named = servers_file(tmp_path, fix={"mode": "hostile:hostile"})
        env = environment(tmp_path, HEL_API_KEY="x")
        chosen = ("--model", "scripted/scripted", "--base-url", model.url, "--mcp-config", str(named))
        ran = hel("run", "go", "--access", "auto", *chosen, env=env, cwd=project)
        assert ran.status == 0
        assert "서버 👩\u200d💻\n\ttabbed" in ran.out
        assert "CLICK" in ran.out and "CLICK" in ran.err
        assert_harmless(ran.out, ran.err)
        model.replies[:] = [fail(400, HOSTILE)]
        ran = hel("run", "go", *chosen, env=env, cwd=project)
        assert ran.status == 1 and "CLICK" in ran.err
        assert_harmless(ran.out, ran.err)


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("list", "--json"),
        ("trust", "--yes"),
        ("get", "fix"),
        ("get", "fix", "--json"),
        ("get", "gone"),
        ("import", "claude", "-s", "local", "-n"),
        ("import", "cursor", ".mcp.json", "--json", "-n"),
    ],
)
def test_listing_and_trusting_servers_writes_text(
    project: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    hostile = HOSTILE.replace("\0", "")
    servers = {
        "fix": {
            "command": sys.executable,
            "args": [str(SERVERS / "hostile.py"), hostile],
            "env": {"A": hostile},
        },
        hostile: {"command": "true"},
        "gone": {"command": hostile, "cwd": hostile},
    }
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers, hostile: 1}))
    ran = hel("mcp", *command, env=environment(tmp_path), cwd=project)
    assert "CLICK" in ran.out
    assert_harmless(ran.out, ran.err)


def test_a_calls_line_is_never_longer_than_two_hundred_characters(project: Path, tmp_path: Path) -> None:
    with ScriptedModel([call("x" * 5000, {"path": "y" * 5000}), say("done")]) as model:
        env = environment(tmp_path, HEL_API_KEY="x")
        ran = hel("run", "go", "--model", "a/b", "--base-url", model.url, env=env, cwd=project)
    (line,) = [line for line in ran.err.splitlines() if line.startswith("→")]
    assert len(line) == 200 and line.endswith("…")
