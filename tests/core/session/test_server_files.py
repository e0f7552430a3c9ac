"""Server files and settings as they should not be: said with their place, never asked about, never fatal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import say
from tests.rig import Driver, servers_file

Open = Callable[..., Driver]

BAD = {
    "nothing": b"",
    "not-json": b"{'mcpServers': {}}",
    "cut": b'{"mcpServers": {"x": {"command": "tru',
    "list": b"[1, 2]",
    "null": b"null",
    "number": b"7",
    "duplicate": b'{"mcpServers": {"x": {"command": "a"}, "x": {"command": "b"}}}',
    "utf-16": '{"mcpServers": {}}'.encode("utf-16"),
    "latin-1": b'{"mcpServers": {"x": {"command": "caf\xe9"}}}',
    "nul": b"\0" * 100,
    "deep": b"[" * 100_000,
    "too-large": b" " * (1 << 20) + b'{"mcpServers": {"x": {"command": "true"}}}',
    "other-top": b'{"servers_": {}}',
    "servers-list": b'{"mcpServers": [{"command": "true"}]}',
    "no-command": b'{"mcpServers": {"x": {}}}',
    "both": b'{"mcpServers": {"x": {"command": "true", "url": "http://127.0.0.1:1/mcp"}}}',
    "args-text": b'{"mcpServers": {"x": {"command": "true", "args": "-v"}}}',
    "env-number": b'{"mcpServers": {"x": {"command": "true", "env": {"A": {}}}}}',
    "bad-name": b'{"mcpServers": {"a__b": {"command": "true"}}}',
    "name-escape": b'{"mcpServers": {"\\u001b]0;t\\u0007": {"command": "true"}}}',
    "name-path": b'{"mcpServers": {"../../x": {"command": "true"}}}',
    "entry-null": b'{"mcpServers": {"x": null}}',
    "url-file": b'{"mcpServers": {"x": {"url": "file:///etc/passwd"}}}',
    "timeout": b'{"mcpServers": {"x": {"command": "true", "timeout": -1}}}',
    "surrogate": b'{"mcpServers": {"x": {"command": "\\ud800", "args": 5}}}',
}


def warnings(driver: Driver) -> list[p.Notice]:
    return [notice for notice in driver.of(p.Notice) if notice.severity == "warning"]


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_a_bad_file_is_one_warning_and_no_question(play: Open, project: Path, data: bytes) -> None:
    file = project / ".hel" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(data)
    with play(say("hello")) as driver:  # the server of the command line works beside it
        driver.phase("fix", "ready")
        assert driver.ask("hi").reason == "done"
        assert not driver.of(p.Asked)
        assert [notice.source for notice in warnings(driver)] == [str(file)]
        assert warnings(driver)[0].text


def test_what_is_no_regular_file_is_not_opened(play: Open, project: Path) -> None:
    (project / ".hel").mkdir()
    os.mkfifo(project / ".hel" / "mcp.json")
    (project / ".mcp.json").mkdir()
    with play(say("hello")) as driver:
        assert driver.ask("hi").reason == "done"
        assert len(warnings(driver)) == 2


def test_a_good_entry_works_beside_bad_ones(play: Open, project: Path, tmp_path: Path) -> None:
    entries = json.loads(servers_file(tmp_path, good="wire:ok").read_text())
    entries["mcpServers"] |= {"bad": {"command": 5}, "worse": "text"}
    (project / ".mcp.json").write_text(json.dumps(entries))
    with play(say("hello"), servers={}) as driver:
        question = driver.trust()
        assert [claim.name for claim in question.servers] == ["good"]
        driver.phase("good", "ready")
        driver.phase("bad", "failed")
        driver.phase("worse", "failed")
        assert driver.ask("hi").reason == "done"


def test_an_unknown_key_is_noted_and_the_server_never_counts_as_failed(play: Open) -> None:
    with play(say("hello"), servers={"fix": {"mode": "wire:ok", "autoApprove": ["*"], "color": 1}}) as driver:
        driver.phase("fix", "ready")
        states = [event.phase for event in driver.of(p.ServerChanged)]
        assert "failed" not in states
        assert any("color" in notice.text for notice in driver.of(p.Notice))


def test_an_unset_variable_keeps_its_server_off_and_starts_the_others(play: Open) -> None:
    servers = {"bad": {"mode": "wire:ok", "env": {"A": "${HEL_NOT_SET}"}}, "good": "wire:ok"}
    with play(say("hello"), servers=servers) as driver:
        driver.phase("good", "ready")
        assert "HEL_NOT_SET is not set" in driver.phase("bad", "failed").reason


@pytest.mark.parametrize(
    "text", ["access = [", 'access = "root"', "max_steps = -3", 'tools = "all"', 'colour = "red"', "\0"]
)
def test_bad_settings_are_a_warning_and_the_defaults_hold(play: Open, tmp_path: Path, text: str) -> None:
    settings = tmp_path / "hel" / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(text)
    with play(say("hello"), servers={}) as driver:
        assert driver.ask("hi").reason == "done"
        assert driver.of(p.SessionStarted)[0].access == "confirm"
        assert len(warnings(driver)) == 1


def test_a_project_cannot_loosen_what_the_person_set(play: Open, project: Path) -> None:
    settings = project / ".hel" / "config.toml"
    settings.parent.mkdir()
    settings.write_text('access = "auto"\nmodel = "evil/model"\n[permissions]\nallow = ["bash"]\n')
    with play(say("hello"), servers={}) as driver:
        assert driver.ask("hi").reason == "done"
        assert driver.of(p.SessionStarted)[0].access == "confirm"
        assert driver.of(p.ModelChanged)[-1].label == "scripted/scripted"
        assert any("can only tighten" in notice.text for notice in warnings(driver))


def test_a_state_folder_that_cannot_be_written_is_said_and_hel_goes_on(play: Open, tmp_path: Path) -> None:
    (tmp_path / "hel").write_text("a file where a folder should be")
    with play(say("hello")) as driver:
        assert driver.ask("hi").reason == "done"
        driver.phase("fix", "ready")
        assert warnings(driver)
