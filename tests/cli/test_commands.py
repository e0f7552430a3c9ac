"""The small commands, and what starting them costs."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hel_tui.cli.help import TOPICS
from tests.cli.shell import ROOT, hel, loaded_modules
from tests.rig import environment, sample

HEAVY = ("textual", "rich", "mcp", "mcp_types", "httpx", "httpx2", "pydantic", "jsonschema", "keyring")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["run", "--help"], ["mcp", "--help"], ["demo", "--help"], ["help"]],
)
def test_no_help_imports_anything_heavy(arguments: list[str]) -> None:
    code = (
        "import contextlib, io\nfrom hel_tui.cli import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main({arguments!r})"
    )
    assert loaded_modules(code, HEAVY) == []


@pytest.mark.parametrize(
    "module",
    ["hel_tui.core.protocol", "hel_tui.core.runtime", "hel_tui.core.vocabulary", "hel_tui.core.options"],
)
def test_the_door_imports_nothing_heavy(module: str) -> None:
    assert loaded_modules(f"import {module}", HEAVY) == []


def test_the_core_never_imports_the_screen() -> None:
    assert loaded_modules("import hel_tui.core.session", ("textual", "rich", "hel_tui.tui")) == []


def test_the_core_imports_mcp_and_the_model_client_late() -> None:
    assert loaded_modules("import hel_tui.core.session", ("mcp", "mcp_types", "httpx", "keyring")) == []


def test_the_app_is_there_before_the_core_is_imported() -> None:
    late = ("mcp", "mcp_types", "httpx", "pydantic", "jsonschema", "keyring", "hel_tui.core.session")
    assert loaded_modules("import hel_tui.tui.app", late) == []


def test_help_and_version(env, tmp_path: Path) -> None:
    assert "hel run PROMPT" in hel("--help", env=env, cwd=tmp_path).out
    assert hel("--version", env=env, cwd=tmp_path).out.startswith("hel 0.")
    for topic in TOPICS:
        ran = hel("help", topic, env=env, cwd=tmp_path)
        assert ran.status == 0
        assert ran.out.startswith("# ")


def test_the_app_without_a_terminal_says_what_to_use_instead(env, tmp_path: Path) -> None:
    ran = hel(env=env, cwd=tmp_path)
    assert ran.status == 2
    assert "hel run" in ran.err


def test_list_as_json_has_every_entry_and_its_state(env, tmp_path: Path) -> None:
    project = sample(tmp_path)
    (project / ".mcp.json").write_text(
        '{"mcpServers": {"inventory": {"command": "other"}, "bad": 5, "quiet": {"command": "x", "disabled": true}}}'
    )
    ran = hel("mcp", "list", "--json", env=env, cwd=project)
    rows = json.loads(ran.out)
    assert {(row["name"], row["state"]) for row in rows} == {
        ("inventory", "untrusted"),
        ("inventory", "shadowed"),
        ("bad", "invalid"),
        ("quiet", "off"),
    }
    keys = {"name", "state", "reason", "scope", "file", "transport", "command_line", "url"}
    assert all(set(row) == keys for row in rows)
    hel("mcp", "trust", "--yes", env=env, cwd=project)
    rows = json.loads(hel("mcp", "list", "--json", env=env, cwd=project).out)
    assert ("inventory", "trusted") in {(row["name"], row["state"]) for row in rows}


def test_a_file_that_does_not_parse_is_named_with_its_place(env, tmp_path: Path) -> None:
    project = sample(tmp_path)
    (project / ".hel" / "mcp.json").write_text('{"servers": {"a": {"command": }}}')
    ran = hel("mcp", "list", env=env, cwd=project)
    assert ran.status == 1
    assert "mcp.json" in ran.err
    assert "line 1" in ran.err
    assert "Traceback" not in ran.err


def test_trust_shows_all_and_asks_and_without_a_person_approves_nothing(env, tmp_path: Path) -> None:
    project = sample(tmp_path)
    ran = hel("mcp", "trust", env=env, cwd=project)
    assert ran.status == 4
    assert ".hel/mcp/inventory.py" in ran.out
    assert "--yes" in ran.err
    assert json.loads(hel("mcp", "list", "--json", env=env, cwd=project).out)[0]["state"] == "untrusted"
    assert hel("mcp", "trust", "--yes", "nobody", env=env, cwd=project).status == 1
    assert hel("mcp", "trust", "--yes", env=env, cwd=project).status == 0
    again = hel("mcp", "trust", env=env, cwd=project)
    assert (again.status, again.out) == (0, "Nothing waits for approval here.\n")


def test_trust_ends_with_one_changed_byte(env, tmp_path: Path) -> None:
    project = sample(tmp_path)
    hel("mcp", "trust", "--yes", env=env, cwd=project)
    with (project / ".hel" / "mcp.json").open("a") as file:
        file.write("\n")
    assert json.loads(hel("mcp", "list", "--json", env=env, cwd=project).out)[0]["state"] == "untrusted"


def test_demo_lays_a_fresh_sample_and_never_over_something_else(env, tmp_path: Path) -> None:
    laid = hel("demo", "--lay-only", "here", env=env, cwd=tmp_path)
    project = tmp_path / "here"
    assert laid.status == 0
    assert (project / "config.ini").read_bytes() == b"port=7000\n"
    (project / "config.ini").write_text("port=1\n")
    assert hel("demo", "--lay-only", "here", env=env, cwd=tmp_path).status == 0
    assert (project / "config.ini").read_bytes() == b"port=7000\n"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    refused = hel("demo", "--lay-only", "mine", env=env, cwd=tmp_path)
    assert refused.status == 1
    assert list((tmp_path / "mine").iterdir()) == [tmp_path / "mine" / "thesis.txt"]


def test_the_wheel_has_themes_styles_sample_and_topics(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    themes = {f"hel_tui/themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")}
    assert len(themes) >= 6
    assert themes <= names
    for needed in (
        "hel_tui/tui/styles/main.tcss",
        "hel_tui/samples/demo.toml",
        "hel_tui/samples/inventory/dot-hel/mcp/inventory.py",
        "hel_tui/labs/h10/lab.toml",
        "hel_tui/labs/h10/project/dot-hel/mcp/inventory.py",
        "hel_tui/cli/topics/servers.md",
        "hel_tui/py.typed",
    ):
        assert needed in names
    assert not [name for name in names if name.startswith("tests/")]
