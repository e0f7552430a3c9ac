"""`hel mcp` before a person and before nobody: forms at the terminal, and what is told of servers that fail."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.cli.shell import HEL, ROOT, hel
from tests.e2e.terminal import Terminal
from tests.rig import called, environment, servers_file

FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "Who?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer", "minimum": 1},
                "kind": {"type": "string", "enum": ["bug", "idea"], "default": "bug"},
                "sure": {"type": "boolean"},
            },
            "required": ["name", "age"],
        },
    },
}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, PYTHONPATH=str(ROOT))


def test_a_form_is_filled_in_at_the_terminal(tmp_path: Path, env: dict[str, str]) -> None:
    file = servers_file(tmp_path, fix="asks:asks")
    command = [*HEL, "mcp", "call", "fix", "ask", json.dumps(FORM), "--mcp-config", str(file)]
    with Terminal(command, env=env, cwd=tmp_path, columns=200) as terminal:
        for prompt, line in (
            ("name:", "Ada"),
            ("age:", "zero"),
            ("age:", "36"),
            ("kind [bug]:", "2"),
            ("sure:", "y"),
            ("Enter cancels:", "y"),
        ):
            terminal.wait_for(lambda prompt=prompt: terminal.text.rstrip().endswith(prompt))
            terminal.type(f"{line}\n")
        terminal.wait_for(lambda: '"action": "accept"' in terminal.text)
        assert '{"name": "Ada", "age": 36, "kind": "idea", "sure": true}' in terminal.text


def test_a_server_that_fails_is_told_with_all_that_helps(tmp_path: Path, env: dict[str, str]) -> None:
    script = tmp_path / "srv.py"
    script.write_text("import sys; print('no such table', file=sys.stderr); sys.exit(3)")
    file = tmp_path / "servers.json"
    entry = {"command": sys.executable, "args": [str(script)]}
    file.write_text(json.dumps({"mcpServers": {"fix": entry}}))
    ran = hel("mcp", "tools", "fix", "--mcp-config", str(file), env=env, cwd=tmp_path)
    assert ran.status == 1
    for part in ("exit 3", str(script), "no such table", f"in        {tmp_path}"):
        assert part in ran.err


def test_a_named_file_that_cannot_be_read_is_not_passed_over(tmp_path: Path, env: dict[str, str]) -> None:
    good = servers_file(tmp_path, fix="wire:ok")
    bad = tmp_path / "bad.json"
    bad.write_text('{"mcpServers": {"fix": ')
    ran = hel(
        "mcp", "tools", "fix", "--mcp-config", str(bad), "--mcp-config", str(good), env=env, cwd=tmp_path
    )
    assert ran.status == 1
    assert "bad.json" in ran.err


def test_a_broken_entry_is_named_and_none_of_another_file_stands_in(
    tmp_path: Path, env: dict[str, str]
) -> None:
    project = tmp_path / "project"
    (project / ".hel").mkdir(parents=True)
    (project / ".hel" / "mcp.json").write_text(json.dumps({"servers": {"fix": {"command": "x"}}}))
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"servers": {"fix": {"command": 5}}}))
    ran = hel("mcp", "tools", "fix", "--mcp-config", str(bad), env=env, cwd=project)
    assert ran.status == 1
    assert "command" in ran.err and "bad.json" in ran.err


def test_trust_says_of_a_remote_server_what_is_contacted(tmp_path: Path, env: dict[str, str]) -> None:
    project = tmp_path / "project"
    (project / ".hel").mkdir(parents=True)
    servers = {
        "far": {"url": "https://x.example/mcp"},
        "made": {"url": "https://y.example/mcp", "headersHelper": "python h.py"},
    }
    (project / ".hel" / "mcp.json").write_text(json.dumps({"servers": servers}))
    out = hel("mcp", "trust", "--yes", env=env, cwd=project).out
    far, made = out.split("made  (", 1)
    assert "contacts  https://x.example/mcp" in far and "runs" not in far.split("far  (")[1]
    assert "contacts  https://y.example/mcp" in made and "runs      python h.py" in made


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_during_a_call_ends_the_server_in_order(
    tmp_path: Path, env: dict[str, str], number: signal.Signals
) -> None:
    file = servers_file(tmp_path, fix="life:slow")
    command = [*HEL, "mcp", "call", "fix", "slow", "{}", "--mcp-config", str(file)]
    with Terminal(command, env=env, cwd=tmp_path) as terminal:
        terminal.wait_for(lambda: bool(called(tmp_path, "fix")))
        (note, *_) = (json.loads(line) for line in (tmp_path / "fix.events").read_text().splitlines())
        terminal.kill(number)
        assert terminal.wait_end() == 130
        terminal.wait_for(lambda: not psutil.pid_exists(note["pid"]))
