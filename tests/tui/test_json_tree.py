"""JSON as rows: the same as any parser finds, without recursion, and text from where it is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.tui.text.json_tree import JsonTree, Kind

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=25,
)


def read(text: str) -> JsonTree:
    tree = JsonTree(text)
    while not tree.done:
        tree.read(0.001)
    return tree


def rebuilt(tree: JsonTree) -> str:
    """The text that the rows say."""
    out: list[str] = []
    for row in range(len(tree)):
        one = tree[row]
        if one.ordinal and one.kind is not Kind.CLOSE:
            out.append(",")
        out.append(f"{one.key}:" if one.key and one.kind is not Kind.CLOSE else "")
        out.append(tree.text[one.start : one.start + 1 if one.kind <= Kind.ARRAY else one.end])
    return "".join(out)


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_rows_hold_every_value_and_every_key_in_order(value, indent, escaped):
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    tree = read(text)
    assert tree.broken_at == -1
    assert json.loads(rebuilt(tree)) == value
    assert json.loads(tree.text[tree[0].start : tree[0].end]) == value


@given(VALUES)
def test_the_path_of_a_row_leads_to_its_value(value):
    tree = read(json.dumps(value))
    for row in range(len(tree)):
        one = tree[row]
        if one.kind is Kind.CLOSE:
            continue
        at, above = value, []
        while one.parent >= 0:
            above.append(json.loads(one.key) if one.key else one.ordinal)
            one = tree[one.parent]
        for step in reversed(above):
            at = at[step]
        written = tree.text[tree[row].start : tree[row].end]
        assert json.loads(written) == at


def test_a_path_is_written_as_jq_writes_it():
    tree = read('{"result": {"content": [1, {"a b": 2}]}}')
    assert [tree.path(row) for row in range(5)] == [
        ".",
        ".result",
        ".result.content",
        ".result.content[0]",
        ".result.content[1]",
    ]
    assert tree.path(5) == '.result.content[1]["a b"]'
    assert read("[[7]]").path(2) == ".[0][0]"


@pytest.mark.parametrize(
    "text",
    [
        *(
            '{"a": 1,, "b"}',
            '{"a" 1}',
            "{a: 1}",
            "[1 2]",
            "[1,]",
            '{"a":1,}',
            "]",
            "}",
            "1 2",
            "[}",
            '{"a":]}',
        ),
        *('{"a": nul}', "01", "+1", '"open', '["x', "{", "", "[[", '{"a":', '{"a"', "- 1", '{"a":1}}'),
    ],
)
def test_what_is_no_json_is_shown_as_text_from_where_it_stops(text):
    with pytest.raises(ValueError):
        json.loads(text)
    tree = read(text)
    assert tree.broken_at >= 0
    rest = "".join(
        tree.text[tree[row].start : tree[row].end] for row in range(len(tree)) if tree[row].kind is Kind.TEXT
    )
    assert rest == text[tree.broken_at :]


@given(st.text(alphabet='{}[]",:1ae\\ \n'))
def test_any_text_is_taken_for_json_exactly_when_it_is(text):
    try:
        json.loads(text)
        good = True
    except ValueError:
        good = False
    tree = read(text)
    assert (tree.broken_at < 0) == good or "\\" in text or "\n" in text  # escapes are not looked at


def test_noise_is_lines_of_text():
    tree = read("Server started\nlistening on 80\n")
    assert [tree.text[tree[row].start : tree[row].end] for row in range(len(tree))] == [
        "Server started",
        "listening on 80",
    ]


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_depth_of_a_hundred_thousand_is_read_and_folded_and_told(opening):
    depth = 100_000
    closing = "]" if opening == "[" else "}"
    tree = read(opening * depth + "1" + closing * depth)
    assert tree.broken_at == -1
    assert tree[depth].depth == depth and len(tree) == 2 * depth + 1
    assert len(tree.path(depth)) > depth


def test_a_large_text_is_read_in_slices_and_its_beginning_is_there_at_once():
    text = json.dumps([{"n": n, "text": "word " * 5} for n in range(20_000)])
    assert len(text) > 1_000_000
    tree = JsonTree(text)
    slices = 0
    while not tree.done:
        tree.read(0.005)
        slices += 1
        assert len(tree) > 0
    assert slices > 1 and tree[0].count == 20_000
