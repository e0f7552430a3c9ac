"""Files of checks: whatever is wrong costs one check and is said in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hel_tui.core.checks.check import FOLDER, NOTHING
from hel_tui.core.checks.reading import read_checks

GOOD = 'name = "a"\nserver = "s"\ntool = "t"\nexpect = { text = "x" }\n'


def test_a_project_without_checks_has_none(tmp_path: Path) -> None:
    assert read_checks(tmp_path) == ()


def test_a_file_holds_one_check_or_several(written) -> None:
    several = '[[check]]\nname = "b"\nserver = "s"\ntool = "t"\nexpect = { text = "x" }\n'
    several += '[[check]]\nname = "c"\nserver = "s"\ntool = "t"\nexpect = { value = { n = 1 } }\n'
    one, two, three = written(first=GOOD, second=several)
    assert [check.name for check in (one, two, three)] == ["a", "b", "c"]
    assert one.row.file == ".hel/checks/first.toml"
    assert three.expected.value == {"n": 1}
    assert three.expected.text is None
    assert one.expected.value is NOTHING
    assert two.digest == three.digest != one.digest


def test_a_bad_check_does_not_cost_its_neighbour(written) -> None:
    text = '[[check]]\nname = "bad"\nserver = "s"\n[[check]]\n' + GOOD
    bad, good = written(both=text)
    assert bad.problem == "`tool` is missing"
    assert good.problem == ""


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("name = = 1", "line 1"),
        ('server = "s"\ntool = "t"\nexpect = { text = "x" }', "`name` is missing"),
        (GOOD + 'colour = "red"\n', "no `colour`"),
        (GOOD.replace("text", "kind = 'other', text"), "exact, subset, schema, snapshot"),
        (GOOD.replace('text = "x"', ""), "nothing to compare"),
        (GOOD.replace('text = "x"', 'kind = "schema"'), "nothing to compare"),
        (GOOD.replace('text = "x"', 'kind = "snapshot", text = "x"'), "nothing for a check of kind snapshot"),
        (GOOD.replace('text = "x"', 'text = "x", masks = ["("]'), "no regular expression"),
        (GOOD.replace('text = "x"', 'text = "x", masks = ["a*"]'), "everywhere"),
        (GOOD.replace('text = "x"', "value = 2026-01-01"), "date"),
        (GOOD.replace('text = "x"', 'value = 1, value_json = "2"'), "keep one"),
        (GOOD.replace('text = "x"', 'value_json = "{"'), "not JSON"),
        (GOOD.replace('text = "x"', 'kind = "snapshot", snapshot = "../x"'), "without folders"),
        (GOOD + "timeout = 0\n", "positive"),
        (GOOD + 'arguments = "x"\n', "must be a table"),
    ],
)
def test_what_is_wrong_is_said(written, text: str, part: str) -> None:
    (check,) = written(one=text)
    assert part in check.problem
    assert check.row.problem == check.problem


def test_a_credential_written_out_is_refused_and_a_variable_is_not(written) -> None:
    secret, variable = written(
        a=GOOD + 'arguments = { deep = [{ api_token = "abcd1234efgh" }] }\n',
        b=GOOD.replace('"a"', '"b"') + 'arguments = { api_token = "${TOKEN}" }\n',
    )
    assert "arguments.deep[0].api_token" in secret.problem
    assert "${VAR}" in secret.problem
    assert variable.problem == ""


def test_null_and_large_numbers_are_said_as_json_text(written) -> None:
    text = f"value_json = '{json.dumps({'a': None, 'n': 2**70})}'"
    (check,) = written(one=GOOD.replace('text = "x"', text))
    assert check.expected.value == {"a": None, "n": 2**70}


def test_a_name_counts_once_in_a_project(written) -> None:
    first, second = written(a=GOOD, b=GOOD)
    assert first.problem == ""
    assert "a.toml has a check of this name already" in second.problem


def test_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text(GOOD)
    project = tmp_path / "project"
    (project / FOLDER).mkdir(parents=True)
    (project / FOLDER / "one.toml").symlink_to(outside)
    (check,) = read_checks(project)
    assert "is a link" in check.problem


@pytest.mark.parametrize("key", ["arguments", "arguments_json", "expect.value", "expect.value_json"])
def test_a_value_nested_too_deeply_costs_its_check(written, key: str) -> None:
    deep = "[" * 150 + "]" * 150
    value = {"arguments": f"{{ a = {deep} }}", "arguments_json": f"'{{\"a\": {deep}}}'"}.get(key, "{}")
    said = {"expect.value": deep, "expect.value_json": f"'{deep}'"}.get(key, "1")
    where = key.removeprefix("expect.")
    name = where if key.startswith("expect.") else "value"
    first = "arguments" if key.startswith("expect.") else where
    text = f'name = "a"\nserver = "s"\ntool = "t"\n{first} = {value}\nexpect = {{ {name} = {said} }}\n'
    bad, good = written(a=text, b=GOOD.replace('"a"', '"b"'))
    assert bad.problem == f"`{key}` is nested more than 100 levels deep"
    assert not good.problem


def test_json_as_deep_as_it_can_be_costs_its_check(written) -> None:
    deep = "[" * 980 + "]" * 980
    (bad,) = written(a=GOOD + f"arguments_json = '{{\"a\": {deep}}}'\n")
    assert bad.problem == "`arguments_json` is nested more than 100 levels deep"


def test_a_long_text_is_read_at_once(written) -> None:
    text = "x" * 900_000  # looked through from each of its letters, it would take minutes
    (check,) = written(a=GOOD.replace('text = "x"', f'text = "{text}"'))
    assert check.expected.text == text
