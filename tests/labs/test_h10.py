"""The lab that ships with hel, as a person runs it: without servers it cannot be done, with them it always is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hel_tui.labs.reading import find_lab, read_lab
from tests.cli.shell import Ran, hel
from tests.rig import environment

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
