"""The lines of a session's file: where each begins, the kind of record it is, the object it holds.

All readers of sessions ask here, so that they agree on every line, also one that an editor has written with
other spaces or in another order; a line as hel writes it is told from outside, without being parsed.
Not here: what records mean (records), the file as a whole (reading).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from hel_tui.core.store.sessions.journal import MAX_LINE
from hel_tui.core.vocabulary import Json

MOST_NUMBER = 2**53
"""What a number in a line may be, either side of zero: all that JSON keeps exactly; as a time it is one."""
BOM = "\ufeff"
"""What some editors put before everything else."""
_DIGITS = 20
_OWN = re.compile(rb'\{"k":"([A-Za-z_]{1,40})"')
_ENDS = (b"}\n", b"}")
_CALL = re.compile(rb'\{"k":"call","t":[0-9.]+,"of":"[^"\\]*","call_id":"([^"\\]*)"')


def lines_of(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """(byte, length, line) of all lines from where `file` stands; of a too long one only the beginning."""
    at = file.tell()
    while line := file.readline(MAX_LINE + 1):
        length = len(line)
        while len(line) > MAX_LINE and not line.endswith(b"\n") and (more := file.readline(MAX_LINE)):
            length += len(more)
            if more.endswith(b"\n"):
                break
        yield at, length, line
        at += length


def kind_of(line: bytes) -> str | None:
    """The kind of record a line is; None when it is damaged, or none of hel's."""
    if (own := _own_kind(line)) is not None:
        return own
    kind = (parsed(line) or {}).get("k") if len(line) <= MAX_LINE else None
    return kind if isinstance(kind, str) else None


def _own_kind(line: bytes) -> str | None:
    """The same, told from outside; None for a line that hel did not write, or not whole."""
    if (found := _OWN.match(line)) is None or not line.endswith(_ENDS) or b"\0" in line:
        return None
    if len(line) > MAX_LINE:
        return None
    if not line.isascii():
        try:
            line.decode()
        except UnicodeDecodeError:
            return None
    return found[1].decode()


def is_own(line: bytes) -> bool:
    """Whether a line is spelt as hel does it."""
    return _own_kind(line) is not None


def is_damaged(line: bytes) -> bool:
    """Whether a line without a kind (`kind_of`) cannot be read: it is neither empty nor an object."""
    return bool(line.strip()) and (len(line) > MAX_LINE or parsed(line) is None)


def call_of(line: bytes) -> str:
    """The id of the call that a line of the kind `call` tells of; empty where it names none."""
    if (found := _CALL.match(line)) is not None:
        return found[1].decode("utf-8", "replace")
    call_id = (parsed(line) or {}).get("call_id")
    return call_id if isinstance(call_id, str) else ""


def parsed(line: bytes) -> Json | None:
    """The JSON object a line is; None when it is none."""
    try:
        value = _DECODER.decode(line.decode().removeprefix(BOM))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _number(text: str) -> float:
    if abs(number := float(text)) > MOST_NUMBER:
        raise ValueError("no number of hel's")
    return number


def _whole_number(text: str) -> int:
    if len(text) > _DIGITS or abs(number := int(text)) > MOST_NUMBER:
        raise ValueError("no number of hel's")
    return number


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_whole_number, parse_constant=_no_number)
