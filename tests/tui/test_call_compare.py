"""Comparing two results: by path, by lines, side by side."""

from __future__ import annotations

import json

import pytest

from hel_tui.tui.screens.call.compare import MOST_CHANGES, beside, json_changes, text_diff


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a": 1}, {"a": 2}, [("$.a", "changed", "1", "2")]),
        ({"a": 1}, {"b": 1}, [("$.a", "removed", "1", ""), ("$.b", "added", "", "1")]),
        ([1, 2], [1], [("$[1]", "removed", "2", "")]),
        ({"a b": {"c": None}}, {"a b": {"c": False}}, [('$["a b"].c', "changed", "null", "false")]),
        ({"a": 1}, {"a": True}, [("$.a", "changed", "1", "true")]),
        ([{"x": [1]}], [{"x": [1]}], []),
        ("text", {"a": 1}, [("$", "changed", '"text"', '{"a": 1}')]),
    ],
)
def test_values_are_compared_by_path(before: object, after: object, found: list[tuple[str, ...]]) -> None:
    changes = json_changes(json.dumps(before), json.dumps(after))
    assert changes is not None
    assert [(one.path, one.kind, one.before, one.after) for one in changes] == found


def test_what_is_no_json_has_no_paths_but_lines() -> None:
    assert json_changes("port: 1", "{}") is None
    assert text_diff("one\ntwo", "one\nthree").splitlines()[3:] == [" one", "-two", "+three"]
    assert text_diff('{"a":1}', '{"a": 1}') == "", "the same value written otherwise"


def test_the_number_of_changes_is_bounded() -> None:
    changes = json_changes(json.dumps([1] * 5_000), json.dumps([2] * 5_000))
    assert changes is not None and len(changes) == MOST_CHANGES


def test_side_by_side_keeps_equal_lines_beside_each_other() -> None:
    assert beside("a\nb\nc", "a\nx\nc\nd") == [
        (" ", "a", "a"),
        ("~", "b", "x"),
        (" ", "c", "c"),
        ("+", "", "d"),
    ]
