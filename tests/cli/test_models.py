"""`hel models`: from a shell, against endpoints on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import hel
from tests.fixtures.models.engine import Engine
from tests.rig import KEY, environment

LISTED = {
    "GET /v1/models": {
        "data": [
            {
                "id": "vendor/large",
                "context_length": 128_000,
                "supported_parameters": ["tools", "parallel_tool_calls"],
                "architecture": {"input_modalities": ["text", "image"]},
                "pricing": {"prompt": "0.000003", "completion": "0.000015"},
            },
            {"id": "vendor/small\x1b[2J", "context_length": 8_192, "supported_parameters": []},
        ]
    }
}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


def test_an_endpoint_is_listed_line_by_line(env: dict[str, str], tmp_path: Path) -> None:
    with Engine(LISTED) as engine:
        done = hel("models", "--base-url", engine.url, env=env | {"HEL_API_KEY": KEY}, cwd=tmp_path)
        assert engine.exchanges[0].headers["authorization"] == f"Bearer {KEY}"
    assert done.status == 0, done.err
    large, small = done.out.splitlines()
    assert large.split()[:3] == ["openai-compatible/vendor/large", "128k", "$3/15"] and "sees" in large
    assert "price unknown" in small and "no tools" in small and "\x1b" not in small
    assert KEY not in done.out + done.err


def test_words_choose_and_json_tells_all(env: dict[str, str], tmp_path: Path) -> None:
    with Engine(LISTED) as engine:
        done = hel("models", "LARGE", "vendor", "--base-url", engine.url, "--json", env=env, cwd=tmp_path)
    told = json.loads(done.out)
    assert [row["label"] for row in told["models"]] == ["openai-compatible/vendor/large"]
    row = told["models"][0]
    assert (row["window"], row["sees"], row["tools"], row["input_price"]) == (128_000, True, True, 3.0)
    assert row["parallel"] is True
    assert told["providers"][0]["models"] == 2


def test_a_provider_that_refuses_is_told_and_nothing_found_is_a_failure(
    env: dict[str, str], tmp_path: Path
) -> None:
    with Engine({}) as engine:
        done = hel("models", "--base-url", engine.url, env=env, cwd=tmp_path)
    assert done.status == 1
    assert "answered 404 when asked for its models." in done.err


def test_words_that_no_model_has_are_told(env: dict[str, str], tmp_path: Path) -> None:
    with Engine(LISTED) as engine:
        done = hel("models", "zzz", "--base-url", engine.url, env=env, cwd=tmp_path)
        told = hel("models", "zzz", "--base-url", engine.url, "--json", env=env, cwd=tmp_path)
    assert (done.status, done.out, done.err) == (1, "", "hel models: no name of 2 has zzz in it.\n")
    assert (told.status, json.loads(told.out)["models"], told.err) == (1, [], "")
