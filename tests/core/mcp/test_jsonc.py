"""JSON as people write it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.jsonc import BadJson, parse

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(blacklist_categories=("Cs",)), max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(blacklist_categories=("Cs",)), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def bad(text: str | bytes) -> BadJson:
    with pytest.raises(BadJson) as caught:
        parse(text.encode() if isinstance(text, str) else text)
    return caught.value


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_all_json_reads_as_it_was_written(value: Any, ascii_only: bool, indent: int | None) -> None:
    assert parse(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()).value == value


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:/*\\ \n1a', max_size=40).map(str.encode))
def test_whatever_the_bytes_are_the_answer_is_a_value_or_a_place(data: bytes) -> None:
    try:
        parse(data)
    except BadJson as error:
        assert error.line >= 1 and error.column >= 1 and error.sentence.endswith(".")


@given(VALUES)
def test_what_is_accepted_without_comments_and_commas_is_what_json_accepts(value: Any) -> None:
    text = json.dumps(value)
    for cut in range(0, len(text), 3):
        try:
            json.loads(text[:cut])
        except ValueError:
            with pytest.raises(BadJson):
                parse(text[:cut].encode())


def test_comments_and_trailing_commas_outside_of_text_are_passed_over() -> None:
    text = """{ /* x */ "mcpServers": { "a": {"url": "http://x//y, /* no */ }"}, // "b": {...}
    }, "l": [1, 2,], }  // end"""
    assert parse(text.encode()).value == {
        "mcpServers": {"a": {"url": "http://x//y, /* no */ }"}},
        "l": [1, 2],
    }


def test_bom_and_crlf_are_fine() -> None:
    assert parse(b'\xef\xbb\xbf{\r\n  "a": 1 // x\r\n}\r\n').value == {"a": 1}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_named(encoding: str) -> None:
    error = bad('{"a": 1}'.encode(encoding))
    assert "save it as UTF-8" in error.sentence


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ('{\n  "a": 1,\n  "b": 2,\n  "a": 3\n}', 4, 3, '"a" is given twice (first in line 2)'),
        ('{"a": {"b": 1, "b": 2}}', 1, 16, '"b" is given twice'),
        ('{"a": 1 "b": 2}', 1, 9, 'expected "," or "}"'),
        ("{\n'a': 1}", 2, 1, "double quotes"),
        ("{a: 1}", 1, 2, "found `a`"),
        ('{"a" 1}', 1, 6, 'expected ":"'),
        ('{"a": tru}', 1, 7, "found `tru`"),
        ('{"a": NaN}', 1, 7, "`NaN`"),
        ('{"a": 01}', 1, 7, "`01`"),
        ('{"a": "x\ny"}', 1, 7, "not closed"),
        ('{"a": "\\x"}', 1, 7, "escape"),
        ('{"a": "\\ud800"}', 1, 7, "surrogate"),
        ('{"a": [1, 2}', 1, 12, 'expected "," or "]"'),
        ('{"a": 1', 1, 8, "the end of the file"),
        ('{"a": 1}\nx', 2, 1, "after the end"),
        ("/* x", 1, 1, "comment is not closed"),
        ("  // only\n", 2, 1, "empty"),
        ("", 1, 1, "empty"),
        ("[,]", 1, 2, "expected a value"),
        ("[" * 200, 1, 101, "nested"),
        ('{"a": ' + "9" * 5000 + "}", 1, 7, "expected a value"),
    ],
)
def test_every_complaint_has_its_place(text: str, line: int, column: int, said: str) -> None:
    error = bad(text)
    assert (error.line, error.column) == (line, column), error
    assert said in error.sentence


def test_a_byte_that_is_not_utf8_has_its_place() -> None:
    error = bad('{\n "ä": "'.encode() + b'\xff"}')
    assert (error.line, error.column) == (2, 8) and "0xff" in error.sentence


def test_members_are_remembered_with_their_place() -> None:
    text = '{\n "s": {\n  "one": {"args": ["a", 7]}\n }\n}'
    parsed = parse(text.encode())
    assert parsed.place(("s", "one", "args", 1)) == (3, 25)
    assert parsed.place(("s", "one", "nope")) == (3, 3)
