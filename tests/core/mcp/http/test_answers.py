"""Finding out whether a text answers a request: small ones parsed, large ones by their head."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.http import answers
from hel_tui.core.mcp.http.answers import look

FILL = "x" * answers.SMALL


@pytest.mark.parametrize(
    ("message", "is_answer"),
    [
        ({"jsonrpc": "2.0", "id": 7, "result": {}}, True),
        ({"id": 7, "jsonrpc": "2.0", "error": {"code": -1, "message": "no"}}, True),
        ({"result": {}, "id": 7, "jsonrpc": "2.0"}, True),
        ({"jsonrpc": "2.0", "id": "7", "result": {}}, True),
        ({"jsonrpc": "2.0", "id": 7.0, "result": {}}, True),
        ({"jsonrpc": "2.0", "id": 7, "method": "ping"}, False),
        ({"jsonrpc": "2.0", "method": "x", "params": {"id": 7, "result": {}}}, False),
    ],
)
@pytest.mark.parametrize("is_large", [False, True])
async def test_an_answer_is_told_from_everything_else(
    message: dict[str, Any], is_answer: bool, is_large: bool
) -> None:
    if is_large:
        part = next((message[key] for key in ("result", "error", "params") if key in message), None)
        if part is None:
            part = message["params"] = {}
        part["fill"] = FILL
    data = json.dumps(message).encode()
    seen = await look(data, 7)
    assert seen.is_answer == is_answer and seen.is_protocol
    assert seen.line == data


async def test_the_head_of_a_large_answer_is_enough() -> None:
    data = b'{"jsonrpc": "2.0", "id": 7, "result": {"broken": ' + FILL.encode()
    assert (await look(data, 7)).is_answer


async def test_the_answer_of_another_open_request_is_left_to_it() -> None:
    data = b'{"jsonrpc": "2.0", "id": 8, "result": {}}'
    assert not (await look(data, 7, lambda one: one == 8)).is_answer
    mended = await look(data, 7, lambda one: one == 7)
    assert mended.is_answer and json.loads(mended.line)["id"] == 7


async def test_an_error_without_an_envelope_is_an_answer_and_noise_is_none() -> None:
    seen = await look(b'{"error": "Session not found"}', 7)
    assert seen.is_answer and seen.lost_session
    assert json.loads(seen.line)["id"] == 7
    noise = await look(b"<html>", 7)
    assert not noise.is_answer and not noise.is_protocol


async def test_a_tools_own_error_about_a_session_is_not_about_this_one() -> None:
    error = {"code": -32050, "message": "browser session not found"}
    assert not (await look(json.dumps({"jsonrpc": "2.0", "id": 7, "error": error}).encode(), 7)).lost_session


async def test_a_batch_with_the_answer_in_it_is_an_answer() -> None:
    batch = [{"jsonrpc": "2.0", "method": "n"}, {"jsonrpc": "2.0", "id": 7, "result": {}}]
    assert (await look(json.dumps(batch).encode(), 7)).is_answer


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()), st.none() | st.just(7))
async def test_nothing_a_server_says_is_too_odd_to_be_looked_at(data: bytes, request: int | None) -> None:
    seen = await look(data, request)
    assert isinstance(seen.lost_session, bool)
    assert seen.is_answer or seen.line == data


@given(JSON, st.sampled_from(["result", "error"]), st.sampled_from([7, "7", 7.0]), st.booleans())
async def test_whatever_carries_the_id_of_the_request_is_its_answer(
    said: Any, key: str, identity: Any, first: bool
) -> None:
    parts = {"jsonrpc": "2.0", key: said}
    message = {"id": identity, **parts} if first else {**parts, "id": identity}
    assert (await look(json.dumps(message).encode(), 7)).is_answer
    batch = [{"jsonrpc": "2.0", "method": "n"}, message]
    assert (await look(json.dumps(batch).encode(), 7)).is_answer
