"""`hel eval`: labs that are cut off and gone on with, real models behind them, bounds and mistakes."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import HEL, ROOT, Ran, hel
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, mode, say
from tests.labs.small import lay_lab
from tests.rig import KEY, environment

WRITES = call("write_file", {"path": "word.txt", "content": "done\n"})


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY=KEY)


def run(folder: Path, env: dict[str, str], *arguments: str) -> Ran:
    return hel("eval", str(folder), *arguments, env=env, cwd=folder)


def rows(folder: Path) -> list[dict[str, Any]]:
    file = folder / "results" / "word" / "runs.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines() if line]


def at(model: ScriptedModel) -> tuple[str, ...]:
    return ("--model", "some/model", "--base-url", model.url)


def test_a_lab_that_was_cut_off_goes_on_with_the_runs_that_are_missing(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    first = run(tmp_path, env, "-n", "1")
    assert first.status == 0, first.err
    file = tmp_path / "results" / "word" / "runs.jsonl"
    kept = file.read_bytes()
    file.write_bytes(kept + kept[:40])  # it was ended in the middle of a line
    second = run(tmp_path, env, "-n", "3", "--json")
    told = json.loads(second.out)
    assert (told["complete"], told["conditions"][0]["passed"]) == (True, 3)
    assert "1 of 3 runs there already" in second.err
    assert file.read_bytes().startswith(kept)
    assert sorted(row["run"] for row in told["runs"]) == [1, 2, 3]
    assert len({row["started"] for row in told["runs"]}) == 3


def test_a_signal_ends_it_in_order_and_the_same_command_makes_the_rest(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    with ScriptedModel([WRITES, say("It is done."), mode("hang")]) as model:
        command = [*HEL, "eval", str(tmp_path), "-n", "2", *at(model)]
        process = subprocess.Popen(
            command,
            env={**env, "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        end = time.monotonic() + 60
        while len(model.requests) < 3 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "| passed" in out and "Not all runs were made" in out
        assert "Traceback" not in err
        assert [row["run"] for row in rows(tmp_path)] == [1]
        model.replies[:] = [WRITES, say("It is done.")]
        assert run(tmp_path, env, "-n", "2", *at(model)).status == 0
    assert [row["run"] for row in rows(tmp_path)] == [1, 2]


def test_a_run_in_which_the_endpoint_failed_is_told_apart_and_made_again(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    with ScriptedModel([WRITES, fail(401, "no such key"), WRITES, say("It is done.")]) as model:
        first = run(tmp_path, env, "-n", "2", "--json", *at(model))
        told = json.loads(first.out)
        assert (first.status, told["complete"]) == (1, False)
        assert (told["conditions"][0]["runs"], told["conditions"][0]["passed"]) == (1, 1)
        assert [one["run"] for one in told["conditions"][0]["errors"]] == [1]
        model.replies[:] = [WRITES, say("It is done.")]
        second = run(tmp_path, env, "-n", "2", "--json", *at(model))
    told = json.loads(second.out)
    assert (second.status, told["conditions"][0]["passed"], told["conditions"][0]["errors"]) == (0, 2, [])


def test_an_endpoint_that_answers_nothing_ends_the_lab_at_once(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    with ScriptedModel([fail(401, "no such key")] * 9) as model:
        ran = run(tmp_path, env, "-n", "5", *at(model))
        asked = len(model.requests)
    assert (ran.status, asked) == (1, 1)
    assert "no such key" in ran.err
    assert KEY not in ran.out + ran.err + (tmp_path / "results" / "word" / "runs.jsonl").read_text()


def test_another_model_or_another_state_of_the_lab_is_not_mixed_with_what_is_there(
    tmp_path: Path, env
) -> None:
    lay_lab(tmp_path)
    assert run(tmp_path, env, "-n", "1").status == 0
    with ScriptedModel([]) as model:
        other = run(tmp_path, env, "-n", "1", *at(model))
        assert (other.status, model.requests) == (2, [])
    assert "holds runs with scripted/word; --again puts them aside" in other.err
    lay_lab(tmp_path, top="revision = 2")
    assert "before it was changed" in run(tmp_path, env, "-n", "1").err
    again = run(tmp_path, env, "-n", "1", "--again")
    assert again.status == 0, again.err
    assert len(list((tmp_path / "results" / "word").glob("runs-*.jsonl"))) == 1
    assert [row["revision"] for row in rows(tmp_path)] == [2]


def test_two_at_once_do_not_write_into_one_folder(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    folder = tmp_path / "results" / "word"
    folder.mkdir(parents=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        ran = run(tmp_path, env, "-n", "1")
    finally:
        os.close(handle)
    assert (ran.status, list(folder.iterdir())) == (2, [])
    assert "another hel eval is at work in" in ran.err


def test_runs_of_every_effort_can_be_told_of(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    assert run(tmp_path, env, "-n", "1", "--effort", "low").status == 0
    assert run(tmp_path, env, "-n", "1").status == 2
    ran = run(tmp_path, env, "-n", "1", "--report")
    assert (ran.status, "1/1" in ran.out) == (0, True)


def test_a_line_that_is_no_whole_run_is_a_run_that_is_missing(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    assert run(tmp_path, env, "-n", "1").status == 0
    (row,) = rows(tmp_path)
    del row["notes"]
    (tmp_path / "results" / "word" / "runs.jsonl").write_text(json.dumps(row) + "\n[1]\n")
    ran = run(tmp_path, env, "-n", "1", "--json")
    assert (ran.status, json.loads(ran.out)["conditions"][0]["runs"]) == (0, 1)


def test_conditions_may_have_models_addresses_and_efforts_of_their_own(tmp_path: Path, env) -> None:
    with ScriptedModel([WRITES, say("Done.")]) as here, ScriptedModel([say("No.")]) as there:
        own = f'model = "some/one"\nbase_url = "{here.url}"\neffort = "low"\nexpect = "all"'
        other = (
            f'[[condition]]\nname = "other"\nmodel = "some/two"\nbase_url = "{there.url}"\nexpect = "none"'
        )
        lay_lab(tmp_path, condition=own, passes=other)
        ran = run(tmp_path, env, "-n", "1", "--json")
        assert (len(here.requests), len(there.requests)) == (2, 1)
        assert "low" in json.dumps(here.requests[0]) and here.requests[0]["model"] == "one"
    told = json.loads(ran.out)
    assert (ran.status, [one["model"] for one in told["conditions"]]) == (0, [["some/one"], ["some/two"]])
    report = (tmp_path / "results" / "word" / "report.md").read_text()
    assert ["model", "some/one low", "some/two"] in [
        [cell.strip() for cell in line.strip("|").split("|")] for line in report.splitlines()
    ]
    assert [(row["model"], row["effort"]) for row in rows(tmp_path)] == [
        ("some/one", "low"),
        ("some/two", ""),
    ]
    assert run(tmp_path, env, "-n", "1").status == 0, "nothing is left to be made"


def test_a_lab_without_scripts_wants_a_model_and_takes_the_one_on_the_command_line(
    tmp_path: Path, env
) -> None:
    file = lay_lab(tmp_path)
    text = file.read_text()
    begin, end = text.index("[[condition.script]]"), text.index("[[pass]]")
    file.write_text(text[:begin] + text[end:])
    without = run(tmp_path, env, "-n", "1")
    assert (without.status, "lab.toml, condition plain: the scripted model has no" in without.err) == (
        2,
        True,
    )
    with ScriptedModel([WRITES, say("Done.")]) as model:
        ran = run(tmp_path, env, "-n", "1", *at(model))
    assert (ran.status, [row["model"] for row in rows(tmp_path)]) == (0, ["some/model"]), ran.err
    told = run(tmp_path, env, "-n", "1", "--report")
    assert (told.status, "1/1" in told.out) == (0, True), "a report asks for no model"


def test_a_setting_that_there_is_not_ends_the_lab_with_a_sentence(tmp_path: Path, env) -> None:
    lay_lab(tmp_path, run="settings = { loding = 3 }")
    ran = run(tmp_path, env, "-n", "1")
    assert (ran.status, (tmp_path / "results" / "word" / "runs.jsonl").exists()) == (1, False)
    assert "condition plain, settings: " in ran.err and "loding" in ran.err


def test_a_condition_that_came_out_otherwise_than_expected_is_status_1(tmp_path: Path, env) -> None:
    lay_lab(tmp_path, condition='expect = "none"')
    ran = run(tmp_path, env, "-n", "1")
    assert ran.status == 1
    assert "none, NOT HELD" in ran.out


def test_the_report_alone_runs_nothing_and_says_that_runs_are_missing(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    ran = run(tmp_path, env, "--report")
    assert (ran.status, ran.err) == (1, "")
    assert "| passed" in ran.out and "0/0" in ran.out and "Not all runs were made" in ran.out
    assert not (tmp_path / "results").exists()


def test_a_run_has_its_own_bounds_and_its_end_is_told(tmp_path: Path, env) -> None:
    lay_lab(tmp_path, run="max_steps = 2\ntimeout = 0.4\nmax_output = 77")
    looks = [call("read_file", {"path": f"{n}.txt"}) for n in range(2)]
    with ScriptedModel([*looks, mode("hang")]) as model:
        ran = run(tmp_path, env, "-n", "2", "--json", *at(model))
        assert model.requests[0]["max_tokens"] == 77
    assert json.loads(ran.out)["conditions"][0]["ended"] == {"limit": 1, "timeout": 1}


def test_settings_of_the_lab_reach_the_run_and_those_of_the_person_do_not(tmp_path: Path, env) -> None:
    mine = Path(env["HEL_HOME"]) / "config" / "config.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text('[permissions]\ndeny = ["write_file"]\n')
    lay_lab(tmp_path)
    assert run(tmp_path, env, "-n", "1").status == 0
    lay_lab(tmp_path, run='settings = { permissions = { deny = ["write_file"] } }')
    ran = run(tmp_path, env, "-n", "1", "--again", "--json")
    assert json.loads(ran.out)["runs"][0]["call_states"] == {"refused": 1}


def test_a_cost_that_cannot_be_told_is_refused_before_the_first_request(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    with ScriptedModel([WRITES]) as model:
        ran = run(tmp_path, env, "-n", "3", "--max-cost", "1", *at(model))
        assert model.requests == []
    assert ran.status == 1
    assert "The price of some/model is unknown" in ran.err


def test_a_server_that_is_not_there_ends_the_lab_with_a_sentence(tmp_path: Path, env) -> None:
    lay_lab(tmp_path, condition='servers = ["weather"]\nmcp = true')
    ran = run(tmp_path, env)
    assert ran.status == 1
    assert "the project has no server weather" in ran.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "name a lab"),
        (("nowhere",), "there is no lab nowhere; shipped with hel: h10"),
        (("h10", "--conditions", "wind"), "there is no condition wind; there are baseline, variant"),
        (("h10", "--max-cost", "0"), "expected a number above 0"),
        (("h10", "--model", "gpt"), "expected PROVIDER/NAME"),
        (("h10", "--model", "fake/m1"), "Provider 'fake' is not known"),
    ],
)
def test_wrong_words_end_with_status_2_and_a_sentence(tmp_path: Path, env, arguments, sentence: str) -> None:
    ran = hel("eval", *arguments, env=env, cwd=tmp_path)
    assert (ran.status, ran.out) == (2, "")
    assert sentence in ran.err
    assert not (tmp_path / "results").exists()
