"""The sample project: laid fresh, laid again, refused; and its server, spoken to over pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hel_tui.samples import NotASample, lay


def test_a_sample_has_the_stale_port_and_a_server_started_with_the_given_python(tmp_path: Path) -> None:
    project = lay(tmp_path / "deep" / "sample", "/opt/python")
    assert (project / "config.ini").read_bytes() == b"port=7000\n"
    config = json.loads((project / ".hel" / "mcp.json").read_text())
    assert config == {"servers": {"inventory": {"command": "/opt/python", "args": [".hel/mcp/inventory.py"]}}}
    assert (project / "README.md").exists()
    assert not list(project.rglob("dot-hel"))


def test_laying_again_renews_the_sample_byte_for_byte_and_leaves_other_files(tmp_path: Path) -> None:
    lay(tmp_path, "python")
    first = (tmp_path / ".hel" / "mcp.json").read_bytes()
    (tmp_path / "config.ini").write_text("port=1\n")
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / ".hel" / "mcp" / "events.jsonl").write_text("{}\n")
    lay(tmp_path, "python")
    assert (tmp_path / "config.ini").read_text() == "port=7000\n"
    assert (tmp_path / ".hel" / "mcp.json").read_bytes() == first
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert not (tmp_path / ".hel" / "mcp" / "events.jsonl").exists()


def test_a_folder_with_something_else_in_it_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text("port=1\n")
    with pytest.raises(NotASample):
        lay(tmp_path, "python")
    assert [path.name for path in tmp_path.iterdir()] == ["config.ini"]
    with pytest.raises(NotASample):
        lay(tmp_path / "config.ini", "python")


def test_symbolic_links_are_replaced_and_never_written_through(tmp_path: Path) -> None:
    project = lay(tmp_path / "project", "python")
    victim = tmp_path / "victim"
    victim.write_text("safe")
    (project / "config.ini").unlink()
    (project / "config.ini").symlink_to(victim)
    lay(project, "python")
    assert victim.read_text() == "safe"
    assert (project / "config.ini").read_text() == "port=7000\n"
    (project / ".hel" / "mcp").rename(tmp_path / "servers")
    (project / ".hel" / "mcp").symlink_to(tmp_path / "servers")
    (tmp_path / "servers" / "events.jsonl").write_text("safe")
    with pytest.raises(NotASample):
        lay(project, "python")
    assert (tmp_path / "servers" / "events.jsonl").read_text() == "safe"
    (project / ".hel").rename(tmp_path / "elsewhere")
    (project / ".hel").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotASample):
        lay(project, "python")


def spoken(project: Path, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    ran = subprocess.run(
        [sys.executable, ".hel/mcp/inventory.py"],
        cwd=project,
        input=lines,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert "inventory: ready" in ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def call(id: int, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def test_the_server_answers_as_its_description_says(tmp_path: Path) -> None:
    project = lay(tmp_path, "python")
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    sent: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": asked},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "ping"},
        {"id": 3, "method": "tools/list"},
        call(4, "list_services"),
        call(5, "lookup_port", service="api"),
        call(6, "lookup_port", service="nope"),
        call(7, "no_tool"),
        {"id": 8, "method": "resources/list"},
    ]
    answers = {answer["id"]: answer for answer in spoken(project, *sent)}
    assert sorted(answers) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert answers[1]["result"]["protocolVersion"] == "2025-06-18"
    assert answers[2]["result"] == {}
    assert [tool["name"] for tool in answers[3]["result"]["tools"]] == ["list_services", "lookup_port"]
    assert answers[4]["result"]["content"] == [{"type": "text", "text": "admin\napi\nworker"}]
    assert answers[5]["result"]["content"] == [{"type": "text", "text": "api: 8437"}]
    assert answers[6]["result"]["isError"] is True
    assert answers[7]["error"]["code"] == -32602
    assert answers[8]["error"]["code"] == -32601
    events = (project / ".hel" / "mcp" / "events.jsonl").read_text().splitlines()
    assert [json.loads(line).get("method") for line in events] == [message["method"] for message in sent]
