"""`hel mcp resources` and `hel mcp prompts`: what a server offers besides tools, from a shell."""

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
def project(tmp_path: Path, env: dict[str, str]) -> Path:
    folder = tmp_path / "project"
    (folder / ".hel").mkdir(parents=True)
    entry = {"command": sys.executable, "args": [str(SERVERS / "offers.py"), "offers"]}
    (folder / ".hel" / "mcp.json").write_text(json.dumps({"servers": {"offers": entry}}))
    assert hel("mcp", "trust", "--yes", env=env, cwd=folder).status == 0
    return folder


def test_resources_are_listed_and_one_is_read(project, env) -> None:
    listed = json.loads(hel("mcp", "resources", "offers", "--json", env=env, cwd=project).out)
    keys = {"uri", "name", "description", "mime", "size", "template", "variables"}
    assert listed and {frozenset(one) for one in listed} == {frozenset(keys)}
    assert any(one["template"] for one in listed)
    uri = next(one["uri"] for one in listed if not one["template"])
    read = hel("mcp", "resources", "offers", uri, env=env, cwd=project)
    assert read.status == 0 and read.out.strip()
    raw = json.loads(hel("mcp", "resources", "offers", uri, "--json", env=env, cwd=project).out)
    assert raw["contents"][0]["uri"] == uri


def test_prompts_are_listed_and_one_is_filled_in(project, env) -> None:
    listed = json.loads(hel("mcp", "prompts", "offers", "--json", env=env, cwd=project).out)
    needy = next(one for one in listed if any(arg["required"] for arg in one["arguments"]))
    name = needy["name"]
    bare = hel("mcp", "prompts", "offers", name, env=env, cwd=project)
    assert bare.status == 2 and "needs" in bare.err
    words = [f"{arg['name']}=api" for arg in needy["arguments"]]
    filled = hel("mcp", "prompts", "offers", name, *words, env=env, cwd=project)
    assert filled.status == 0 and filled.out.startswith(("user: ", "assistant: "))


def test_a_resource_or_prompt_that_is_not_there_is_a_sentence_and_status_one(project, env) -> None:
    gone = hel("mcp", "resources", "offers", "nowhere://x", env=env, cwd=project)
    assert gone.status == 1 and gone.err.startswith("hel mcp: ") and not gone.out
    nearly = hel("mcp", "prompts", "offers", "no-such", env=env, cwd=project)
    assert nearly.status == 1 and "no prompt named no-such" in nearly.err
