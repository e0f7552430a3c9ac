"""What a lab's file may say, and the sentence for each mistake."""

from __future__ import annotations

import hashlib
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from hel_tui.labs.reading import find_lab, read_lab, shipped
from hel_tui.labs.tables import BadLab
from tests.labs.small import lay_lab


def test_a_condition_has_what_run_says_with_its_own_words_in_place(tmp_path: Path) -> None:
    lab = read_lab(lay_lab(tmp_path, run="max_steps = 4\ntimeout = 9", condition="max_steps = 6"))
    (one,) = lab.conditions
    assert (one.max_steps, one.timeout, one.access, one.mcp) == (6, 9.0, "auto", False)
    assert one.project == tmp_path / "project"
    assert (lab.repetitions, lab.parallel, lab.model) == (3, 1, "scripted")


@pytest.mark.parametrize(
    ("part", "text", "sentence"),
    [
        ("top", "repetition = 3", "lab.toml: there is no key `repetition`; did you mean `repetitions`?"),
        ("top", "repetitions = 0", "lab.toml: `repetitions` must be a whole number above 0, at most 1,000"),
        ("top", 'model = "gpt"', 'lab.toml: `model` must be PROVIDER/NAME or "scripted"'),
        ("condition", 'expect = "some"', "`expect` must be one of '', 'all', 'none'"),
        ("condition", 'project = "nowhere"', "`project` must be a folder beside the lab"),
        (
            "condition",
            'tools = ["teleport"]',
            "condition plain: there is no tool teleport; there are read_file",
        ),
        ("condition", "timeot = 3", "condition plain: there is no key `timeot`; did you mean `timeout`?"),
        ("passes", "contains = 3", 'pass the word: `contains` must be a list of texts, such as ["a", "b"]'),
        ("passes", 'matches = "("', "pass the word: `matches` must be a regular expression"),
        ("passes", 'log = "x.jsonl"', "pass the word: `log` goes with calls, exactly or not_called"),
        ("passes", 'log = "../x"\ncalls = ["a"]', "pass the word: `log` must be a path inside the project"),
        ("passes", '[[pass]]\nname = "empty"', "pass empty: it looks at nothing"),
        ("passes", '[pins]\n"project/word.txt" = "abc"', "word.txt is another file than the one pinned"),
        ("passes", '[[condition]]\nname = "plain"', "two conditions are named plain"),
        ("top", "x = ", "lab.toml: Invalid value"),
    ],
)
def test_each_mistake_has_a_sentence_that_names_its_place(
    tmp_path: Path, part: str, text: str, sentence: str
) -> None:
    with pytest.raises(BadLab) as bad:
        read_lab(lay_lab(tmp_path, **{part: text}))
    assert sentence in str(bad.value)


def test_files_as_they_were_pinned_are_taken(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"open\n").hexdigest()
    read_lab(lay_lab(tmp_path, passes=f'[pins]\n"project/word.txt" = "{digest}"'))


def test_the_digest_follows_the_file_and_every_file_of_its_projects(tmp_path: Path) -> None:
    first = read_lab(lay_lab(tmp_path)).digest
    assert read_lab(lay_lab(tmp_path)).digest == first
    second = read_lab(lay_lab(tmp_path, top="revision = 2")).digest
    (tmp_path / "project" / "more.txt").write_text("")
    third = read_lab(tmp_path / "lab.toml").digest
    assert len({first, second, third}) == 3


def test_labs_are_found_by_file_by_folder_and_by_name(tmp_path: Path) -> None:
    file = lay_lab(tmp_path)
    assert find_lab(str(file)) == find_lab(str(tmp_path)) == file
    assert find_lab("h10").parent.name == "h10"
    with pytest.raises(BadLab, match="there is no lab h11; shipped with hel: h10"):
        find_lab("h11")


@pytest.mark.parametrize("name", shipped())
def test_every_lab_that_ships_can_be_read(name: str) -> None:
    lab = read_lab(find_lab(name))
    assert lab.name == name
    assert lab.about


def test_every_key_is_told_in_the_help(tmp_path: Path) -> None:
    told = (files("hel_tui.cli") / "topics" / "eval.md").read_text()
    source = (files("hel_tui.labs") / "reading.py").read_text()
    keys = set(re.findall(r'(?:text|texts|flag|whole|number|table|tables)\("(\w+)"', source))
    assert {"prompt", "expect", "script", "only_changed"} <= keys
    assert [key for key in sorted(keys) if not re.search(rf"\b{key}\b", told)] == []


def test_the_lab_in_the_help_is_one(tmp_path: Path) -> None:
    told = (files("hel_tui.cli") / "topics" / "eval.md").read_text()
    example = told.split("# lab.toml\n")[1].split("\nServers in Python")[0]
    values = tomllib.loads(example)
    assert {*values} > {"run", "condition", "pass", "note", "pins"}
    body = example.split("  [pins]")[0].replace("[[note]]", "").replace("PROVIDER/NAME", "scripted/x")
    (tmp_path / "project").mkdir()
    (tmp_path / "lab.toml").write_text(body.replace('  model = "scripted"  ', '  model = "some/model"  '))
    (one,) = read_lab(tmp_path / "lab.toml").conditions
    assert (one.expect, one.servers, one.max_output) == ("all", ("inventory",), 8192)
