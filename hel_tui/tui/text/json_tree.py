"""JSON text as rows of a tree, read a slice at a time, without recursion and without touching a value.

Numbers and repeated keys stay as they were written. What is no JSON, and all after it, becomes rows of text.
Not here: what is folded (json_view), drawing.
"""

from __future__ import annotations

import json
import re
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable
from enum import IntEnum

from hel_tui.core.values import dataclass

_TOKEN = re.compile(r'[ \t\r\n]*+(?:("(?:[^"\\]++|\\.)*+")|([{}\[\],:])|([^\s{}\[\],:"]++)|(\Z))', re.DOTALL)
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_COMMA = re.compile(r"[ \t\r\n]*,")
_TOKENS_AT_ONCE = 500
_LITERALS = frozenset({"true", "false", "null"})
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Kind(IntEnum):
    """What a row is. A container without members is a scalar."""

    OBJECT = 0
    ARRAY = 1
    CLOSE = 2
    STRING = 3
    NUMBER = 4
    LITERAL = 5
    EMPTY = 6
    TEXT = 7
    """A line of what is no JSON."""


class _State(IntEnum):
    VALUE = 0
    VALUE_OR_END = 1
    KEY = 2
    KEY_OR_END = 3
    COLON = 4
    COMMA_OR_END = 5
    DONE = 6


@dataclass(frozen=True, slots=True)
class Row:
    """One row. Places are offsets in the text."""

    kind: Kind
    depth: int
    start: int
    end: int
    """Of a container that is read whole: after its closing bracket."""
    key: str
    """As it is written, with its quotes; empty for an element."""
    parent: int
    """Number of the row of its container, -1 for none."""
    ordinal: int
    """Its place among the members of its container, from 0."""
    mate: int
    """Of a container: the row of its closing bracket, -1 before it is read; of a bracket: its container."""
    count: int
    """Members of a container, as far as they are read."""


class JsonTree:
    """The rows of a text. `read` until `done`; rows that are there do not change but for `end` and `mate`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.done = False
        self.broken_at = -1
        """Where the text stops being JSON; -1 for nowhere."""
        self.places = array("q")
        """Where each row begins, with its key."""
        self.mates = array("q")
        self.depths = array("q")
        self._kinds = bytearray()
        self._starts, self._ends, self._key_ends = array("q"), array("q"), array("q")
        self._parents, self._ordinals, self._counts = array("q"), array("q"), array("q")
        self._open: list[int] = []
        self._state = _State.VALUE
        self._at = 0
        self._key: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, row: int) -> Row:
        place, key_end = self.places[row], self._key_ends[row]
        return Row(
            Kind(self._kinds[row]),
            self.depths[row],
            self._starts[row],
            self._ends[row],
            self.text[place:key_end] if key_end > place else "",
            self._parents[row],
            self._ordinals[row],
            self.mates[row],
            self._counts[row],
        )

    @property
    def progress(self) -> float:
        """How much is read: 0 to 1."""
        return 1.0 if self.done else self._at / max(len(self.text), 1)

    def kind(self, row: int) -> Kind:
        return Kind(self._kinds[row])

    def is_container(self, row: int) -> bool:
        return self._kinds[row] <= Kind.ARRAY

    def parent(self, row: int) -> int:
        return self._parents[row]

    def row_at(self, place: int) -> int:
        """The row that a place in the text belongs to."""
        return max(bisect_right(self.places, place) - 1, 0)

    def has_comma(self, end: int) -> bool:
        """Whether a comma follows what ends there."""
        return _COMMA.match(self.text, end) is not None

    def value(self, row: int) -> str:
        """The value of a row: a string as what it says, anything else as it is written."""
        one = self[row]
        if one.kind is Kind.CLOSE:
            return self.value(one.mate)
        end = one.end if one.end >= 0 else len(self.text)
        written = self.text[one.start : end]
        return unquoted(written) if one.kind is Kind.STRING else written

    def path(self, row: int) -> str:
        """Where a row is, as jq writes it: `.result.content[0].text`."""
        steps: list[str] = []
        if self._kinds[row] == Kind.CLOSE:
            row = self.mates[row]
        while row >= 0 and self._parents[row] >= 0:
            one = self[row]
            if self._kinds[one.parent] == Kind.ARRAY:
                steps.append(f"[{one.ordinal}]")
            else:
                name = unquoted(one.key)
                steps.append(f".{name}" if _PLAIN_KEY.fullmatch(name) else f"[{one.key}]")
            row = one.parent
        path = "".join(reversed(steps))
        return path if path.startswith(".") else f".{path}"

    # ----------------------------------------------------------------- reading

    def read(self, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """Read on for so long."""
        until = clock() + seconds
        while not self.done and clock() < until:
            for _ in range(_TOKENS_AT_ONCE):
                if not self._token():
                    break

    def _token(self) -> bool:
        """Read one token; False at the end."""
        match = _TOKEN.match(self.text, self._at)
        if match is None:
            return self._break(self._at)
        kind = match.lastindex
        start, end = match.span(kind or 0)
        if kind == 4:
            if self._state is _State.DONE:
                self.done = True
                return False
            return self._break(self._at)
        if kind == 1:
            good = self._string(start, end)
        elif kind == 2:
            good = self._sign(self.text[start], start)
        else:
            good = self._scalar(start, end)
        if not good:
            return self._break(start)
        self._at = end
        return True

    def _string(self, start: int, end: int) -> bool:
        state = self._state
        if state in (_State.KEY, _State.KEY_OR_END):
            self._key = (start, end)
            self._state = _State.COLON
            return True
        return self._add_value(Kind.STRING, start, end)

    def _scalar(self, start: int, end: int) -> bool:
        if _SCALAR.fullmatch(self.text, start, end) is None:
            return False
        literal = end - start <= 5 and self.text[start:end] in _LITERALS
        return self._add_value(Kind.LITERAL if literal else Kind.NUMBER, start, end)

    def _add_value(self, kind: Kind, start: int, end: int) -> bool:
        """A value where one may stand."""
        if self._state > _State.VALUE_OR_END:
            return False
        self._add(kind, start, end)
        self._state = _State.COMMA_OR_END if self._open else _State.DONE
        return True

    def _sign(self, sign: str, start: int) -> bool:
        state = self._state
        if sign in "{[":
            if state > _State.VALUE_OR_END:
                return False
            self._add(Kind.OBJECT if sign == "{" else Kind.ARRAY, start, -1)
            self._open.append(len(self) - 1)
            self._state = _State.KEY_OR_END if sign == "{" else _State.VALUE_OR_END
            return True
        if sign == ":":
            if state is not _State.COLON:
                return False
            self._state = _State.VALUE
            return True
        if sign == ",":
            if state is not _State.COMMA_OR_END:
                return False
            is_object = self._kinds[self._open[-1]] == Kind.OBJECT
            self._state = _State.KEY if is_object else _State.VALUE
            return True
        return self._close(sign, start)

    def _close(self, sign: str, start: int) -> bool:
        """A closing bracket, of the container that is open."""
        if not self._open or self._state not in (
            _State.COMMA_OR_END,
            _State.KEY_OR_END if sign == "}" else _State.VALUE_OR_END,
        ):
            return False
        row = self._open[-1]
        if self._kinds[row] != (Kind.OBJECT if sign == "}" else Kind.ARRAY):
            return False
        self._open.pop()
        self._ends[row] = start + 1
        if row == len(self) - 1:
            self._kinds[row] = Kind.EMPTY
        else:
            self._put(Kind.CLOSE, start, start, start + 1, start, self._parents[row], self._ordinals[row])
            self.mates[row], self.mates[-1] = len(self) - 1, row
        self._state = _State.COMMA_OR_END if self._open else _State.DONE
        return True

    def _add(self, kind: Kind, start: int, end: int) -> None:
        """A row for a value, with the key before it."""
        parent = self._open[-1] if self._open else -1
        ordinal = 0
        if parent >= 0:
            ordinal = self._counts[parent]
            self._counts[parent] += 1
        place, key_end = self._key or (start, start)
        self._key = None
        self._put(kind, place, start, end, key_end, parent, ordinal)

    def _put(
        self, kind: Kind, place: int, start: int, end: int, key_end: int, parent: int, ordinal: int
    ) -> None:
        self._kinds.append(kind)
        self.places.append(place)
        self._starts.append(start)
        self._ends.append(end)
        self._key_ends.append(key_end)
        self._parents.append(parent)
        self._ordinals.append(ordinal)
        self._counts.append(0)
        self.mates.append(-1)
        self.depths.append(len(self._open))

    def _break(self, start: int) -> bool:
        """From here on it is no JSON: the rest as lines of text."""
        self.broken_at = start = self._key[0] if self._key is not None else start
        self._open.clear()
        while start < len(self.text):
            end = self.text.find("\n", start)
            end = len(self.text) if end < 0 else end
            if end > start:
                self._put(Kind.TEXT, start, start, end, start, -1, 0)
            start = end + 1
        self.done = True
        return False


def unquoted(written: str) -> str:
    """What a JSON string says; as it is written where that cannot be told."""
    try:
        return str(json.loads(written, strict=False))
    except ValueError:
        return written
