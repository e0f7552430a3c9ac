"""What one line of a server's stdout says, with the repairs that need no guess.

The one border for protocol bytes: decoding, malformed answers, lists of messages, lone surrogates.
Whatever carries the id of a request ends that request. Not here: the SDK's own types (wire).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from hel_tui.core.mcp.framing import TooLong
from hel_tui.core.mcp.large import LARGE, JsonText, read_large
from hel_tui.core.store.redact import MARGIN
from hel_tui.core.vocabulary import Json
from hel_tui.foreign import whole_characters

Id = int | str

UNREADABLE = object()
"""The data of an error that hel made up for an answer it could not read: no server can send it."""

PARSE_ERROR = -32700
"""JSON-RPC 2.0, section 5.1."""
INTERNAL_ERROR = -32603
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
MOST_DIGITS = 4000

NOISE_LENGTH = 2000
"""Characters of a line that is no protocol which are worth showing."""
_KEPT = NOISE_LENGTH + MARGIN
"""Of such a line: whoever shows it cuts it, once secrets are out."""
_LOOKED_AT = 2000
"""Characters at the ends of a broken line in which its id is looked for."""
_HEAD_ID = re.compile(r'\A\s*\{[^{}\[\]]*?"id"\s*:\s*("?)(\d{1,18})\1')
_TAIL_ID = re.compile(r'"id"\s*:\s*("?)(\d{1,18})\1\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}?\s*\Z')


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a request: `error` is None for a success. `id` is None when the server named none."""

    id: Id | None
    result: Json
    error: Json | None = None
    """`code` (int), `message` (str) and perhaps `data`."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request from the server."""

    id: Id
    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Note:
    """A notification from the server."""

    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Noise:
    """A line that is not protocol."""

    text: str


Parsed = Answer | Ask | Note | Noise


def kind_of(value: Any) -> str:
    """What JSON calls the kind of `value`, with an article."""
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    kinds = {str: "a string", list: "an array", dict: "an object", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)


def clean_surrogates(value: Any) -> Any:
    """Return `value` with lone surrogates in its strings (keys too) replaced by U+FFFD."""
    if isinstance(value, JsonText):
        return value
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {clean_surrogates(key): clean_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_surrogates(item) for item in value]
    return value


def coerce_id(value: Id) -> Id:
    """The key under which a request waits: `"7"` and `7` are one."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return value


def parse_line(line: bytes | TooLong) -> list[Parsed]:
    """Return what `line` says: one message, several when they came as a list, or noise."""
    if isinstance(line, TooLong):
        return _too_long(line)
    text = line.decode("utf-8", "replace")
    try:
        value = _read(text)
        if "\\ud" in text or "\\uD" in text:
            value = clean_surrogates(value)
    except (ValueError, RecursionError):
        return _rescue(text)
    return _messages(value, text)


def _read(text: str) -> Any:
    """Read JSON; a large structured result stays text. Raises ValueError and RecursionError."""
    if len(text) > LARGE:
        return read_large(text, ("result", "structuredContent"))
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        return json.loads(text, parse_constant=_no_constant, parse_int=_integer)


def _integer(digits: str) -> int | str:
    """An integer; of one with thousands of digits, which Python refuses to convert, how it begins."""
    return int(digits) if len(digits) < MOST_DIGITS else f"{digits[:20]}… ({len(digits):,} digits)"


def _no_constant(_name: str) -> None:
    """NaN and Infinity are no JSON: read as null."""


def _messages(value: Any, text: str) -> list[Parsed]:
    if isinstance(value, list) and value:
        return [message for item in value for message in _messages_of_item(item)]
    message = _message(value)
    return [message if message is not None else Noise(text[:_KEPT])]


def _messages_of_item(item: Any) -> list[Parsed]:
    message = _message(item)
    return [message if message is not None else Noise(repr(item)[:_KEPT])]


def _message(value: Any) -> Parsed | None:
    """Turn one JSON value into a message; None when it is not JSON-RPC at all."""
    if not isinstance(value, dict):
        return None
    identity = _identity(value.get("id"))
    method = value.get("method")
    if isinstance(method, str):
        params = value.get("params")
        params = params if isinstance(params, dict) else {}
        return Note(method, params) if identity is None else Ask(identity, method, params)
    error, result = value.get("error"), value.get("result")
    if error is not None:
        return Answer(identity, {}, _error(error))
    if "result" in value or ("jsonrpc" in value and identity is not None):
        return _success(identity, result, present="result" in value)
    return None


def _success(identity: Id | None, result: Any, *, present: bool) -> Answer:
    if isinstance(result, dict):
        return Answer(identity, result)
    if present and result is None:
        return Answer(identity, {})
    what = f"{kind_of(result)} as result" if present else "neither result nor error"
    return Answer(identity, {}, {"code": INTERNAL_ERROR, "message": f"the answer has {what}"})


def _error(error: Any) -> Json:
    if not isinstance(error, dict):
        return {"code": INTERNAL_ERROR, "message": error if isinstance(error, str) else json.dumps(error)}
    code, message = error.get("code"), error.get("message")
    if not isinstance(code, int) or isinstance(code, bool) or abs(code) >> 53:
        code = INTERNAL_ERROR
    if not isinstance(message, str):
        message = "an error without a message" if message is None else json.dumps(message)
    return {"code": code, "message": message, "data": error.get("data")}


def _identity(value: Any) -> Id | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | str) else None


def _rescue(text: str) -> list[Parsed]:
    """A line that is no JSON: text glued in front of a message, or a broken answer to a request."""
    start = text.find('{"jsonrpc"', 1)
    if start > 0:
        try:
            value = _read(text[start:])
        except (ValueError, RecursionError):
            pass
        else:
            return [Noise(text[: min(start, _KEPT)]), *_messages(clean_surrogates(value), text)]
    noise = Noise(text[:_KEPT])
    if '"jsonrpc"' not in text[:_LOOKED_AT] and '"jsonrpc"' not in text[-_LOOKED_AT:]:
        return [noise]
    identity = _find_id(text[:_LOOKED_AT], text[-_LOOKED_AT:])
    if identity is None:
        return [noise]
    return [noise, _unreadable(identity, "it is not valid JSON")]


def _too_long(line: TooLong) -> list[Parsed]:
    head = line.head.decode("utf-8", "replace")
    identity = _find_id(head, line.tail.decode("utf-8", "replace"))
    size = f"a line of {line.size:,} bytes is over the limit"
    return [Noise(f"{size}: {head[:_KEPT]}"), _unreadable(identity, size)]


def _find_id(head: str, tail: str) -> int | None:
    found = _HEAD_ID.search(head) or _TAIL_ID.search(tail)
    return int(found.group(2)) if found else None


def _unreadable(identity: Id | None, why: str) -> Answer:
    message = f"the answer cannot be read: {why}"
    return Answer(identity, {}, {"code": PARSE_ERROR, "message": message, "data": UNREADABLE})
