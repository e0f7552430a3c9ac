"""The official servers through the commands people type: `hel mcp` and `hel run`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import hel
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.reference.conftest import npm_server, python_server
from tests.rig import environment, results


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY="sk-test-0123456789abcdefghij")


@pytest.fixture
def servers(tmp_path: Path) -> str:
    everything = {"command": "node", "args": [npm_server("server-everything"), "stdio"]}
    time = {"command": python_server("mcp-server-time")}
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"everything": everything, "time": time}}))
    return str(file)


def test_tools_are_listed_and_called_from_a_shell(tmp_path: Path, env, servers: str) -> None:
    named = ("--mcp-config", servers)
    tools = json.loads(hel("mcp", "tools", "time", "--json", *named, env=env, cwd=tmp_path).out)
    assert {tool["name"] for tool in tools} == {"get_current_time", "convert_time"}
    total = hel("mcp", "call", "everything", "get-sum", '{"a": 2, "b": 3}', *named, env=env, cwd=tmp_path)
    assert (total.status, total.out) == (0, "The sum of 2 and 3 is 5.\n")
    wrong = ("get_current_time", '{"timezone": "Nowhere/Land"}', "--json")
    ran = hel("mcp", "call", "time", *wrong, *named, env=env, cwd=tmp_path)
    assert ran.status == 1 and json.loads(ran.out)["isError"] is True


def test_a_model_uses_servers_of_both_generations_without_a_screen(tmp_path: Path, env, servers: str) -> None:
    names = ["mcp__everything__get-tiny-image", "mcp__time__convert_time"]
    convert = {"source_timezone": "Asia/Seoul", "time": "09:00", "target_timezone": "UTC"}
    script = [call("load_mcp_tool", {"names": names}), call(names[0]), call(names[1], convert), say("done")]
    with ScriptedModel(script) as model:
        chosen = ("--model", "scripted/gpt-4o", "--base-url", model.url, "--access", "auto")
        ran = hel("run", "go", *chosen, "--mcp-config", servers, "--json", env=env, cwd=tmp_path)
    assert ran.status == 0, ran.err
    last = model.requests[2]["messages"][-1]
    assert last["role"] == "user"  # the image, behind the result that names it
    assert any(part.get("type") == "image_url" for part in last["content"])
    assert "00:00" in results(model.requests[3])[-1]
