"""What comes back from a login, and what people paste."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.auth import flow
from hel_tui.core.mcp.auth.asking import Refusal
from hel_tui.core.mcp.auth.discovery import AuthorizationServer

SERVER = AuthorizationServer(
    "https://as.example", "https://as.example/token", "https://as.example/authorize?tenant=a%20b#top"
)


def attempt(sends_issuer: bool = False) -> flow.Attempt:
    return flow.Attempt("u", "the-state", "v", "http://127.0.0.1:1/callback", SERVER.issuer, sends_issuer)


def test_the_address_keeps_the_query_it_had() -> None:
    begun = flow.begin(SERVER, "me", "http://127.0.0.1:1/callback", "https://shop.example/mcp", ("a", "b"))
    parts = urlsplit(begun.url)
    fields = parse_qs(parts.query)
    assert parts.fragment == ""
    assert fields["tenant"] == ["a b"]
    assert fields["scope"] == ["a b"]
    assert fields["state"] == [begun.state]
    assert begun.verifier not in begun.url


def test_no_two_attempts_are_alike() -> None:
    both = [flow.begin(SERVER, "me", "r", "", ()) for _ in range(2)]
    assert both[0].state != both[1].state
    assert both[0].verifier != both[1].verifier


@pytest.mark.parametrize(
    "pasted",
    [
        "http://127.0.0.1:1/callback?code=c0de&state=the-state",
        "  <http://127.0.0.1:1/callback?state=the-state&code=c0de#_=_>\n",
        "127.0.0.1:1/callback?code=c0de&state=the-state",
        "code=c0de&state=the-state",
        "?code=c0de&state=the-state",
        "c0de",
        "'c0de'",
    ],
)
def test_a_url_its_query_and_a_bare_code_are_taken(pasted: str) -> None:
    assert flow.code_in(attempt(), pasted) == "c0de"


@pytest.mark.parametrize(
    "pasted",
    [
        "https://as.example/authorize?client_id=x",
        "http://127.0.0.1:1/callback?code=c0de",
        "http://127.0.0.1:1/callback?code=c0de&state=other",
        "http://127.0.0.1:1/callback?code=a&code=b&state=the-state",
        "some words",
        "x" * 20_000,
        "http://[",
    ],
)
def test_anything_else_is_asked_for_again(pasted: str) -> None:
    with pytest.raises(flow.NotOurs):
        flow.code_in(attempt(), pasted)


@given(st.text(max_size=200))
def test_no_paste_breaks_anything(pasted: str) -> None:
    try:
        assert flow.code_in(attempt(), pasted) is not None
    except (flow.NotOurs, Refusal) as ended:
        assert str(ended)


@given(st.text(max_size=200))
def test_no_query_breaks_anything(query: str) -> None:
    assert isinstance(flow.read_fields(query), dict)


def test_an_error_is_told_on_one_line_and_cut() -> None:
    fields = {"state": "the-state", "error": "server_error", "error_description": "a\x1b[2Jb\n" * 500}
    with pytest.raises(Refusal) as refused:
        flow.code_of(attempt(), fields)
    assert "\n" not in str(refused.value)
    assert "\x1b" not in str(refused.value)
    assert len(str(refused.value)) < 300
