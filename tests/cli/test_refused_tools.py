"""`hel run` against an endpoint that refuses a tool: it is left out by name, and the work is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.shell import hel
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, say
from tests.fixtures.models.schema_rules import functions
from tests.rig import called, environment, servers_file


def test_a_refused_tool_is_named_and_the_others_work(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    replies = [call("mcp__fix__t1", {"text": "good"}), say("done")]

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        tools = functions(body)
        bad = [n for n, tool in enumerate(tools) if tool["description"] == "poison"]
        if bad:
            where = "In context=('properties', 'text'), array schema missing items."
            return fail(400, f"Invalid schema for function '{tools[bad[0]]['name']}': {where}")
        return replies.pop(0)

    env = {"COUNT": "4", "BAD": "2"}
    servers = servers_file(tmp_path, fix={"mode": "weird:refused", "always_load": True, "env": env})
    with ScriptedModel([answer] * 9) as model:
        ran = hel(
            *("run", "go", "--json", "--access", "auto", "--mcp-config", str(servers)),
            *("--model", "scripted/scripted", "--base-url", model.url),
            env=environment(tmp_path, HEL_API_KEY="sk-test-0123456789abcdefghij"),
            cwd=project,
        )
        names = [tool["name"] for tool in functions(model.requests[-1])]
    assert ran.status == 0, ran.err
    assert ran.lines[-1]["type"] == "result"
    assert [one["name"] for one in called(tmp_path, "fix")] == ["t1"]
    assert {"mcp__fix__t1", "mcp__fix__t3"} < set(names) and "mcp__fix__t2" not in names
    told = json.dumps(ran.lines) + ran.err
    assert "t2 is not offered" in told
    assert "properties.text" in told and "array schema missing items" in told
