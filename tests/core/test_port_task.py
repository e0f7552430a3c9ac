"""The port task from end to end, without a screen: look a port up on a server, write it into a file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, say
from tests.rig import (
    KOREAN,
    LIST,
    LOOKUP,
    PORT_TASK,
    Driver,
    calls_received,
    options,
    received,
    sample,
)

OFFERED = ("read_file", "search_replace")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return sample(tmp_path)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(PORT_TASK) as endpoint:
        yield endpoint


@pytest.fixture
def driver(project: Path, tmp_path: Path, model: ScriptedModel) -> Iterator[Driver]:
    with Driver(options(project, tmp_path, model.url, tools=OFFERED, access="auto", max_steps=8)) as one:
        yield one


def tool_names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def system(body: dict[str, Any]) -> str:
    return next(message["content"] for message in body["messages"] if message["role"] == "system")


def snapshot(project: Path) -> dict[str, bytes]:
    """Every file outside .hel."""
    files = (path for path in project.rglob("*") if path.is_file())
    return {str(p.relative_to(project)): p.read_bytes() for p in files if ".hel" not in p.parts}


def test_the_trust_question_comes_before_any_process_and_is_recorded(
    driver: Driver, project: Path, tmp_path: Path
) -> None:
    question = driver.question(p.TrustQuestion)
    assert not psutil.Process().children(recursive=True) or not received(project)
    assert received(project) == []
    claim = question.servers[0]
    assert question.project == str(project)
    assert claim.name == "inventory"
    assert claim.command_line.endswith(".hel/mcp/inventory.py")
    driver.trust()
    driver.phase("inventory", "ready")
    record = next((tmp_path / "hel").rglob("trust-servers.toml"))
    assert record.stat().st_mode & 0o777 == 0o600
    digest = hashlib.sha256((project / ".hel" / "mcp.json").read_bytes()).hexdigest()
    assert digest in record.read_text()


def test_connecting_asks_the_server_for_its_list_and_nothing_else(driver: Driver, project: Path) -> None:
    driver.trust()
    ready = driver.phase("inventory", "ready")
    assert ready.tools == 2
    methods = [
        message.get("method") for message in received(project) if message.get("method") != "server/discover"
    ]
    assert methods == ["initialize", "notifications/initialized", "tools/list"]
    rows = driver.core.tools()
    assert [row.loaded for row in rows] == [False, False]


def test_the_first_request_has_names_and_no_schema(driver: Driver, model: ScriptedModel) -> None:
    driver.trust()
    driver.ask(KOREAN)
    first = model.requests[0]
    assert tool_names(first) == [*OFFERED, "load_mcp_tool"]
    assert f"- {LIST}: " in system(first)
    assert f"- {LOOKUP}: " in system(first)
    assert "load_mcp_tool before" in system(first)
    text = str(first)
    assert "inputSchema" not in text
    assert "8437" not in text
    assert "'service'" not in text


def test_loading_stays_inside_hel_and_counts_from_the_next_request(
    driver: Driver, model: ScriptedModel, project: Path
) -> None:
    driver.trust()
    driver.phase("inventory", "ready")
    before = len(received(project))
    model.replies[1] = lambda _body: (seen.append(len(received(project))), call(LIST))[1]
    seen: list[int] = []
    driver.ask(KOREAN)
    assert seen == [before]
    load = model.requests[1]["messages"][-1]
    assert load["role"] == "tool"
    assert "next request" in load["content"]
    assert "properties" not in load["content"]
    assert all(row.loaded for row in driver.core.tools())


def test_later_requests_carry_the_servers_own_schemas(driver: Driver, model: ScriptedModel) -> None:
    driver.trust()
    driver.ask(KOREAN)
    assert len(model.requests) == 5
    for body in model.requests[1:]:
        assert tool_names(body) == [*OFFERED, "load_mcp_tool", LIST, LOOKUP]
    lookup = model.requests[1]["tools"][-1]["function"]
    assert lookup["parameters"]["properties"]["service"]["type"] == "string"
    assert lookup["parameters"]["required"] == ["service"]


def test_calls_reach_the_server_in_order_with_raw_names_and_no_question(
    driver: Driver, project: Path
) -> None:
    driver.trust()
    driver.ask(KOREAN)
    assert calls_received(project) == [("list_services", {}), ("lookup_port", {"service": "api"})]
    started = [(e.server, e.tool) for e in driver.of(p.CallStarted)]
    assert started == [
        ("", "read_file"),
        ("", "load_mcp_tool"),
        ("inventory", "list_services"),
        ("inventory", "lookup_port"),
        ("", "search_replace"),
    ]
    assert not [e for e in driver.of(p.Asked) if isinstance(e.question, p.ApprovalQuestion)]


def test_the_file_changes_by_exactly_the_port(driver: Driver, project: Path) -> None:
    before = snapshot(project)
    driver.trust()
    end = driver.ask(KOREAN)
    assert end.reason == "done"
    after = snapshot(project)
    assert after.pop("config.ini") == before.pop("config.ini").replace(b"7000", b"8437")
    assert after == before


def was_right(project: Path) -> bool:
    """A right file without a lookup on the server does not count."""
    looked_up = ("lookup_port", {"service": "api"}) in calls_received(project)
    return looked_up and (project / "config.ini").read_bytes() == b"port=8437\n"


def test_a_right_file_counts_only_with_the_lookup(
    driver: Driver, project: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [PORT_TASK[3], PORT_TASK[4]]
    driver.trust()
    driver.ask(KOREAN)
    assert (project / "config.ini").read_bytes() == b"port=8437\n"
    assert not was_right(project)


def test_a_call_before_loading_is_answered_with_guidance_and_recovered(
    driver: Driver, project: Path, model: ScriptedModel
) -> None:
    model.replies.insert(0, call(LOOKUP, {"service": "api"}))
    driver.trust()
    driver.phase("inventory", "ready")
    driver.ask(KOREAN)
    guidance = model.requests[1]["messages"][-1]["content"]
    assert "load_mcp_tool" in guidance
    assert LOOKUP in guidance
    assert was_right(project)
    assert len(calls_received(project)) == 2


@pytest.mark.parametrize(
    "path",
    [
        ".hel/mcp/inventory.py",
        "./.hel/mcp.json",
        "sub/../.hel/mcp/inventory.py",
        "link/inventory.py",
        "inventory-link.py",
        "{project}/.hel/mcp/inventory.py",
    ],
)
def test_the_servers_source_cannot_be_read(
    driver: Driver, project: Path, model: ScriptedModel, path: str
) -> None:
    (project / "sub").mkdir()
    os.symlink(".hel/mcp", project / "link")
    os.symlink(".hel/mcp/inventory.py", project / "inventory-link.py")
    model.replies[:] = [call("read_file", {"path": path.format(project=project)}), say("no")]
    driver.trust()
    driver.ask("look into the server")
    assert driver.results()[0].state in ("failed", "refused")
    assert "8437" not in str(model.requests[1])


def test_quitting_closes_the_servers_input_first_and_leaves_no_process(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    with Driver(options(project, tmp_path, model.url, tools=OFFERED, access="auto")) as driver:
        driver.trust()
        pid = driver.phase("inventory", "ready").pid
        process = psutil.Process(pid)
    assert not process.is_running()
    log = driver.core.log("inventory")
    assert log is not None
    lines = [line.text for line in log.lines(log.first, log.end)]
    assert any("goodbye" in line for line in lines), lines
    assert not [
        child for child in psutil.Process().children(recursive=True) if "inventory.py" in str(child.cmdline())
    ]


def test_without_mcp_nothing_of_it_is_in_a_request(project: Path, tmp_path: Path) -> None:
    guesses = [call("read_file", {"path": name}) for name in ("inventory.json", "servers.json", "mcp.json")]
    script = [call("read_file", {"path": "config.ini"}), calls(*guesses), say("I have no tool for that.")]
    before = snapshot(project)
    with ScriptedModel(script) as model:
        chosen = options(project, tmp_path, model.url, tools=OFFERED, access="auto", mcp=False)
        with Driver(chosen) as driver:
            end = driver.ask(KOREAN)
            assert end.reason == "done"
            assert not driver.of(p.Asked)
            assert not driver.of(p.ServerChanged)
            assert [r.state for r in driver.results()] == ["ok", "failed", "failed", "failed"]
    for body in model.requests:
        assert tool_names(body) == list(OFFERED)
        assert "mcp" not in system(body).replace(str(project), "").lower()
    assert snapshot(project) == before
    assert received(project) == []
