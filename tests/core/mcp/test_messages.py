"""What a line says, repaired where that needs no guess; whatever names a request ends it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.framing import TooLong
from hel_tui.core.mcp.messages import Answer, Ask, Noise, Note, coerce_id, parse_line


def parse(value: Any) -> Any:
    (message,) = parse_line(json.dumps(value).encode())
    return message


def test_the_three_kinds_of_messages_are_told_apart() -> None:
    assert parse({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}) == Answer(1, {"a": 1})
    assert parse({"jsonrpc": "2.0", "id": 1, "method": "ping"}) == Ask(1, "ping", {})
    assert parse({"jsonrpc": "2.0", "method": "x", "params": {"b": 2}}) == Note("x", {"b": 2})


def test_a_null_error_is_a_success() -> None:
    assert parse({"jsonrpc": "2.0", "id": 1, "result": {}, "error": None}).error is None


def test_a_list_of_messages_is_unpacked() -> None:
    line = b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"}]'
    assert parse_line(line) == [Answer(1, {}), Note("n", {})]


@pytest.mark.parametrize(
    "odd",
    [
        {"jsonrpc": "2.0", "id": 4},
        {"jsonrpc": "2.0", "id": 4, "result": "text"},
        {"jsonrpc": "2.0", "id": 4, "result": [1]},
        {"jsonrpc": "2.0", "id": 4, "error": "broke"},
        {"jsonrpc": "2.0", "id": 4, "error": {"code": "X"}},
        {"id": 4.0, "error": {}},
    ],
)
def test_an_answer_of_no_valid_shape_fails_its_request(odd: Any) -> None:
    answer = parse(odd)
    assert answer.id == 4
    assert isinstance(answer.error["code"], int)
    assert isinstance(answer.error["message"], str)


def test_a_null_result_is_an_empty_one() -> None:
    assert parse({"jsonrpc": "2.0", "id": 4, "result": None}) == Answer(4, {})


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":9,"result":{"content":[}',
        b'{"result":{"content":[},"jsonrpc":"2.0","id":9}',
        b'{"result":{"content":[},"id":"9","jsonrpc":"2.0"}',
    ],
)
def test_a_broken_answer_still_ends_the_request_it_names(line: bytes) -> None:
    noise, answer = parse_line(line)
    assert isinstance(noise, Noise)
    assert isinstance(answer, Answer) and answer.id == 9 and answer.error


def test_a_line_over_the_limit_fails_the_request_named_at_either_end() -> None:
    for ends in (
        (b'{"jsonrpc":"2.0","id":3,"result":{"x":"', b'"}}'),
        (b'{"result":{"x":"', b'"},"jsonrpc":"2.0","id":3}'),
    ):
        _, answer = parse_line(TooLong(*ends, size=70_000_000))
        assert isinstance(answer, Answer) and answer.id == 3 and answer.error


def test_text_glued_in_front_of_a_message_costs_nothing_but_noise() -> None:
    noise, answer = parse_line(b'Working... {"jsonrpc":"2.0","id":1,"result":{}}')
    assert noise == Noise("Working... ")
    assert answer == Answer(1, {})


def test_json_that_is_not_protocol_is_noise() -> None:
    for value in ({"level": "info", "id": 1}, 5, "text", None, [], True):
        assert isinstance(parse(value), Noise)


def test_lone_surrogates_become_replacement_characters_and_pairs_stay() -> None:
    (answer,) = parse_line(rb'{"jsonrpc":"2.0","id":1,"result":{"\ud83d":"\ud83d \ud83d\ude00"}}')
    assert isinstance(answer, Answer)
    assert answer.result == {"\ufffd": "\ufffd \U0001f600"}


def test_nesting_too_deep_to_read_fails_the_request() -> None:
    deep = b'{"jsonrpc":"2.0","id":1,"result":' + b'{"a":' * 200_000 + b"1" + b"}" * 200_001
    assert any(isinstance(one, Answer) and one.id == 1 for one in parse_line(deep))


@given(
    st.binary(max_size=300)
    | st.recursive(st.none() | st.text(), st.lists).map(lambda v: json.dumps(v).encode())
)
def test_no_bytes_raise(data: bytes) -> None:
    parse_line(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NO_TEXT = VALUES.filter(lambda value: not isinstance(value, str))
PARTS = {"jsonrpc": VALUES, "result": VALUES, "error": VALUES, "params": VALUES, "method": NO_TEXT}


@given(
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0")}, optional={k: v for k, v in PARTS.items() if k != "jsonrpc"}
    ),
    st.sampled_from([7, "7", 7.0]),
    st.booleans(),
    st.booleans(),
)
def test_whatever_carries_the_id_of_a_request_ends_it(
    parts: dict[str, Any], identity: Any, first: bool, in_a_list: bool
) -> None:
    message = {"id": identity, **parts} if first else {**parts, "id": identity}
    found = parse_line(json.dumps([{"x": 1}, message] if in_a_list else message).encode())
    (answer,) = [one for one in found if isinstance(one, Answer)]
    assert coerce_id(answer.id) == 7
    json.dumps(answer.result, allow_nan=False, ensure_ascii=False).encode()
    if answer.error is not None:
        assert isinstance(answer.error["code"], int) and isinstance(answer.error["message"], str)


@given(VALUES, VALUES, VALUES, VALUES)
def test_no_message_has_anything_that_cannot_be_written_down(a: Any, b: Any, c: Any, d: Any) -> None:
    for message in (
        {"id": a, "method": b, "params": c},
        {"id": a, "result": b},
        {"id": a, "error": c},
        d,
        [a, b],
    ):
        for one in parse_line(json.dumps(message).encode()):
            json.dumps(asdict(one), allow_nan=False, ensure_ascii=False).encode()
            assert not isinstance(one, Ask | Note) or isinstance(one.params, dict)


@given(st.data())
def test_a_sound_answer_that_was_damaged_never_raises_nor_answers_another_request(
    data: st.DataObject,
) -> None:
    line = bytearray(b'{"jsonrpc":"2.0","id":41,"result":{"content":[{"type":"text","text":"so"}]}}')
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(25, len(line)))
        line[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=6).filter(_no_id))
    for one in parse_line(bytes(line)):
        assert not isinstance(one, Answer) or one.id == 41


def _no_id(data: bytes) -> bool:
    return b'"' not in data and b"\n" not in data
