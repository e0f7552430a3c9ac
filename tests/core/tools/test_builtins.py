"""The set of built-ins: names, definitions, what they have in common."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hel_tui.core.agent.task import Task
from hel_tui.core.tools.builtins import BUILTIN_NAMES, builtin_tools
from hel_tui.core.tools.checking import check
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.vocabulary import Tool


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Tool]:
    return builtin_tools(Workspace(tmp_path), names=None, environ=os.environ)


def test_all_are_there_in_order_under_their_names(tools: dict[str, Tool]) -> None:
    assert (*tools, "task") == BUILTIN_NAMES  # that one is the session's
    assert all(tool.definition.name == tool.raw == name for name, tool in tools.items())
    assert all(tool.server == "" and tool.claims == () for tool in tools.values())


def test_each_has_its_access(tools: dict[str, Tool]) -> None:
    assert {name: tool.access for name, tool in tools.items()} == {
        "read_file": "read",
        "write_file": "write",
        "search_replace": "write",
        "glob": "read",
        "grep": "read",
        "bash": "execute",
        "todo_write": "read",
    }


def test_a_choice_is_kept_once_and_in_order(tmp_path: Path) -> None:
    chosen = builtin_tools(Workspace(tmp_path), names=("grep", "read_file", "grep"), environ={})
    assert tuple(chosen) == ("read_file", "grep")
    assert builtin_tools(Workspace(tmp_path), names=(), environ={}) == {}


def test_an_unknown_name_is_told_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no built-in tool grap; there are read_file, "):
        builtin_tools(Workspace(tmp_path), names=("grap",), environ={})


def test_none_takes_an_argument_it_does_not_know(tools: dict[str, Tool]) -> None:
    given = {"string": "x", "integer": 1, "boolean": True, "array": []}
    for name, tool in tools.items():
        schema = tool.definition.parameters
        fitting = {key: given[schema["properties"][key]["type"]] for key in schema.get("required", ())}
        assert fitting == check(name, schema, fitting)
        told = check(name, schema, {**fitting, "bogus": 1})
        assert isinstance(told, str) and f"{name} do not fit at `bogus`" in told


def test_a_word_that_is_not_among_the_choices_is_said_with_them() -> None:
    schema = Task.definition.parameters
    told = check("task", schema, {"prompt": "x", "tools": "all"})
    assert isinstance(told, str) and "'all' is not one of " in told and "read-only" in told


def test_the_definitions_are_small_and_plain_json_schema(tools: dict[str, Tool]) -> None:
    definitions = [tool.definition for tool in tools.values()]
    size = sum(len(json.dumps([each.name, each.description, each.parameters])) for each in definitions)
    assert size < 500 * len(definitions), size
    for each in definitions:
        assert each.parameters["type"] == "object"
        assert set(each.parameters.get("required", ())) <= set(each.parameters["properties"])


async def test_a_preview_never_fails(tools: dict[str, Tool]) -> None:
    for tool in tools.values():
        for arguments in ({}, {"path": None}, {"path": ".hel"}, {"command": 1}, {"path": "\0"}):
            assert await tool.preview(arguments) == ""
            assert isinstance(tool.subject(arguments), str)
            assert isinstance(tool.summary(arguments), str)


def test_importing_the_tools_loads_nothing_heavy() -> None:
    code = (
        "import sys, hel_tui.core.tools.builtins;"
        "heavy = {'mcp', 'httpx', 'jsonschema', 'textual', 'psutil', 'platformdirs'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
