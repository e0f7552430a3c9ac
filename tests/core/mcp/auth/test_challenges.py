"""Reading what a refusal wants, however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.auth.challenges import read_challenge, scope_words
from hel_tui.core.mcp.authorizing import Challenge


@pytest.mark.parametrize(
    "header",
    [
        'Bearer resource_metadata="https://a/b", scope="read write"',
        'bearer scope="read write",resource_metadata="https://a/b"',
        'Bearer realm="x, y", error_description="scope=none", scope="read write", resource_metadata=https://a/b',
        'Basic realm="scope=\\"no\\"", Bearer scope="read write", resource_metadata="https://a/b"',
        'Negotiate YWJj==, Bearer scope = "read  write read" , resource_metadata = "https://a/b"',
        'Bearer, Bearer scope="read write", resource_metadata="https://a/b"',
        'scope="read write", resource_metadata="https://a/b"',
        'Bearer scope="read write", resource_metadata="https://a/b',
    ],
)
def test_scopes_and_metadata_are_found(header: str) -> None:
    wanted = read_challenge(Challenge(401, header))
    assert wanted.scopes == ("read", "write")
    assert wanted.resource_metadata == "https://a/b"
    assert not wanted.more_scopes


@pytest.mark.parametrize("header", ["", "Bearer", "Basic realm=x", "=,=,=", '"""', "Bearer scope=\\"])
def test_a_header_without_either_wants_nothing_in_particular(header: str) -> None:
    wanted = read_challenge(Challenge(401, header))
    assert wanted.resource_metadata == ""
    assert not wanted.more_scopes


@pytest.mark.parametrize(
    ("status", "header", "body", "more"),
    [
        (403, 'Bearer error="insufficient_scope", scope="write"', "", True),
        (403, 'Bearer scope="write"', "", True),
        (403, "", '{"error":"insufficient_scope"}', True),
        (403, 'Bearer error="invalid_token"', "", False),
        (403, "", "Forbidden", False),
        (401, 'Bearer error="insufficient_scope", scope="write"', "", False),
    ],
)
def test_a_403_for_scopes_is_told_from_others(status: int, header: str, body: str, more: bool) -> None:
    assert read_challenge(Challenge(status, header, body)).more_scopes is more


@given(st.text(max_size=400))
def test_no_header_breaks_anything(header: str) -> None:
    read_challenge(Challenge(401, header))


@pytest.mark.parametrize("piece", ["a ", "a=", '"', "\\", 'a="', "a,", " ", "a b=c ", "a "])
def test_a_long_header_is_read_at_once(piece: str) -> None:
    read_challenge(Challenge(401, "Bearer " + piece * 100_000))


def test_what_can_be_no_scope_is_left_out() -> None:
    words = ["read", 'a"b', "\x1b[2J", "sch\xf6n", "x" * 201, "read", "a:b/c?d=e", "\\"]
    assert scope_words(words) == ("read", "a:b/c?d=e")
    assert len(scope_words(str(number) for number in range(1000))) == 100
