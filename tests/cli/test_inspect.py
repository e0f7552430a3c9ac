"""`hel inspect`: what it calls a server, what it refuses, and the app open at the inside of one server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hel_tui.cli.inspect import name_for
from tests.cli.shell import hel as shell
from tests.e2e.program import assert_gone, descendants, hel
from tests.rig import SERVERS, environment


@pytest.mark.parametrize(
    ("command", "args", "name"),
    [
        ("python3", ["weather.py"], "weather"),
        ("npx", ["-y", "@modelcontextprotocol/server-everything"], "server-everything"),
        ("uvx", ["mcp-server-git", "--repository", "."], "mcp-server-git"),
        ("./bin/my server", [], "my-server"),
        ("https://mcp.example.com/mcp", [], "mcp-example-com"),
        ("…", [], "server"),
        ("node", ["a__b" * 20 + ".js"], ("a_b" * 20)[:31]),
    ],
)
def test_a_server_is_called_by_what_it_runs(command: str, args: list[str], name: str) -> None:
    assert name_for(command, args) == name


@pytest.mark.parametrize("words", [[], ["https://x.example", "--", "python3"], ["-e", "NOEQUALS", "--", "x"]])
def test_neither_both_nor_half_a_server_is_taken(tmp_path: Path, words: list[str]) -> None:
    ran = shell("inspect", *words, env=environment(tmp_path), cwd=tmp_path)
    assert ran.status == 2 and ran.err.startswith("hel inspect: ")


def test_the_app_opens_at_the_server_alone_and_leaves_nothing(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".hel").mkdir(parents=True)
    other = {"command": sys.executable, "args": ["-c", "raise SystemExit(9)"]}
    (project / ".hel" / "mcp.json").write_text(json.dumps({"servers": {"other": other}}))
    words = ("inspect", "--", sys.executable, str(SERVERS / "ill.py"), "well")
    with hel(tmp_path, *words) as terminal:
        terminal.wait(r"● ill ─ stdio ─ ready")
        shown = terminal.wait("Capabilities")
        assert "other" not in shown and "y remember" not in shown
        started = descendants(terminal)
        terminal.press("ctrl+q")
        assert terminal.wait_end() == 0
        assert_gone(started)


def test_a_save_of_a_watched_file_starts_the_server_anew(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    source = (
        (SERVERS / "ill.py")
        .read_text()
        .replace("from stdio_server", f"sys.path.insert(0, {str(SERVERS)!r})\nfrom stdio_server")
    )
    (project / "mine.py").write_text(source)
    with hel(tmp_path, "inspect", "--watch", "*.py", "--", sys.executable, "mine.py", "well") as terminal:
        terminal.wait(r"● mine ─ stdio ─ ready")
        (project / "mine.py").write_text(source.replace("Tell the port of a service.", "Tell it."))
        terminal.wait(r"● mine ─ stdio ─ ready.*1 restart")
        terminal.press("ctrl+q")
        assert terminal.wait_end() == 0


def test_what_add_says_of_watch_protocol_and_sampling_stands_in_the_entry(tmp_path: Path) -> None:
    env = environment(tmp_path)
    more = ("--watch", "*.py", "--protocol", "handshake", "--sampling")
    ran = shell("mcp", "add", "w", *more, "--", "python3", "w.py", env=env, cwd=tmp_path)
    assert ran.status == 0, ran
    said = json.loads(shell("mcp", "get", "w", "--json", env=env, cwd=tmp_path).out)
    assert said["watch"] == ["*.py"]
    refused = shell("mcp", "add", "u", "--watch", "*.py", "https://x.example/mcp", env=env, cwd=tmp_path)
    assert refused.status != 0 and "--watch" in refused.err


def test_what_was_typed_reaches_the_server_as_it_was_typed_and_no_file_has_it(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    said = tmp_path / "said.json"
    code = f"import json, os, sys; open({str(said)!r}, 'w').write(json.dumps([sys.argv[1:], os.environ['TOKEN']]))"
    words = (
        "inspect",
        "-e",
        "TOKEN=${NOT_SET}sekret-1234",
        "--name",
        "one",
        "--",
        sys.executable,
        "-c",
        code,
        "${NOPE}",
    )
    with hel(tmp_path, *words, TMPDIR=str(tmp_path)) as terminal:
        terminal.wait("one ─ stdio ─ failed")
        assert json.loads(said.read_text()) == [["${NOPE}"], "${NOT_SET}sekret-1234"]
        terminal.kill(9)
        terminal.wait_end()
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path != said]
    assert not [path for path in kept if b"sekret-1234" in path.read_bytes()]
