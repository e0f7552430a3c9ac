"""Labs and results that came with somebody's project: odd names, links, pipes, rows nobody wrote, large files."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from hel_tui.labs import laying
from hel_tui.labs.keeping import Foreign, Results
from hel_tui.labs.laying import laid, lay
from hel_tui.labs.reading import read_lab
from hel_tui.labs.tables import BadLab
from tests.cli.shell import Ran, hel
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.labs.small import lay_lab
from tests.rig import KEY, environment

ODD = os.fsdecode(b"\xff")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY=KEY)


def run(folder: Path, env: dict[str, str], *arguments: str) -> Ran:
    return hel("eval", str(folder), "-n", "1", *arguments, env=env, cwd=folder)


def rows_file(folder: Path) -> Path:
    return folder / "results" / "word" / "runs.jsonl"


# ----------------------------------------------------------------- odd names


def test_a_file_whose_name_is_no_utf8_is_laid_and_belongs_to_the_digest(tmp_path: Path, env) -> None:
    first = read_lab(lay_lab(tmp_path)).digest
    (tmp_path / "project" / ODD).write_text("odd")
    assert read_lab(tmp_path / "lab.toml").digest != first
    assert run(tmp_path, env).status == 0


def test_a_run_that_makes_a_file_of_an_odd_name_is_kept_and_told(tmp_path: Path, env) -> None:
    file = lay_lab(tmp_path, passes='[[pass]]\nname = "nothing else"\nonly_changed = ["word.txt"]')
    file.write_text(file.read_text().replace('["read_file", "write_file"]', '["bash"]'))
    makes = call("bash", {"command": "printf x > \"$(printf 'odd\\377')\"; printf 'done\\n' > word.txt"})
    with ScriptedModel([makes, say("Done.")]) as model:
        ran = run(tmp_path, env, "--model", "some/model", "--base-url", model.url)
    assert "Traceback" not in ran.err
    (row,) = [json.loads(line) for line in rows_file(tmp_path).read_text().splitlines()]
    assert [one["passed"] for one in row["checks"]] == [True, False], row
    assert row["checks"][1]["why"] == r"changed too: odd\xff"
    assert r"odd\xff" in ran.out


# --------------------------------------------------------------------- links


@pytest.mark.parametrize("planted", ["report.md", "runs.jsonl", "word", "results"])
def test_results_are_never_written_through_a_link(tmp_path: Path, env, planted: str) -> None:
    lay_lab(tmp_path)
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    results = tmp_path / "results"
    match planted:
        case "results":
            results.symlink_to(outside)
        case "word":
            results.mkdir()
            (results / "word").symlink_to(outside)
        case name:
            (results / "word").mkdir(parents=True)
            (outside / "victim").write_text("mine")
            (results / "word" / name).symlink_to(outside / "victim")
    ran = run(tmp_path, env)
    assert ran.status in (1, 2)
    assert "is a link" in ran.err
    left = {one.name: one.read_text() for one in outside.iterdir()}
    assert left == ({"victim": "mine"} if "." in planted else {})


def test_runs_are_not_kept_behind_a_link(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    outside = tmp_path.parent / f"{tmp_path.name}-kept"
    outside.mkdir()
    (tmp_path / "kept").symlink_to(outside)
    ran = run(tmp_path, env, "--keep", "kept/here")
    assert (ran.status, "kept is a link" in ran.err, list(outside.iterdir())) == (2, True, [])


def test_a_folder_of_results_elsewhere_may_be_behind_a_link_of_the_person(tmp_path: Path, env) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    (tmp_path / "link").symlink_to(there)
    lay_lab(here)
    assert run(here, env, "-o", str(tmp_path / "link")).status == 0
    assert (there / "runs.jsonl").exists()


@pytest.mark.parametrize("kind", ["file", "folder", "same"])
def test_a_project_that_would_be_laid_through_its_own_link_is_refused(tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    lab = lay_lab(tmp_path / "lab")
    project = lab.parent / "project"
    if kind == "folder":
        (project / ".d").symlink_to(outside)
        (project / "dot-d").mkdir()
        (project / "dot-d" / "new").write_text("theirs")
    elif kind == "file":
        (project / ".a").symlink_to(outside / "file")
        (project / "dot-a").write_text("theirs")
    else:
        (project / ".a").write_text("one")
        (project / "dot-a").write_text("other")
    with pytest.raises(BadLab, match=r"would be laid (as the same file|one in the other)"):
        read_lab(lab)
    with pytest.raises(BadLab):
        lay(project, tmp_path / "copy")
    assert [(one.name, one.read_text()) for one in outside.iterdir()] == [("file", "mine")]


@pytest.mark.parametrize("named", ["../elsewhere", "/etc", ".", "link", "link/inner"])
def test_a_project_lies_beside_its_lab(tmp_path: Path, named: str) -> None:
    (tmp_path / "elsewhere" / "inner").mkdir(parents=True)
    lab = lay_lab(tmp_path / "lab", condition=f'project = "{named}"')
    (lab.parent / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadLab, match=r"`project` must be a (folder beside the lab|path inside the project)"):
        read_lab(lab)


def test_results_and_runs_are_not_put_into_a_project_of_the_lab(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    for option in ("-o", "--keep"):
        ran = run(tmp_path, env, option, "project/out")
        assert (ran.status, "which is copied for each run" in ran.err) == (2, True)
    assert not (tmp_path / "project" / "out").exists()


# ------------------------------------------------------------ pipes, odd rows


def test_no_pipe_is_waited_for(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    rows_file(tmp_path).parent.mkdir(parents=True)
    os.mkfifo(rows_file(tmp_path))
    for more in ((), ("--report",)):
        ran = run(tmp_path, env, *more)
        assert (ran.status, "not a regular file" in ran.err) == (2, True)
    os.mkfifo(tmp_path / "project" / "pipe")
    with pytest.raises(BadLab, match="project/pipe cannot be read: not a regular file"):
        read_lab(lay_lab(tmp_path, passes='[pins]\n"project/pipe" = "00"'))
    lay(tmp_path / "project", tmp_path / "copy")
    assert [one.name for one in (tmp_path / "copy").iterdir()] == ["word.txt"]


def test_rows_that_no_hel_wrote_are_left_out_and_their_runs_made(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    assert run(tmp_path, env).status == 0
    (line,) = rows_file(tmp_path).read_text().splitlines()
    row = json.loads(line)
    odd = [
        {"condition": [1]},
        {"cost": "x"},
        {"cost": float("nan")},
        {"run": None},
        {"checks": [3]},
        {"notes": {"a": "b"}},
        {"server_calls": [["a"]]},
        {"seconds": "long"},
        {"model": {}},
        {"unpriced": -1},
    ]
    lines = [json.dumps({**row, **one}) for one in odd] + ["[]", "3", '{"condition": "plain", "run": 1}']
    rows_file(tmp_path).write_text("\n".join(lines) + "\n")
    assert Results(rows_file(tmp_path).parent, writes=False).rows == []
    ran = run(tmp_path, env)
    assert (ran.status, "1/1" in ran.out) == (0, True), ran.err


def test_half_a_character_of_an_answer_does_not_lose_the_run(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    assert run(tmp_path, env).status == 0
    (row,) = Results(rows_file(tmp_path).parent, writes=False).rows
    results = Results(rows_file(tmp_path).parent)
    results.add({**row, "run": 2, "answer": "half \ud83d", "server_calls": ["\udcff"]})
    again = Results(rows_file(tmp_path).parent, writes=False).rows
    assert (again[1]["answer"], again[1]["server_calls"]) == ("half \ufffd", ["\ufffd"])
    assert results.rows == again


def test_half_a_character_in_a_row_is_told_as_a_stand_in(tmp_path: Path, env) -> None:
    lay_lab(tmp_path)
    assert run(tmp_path, env).status == 0
    text = rows_file(tmp_path).read_text()
    rows_file(tmp_path).write_text(text.replace('"ended": "done"', '"ended": "do\\ud800ne"'))
    ran = run(tmp_path, env, "--report")
    assert ("do\ufffdne 1" in ran.out, ran.err) == (True, "")


# --------------------------------------------------------------------- bounds


def test_a_project_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    lab = lay_lab(tmp_path)
    with (tmp_path / "project" / "large").open("wb") as file:
        file.truncate(laying.MOST_BYTES + 1)
    with pytest.raises(BadLab, match="too large: at most 1,024 MiB in 50,000 files"):
        read_lab(lab)


def test_a_large_file_is_digested_and_laid_by_pieces(tmp_path: Path) -> None:
    template = tmp_path / "template"
    template.mkdir()
    with (template / "large").open("wb") as file:
        file.truncate(64 << 20)
    tracemalloc.start()
    try:
        laying.digest(b"", [template])
        lay(template, tmp_path / "copy")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert (tmp_path / "copy" / "large").stat().st_size == 64 << 20


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laying, "MOST_FILES", 2)
    for name in ("a", "b"):
        (tmp_path / name).touch()
    assert len(laid(tmp_path)) == 2
    (tmp_path / "c").touch()
    with pytest.raises(BadLab, match="too large"):
        laid(tmp_path)


def test_results_that_cannot_be_claimed_are_told(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(Foreign, match="results"):
        Results(tmp_path / "results" / "word")
