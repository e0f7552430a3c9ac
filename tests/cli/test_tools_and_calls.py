"""`hel mcp tools` and `hel mcp call`: any trusted server from a shell, and no process left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import hel
from tests.rig import calls_received, environment, sample, servers_file


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


@pytest.fixture
def project(tmp_path: Path, env: dict[str, str]) -> Path:
    folder = sample(tmp_path)
    assert hel("mcp", "trust", "--yes", env=env, cwd=folder).status == 0
    return folder


def test_tools_as_json_have_stable_keys_and_the_whole_schema(project: Path, env: dict[str, str]) -> None:
    tools = json.loads(hel("mcp", "tools", "inventory", "--json", env=env, cwd=project).out)
    keys = {"name", "public_name", "description", "input_schema", "output_schema", "annotations"}
    keys |= {"offered", "reason", "tokens"}
    assert [set(tool) for tool in tools] == [keys, keys]
    lookup = tools[1]
    assert (lookup["name"], lookup["public_name"]) == ("lookup_port", "mcp__inventory__lookup_port")
    assert lookup["input_schema"]["required"] == ["service"]
    assert lookup["offered"] is True


def test_a_call_prints_its_result(project: Path, env: dict[str, str]) -> None:
    ran = hel("mcp", "call", "inventory", "lookup_port", '{"service": "api"}', env=env, cwd=project)
    assert (ran.status, ran.out) == (0, "api: 8437\n")
    assert calls_received(project) == [("lookup_port", {"service": "api"})]


def test_a_failed_call_ends_with_1_and_its_result(project: Path, env: dict[str, str]) -> None:
    ran = hel("mcp", "call", "inventory", "lookup_port", '{"service": "x"}', "--json", env=env, cwd=project)
    assert ran.status == 1
    assert json.loads(ran.out)["isError"] is True


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (("call", "inventory", "nothing"), 1, "lookup_port"),
        (("call", "inventory", "lookup_port", "{"), 2, "JSON"),
        (("call", "inventory", "lookup_port", "[1]"), 2, "object"),
        (("call", "nobody", "x"), 1, "no server named nobody"),
        (("tools", "nobody"), 1, "no server named nobody"),
    ],
)
def test_what_cannot_be_called_ends_with_one_sentence(project, env, arguments, status, part) -> None:
    ran = hel("mcp", *arguments, env=env, cwd=project)
    assert (ran.status, ran.out) == (status, "")
    assert part in ran.err
    assert len(ran.err.splitlines()) == 1


def test_tools_are_listed_with_their_arguments(project: Path, env: dict[str, str]) -> None:
    ran = hel("mcp", "tools", "inventory", env=env, cwd=project)
    assert "    no arguments\n" in ran.out
    assert "    arguments: service (required)\n" in ran.out


def test_an_untrusted_server_is_not_started(tmp_path: Path, env: dict[str, str]) -> None:
    project = sample(tmp_path)
    ran = hel("mcp", "tools", "inventory", env=env, cwd=project)
    assert ran.status == 4
    assert "hel mcp trust" in ran.err
    assert not (project / ".hel" / "mcp" / "events.jsonl").exists()


def test_a_server_that_does_not_come_up_ends_with_1_and_why(tmp_path: Path, env: dict[str, str]) -> None:
    named = servers_file(tmp_path, broken="life:exit-at-once")
    ran = hel("mcp", "tools", "broken", "--mcp-config", str(named), env=env, cwd=tmp_path)
    assert ran.status == 1
    assert "broken cannot be reached" in ran.err
    assert "exit" in ran.err


def test_what_is_binary_in_a_result_stays_in_a_file_that_the_text_names(
    tmp_path: Path, env: dict[str, str]
) -> None:
    file = servers_file(tmp_path, odd="lists:weird-results")
    ran = hel("mcp", "call", "--mcp-config", str(file), "odd", "image", env=env, cwd=tmp_path)
    assert ran.status == 0
    saved = Path(ran.out.strip().removeprefix("[image png 640×480, saved: ").removesuffix("]"))
    assert saved.read_bytes().startswith(b"\x89PNG")
    saved.unlink()
    saved.parent.rmdir()


def test_a_result_that_breaks_its_output_schema_is_printed_and_warned_about(
    tmp_path: Path, env: dict[str, str]
) -> None:
    file = servers_file(tmp_path, odd="lists:weird-results")
    ran = hel("mcp", "call", "--mcp-config", str(file), "odd", "mismatch", env=env, cwd=tmp_path)
    assert (ran.status, ran.out) == (0, '{"port": "8437"}\n')
    assert "output schema" in ran.err


def test_what_is_given_as_meta_goes_along_with_the_call(tmp_path: Path, env: dict[str, str]) -> None:
    servers = servers_file(tmp_path, fix="wire:ok")
    call = ("mcp", "call", "fix", "echo", "{}", "--mcp-config", str(servers))
    assert hel(*call, "--meta", '{"trace": "abc"}', env=env, cwd=tmp_path).status == 0
    events = [json.loads(line) for line in (tmp_path / "fix.events").read_text().splitlines()]
    (sent,) = [e["message"]["params"] for e in events if e.get("message", {}).get("method") == "tools/call"]
    assert sent["_meta"]["trace"] == "abc" and sent["_meta"]["progressToken"]
    assert hel(*call, "--meta", "[1]", env=env, cwd=tmp_path).status == 2


def test_a_call_made_many_times_tells_how_long_it_took(project: Path, env: dict[str, str]) -> None:
    words = (
        "mcp",
        "call",
        "inventory",
        "lookup_port",
        '{"service": "api"}',
        "--times",
        "20",
        "--at-once",
        "4",
    )
    told = json.loads(hel(*words, "--json", env=env, cwd=project).out)
    assert (told["calls"], told["failed"]) == (20, 0)
    assert 0 < told["median_ms"] <= told["p95_ms"] <= told["max_ms"]
    assert len(calls_received(project)) == 20
    bad = hel(
        "mcp", "call", "inventory", "lookup_port", '{"service": "no"}', "--times", "3", env=env, cwd=project
    )
    assert bad.status == 1 and "3 failed" in bad.out
