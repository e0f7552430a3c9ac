"""Reading what servers say in refusals: pages, JSON, dates, words about sessions."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.http.faults import (
    media_type,
    network_fault,
    retry_after,
    speaks_of_lost_session,
    told_by,
)
from hel_tui.core.mcp.http.target import Target


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        (b'{"error": {"message": "slow\\ndown", "code": 3}}', "application/json", "slow down"),
        (b'{"error": "invalid_token", "error_description": "it expired"}', "application/json", "it expired"),
        (b'{"detail": "Not Found"}', "", "Not Found"),
        (b'{"x": 1}', "application/json", '{"x": 1}'),
        (b"<html><title> Bad\n Gateway </title><p>x", "text/html; charset=utf-8", "Bad Gateway"),
        (b"<!DOCTYPE html><style>a{}</style><h1>Oops</h1>&amp; <b>more</b>", "", "Oops & more"),
        (b"\x1b[31mred\x1b[0m\x00 text", "text/plain", "red text"),
        (b"", "text/html", ""),
        (b"x" * 1000, "text/plain", "x" * 300),
    ],
)
def test_what_was_said_is_a_short_line_of_text(body: bytes, kind: str, told: str) -> None:
    assert told_by(body, kind) == told


@given(st.text(alphabet="<>/![]-&;#\"' =abscriptyle\x00\n", max_size=400))
def test_no_page_breaks_the_reading_of_it(text: str) -> None:
    assert len(told_by(f"<html>{text}".encode(), "text/html")) <= 300


def test_a_page_made_to_be_slow_is_not() -> None:
    begun = time.process_time()
    for piece in ("<style", "<!--", "<script>", "&#", "<a b='", "</"):
        told_by(piece.encode() * 200_000, "text/html")
        speaks_of_lost_session(piece * 200_000)
    speaks_of_lost_session("session " * 100_000)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "words",
    [
        "Session not found",
        "Bad Request: No valid session ID provided",
        "invalid session id",
        "Your session has expired.",
        "session terminated",
        "Unknown session",
        "The session abc does not exist",
        "No such session: 7",
        "Bad Request: Server not initialized",
        "SESSION_NOT_FOUND".replace("_", " "),
    ],
)
def test_words_about_a_lost_session_are_known(words: str) -> None:
    assert speaks_of_lost_session(words)


@pytest.mark.parametrize(
    "words", ["Not Found", "tool not found", "invalid arguments", "session started", "token expired", ""]
)
def test_other_words_are_not_about_the_session(words: str) -> None:
    assert not speaks_of_lost_session(words)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0),
        ("", 0),
        ("7", 7),
        ("1.5", 1.5),
        ("-3", 0),
        ("soon", 0),
        ("nan", 0),
        ("1e99", 86400),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 20),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ],
)
def test_the_time_a_server_wants_is_read_in_both_forms(value: str | None, seconds: float) -> None:
    assert retry_after(value, now=100.0) == seconds


def test_a_media_type_has_no_parameters_and_no_capitals() -> None:
    assert media_type({"content-type": " Text/Event-Stream ;charset=utf-8"}) == "text/event-stream"
    assert media_type({}) == ""


@pytest.mark.parametrize("wrapping", [RuntimeError("All connection attempts failed"), RuntimeError("")])
def test_what_the_system_said_is_told_and_not_what_libraries_made_of_it(wrapping: RuntimeError) -> None:
    reset = ConnectionResetError(104, "Connection reset by peer")
    reset.__context__ = KeyError("of no interest")
    wrapping.__cause__ = ExceptionGroup("multiple connection attempts failed", [reset])
    target = Target("http://x.example/mcp")
    fault = network_fault(wrapping, target, was_sent=True)
    assert fault.sentence.endswith("ended before the answer (Connection reset by peer)")
    assert "reset by peer" in network_fault(wrapping, target, was_sent=False).sentence
