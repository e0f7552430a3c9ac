"""What an endpoint's refusal means: a kind, a sentence without secrets, whether it may pass.

Recognised by status, code and wording, since servers of one API agree on none of them. Pure functions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from hel_tui.core.addresses import without_secrets
from hel_tui.core.models.overflow import is_of_bytes, is_overflow, limit_in
from hel_tui.core.models.types import FaultKind, ModelFault
from hel_tui.foreign import plain_line

MAX_SENTENCE = 500
"""Characters of a fault's sentence."""
MAX_WORDS = 20_000
"""Characters of a refusal that are kept, to find the refused tool by."""
MAX_SAID = 2_000
"""Characters of a refusal that are looked at for images: some servers send the whole request back."""

_SCHEMA = re.compile(
    r"invalid (?:json )?schema|schema for function|function_declarations|tools?\[\d+\]|tools\.\d+"
    r"|functions[.\[]\d|input_schema|function\.parameters|invalid 'tools|tool schema|json ?schema"
    r"|schema conversion|parse grammar|parsing grammar|property keys should match|schema missing"
    r"|too many (?:tools|functions)|function name|unmarshal .{0,80}tool|invalid tool (?:definition|param)",
    re.I,
)
"""What is said of tools."""
_GRAMMAR = re.compile(r"grammar|schema conversion|unmarshal .{0,80}tool", re.I)
"""Said of tools even with a status of 500, by engines that build a grammar of them."""
_IMAGE = re.compile(r"image|vision|multi-?modal", re.I)
_TEXT_ONLY = re.compile(
    r"content.{0,60}(?:must be|should be|is not|expected) (?:a |an? )?(?:valid )?string", re.I
)
_BAD_IMAGE = re.compile(
    r"image.{0,20}(?:format|dimension|size|width|height|pixels)|(?:invalid|corrupt\w*|valid|decode|process|load)"
    r".{0,20} image(?! ?(?:input|_url))|unsupported image(?! ?(?:input|content|part|_url))"
    r"|image.{0,40}(?:exceed|too (?:large|big|small)|corrupt|invalid)|(?:too many|at most [1-9]\d*) image",
    re.I,
)
_TOO_LONG = "The conversation is too long for this model."
_TOO_MANY_BYTES = (
    "The request has more bytes than the server, or a proxy before it, takes; that says nothing of the "
    "model's window."
)
_NO_RETRY = ("insufficient_quota", "billing", "insufficient balance")
_BAD_KEY = re.compile(r"API key not valid|API_KEY_INVALID|API key expired", re.I)
"""Gemini refuses a key with 400."""
_RETRIED = frozenset({408, 409, 425, 429})


@dataclass(slots=True)
class Failure(Exception):
    """One try that failed. `passing`: worth another; `wait`: seconds the server asks for."""

    fault: ModelFault
    passing: bool = False
    wait: float | None = None
    said: str = ""
    """The server's own words, uncut and uncleaned: to recognise things by, never to show."""


def refused(
    status: int, headers: Mapping[str, str], body: bytes, *, who: str, key: str, hint: str, now: float
) -> Failure:
    """The failure in a response that is not 2xx. `hint` says what to check about the key."""
    said, code = said_in(body)
    kind = _kind(status, said, code)
    no_money = status == 402 or any(word in f"{code} {said}".lower() for word in _NO_RETRY)
    hopeless = headers.get("x-should-retry") == "false"  # OpenAI and Anthropic know best
    passing = kind in ("rate", "server") and not no_money and not hopeless
    head = f"{who} answered {status}"
    tail = {
        "auth": hint,
        "missing": "Check the model's name and the base URL.",
        "context": _TOO_MANY_BYTES if is_of_bytes(status, said) else _TOO_LONG,
    }.get(kind, "")
    if 300 <= status < 400:
        target = without_secrets(headers.get("location", "")) or "?"
        tail = f"It redirects to {target}; give that address as --base-url."
    return Failure(
        ModelFault(
            kind,
            sentence(head, said, tail, key),
            status,
            said=words_in(body, key),
            limit=_limit(kind, status, said),
        ),
        passing,
        _wait(headers, body, now),
        said,
    )


_KINDS: dict[str, FaultKind] = {
    "rate_limit_error": "rate",
    "rate_limit_exceeded": "rate",
    "overloaded_error": "server",
    "api_error": "server",
    "timeout_error": "server",
    "server_error": "server",
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_request_error": "request",
    "invalid_prompt": "request",
}
"""Codes of errors inside streams: Anthropic's types ("Errors"), OpenAI's codes (`ResponseError`)."""


def in_stream(error: Any, *, who: str, key: str) -> Failure:
    """The failure in an error that came as an event of a stream that had begun with 200."""
    said, code = _said(error)
    number = re.match(r"([45]\d\d)\b", code)
    status = int(number[1]) if number else 0
    known = next((_KINDS[word] for word in code.split() if word in _KINDS), None)
    kind: FaultKind = known or "stream"
    if status:
        kind = _kind(status, said, code)
    elif is_overflow(0, said, code):
        kind = "context"
    elif "overloaded" in f"{code} {said}".lower():
        kind = "server"
    return Failure(
        ModelFault(
            kind,
            sentence(f"{who} reported an error", said, "", key),
            status,
            said=words_in(json.dumps(error).encode(), key),
            limit=_limit(kind, status, said),
        ),
        kind in ("rate", "server", "stream"),
    )


def _limit(kind: FaultKind, status: int, said: str) -> int:
    """Tokens that the model takes in all, as a refusal names them; 0 for none, and for bytes."""
    return limit_in(said) if kind == "context" and not is_of_bytes(status, said) else 0


def _kind(status: int, said: str, code: str) -> FaultKind:
    if status in (401, 403) or (status == 400 and _BAD_KEY.search(said[:MAX_SAID])):
        return "auth"
    if is_overflow(status, said, code):
        return "context"
    if status in (402, 429):
        return "rate"
    if status >= 500 and _GRAMMAR.search(said):
        return "schema"
    if status in (404, 405):
        return "missing"
    if status >= 500 or status in _RETRIED:
        return "server"
    if _SCHEMA.search(said):
        return "schema"
    return "request"


# --------------------------------------------------------------------- wording


def said_in(body: bytes) -> tuple[str, str]:
    """(message, code and type) of an error body in any of the usual shapes; text and HTML as text."""
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    if isinstance(value, list) and value:
        value = value[0]
    return _said(value)


def words_in(body: bytes, key: str) -> str:
    """All that an error body says but the key, such as which parameter is meant; JSON inside JSON made
    readable.
    """
    text = without_key(body.decode("utf-8", "replace")[:MAX_WORDS], key)
    return text.replace('\\"', '"').replace("\\n", "\n") if text.lstrip()[:1] in ("{", "[") else text


def _said(value: Any) -> tuple[str, str]:
    if isinstance(value, str):
        return value, ""
    if not isinstance(value, dict):
        return "" if value is None else json.dumps(value), ""
    if value.get("error"):
        inner = value["error"]
        if isinstance(inner, dict):
            return _said(inner)
        return str(inner), str(value.get("code") or "")
    message = value.get("message") or value.get("detail") or value.get("msg") or ""
    if not isinstance(message, str):
        message = json.dumps(message)
    metadata = value.get("metadata")
    if isinstance(metadata, dict) and isinstance(raw := metadata.get("raw"), str):
        # OpenRouter: the words of the provider it asked
        message = f"{message}: {said_in(raw.encode('utf-8', 'replace'))[0]}"
    words = (value.get("code"), value.get("type"), value.get("status"))
    return message, " ".join(str(word) for word in words if word)


def sentence(head: str, said: str, tail: str, key: str) -> str:
    """`head: said. tail`, at most MAX_SENTENCE characters, without markup, control characters or `key`."""
    said = without_key(clean(said), key)
    tail = without_key(clean(tail), key)
    room = MAX_SENTENCE - len(head) - len(tail) - 4
    if len(said) > room:
        said = said[: max(0, room - 1)] + "…"
    said = said.rstrip(".") + ("" if said.endswith("…") else ".") if said else ""
    return " ".join(part for part in (f"{head}: {said}" if said else f"{head}.", tail) if part)[:MAX_SENTENCE]


def clean(text: str) -> str:
    """Foreign text on one line: no HTML, no escape sequences, no control characters."""
    text = text[:20_000]
    if "<" in text and re.search(r"<(?:!doctype|html|head|body)\b", text, re.I):
        text = re.sub(r"<(style|script)\b.*?</\1>", " ", text, flags=re.I | re.S)
        text = re.sub(r"<[^<>]{0,1000}>", " ", text)
    return plain_line(text)


def without_key(text: str, key: str) -> str:
    """`text` with every stretch it shares with the key, eight characters long or more, as •••."""
    if not key:
        return text
    text = text.replace(key, "•••")
    size = min(8, len(key))
    shared = [False] * len(text)
    for start in range(len(key) - size + 1):
        piece = key[start : start + size]
        at = text.find(piece)
        while at >= 0:
            shared[at : at + size] = [True] * size
            at = text.find(piece, at + 1)
    out = (
        "•••" if hidden and not (at and shared[at - 1]) else "" if hidden else character
        for at, (character, hidden) in enumerate(zip(text, shared, strict=True))
    )
    return "".join(out)


# --------------------------------------------------------- waiting and images


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds in a Retry-After header (RFC 9110 10.2.3: seconds or a date); None when there are none."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None


_DELAY = re.compile(rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')


def _wait(headers: Mapping[str, str], body: bytes, now: float) -> float | None:
    """Seconds to wait: Retry-After, the finer header of OpenAI, or the `RetryInfo` in Gemini's errors."""
    wait = retry_after(headers.get("retry-after"), now)
    fine = headers.get("retry-after-ms", "")
    if fine.isdigit():
        return int(fine[:12]) / 1000
    if wait is None and (found := _DELAY.search(body)):
        return float(found[1])
    return wait


def refused_images(failure: Failure) -> Literal["", "model", "images"]:
    """What the refusal of a request with images says: that the model takes none, that it does not take these,
    or nothing about images.
    """
    status, said = failure.fault.status, failure.said
    if status == 413:
        return "images"
    if status not in (400, 404, 415, 422, 500, 501) or failure.fault.kind == "context":
        return ""
    if _IMAGE.search(said[:MAX_SAID]):
        return "images" if _BAD_IMAGE.search(said[:MAX_SAID]) else "model"
    return "model" if status in (400, 422) and _TEXT_ONLY.search(said[:MAX_SAID]) else ""
