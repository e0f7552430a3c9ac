"""Frames a server might send and should not: valid ones, bent in their values and in their bytes.

Everything comes from one `random.Random`, so that a seed gives the same frames again, but for the ids of
the requests they pretend to answer. Not here: where they are sent (fuzz).
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Maker = Callable[[random.Random, Any, str], Json]
"""(chance, id, progress token) -> a valid frame."""

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 1.5, -0.0, 2**53, 2**63, 2**64, -(2**70), 10**400, 1e308, "", "x", "1"),
    *("\x00", "\u2028", "\x1b]0;t\x07", "٣", "a" * 5000, [], {}, [[]], [None], {"": ""}, {"a": {"b": [1]}}),
    *(
        "2025-11-25",
        "input_required",
        "file:///",
        "http://x\n",
        "../..",
        "text",
        "image",
        "object",
        "integer",
    ),
)
ODD_BYTES = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n", b"\n\n"),
    *(b"\xe2\x80\xa8", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"NaN", b"-Infinity", b"1e999"),
    *(b"9" * 400, b"\\ud83d", b"\\udc00\\ud800", b'"id":', b'"jsonrpc"', b'{"jsonrpc"', b'"id":null,', b"//"),
)
ODD_IDS: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.0, 1.5, 10**30, "", "1", "01", "-1", "1.0", "x", "listen-1", [], {}, "\ud83d"),
)
METHODS = (
    *("notifications/progress", "notifications/cancelled", "notifications/message", "ping", "roots/list"),
    *("notifications/tools/list_changed", "notifications/prompts/list_changed", "elicitation/create"),
    *("notifications/resources/list_changed", "notifications/resources/updated", "sampling/createMessage"),
    *("notifications/elicitation/complete", "notifications/vendor", "vendor/ask", "", "initialize"),
)
DEEP = (100, 1000, 30_000)
LARGE = (70_000, 300_000, 1_500_000, 3_000_000)


def _head(identity: Any) -> Json:
    return {"jsonrpc": "2.0", "id": identity}


def _result(chance: random.Random, identity: Any, _token: str) -> Json:
    block = chance.choice(
        (
            {"type": "text", "text": "words"},
            {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///x", "name": "x"},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "t"}},
        )
    )
    return {
        **_head(identity),
        "result": {"content": [block], "isError": False, "structuredContent": {"a": 1}},
    }


def _error(chance: random.Random, identity: Any, _token: str) -> Json:
    code = chance.choice((-32601, -32602, -32603, -32700, -32000, -32001, -32042, 5))
    data = {"elicitations": [{"mode": "url", "url": "https://example.com", "elicitationId": "e"}]}
    return {**_head(identity), "error": {"code": code, "message": "no", "data": data}}


def _input(_chance: random.Random, identity: Any, _token: str) -> Json:
    asked = {"k": {"method": "roots/list", "params": {}}}
    result = {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
    return {**_head(identity), "result": result}


def _list(chance: random.Random, identity: Any, _token: str) -> Json:
    key = chance.choice(("tools", "prompts", "resources", "resourceTemplates"))
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    one = {"name": "echo", "uri": "file:///x", "uriTemplate": "file:///{x}", "inputSchema": schema}
    return {**_head(identity), "result": {key: [one, dict(one, name="b")], "nextCursor": "more"}}


def _progress(chance: random.Random, _identity: Any, token: str) -> Json:
    params = {"progressToken": token, "progress": chance.random(), "total": 1, "message": "m"}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def _note(chance: random.Random, identity: Any, token: str) -> Json:
    params = {
        "level": "info",
        "logger": "l",
        "data": {"a": [1, "x"]},
        "uri": "file:///x",
        "requestId": identity,
        "reason": "r",
        "progressToken": token,
    }
    return {"jsonrpc": "2.0", "method": chance.choice(METHODS), "params": params}


def _ask(chance: random.Random, _identity: Any, _token: str) -> Json:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}, "e": {"type": "string", "enum": ["a", "b"]}},
        "required": ["n"],
    }
    params = {
        "message": "please",
        "requestedSchema": schema,
        "mode": chance.choice(("form", "url")),
        "url": "https://example.com/a",
        "elicitationId": "e",
        "maxTokens": 5,
        "messages": [{"role": "user", "content": {"type": "text", "text": "t"}}],
    }
    identity = chance.choice((chance.randrange(50), f"s{chance.randrange(50)}"))
    return {**_head(identity), "method": chance.choice(METHODS), "params": params}


MAKERS: tuple[Maker, ...] = (
    _result,
    _result,
    _error,
    _input,
    _list,
    _progress,
    _progress,
    _note,
    _note,
    _ask,
)


def frame(chance: random.Random, ids: list[Any], tokens: list[str]) -> bytes:
    """One frame without its newline, most often bent; `ids` and `tokens` are those of open requests."""
    kind = chance.random()
    if kind < 0.0004:
        return _deep(chance, _identity(chance, ids))
    if kind < 0.0006:
        return _large(chance, _identity(chance, ids))
    if kind < 0.05:
        several = [_value(chance, ids, tokens) for _ in range(chance.randrange(4))]
        return _bend(chance, _text(several), ids, tokens)
    data = _text(_value(chance, ids, tokens))
    return data if kind < 0.45 else _bend(chance, data, ids, tokens)


def pieces(chance: random.Random, data: bytes) -> list[bytes]:
    """The bytes as reads might bring them: a few large ones, or many small ones."""
    size = chance.choice((1, 7, 61, 997, 4096, 65_536, 262_144))
    if size < 100:  # in between only: a megabyte in single bytes shows nothing more
        start = chance.randrange(max(len(data) - 2000, 1))
        small = data[start : start + 2000]
        cut = [small[at : at + size] for at in range(0, len(small), size)]
        return [data[:start], *cut, data[start + 2000 :]]
    return [data[at : at + size] for at in range(0, len(data), size)]


def _identity(chance: random.Random, ids: list[Any]) -> Any:
    if ids and chance.random() < 0.3:
        one = chance.choice(ids)
        return chance.choice((one, one, one, str(one), float(one) if isinstance(one, int) else one))
    return copy.deepcopy(chance.choice(ODD_IDS)) if chance.random() < 0.5 else chance.randrange(10_000)


def _value(chance: random.Random, ids: list[Any], tokens: list[str]) -> Json:
    token = (
        chance.choice(tokens)
        if tokens and chance.random() < 0.7
        else copy.deepcopy(chance.choice(ODD_VALUES))
    )
    value = chance.choice(MAKERS)(chance, _identity(chance, ids), token)
    for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
        _bend_value(chance, value)
    return value


def _bend_value(chance: random.Random, value: Any) -> None:
    """Put something odd somewhere into it, take something out, or add what nobody asked for."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        below = value[key]
        if isinstance(below, dict | list) and below and chance.random() < 0.7:
            value = below
            continue
        what = chance.random()
        if what < 0.6:
            value[key] = copy.deepcopy(chance.choice(ODD_VALUES))
        elif what < 0.8:
            del value[key]
        elif isinstance(value, dict):
            value[chance.choice(("id", "error", "result", "method", "_meta", "x", "\ud800"))] = below
        else:
            value.append(below)
        return


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


def _bend(chance: random.Random, data: bytes, ids: list[Any], tokens: list[str]) -> bytes:
    """Damage the bytes a few times."""
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(data) + 1)
        end = min(at + chance.randrange(1, 60), len(data))
        match chance.randrange(8):
            case 0:
                bent = bytearray(data)
                for _ in range(chance.randrange(1, 8)):
                    if bent:
                        bent[chance.randrange(len(bent))] ^= 1 << chance.randrange(8)
                data = bytes(bent)
            case 1:
                data = data[:at]
            case 2:
                data = data[at:]
            case 3:
                data = data[:end] + data[at:end] * chance.randrange(1, 4) + data[end:]
            case 4:
                other = _text(_value(chance, ids, tokens))
                data = data[:at] + other[chance.randrange(len(other)) :]
            case 5:
                data = data[:at] + chance.choice(ODD_BYTES) + data[at:]
            case 6:
                data = data[:at] + chance.choice(ODD_BYTES) + data[end:]
            case _:
                data = data[:at] + chance.randbytes(chance.randrange(1, 20)) + data[end:]
    return data


def _deep(chance: random.Random, identity: Any) -> bytes:
    depth = chance.choice(DEEP)
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
    inner = opening * depth + b"1" + closing * chance.choice((depth, depth, depth - 1, 0))
    return b'{"jsonrpc":"2.0","id":' + _text(identity) + b',"result":{"content":' + inner + b"}}"


def _large(chance: random.Random, identity: Any) -> bytes:
    size = chance.choice(LARGE)
    filled = chance.choice((b"x", b'\\"', b"\\ud83d", b"\\\\", b"\xf0\x9f\x98\x80", b"[", b"1,"))
    body = filled * (size // len(filled))
    value = chance.choice((b'"' + body + b'"', b"[" + body + b"1]", body))
    whole = b'{"result":{"structuredContent":' + value + b'},"jsonrpc":"2.0","id":' + _text(identity) + b"}"
    return whole if chance.random() < 0.7 else whole[: chance.randrange(len(whole))]
