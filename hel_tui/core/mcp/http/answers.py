"""What is in an answer over HTTP, seen from the request it belongs to: is it the answer, whose is it.

A link must know when a request is answered, and servers that name no id, or a wrong one, in an answer to
just one request mean that request. Not here: what messages mean (messages, wire).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from hel_tui.core.mcp.http.faults import speaks_of_lost_session
from hel_tui.core.mcp.messages import Answer, Id, Noise, Parsed, coerce_id, parse_line
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json

SMALL = 64 * 1024
"""Bytes up to which a message is simply parsed; a larger one only where its head does not tell."""
_HEAD = 4096

_SESSION_CODES = frozenset({-32000, -32001, -32600, -32603})
"""Codes under which servers say that they do not know a session."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one JSON text holds."""

    line: bytes
    """What to hand on: the text as it came, or with the id mended."""
    is_answer: bool = False
    """The request it came for is answered by it."""
    is_protocol: bool = True
    error: Json | None = None
    """The error in that answer."""
    result: Json | None = None
    """Its result, where it was small enough to be parsed here."""

    @property
    def lost_session(self) -> bool:
        """Whether the answer is an error that means: no such session."""
        if self.error is None or self.error["code"] not in _SESSION_CODES:
            return False
        return speaks_of_lost_session(self.error["message"])


async def look(data: bytes, request: Id | None, is_open: Callable[[Id], bool] = lambda _id: False) -> Look:
    """Look at the JSON text `data`, which came in answer to `request` (None: to no particular one).

    `is_open` tells of other requests that wait: an answer with such an id is theirs.
    """
    if len(data) > SMALL:
        if request is not None and _tells(data[:_HEAD], request):
            return Look(data, is_answer=True)
        messages = await in_thread(lambda: parse_line(data), "hel-large-answer")
        return _look(data, messages, request, is_open, may_mend=False)
    return _look(data, parse_line(data), request, is_open, may_mend=True)


def _look(
    data: bytes,
    messages: list[Parsed],
    request: Id | None,
    is_open: Callable[[Id], bool],
    *,
    may_mend: bool,
) -> Look:
    answers = [one for one in messages if isinstance(one, Answer)]
    is_protocol = any(not isinstance(one, Noise) for one in messages)
    if request is None:
        return Look(data, is_protocol=is_protocol)
    for answer in answers:
        if answer.id is not None and coerce_id(answer.id) == coerce_id(request):
            return Look(data, True, True, answer.error, answer.result)
    if len(answers) == 1 and len(messages) == 1 and may_mend:
        answer = answers[0]
        if answer.id is None or not is_open(coerce_id(answer.id)):
            return Look(_mended(answer, request), True, True, answer.error, answer.result)
    return Look(data, is_protocol=is_protocol)


def _mended(answer: Answer, request: Id) -> bytes:
    said = {"result": answer.result} if answer.error is None else {"error": answer.error}
    return json.dumps({"jsonrpc": "2.0", "id": request, **said}).encode()


def _tells(head: bytes, request: Id) -> bool:
    """Whether the flat head of a message says that it answers `request`."""
    wanted = re.escape(json.dumps(request).strip('"').encode())
    flat = re.match(rb'\s*\{(?:\s*"(?:jsonrpc|id)"\s*:\s*(?:"[^"\\]{0,200}"|\d{1,18})\s*,){1,3}', head)
    if flat is None or not re.match(rb'\s*"(?:result|error)"\s*:', head[flat.end() :]):
        return False
    return re.search(rb'"id"\s*:\s*"?' + wanted + rb'"?\s*,', flat[0]) is not None


def as_utf8(data: bytes, content_type: str) -> bytes:
    """The bytes in UTF-8, if the content type names one of the other usual charsets; without a BOM."""
    charset = content_type.lower().partition("charset=")[2].split(";")[0].strip(" \"'")
    if charset.startswith(("utf-16", "utf-32", "iso-8859-1", "windows-125")):
        with suppress(LookupError):
            data = data.decode(charset, "replace").encode("utf-8", "replace")
    return data.removeprefix(codecs.BOM_UTF8)
