"""A file that a person names may be anything: a pipe nobody writes to, a device, a folder. None holds hel up."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import hel
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.labs.small import lay_lab
from tests.rig import KEY, environment

LIMIT = 30.0
"""Seconds after which hel counts as held up; far more than any of these takes."""


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def listener(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


every_kind = pytest.mark.parametrize("make", [pipe, device, folder, listener])
Make = Callable[[Path], None]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY=KEY)


@every_kind
@pytest.mark.parametrize(
    "command",
    [
        ("run", "go", "--no-mcp", "--output-schema", "odd", "--model", "demo/inventory"),
        ("eval", "odd"),
        ("mcp", "replay", "odd"),
        ("mcp", "import", "claude", "odd"),
        ("mcp", "list", "--mcp-config", "odd"),
        ("mcp", "test", "odd"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_what_is_no_file_is_told_in_a_sentence(
    tmp_path: Path, env: dict[str, str], command: tuple[str, ...], make: Make
) -> None:
    make(tmp_path / "odd")
    ran = hel(*command, env=env, cwd=tmp_path, limit=LIMIT)
    assert ran.status != 0 and "Traceback" not in ran.err
    assert ran.err.strip()


@every_kind
def test_what_is_mentioned_and_no_file_is_not_read(tmp_path: Path, env: dict[str, str], make: Make) -> None:
    make(tmp_path / "odd")
    with ScriptedModel([say("fine")]) as model:
        chosen = ("--no-mcp", "--model", "a/b", "--base-url", model.url)
        ran = hel("run", "look at @odd", *chosen, env=env, cwd=tmp_path, limit=LIMIT)
    assert "Traceback" not in ran.err


@every_kind
@pytest.mark.parametrize("name", ["pinned", "results/word/runs.jsonl"])
def test_what_is_no_file_of_a_lab(tmp_path: Path, env: dict[str, str], make: Make, name: str) -> None:
    lay_lab(tmp_path, passes="[pins]\npinned = 'no such sum'\n" if name == "pinned" else "")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    make(tmp_path / name)
    ran = hel("eval", str(tmp_path), "-n", "1", env=env, cwd=tmp_path, limit=LIMIT)
    assert ran.status != 0 and "Traceback" not in ran.err
    assert Path(name).name in ran.err


def test_a_schema_that_is_a_link_to_a_file_is_read(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "real.json").write_text('{"type": "object"}')
    (tmp_path / "schema.json").symlink_to("real.json")
    with ScriptedModel([say("{}")]) as model:
        chosen = ("--no-mcp", "--model", "a/b", "--base-url", model.url, "--output-schema", "schema.json")
        assert hel("run", "go", *chosen, env=env, cwd=tmp_path, limit=LIMIT).status == 0
