"""`hel mcp test`: the saved checks of a project in a shell and in continuous integration."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.shell import Ran, hel
from tests.rig import calls_received, environment, sample, servers_file

PORT = '[[check]]\nname = "{name}"\nserver = "{server}"\ntool = "lookup_port"\narguments = {{ service = "api" }}\n'


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path)


@pytest.fixture
def project(tmp_path: Path, env: dict[str, str]) -> Path:
    folder = sample(tmp_path)
    assert hel("mcp", "trust", "--yes", env=env, cwd=folder).status == 0
    return folder


def check(project: Path, name: str, expect: str, server: str = "inventory") -> None:
    folder = project / ".hel" / "checks"
    folder.mkdir(exist_ok=True)
    with (folder / "ports.toml").open("a") as file:
        file.write(PORT.format(name=name, server=server) + f"expect = {{ {expect} }}\n")


def run_checks(project: Path, env: dict[str, str], *arguments: str) -> Ran:
    return hel("mcp", "test", *arguments, env=env, cwd=project)


def test_all_passed_ends_with_0(project: Path, env: dict[str, str]) -> None:
    check(project, "api", 'text = "api: 8437"')
    ran = run_checks(project, env)
    assert (ran.status, ran.err) == (0, "")
    assert "✓ passed  api" in ran.out
    assert ran.out.splitlines()[-1].startswith("1 passed (")
    assert calls_received(project) == [("lookup_port", {"service": "api"})]


def test_one_that_failed_ends_with_1_and_shows_the_difference(project: Path, env: dict[str, str]) -> None:
    check(project, "good", 'text = "api: 8437"')
    check(project, "bad", 'text = "api: 1"')
    ran = run_checks(project, env)
    assert ran.status == 1
    assert "✗ failed  bad" in ran.out
    assert "-api: 1\n      +api: 8437" in ran.out
    assert "1 passed, 1 failed" in ran.out


def test_json_and_junit_say_the_same(project: Path, env: dict[str, str], tmp_path: Path) -> None:
    check(project, "good", 'text = "api: 8437"')
    check(project, "bad \\u0007", 'text = "api: 1"')
    check(project, "lost", 'text = "x"', server="nobody")
    xml = tmp_path / "out" / "results.xml"
    ran = run_checks(project, env, "--json", "--junit", str(xml))
    assert ran.status == 2
    told = json.loads(ran.out)
    assert (told["passed"], told["failed"], told["error"]) == (1, 1, 1)
    keys = {"name", "server", "tool", "kind", "file", "state", "seconds", "message", "diff"}
    assert [set(one) for one in told["checks"]] == [keys] * 3
    root = ElementTree.fromstring(xml.read_bytes())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert [len(case) for case in cases.values()].count(0) == 1
    assert cases["good"].get("classname") == "inventory.lookup_port"
    assert "+api: 8437" in root.find(".//failure").text
    (project / "link.xml").symlink_to(tmp_path / "mine")
    ran = run_checks(project, env, "--junit", "link.xml")
    assert ("it is a link" in ran.err, (tmp_path / "mine").exists()) == (True, False)


def test_only_those_of_a_server_and_a_name_are_run(project: Path, env: dict[str, str]) -> None:
    check(project, "one", 'text = "api: 8437"')
    check(project, "two", 'text = "x"')
    ran = run_checks(project, env, "inventory", "-k", "ONE", "--json")
    assert ran.status == 0
    assert [one["name"] for one in json.loads(ran.out)["checks"]] == ["one"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [(("nobody",), "no server named nobody"), (("-k", "nothing"), "no check whose name holds nothing")],
)
def test_nothing_to_run_is_a_usage_error(project: Path, env: dict[str, str], arguments, part: str) -> None:
    check(project, "one", 'text = "x"')
    ran = run_checks(project, env, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert part in ran.err


def test_no_checks_at_all_is_no_success(project: Path, env: dict[str, str]) -> None:
    ran = run_checks(project, env)
    assert ran.status == 2
    assert "there are no checks in" in ran.err


def test_an_unreadable_check_ends_with_2_and_the_others_run(project: Path, env: dict[str, str]) -> None:
    check(project, "good", 'text = "api: 8437"')
    check(project, "bad", "")
    ran = run_checks(project, env)
    assert ran.status == 2
    assert "✓ passed  good" in ran.out
    assert "nothing to compare" in ran.out


def test_a_server_that_is_not_trusted_is_not_started(tmp_path: Path, env: dict[str, str]) -> None:
    project = sample(tmp_path)
    check(project, "one", 'text = "api: 8437"')
    ran = run_checks(project, env)
    assert ran.status == 4
    assert "hel mcp trust" in ran.out
    assert not (project / ".hel" / "mcp" / "events.jsonl").exists()


def test_a_server_that_does_not_come_up_is_told_with_why(
    project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    check(project, "one", 'text = "x"', server="broken")
    check(project, "two", 'text = "api: 8437"')
    named = servers_file(tmp_path, broken="life:exit-at-once")
    ran = run_checks(project, env, "--mcp-config", str(named))
    assert ran.status == 1
    assert "broken cannot be reached" in ran.out
    assert "exit" in ran.err
    assert "✓ passed  two" in ran.out


def test_what_a_server_was_given_as_a_secret_is_not_told(
    project: Path, env: dict[str, str], tmp_path: Path
) -> None:
    named = servers_file(tmp_path, fix={"mode": "wire:ok", "env": {"API_TOKEN": "swordfish-77"}})
    folder = project / ".hel" / "checks"
    folder.mkdir()
    text = 'name = "a"\nserver = "fix"\ntool = "echo"\narguments = { text = "it is ${WORD}" }\n'
    (folder / "a.toml").write_text(text + 'expect = { text = "x" }\n')
    ran = run_checks(project, {**env, "WORD": "swordfish-77"}, "--mcp-config", str(named))
    assert ran.status == 1
    assert "swordfish" not in ran.out
    assert "+it is ‹redacted›" in ran.out


def test_update_keeps_snapshots_and_only_them(project: Path, env: dict[str, str]) -> None:
    check(project, "shot", 'kind = "snapshot"')
    check(project, "bad", 'text = "x"')
    file = project / ".hel" / "checks" / "ports.toml"
    before = file.read_text()
    assert run_checks(project, env, "-k", "shot").status == 1
    ran = run_checks(project, env, "--update")
    assert ran.status == 1
    assert "✓ passed  shot" in ran.out
    assert "✗ failed  bad" in ran.out
    assert (file.parent / "snapshots" / "shot.txt").read_text() == "api: 8437\n"
    assert file.read_text() == before
    assert run_checks(project, env, "-k", "shot").status == 0
