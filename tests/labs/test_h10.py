"""The lab that ships with hel, as a person runs it: without servers it cannot be done, with them it always is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hel_tui.labs.reading import find_lab, read_lab
from tests.cli.shell import Ran, hel
from tests.fixtures.models.endpoint import Reply, ScriptedModel, call, say
from tests.rig import KEY, LIST, LOOKUP, PORT_TASK, environment

ORDER = ["list_services", "lookup_port"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def ran(place: Path) -> Ran:
    return hel(
        "eval", "h10", "-n", "2", "-j", "2", "--json", "--keep", "kept", env=environment(place), cwd=place
    )


def test_no_run_without_servers_passes_and_every_run_with_them(ran: Ran) -> None:
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)
    assert (told["complete"], told["as_expected"]) == (True, True)
    baseline, variant = told["conditions"]
    assert (baseline["condition"], baseline["passed"], baseline["runs"]) == ("baseline", 0, 2)
    assert (variant["condition"], variant["passed"], variant["runs"]) == ("variant", 2, 2)
    assert variant["checks"] == {"file correct": 2, "looked up in order": 2}
    assert baseline["notes"] == variant["notes"] == {"guessed edit": 0}
    assert baseline["called_before_loading"] == variant["called_before_loading"] == 0


def test_the_order_of_calls_is_that_of_the_servers_own_log(ran: Ran, place: Path) -> None:
    for run in json.loads(ran.out)["runs"]:
        log = (
            place / "kept" / f"{run['condition']}-{run['run']}" / "project" / ".hel" / "mcp" / "events.jsonl"
        )
        if run["condition"] == "baseline":
            assert not log.exists()
            assert run["server_calls"] == []
            continue
        messages = [json.loads(line) for line in log.read_text().splitlines()]
        calls = [one["params"] for one in messages if one.get("method") == "tools/call"]
        assert [one["name"] for one in calls] == run["server_calls"] == ORDER
        assert calls[1]["arguments"] == {"service": "api"}


def test_each_run_had_a_project_and_a_home_of_its_own(ran: Ran, place: Path) -> None:
    assert ran.status == 0
    kept = sorted(path.name for path in (place / "kept").iterdir())
    assert kept == ["baseline-1", "baseline-2", "variant-1", "variant-2"]
    for name in kept:
        port = 8437 if name.startswith("variant") else 7000
        assert (place / "kept" / name / "project" / "config.ini").read_bytes() == f"port={port}\n".encode()
        assert list((place / "kept" / name / "home").rglob("*.jsonl")), "its session is in its own home"
    assert not (place / "hel").exists(), "the person's own home was not touched"


def test_the_report_is_a_table_with_a_column_for_each_condition(ran: Ran, place: Path) -> None:
    assert ran.status == 0
    text = (place / "results" / "h10" / "report.md").read_text()
    rows = {cells[0]: cells[1:] for line in text.splitlines() if (cells := _cells(line))}
    assert rows["passed"] == ["0/2", "2/2"]
    assert rows["expected"] == ["none, held", "all, held"]
    assert rows["calls servers saw"] == ["none ×2", "list_services → lookup_port ×2"]
    assert rows["ended"] == ["done 2", "done 2"]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| ") else []


def test_the_value_stands_in_the_servers_source_and_nowhere_else_in_the_project() -> None:
    lab = read_lab(find_lab("h10"))
    project = lab.conditions[0].project
    holds = [path.name for path in project.rglob("*") if path.is_file() and b"8437" in path.read_bytes()]
    assert holds == ["inventory.py"]
    assert "8437" not in lab.conditions[0].prompt
    assert "lookup_port" not in lab.conditions[0].prompt


# ------------------------------------------------------------ other models than the scripted one


def run_with(
    place: Path, replies: Sequence[Reply], *conditions: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One run of each condition with a model that plays `replies`: the comparison, and what it was sent."""
    with ScriptedModel(replies) as model:
        named = ("--conditions", ",".join(conditions), "--model", "some/model", "--base-url", model.url)
        env = environment(place, HEL_API_KEY=KEY)
        ran = hel("eval", "h10", "-n", "1", "--json", *named, env=env, cwd=place)
        return json.loads(ran.out), model.requests


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", [])]


def test_the_model_is_offered_the_loader_then_what_it_loaded_and_never_the_value_itself(
    tmp_path: Path,
) -> None:
    told, requests = run_with(tmp_path, PORT_TASK, "variant")
    assert told["conditions"][0]["passed"] == 1
    first, later = requests[0], requests[1:]
    assert names(first) == ["read_file", "search_replace", "load_mcp_tool"]
    assert [names(body) for body in later] == [[*names(first), LIST, LOOKUP]] * 4
    system = first["messages"][0]["content"]
    assert LIST in system and LOOKUP in system
    assert "8437" not in json.dumps(first) and "inputSchema" not in json.dumps(first)
    assert first["messages"][-1]["content"] == read_lab(find_lab("h10")).conditions[0].prompt


def test_without_servers_the_model_has_two_tools_and_hears_of_no_others(tmp_path: Path) -> None:
    told, requests = run_with(tmp_path, [say("There is no tool for that.")], "baseline")
    assert (told["as_expected"], told["conditions"][0]["passed"]) == (True, 0)
    assert names(requests[0]) == ["read_file", "search_replace"]
    assert "mcp__" not in json.dumps(requests[0]) and "load_mcp_tool" not in json.dumps(requests[0])


def test_the_right_value_that_was_guessed_does_not_count(tmp_path: Path) -> None:
    guess = call("search_replace", {"path": "config.ini", "search": "7000", "replace": "8437"})
    replies = [call("read_file", {"path": "config.ini"}), guess, say("Done.")]
    told, _ = run_with(tmp_path, replies, "variant")
    (variant,) = told["conditions"]
    assert (variant["passed"], variant["as_expected"]) == (0, False)
    assert variant["checks"] == {"file correct": 1, "looked up in order": 0}
    assert variant["notes"] == {"guessed edit": 1}


def test_a_call_before_loading_that_was_made_up_for_is_counted_and_no_failure(tmp_path: Path) -> None:
    told, _ = run_with(tmp_path, [call(LOOKUP, {"service": "api"}), *PORT_TASK], "variant")
    (variant,) = told["conditions"]
    assert (variant["passed"], variant["called_before_loading"]) == (1, 1)
    assert variant["server_calls"] == [{"calls": ORDER, "runs": 1}]
