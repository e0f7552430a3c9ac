"""JSON of many megabytes, read in pieces: other threads get their turn between two of them.

`json.loads` holds the interpreter until the last byte, which freezes the screen for seconds. Here the
quick scanner reads at most a window at a time, and what spans windows is walked from outside.
Not here: what the JSON means (messages).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

LARGE = 1024 * 1024
"""Characters from which on JSON is read in pieces, beside the loop."""
WINDOW = 256 * 1024
"""Characters that are read at a time: a few milliseconds."""

_SPACE = re.compile(r"[ \t\n\r]*")
_PIECE = re.compile(
    r'(?:[^"\\]{1,4096}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u[0-9a-fA-F]{4}|\\[^u]){1,256}",
    re.DOTALL,
)
"""A part of a string that ends between two characters, surrogate pairs counted as one."""

_LAST = {"{": "},", "[": "],", '"': '",'}
"""How the last whole item of a window ends, by how the first begins; numbers and words by a comma alone."""

Path = tuple[str, ...]


class JsonText(str):
    """A large JSON value that was checked and left as the text it came as."""

    __slots__ = ()


def read_large(text: str, verbatim: Path) -> Any:
    """Return what the JSON `text` says. The value at the path `verbatim`, if it is large, stays text.

    Raises ValueError where `json.loads` does, and RecursionError; NaN and Infinity are read as null.
    """
    return _Reader(text, verbatim).whole()


class _Reader:
    def __init__(self, text: str, verbatim: Path) -> None:
        self._text = text
        self._verbatim = verbatim
        self._decode = json.JSONDecoder(parse_constant=lambda _name: None).raw_decode
        self._window = ""
        self._start = 0
        """Where the window begins in the text."""
        self._alone_until = 0
        """Items of arrays before this place are read one by one."""

    def whole(self) -> Any:
        value, end = self._value(self._skip(0), (), keep=True)
        if self._skip(end) != len(self._text):
            raise ValueError(f"extra data at {end:,}")
        return value

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def _value(self, at: int, path: Path, *, keep: bool) -> tuple[Any, int]:
        """Return the value that begins at `at` and where it ends; with `keep` False only its end matters."""
        first = self._text[at : at + 1]
        if first not in ("{", "[", '"'):
            return self._decode(self._text, at)
        small = self._small(at)
        if small is not None:
            return small
        if first == '"':
            return self._string(at)
        left_as_text = path == self._verbatim
        read = self._object if first == "{" else self._array
        value, end = read(at, path, keep=keep and not left_as_text)
        return (JsonText(self._text[at:end]) if left_as_text else value), end

    def _small(self, at: int) -> tuple[Any, int] | None:
        """The value at `at` if it fits into a window; None if it does not, or is no JSON."""
        while True:
            offset = at - self._start
            if 0 <= offset < len(self._window):
                try:
                    value, end = self._decode(self._window, offset)
                except ValueError:
                    if offset == 0:
                        return None
                else:
                    return value, self._start + end
            self._start, self._window = at, self._text[at : at + WINDOW]

    def _string(self, at: int) -> tuple[str, int]:
        pieces = []
        at += 1
        while (found := _PIECE.match(self._text, at)) is not None:
            pieces.append(self._decode(f'"{found[0]}"')[0])
            at = found.end()
        if self._text[at : at + 1] != '"':
            raise ValueError(f"a string is broken at {at:,}")
        return "".join(pieces), at + 1

    def _object(self, at: int, path: Path, *, keep: bool) -> tuple[dict[str, Any], int]:
        value: dict[str, Any] = {}
        for start in self._members(at, "}"):
            name, end = self._value(start, (), keep=True)
            colon = self._skip(end)
            if not isinstance(name, str) or self._text[colon : colon + 1] != ":":
                raise ValueError(f"no name of a member at {start:,}")
            item, self._at = self._value(self._skip(colon + 1), (*path, name), keep=keep)
            if keep:
                value[name] = item
        return value, self._at

    def _array(self, at: int, path: Path, *, keep: bool) -> tuple[list[Any], int]:
        value: list[Any] = []
        for start in self._members(at, "]"):
            several = self._several(start)
            if several is None:
                item, self._at = self._value(start, (*path, ""), keep=keep)
                several = [item], self._at
            items, self._at = several
            if keep:
                value += items
        return value, self._at

    def _several(self, at: int) -> tuple[list[Any], int] | None:
        """The items of an array from `at` on, as many as a window surely holds, and where the last one ends.

        A guess that only a whole parse confirms; None where it is wrong, and not tried again for a window.
        """
        if at < self._alone_until:
            return None
        piece = self._text[at : at + WINDOW]
        last = _LAST.get(piece[:1], ",")
        end = piece.rfind(last) + len(last) - 1
        if last == "," and "]" in piece:  # numbers and words hold no bracket: it is their end
            end = piece.index("]")
        try:
            items, read = self._decode(f"[{piece[:end]}]") if end > 0 else ([], -1)
        except ValueError:
            read = -1
        if read != end + 2 or not items:
            self._alone_until = at + WINDOW
            return None
        return items, at + end

    def _members(self, at: int, closing: str) -> Iterator[int]:
        """Yield where each member begins; who iterates sets `_at` to its end. At last it is the whole's."""
        at = self._skip(at + 1)
        if self._text[at : at + 1] != closing:
            while True:
                yield at
                at = self._skip(self._at)
                if self._text[at : at + 1] != ",":
                    break
                at = self._skip(at + 1)
            if self._text[at : at + 1] != closing:
                raise ValueError(f"neither a comma nor {closing} at {at:,}")
        self._at = at + 1


def same_but_space(one: str, other: str) -> bool:
    """Return whether two texts differ in white space at most, in pieces like everything here."""
    return _squeezed(one) == _squeezed(other)


def _squeezed(text: str) -> str:
    return "".join("".join(text[at : at + WINDOW].split()) for at in range(0, len(text), WINDOW))
