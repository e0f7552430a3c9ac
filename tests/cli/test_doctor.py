"""`hel doctor` and `hel mcp lint`: text, JSON with stable keys, exit status, trust."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.shell import hel
from tests.rig import SERVERS, environment


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".hel").mkdir(parents=True)
    return folder


def configure(project: Path, env: dict[str, str], *modes: str, trusted: bool = True) -> None:
    entries = {mode: {"command": sys.executable, "args": [str(SERVERS / "ill.py"), mode]} for mode in modes}
    (project / ".hel" / "mcp.json").write_text(json.dumps({"servers": entries}))
    if trusted:
        assert hel("mcp", "trust", "--yes", env=env, cwd=project).status == 0


def test_lint_of_a_well_server_ends_with_zero_and_says_what_was_looked_at(project, env) -> None:
    configure(project, env, "well")
    ran = hel("mcp", "lint", "well", env=env, cwd=project)
    assert ran.status == 0, ran
    assert "✓ ok" in ran.out and "0 errors, 0 warnings" in ran.out
    assert all(topic in ran.out for topic in ("handshake", "ping", "cancel", "sigterm", "stdout"))


def test_lint_of_an_ill_server_ends_with_one_and_says_what_helps(project, env) -> None:
    configure(project, env, "noisy")
    ran = hel("mcp", "lint", "noisy", env=env, cwd=project)
    assert ran.status == 1
    assert "✗ error    stdout" in ran.out and "→ print to stderr" in ran.out


def test_lint_as_json_has_stable_keys(project, env) -> None:
    configure(project, env, "many")
    ran = hel("mcp", "lint", "many", "--json", env=env, cwd=project)
    said = json.loads(ran.out)
    assert set(said) == {"server", "seconds", "errors", "warnings", "findings"}
    keys = {"health", "topic", "sentence", "tool", "path", "profile", "mend", "also"}
    assert {frozenset(one) for one in said["findings"]} == {frozenset(keys)}
    assert said["server"] == "many" and said["errors"] > 0 and ran.status == 1


def test_strict_lint_fails_for_warnings_too(project, env) -> None:
    configure(project, env, "loud")
    assert hel("mcp", "lint", "loud", env=env, cwd=project).status == 0
    assert hel("mcp", "lint", "loud", "--strict", env=env, cwd=project).status == 1


def test_lint_starts_nothing_that_is_not_approved(project, env) -> None:
    configure(project, env, "well", trusted=False)
    ran = hel("mcp", "lint", "well", env=env, cwd=project)
    assert ran.status == 4 and "hel mcp trust" in ran.err and not ran.out


def test_doctor_says_how_the_machine_the_files_and_each_server_are(project, env) -> None:
    configure(project, env, "well", "dies")
    ran = hel("doctor", env=env, cwd=project)
    assert ran.status == 1
    assert "Python" in ran.out and str(project / ".hel" / "mcp.json") in ran.out
    assert "well works" in ran.out and "dies: handshake" in ran.out and "KeyError: 'API_KEY'" in ran.out


def test_doctor_starts_no_server_when_told_so_and_names_what_waits_for_approval(project, env) -> None:
    configure(project, env, "dies", trusted=False)
    ran = hel("doctor", "--no-servers", "--json", env=env, cwd=project)
    said = json.loads(ran.out)
    (waits,) = [one for one in said["findings"] if one["topic"] == "trust"]
    assert "dies" in waits["sentence"] and waits["mend"] == "hel mcp trust"
    assert ran.status == 0 and not [one for one in said["findings"] if one["topic"] == "servers"]


def test_doctor_names_an_entry_that_cannot_be_read_with_its_place(project, env) -> None:
    (project / ".hel" / "mcp.json").write_text('{"servers": {"x": {"command": 5}}}')
    ran = hel("doctor", env=env, cwd=project)
    assert ran.status == 1 and "line 1" in ran.out
