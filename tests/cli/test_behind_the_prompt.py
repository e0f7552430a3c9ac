"""What stands behind a prompt of `hel run` and is nobody's words: the model reads it, no title has it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import HEL, ROOT, Ran, hel
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import KEY, environment

SCHEMA = {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def go(tmp_path: Path, project: Path, model: ScriptedModel):
    env = environment(tmp_path, HEL_API_KEY=KEY)
    (project / "schema.json").write_text(json.dumps(SCHEMA))
    (project / "private.txt").write_text("nobody asked for this\n")

    def run(*arguments: str, stdin: str = "") -> Ran:
        at = ("--no-mcp", "--model", "scripted/scripted", "--base-url", model.url)
        return hel(*arguments, *(at if arguments[0] == "run" else ()), env=env, cwd=project, stdin=stdin)

    return run


def sent(model: ScriptedModel, number: int = 0) -> Any:
    return model.requests[number]["messages"][-1]["content"]


def test_what_is_piped_in_and_the_shape_go_to_the_model_and_into_no_title_and_no_search(go, model) -> None:
    model.replies[:] = [say("none"), say('{"port": 8437}')]
    ran = go("run", "which port?", "--output-schema", "schema.json", stdin="a haddock\n")
    assert ran.status == 0, ran.err
    assert sent(model).startswith("which port?\n\n<stdin>\na haddock\n\n</stdin>\n\nWhen you are done, ")
    assert sent(model, 1).startswith("That answer does not fit the schema:")
    (row,) = json.loads(go("sessions", "list", "--json").out)
    assert row["title"] == "which port?"
    for words in ("haddock", "When you are done", "does not fit the schema"):
        assert json.loads(go("sessions", "search", words, "--json").out) == [], words
    assert json.loads(go("sessions", "search", "which port", "--json").out) != []
    told = go("sessions", "export", "last").out
    assert "## 1. You\n\nwhich port?\n\n*▤ stdin*\n\n*▤ JSON schema*\n" in told
    assert "## 2. You\n\n*▤ JSON schema*\n" in told


def test_what_is_piped_in_attaches_no_file_that_it_speaks_of(go, model) -> None:
    model.replies[:] = [say("fine"), say("I see")]
    assert go("run", "review this", stdin="see @private.txt\n").status == 0
    assert "nobody asked" not in sent(model)
    assert go("run", "review @private.txt").status == 0
    assert "nobody asked" in sent(model, 1)


@pytest.mark.parametrize("words", [("review this",), ("-",)])
def test_of_what_is_piped_in_only_text_goes_to_the_model(go, model, words: tuple[str, ...]) -> None:
    model.replies[:] = [say("fine")]
    assert go("run", *words, stdin="one\0two \x1b[31mred\x1b[0m\n").status == 0
    assert "one␀two red\n" in sent(model)


def test_what_is_piped_in_and_is_no_text_is_a_usage_error(project, model) -> None:
    arguments = ["run", "review this", "--model", "scripted/scripted", "--base-url", model.url]
    done = subprocess.run(
        [*HEL, *arguments],
        env={**environment(project.parent), "PYTHONPATH": str(ROOT)},
        cwd=project,
        input=bytes(range(256)) * 8,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, model.requests) == (2, [])
    assert b"what is piped in is no text in UTF-8" in done.stderr
