"""Edits of JSON as people write it: the value changes as told, and everything beside it stays."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.jsonc import Parsed, parse
from hel_tui.core.mcp.jsonedit import drop_member, put_member
from tests.core.mcp.test_jsonc import VALUES

GAPS = st.sampled_from(["", " ", "\n  ", "\r\n\t", " /* ), { */ ", " // it, is {\n", "\n\n    // ä\n  "])
KEYS = st.lists(st.sampled_from(["a", "b", "ä", 'q"', "x,y", "//", ""]), unique=True, max_size=4)
_NOTE = re.compile(r"/\* \), \{ \*/|// it, is \{|// ä")


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A text with an object `servers` in it, comments and white space everywhere."""

    def gap() -> str:
        return draw(GAPS)

    def an_object(keys: list[str], value: Any) -> str:
        out = ["{", gap()]
        for at, key in enumerate(keys):
            out += [json.dumps(key, ensure_ascii=False), gap(), ":", gap(), value(key), gap()]
            if at < len(keys) - 1 or draw(st.booleans()):
                out += [",", gap()]
        return "".join((*out, "}"))

    def inner(_key: str) -> str:
        return json.dumps(draw(VALUES), indent=draw(st.sampled_from([None, 2])))

    tops = draw(st.permutations(["servers", *draw(st.sampled_from([[], ["other"], ["other", "third"]]))]))
    return gap() + an_object(list(tops), lambda key: an_object(draw(KEYS), inner)) + gap()


def read(text: str) -> Parsed:
    return parse(text.encode())


def notes(text: str) -> list[str]:
    return _NOTE.findall(text)


def without_value(parsed: Parsed, key: str) -> str:
    start, end = parsed.spans[("servers", key)]
    return parsed.text[:start] + parsed.text[end:]


@given(texts(), st.sampled_from(["a", "b", "new", "x,y"]), VALUES)
def test_what_is_put_is_read_and_all_else_reads_as_before(text: str, key: str, value: Any) -> None:
    before = read(text)
    after = read(put_member(before, ("servers",), key, value))
    expected = {**before.value, "servers": {**before.value["servers"], key: value}}
    assert after.value == expected
    assert list(after.value["servers"]) == list(expected["servers"])
    if key in before.value["servers"]:
        assert without_value(after, key) == without_value(before, key)
    else:
        end = before.spans[("servers",)][1] - 1
        assert text[end:] == after.text[after.spans[("servers",)][1] - 1 :]
        assert notes(before.text) == notes(after.text)
        for name in before.value["servers"]:
            now, was = after.spans[("servers", name)], before.spans[("servers", name)]
            assert after.text[slice(*now)] == before.text[slice(*was)]


@given(texts(), st.data())
def test_what_is_dropped_is_gone_and_all_else_reads_as_before(text: str, data: st.DataObject) -> None:
    before = read(text)
    names = list(before.value["servers"])
    if not names:
        with pytest.raises(KeyError):
            drop_member(before, ("servers",), "a")
        return
    key = data.draw(st.sampled_from(names))
    after = read(drop_member(before, ("servers",), key))
    assert after.value["servers"] == {name: before.value["servers"][name] for name in names if name != key}
    assert list(after.value) == list(before.value)
    start, (_, end) = before.starts[("servers", key)], before.spans[("servers", key)]
    assert notes(after.text) == notes(before.text[:start]) + notes(before.text[end:])
    for name in after.value["servers"]:
        was, now = before.spans[("servers", name)], after.spans[("servers", name)]
        assert before.text[slice(*was)] == after.text[slice(*now)]


@given(texts(), VALUES)
def test_what_is_put_and_dropped_again_leaves_the_value_as_it_was(text: str, value: Any) -> None:
    before = read(text)
    put = read(put_member(before, ("servers",), "new", value))
    assert read(drop_member(put, ("servers",), "new")).value == before.value


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("{}", '{\n  "b": {\n    "command": "x"\n  }\n}'),
        ('{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "b": {\n        "command": "x"\n    }\n}\n'),
        ('{\n\t"a": 1, // one\n}\n', '{\n\t"a": 1, // one\n\t"b": {\n\t\t"command": "x"\n\t},\n}\n'),
        ('{"a": 1}', '{"a": 1, "b": {"command": "x"}}'),
        ('{"a": 1 // one\n}', '{"a": 1, // one\n  "b": {"command": "x"}\n}'),
        ('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "b": {\r\n    "command": "x"\r\n  }\r\n}\r\n'),
        ('{\n  // "old": 1,\n}\n', '{\n  // "old": 1,\n  "b": {\n    "command": "x"\n  }\n}\n'),
    ],
)
def test_a_new_member_is_written_as_its_neighbours_are(text: str, put: str) -> None:
    assert put_member(read(text), (), "b", {"command": "x"}) == put
    assert read(drop_member(read(put), (), "b")).value == read(text).value


@pytest.mark.parametrize(
    ("text", "key", "left"),
    [
        ('{\n  "a": 1,\n  "b": 2\n}', "b", '{\n  "a": 1\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', "a", '{\n  "b": 2\n}'),
        ('{\n  "a": 1, // one\n  "b": 2, // two\n}', "b", '{\n  "a": 1, // one\n  // two\n}'),
        ('{\n  "a": 1, // one\n  "b": 2\n}', "b", '{\n  "a": 1 // one\n}'),
        ('{"a": 1, "b": 2}', "b", '{"a": 1}'),
        ('{"a": 1, "b": 2}', "a", '{"b": 2}'),
        ('{"a": 1}', "a", "{}"),
        ('{\r\n  "a": 1,\r\n  "b": 2\r\n}', "a", '{\r\n  "b": 2\r\n}'),
    ],
)
def test_a_dropped_member_takes_its_line_and_its_comma_along(text: str, key: str, left: str) -> None:
    assert drop_member(read(text), (), key) == left


def test_a_long_value_is_laid_out_and_a_short_one_stays_on_its_line() -> None:
    entry = {"command": "x", "args": ["--long-option-number"] * 6, "env": {"A": "1"}}
    text = put_member(read('{\n  "servers": {}\n}'), ("servers",), "b", entry)
    assert '\n      "env": {"A": "1"}\n' in text
    assert text.count('\n        "--long-option-number"') == 6
