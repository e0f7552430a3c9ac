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
    ("error", "of_bytes", "limit"),
    [
        ("<html><h1>413 Request Entity Too Large</h1>nginx</html>", True, 0),
        ({"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}, True, 0),
        ({"message": "maximum 33554432 bytes"}, True, 0),
        ({"error": {"message": "on tokens per minute (TPM): Limit 6000, Requested 9000"}}, False, 6000),
        ({"error": {"message": "maximum context length is 8192 tokens"}}, False, 8192),
    ],
)
def test_a_request_of_too_many_bytes_says_nothing_of_tokens(
    error: object, of_bytes: bool, limit: int
) -> None:
    found = failure(413, error).fault
    assert (found.kind, found.limit) == ("context", limit)
    assert ("more bytes than the server" in found.sentence) == of_bytes
    assert ("too long for this model" in found.sentence) == (not of_bytes)


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


@pytest.mark.parametrize(
    ("status", "message", "limit"),
    [
        (
            400,
            "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens",
            8_192,
        ),
        (400, "Your input exceeds the context window of this model. Please adjust your input", 0),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", 200_000),
        (
            400,
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
            200_000,
        ),
        (
            400,
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).",
            1_048_576,
        ),
        (400, "The input token count exceeds the maximum number of tokens allowed 1048576.", 1_048_576),
        (
            400,
            "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it",
            8_192,
        ),
        (400, "Input length 9000 is longer than max_model_len 8192", 8_192),
        (
            400,
            "You passed 9001 input tokens. However, the model's context length is only 8192 tokens",
            8_192,
        ),
        (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens", 131_072),
        (400, "Input length (265330) exceeds model's maximum context length (262144).", 262_144),
        (400, "Invalid request: Your request exceeded model token limit: 262144", 262_144),
        (400, "prompt token count of 140000 exceeds the limit of 128000", 128_000),
        (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
        (400, "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000", 4_097),
        (400, "prompt too long; exceeded max context length by 12 tokens", 0),
        (
            429,
            "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 4",
            30_000,
        ),
    ],
)
def test_a_conversation_that_is_too_long_is_told_with_the_limit_it_names(
    status: int, message: str, limit: int
) -> None:
    found = failure(status, {"error": {"message": message}})
    assert (found.fault.kind, found.fault.limit, found.passing) == ("context", limit, False)
    among = in_stream({"error": {"message": message, "code": status}}, who="acme", key=KEY)
    assert (among.fault.kind, among.fault.limit) == ("context", limit)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "max_tokens: 200000 > 32000, which is the maximum allowed number of output tokens for m"),
        (400, "Bad value for temperature: 3 > 2"),
        (
            429,
            "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000. Try again in 2s",
        ),
        (404, "model context-length-8k not found"),
    ],
)
def test_other_numbers_of_tokens_are_no_overflow(status: int, message: str) -> None:
    assert failure(status, {"error": {"message": message}}).fault.kind != "context"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "server"),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}, "rate"),
        ({"code": "server_error", "message": "The model failed"}, "server"),
        ({"code": "rate_limit_exceeded", "message": "x"}, "rate"),
        ({"code": "context_length_exceeded", "message": "x"}, "context"),
        ({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}, "server"),
        ({"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}, "auth"),
    ],
)
def test_every_apis_errors_inside_streams_have_a_kind(error: object, kind: str) -> None:
    assert in_stream(error, who="acme", key=KEY).fault.kind == kind


def test_a_key_that_gemini_refuses_with_400_is_a_matter_of_the_key() -> None:
    error = {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
    }
    found = failure(400, {"error": error})
    assert found.fault.kind == "auth"
    assert not found.passing


def test_the_wait_may_stand_in_the_body_or_in_thousandths() -> None:
    retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"}
    error = {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": [retry]}
    assert failure(429, {"error": error}).wait == 31.0
    headers = {"retry-after": "3", "retry-after-ms": "2500"}
    body = json.dumps({"error": {"message": "x"}}).encode()
    assert refused(429, headers, body, who="acme", key=KEY, hint="", now=NOW).wait == 2.5


def test_a_server_that_says_that_trying_again_is_vain_is_believed() -> None:
    body = json.dumps({"error": {"message": "x"}}).encode()
    assert not refused(500, {"x-should-retry": "false"}, body, who="acme", key=KEY, hint="", now=NOW).passing
