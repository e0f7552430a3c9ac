"""`hel mcp import`: what is shown, asked and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.store.places import Places, find_places
from tests.cli.typed import Typed

ENTRY = {"command": "./run", "args": ["${workspaceFolder}/x"], "env": {"API_KEY": "written-out-1"}}
REMOTE = {"url": "https://r.example/mcp", "headers": {"Authorization": "Bearer written-out-2"}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p" / ".cursor").mkdir(parents=True)
    servers = {"here": ENTRY, "odd": 5, "far": REMOTE}
    (tmp_path / "p" / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text('{"mcpServers": {"mine": {"command": "m"}}}')
    return tmp_path / "p"


@pytest.fixture
def typed(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Typed:
    return Typed(tmp_path, project, monkeypatch, capfd)


@pytest.fixture
def places(typed: Typed) -> Places:
    return find_places(typed.env)


def names(path: Path) -> list[str]:
    return list(json.loads(path.read_text())["servers"]) if path.exists() else []


def test_each_goes_to_whom_it_was_for_and_the_projects_are_asked_about(
    typed: Typed, project: Path, places: Places
) -> None:
    ran = typed("mcp", "import", "cursor", "--yes")
    assert ran.status == 0 and "Written: here, far, mine." in ran.out
    assert "it is no object" in ran.out and "written-out" not in ran.out + ran.err
    assert names(project / ".hel" / "mcp.json") == ["here", "far"]
    assert names(places.user_servers) == ["mine"]
    states = {row["name"]: row["state"] for row in json.loads(typed("mcp", "list", "--json").out)}
    assert states == {"here": "untrusted", "far": "untrusted", "mine": "trusted"}


def test_a_dry_run_and_nobody_to_ask_write_nothing(typed: Typed, project: Path, places: Places) -> None:
    assert typed("mcp", "import", "cursor", "--dry-run").status == 0
    ran = typed("mcp", "import", "cursor")
    assert ran.status == 4 and "--yes" in ran.err
    assert not (project / ".hel").exists() and not places.user_servers.exists()


def test_only_some_and_those_there_are_not_replaced_unless_told(typed: Typed, project: Path) -> None:
    assert typed("mcp", "import", "cursor", "--yes", "--only", "here, far").status == 0
    (again,) = json.loads(typed("mcp", "import", "cursor", "--only", "here", "--yes", "--json").out)[
        "servers"
    ]
    assert (again["state"], again["written"]) == ("exists", False)
    typed("mcp", "add", "here", "-s", "project", "--force", "--", "other")
    assert typed("mcp", "import", "cursor", "--only", "here", "--yes", "--force").status == 0
    assert json.loads((project / ".hel" / "mcp.json").read_text())["servers"]["here"]["command"] == "./run"


def test_what_becomes_the_persons_own_is_shown_whole_before(
    typed: Typed, project: Path, places: Places
) -> None:
    ran = typed("mcp", "import", "cursor", "-s", "local", "--yes", "--only", "here")
    for part in ("would not be asked about any more", "runs", "./run", str(project), "API_KEY=••••••"):
        assert part in ran.out
    assert names(places.local_servers(project)) == ["here"]


def test_written_out_credentials_can_be_kept_apart(typed: Typed, project: Path, places: Places) -> None:
    ran = typed("mcp", "import", "cursor", "--yes", "--keyring")
    assert ran.status == 0 and "written-out" not in ran.out + ran.err
    text = (project / ".hel" / "mcp.json").read_text()
    assert "written-out" not in text
    servers = json.loads(text)["servers"]
    assert servers["here"]["env"] == {"API_KEY": "${keyring:here.API_KEY}"}
    assert servers["far"]["headers"] == {"Authorization": "Bearer ${keyring:far.Authorization}"}
    kept = (places.state / "secrets.toml").read_text()
    assert '"here.API_KEY" = "written-out-1"' in kept and '"far.Authorization" = "written-out-2"' in kept


def test_values_that_could_not_come_along_are_named(typed: Typed, project: Path) -> None:
    (project / "opencode.json").write_text(
        '{"mcp": {"a": {"type": "local", "command": ["x"], "environment": {"T": "{file:~/.t}"}}}}'
    )
    ran = typed("mcp", "import", "opencode", "--yes")
    assert ran.status == 0 and "Before it can start: hel mcp secret set a.T" in ran.out


def test_json_has_all_that_is_shown_and_no_credential(typed: Typed) -> None:
    ran = typed("mcp", "import", "cursor", "--dry-run", "--json")
    told = json.loads(ran.out)
    assert set(told) == {"files", "problems", "servers"} and len(told["files"]) == 2
    by_name = {one["name"]: one for one in told["servers"]}
    assert by_name["odd"]["state"] == "unusable" and by_name["here"]["state"] == "new"
    assert by_name["far"]["entry"]["url"] == "https://r.example/mcp"
    assert "written-out" not in ran.out
