"""What refusals mean, in the words providers use, and that no sentence holds a secret."""

from __future__ import annotations

import json
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.models.faults import MAX_SENTENCE, Failure, clean, in_stream, refused, retry_after, sentence

NOW = 1_800_000_000.0
KEY = "sk-abcdefghijklmnopqrstuvwxyz123456"


def failure(status: int, error: object, **headers: str) -> Failure:
    body = error if isinstance(error, str) else json.dumps(error)
    return refused(status, headers, body.encode(), who="acme (host)", key=KEY, hint="Check KEY.", now=NOW)


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"code": "context_length_exceeded", "message": "too big"}},
        {"error": {"message": "This model's maximum context length is 131072 tokens."}},
        {"error": {"code": 400, "type": "exceed_context_size_error", "message": "request exceeds it"}},
        {"error": {"message": "request (9 tokens) exceeds the available context size (5 tokens)"}},
        {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}},
        {"error": {"message": "The input token count (1048600) exceeds the maximum number of tokens"}},
        {"error": {"message": "Please reduce the length of the messages or completion."}},
        {"object": "error", "message": "Input length 9000 is longer than max_model_len 8192", "code": 400},
        {"detail": "Trying to keep the first 9000 tokens when context overflows. n_ctx is 4096"},
        [{"error": {"message": "context window exceeded", "status": "INVALID_ARGUMENT"}}],
    ],
)
def test_a_context_that_is_too_long_is_recognised(error: object) -> None:
    found = failure(400, error)
    assert found.fault.kind == "context"
    assert not found.passing
    assert "too long for this model" in found.fault.sentence


@pytest.mark.parametrize(
    ("status", "error", "kind", "passing"),
    [
        (400, {"error": {"message": "Bad value for temperature"}}, "request", False),
        (400, {"error": {"message": "Invalid schema for function 'f': bad"}}, "schema", False),
        (400, {"error": {"message": "tools.3.custom.input_schema: invalid"}}, "schema", False),
        (401, {"error": {"message": "Authentication Fails (no such user)"}}, "auth", False),
        (402, {"error": {"message": "Insufficient Balance"}}, "rate", False),
        (403, "Forbidden", "auth", False),
        (404, {"error": "model not found"}, "missing", False),
        (413, "Payload Too Large", "context", False),
        (408, "", "server", True),
        (429, {"error": {"message": "Rate limit reached"}}, "rate", True),
        (429, {"error": {"code": "insufficient_quota", "message": "x"}}, "rate", False),
        (500, "oops", "server", True),
        (500, {"error": {"message": "the context size is exceeded, context limit 4096"}}, "context", False),
        (
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "server",
            True,
        ),
    ],
)
def test_refusals_by_status_and_wording(status: int, error: object, kind: str, passing: bool) -> None:
    found = failure(status, error)
    assert (found.fault.kind, found.passing, found.fault.status) == (kind, passing, status)


def test_a_redirect_is_not_followed_but_told() -> None:
    assert "https://new.example/v1" in failure(308, "", location="https://new.example/v1").fault.sentence


@pytest.mark.parametrize(
    "body", ["", "null", "7", "[]", "{}", '{"error": []}', '{"error": null}', "\x00\xff", "[" * 999]
)
def test_bodies_without_a_message_still_give_a_sentence(body: str) -> None:
    assert failure(500, body).fault.sentence.startswith("acme (host) answered 500")


@pytest.mark.parametrize(
    ("error", "kind", "passing"),
    [
        ({"error": {"message": "Overloaded", "code": 503}}, "server", True),
        ({"error": {"message": "Rate limited", "code": "429"}}, "rate", True),
        ({"error": "something broke"}, "stream", True),
        ({"error": {"type": "overloaded_error", "message": "x"}}, "server", True),
        ("context length exceeded", "context", False),
    ],
)
def test_errors_that_come_inside_a_stream(error: object, kind: str, passing: bool) -> None:
    found = in_stream(error, who="acme", key=KEY)
    assert (found.fault.kind, found.passing) == (kind, passing)


@given(st.text(max_size=900), st.text(max_size=300), st.integers(8, len(KEY)), st.integers(0, len(KEY) - 8))
def test_no_sentence_is_long_or_holds_a_recognisable_part_of_the_key(
    before: str, after: str, size: int, start: int
) -> None:
    part = KEY[start : start + size]
    said = sentence("acme answered 401", f"{before} {part} {after}", "Check KEY.", KEY)
    assert len(said) <= MAX_SENTENCE
    assert len(part) < 8 or part not in said
    assert said.isprintable() or all(c.isprintable() or c == " " or ord(c) > 0x9F for c in said)


def test_escapes_and_invisible_characters_are_taken_out() -> None:
    hostile = "\x1b]0;title\x07a\x1b[2Jb\u202ec\u200bd\r\n\te\x9b31mf"
    assert clean(hostile) == "abcd ef"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        (formatdate(NOW + 30, usegmt=True), 30.0),
        (formatdate(NOW - 30, usegmt=True), 0.0),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize("value", ["1e999", "9" * 400, "inf"])
def test_a_wait_without_end_is_longer_than_any_other(value: str) -> None:
    wait = retry_after(value, NOW)
    assert wait is not None and wait > 1e9
