"""JSON as people write it: comments and trailing commas, with a place for every complaint.

Reads bytes to values and remembers where members stand. Not here: what the values mean (config).
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 100
"""Levels of nesting; nobody writes that many by hand."""
_PLACED_DEPTH = 4
"""Levels whose members are remembered with their place."""

Path = tuple[str | int, ...]

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"', re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9_+.\-]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NAMED = {"true": True, "false": False, "null": None}
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


@dataclass(slots=True)
class BadJson(Exception):
    """The text is no JSON. `line` and `column` are from 1, counted in characters."""

    sentence: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Parsed:
    text: str
    value: Any
    starts: dict[Path, int]
    """Offsets of members of the upper levels, by path of keys and list indexes; the root is `()`."""
    spans: dict[Path, tuple[int, int]]
    """Where the values of those members begin and end."""

    def place(self, path: Path) -> tuple[int, int]:
        """Return line and column of the member at `path`, or of the nearest one above it that exists."""
        while path not in self.starts:
            path = path[:-1]
        return line_and_column(self.text, self.starts[path])


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def skip_gap(text: str, at: int) -> int:
    """Return the offset after the white space and comments that begin at `at`."""
    found = _GAP.match(text, at)
    return found.end() if found else at


def decode(data: bytes) -> str:
    """Return the text of UTF-8 bytes, with or without BOM. Raises BadJson for anything else."""
    for mark, name in _OTHER_ENCODINGS:
        if data.startswith(mark):
            raise BadJson(f"the file is {name}; save it as UTF-8.", 1, 1)
    if b"\x00" in data[:4]:
        raise BadJson("the file is not UTF-8 text, probably UTF-16; save it as UTF-8.", 1, 1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace").removeprefix("\ufeff")
        line, column = line_and_column(before, len(before))
        raise BadJson(f"the byte 0x{data[error.start]:02x} is not UTF-8.", line, column) from None


def parse(data: bytes) -> Parsed:
    """Read JSON with `//` and `/* */` comments and trailing commas. Raises BadJson, never anything else.

    A key given twice in one object is an error: readers differ in which of the two they take.
    """
    return _Reader(decode(data)).document()


class _Reader:
    """One pass over the text; `at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.starts: dict[Path, int] = {}
        self.spans: dict[Path, tuple[int, int]] = {}

    def document(self) -> Parsed:
        self._skip()
        if self.at == len(self.text):
            raise self._bad("the file is empty.")
        self.starts[()] = self.at
        value = self._value(())
        self._skip()
        if self.at < len(self.text):
            raise self._bad(f"{self._here()} after the end of the document.")
        return Parsed(self.text, value, self.starts, self.spans)

    def _value(self, path: Path) -> Any:
        start = self.at
        value = self._read(path)
        if len(path) <= _PLACED_DEPTH:
            self.spans[path] = start, self.at
        return value

    def _read(self, path: Path) -> Any:
        first = self.text[self.at : self.at + 1]
        if first in ("{", "[") and len(path) >= MAX_DEPTH:
            raise self._bad(f"nested more than {MAX_DEPTH} levels deep.")
        if first == "{":
            return self._object(path)
        if first == "[":
            return self._list(path)
        if first == '"':
            return self._string()
        return self._scalar()

    def _object(self, path: Path) -> dict[str, Any]:
        members: dict[str, Any] = {}
        starts: dict[str, int] = {}
        self.at += 1
        while not self._closed("}", first=not members, what="object"):
            start = self.at
            if self.text[start : start + 1] != '"':
                raise self._bad(f"expected a name in double quotes, found {self._here()}.")
            name = self._string()
            if name in members:
                line, _ = line_and_column(self.text, starts[name])
                raise self._bad(f'"{name}" is given twice (first in line {line}).', start)
            self._skip()
            if self.text[self.at : self.at + 1] != ":":
                raise self._bad(f'expected ":" after "{name}", found {self._here()}.')
            self.at += 1
            self._skip()
            starts[name] = start
            self._remember((*path, name), start)
            members[name] = self._value((*path, name))
        return members

    def _list(self, path: Path) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while not self._closed("]", first=not items, what="list"):
            self._remember((*path, len(items)), self.at)
            items.append(self._value((*path, len(items))))
        return items

    def _remember(self, path: Path, start: int) -> None:
        if len(path) <= _PLACED_DEPTH:
            self.starts[path] = start

    def _closed(self, end: str, *, first: bool, what: str) -> bool:
        """Move to the next member, over the comma, or past the end; return whether it was the end."""
        self._skip()
        if not first and self.text[self.at : self.at + 1] == ",":
            self.at += 1
            self._skip()
        elif not first and self.text[self.at : self.at + 1] != end:
            raise self._bad(f'expected "," or "{end}" in the {what}, found {self._here()}.')
        if self.text[self.at : self.at + 1] == end:
            self.at += 1
            return True
        if self.at == len(self.text):
            raise self._bad(f"the file ends before the {what} is closed.")
        return False

    def _string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self._bad("this text is not closed, or it has a line end or control character in it.")
        try:
            value: str = json.loads(found[0])
        except ValueError:
            raise self._bad("this text has an escape that JSON does not know.") from None
        if _SURROGATE.search(value):
            raise self._bad("this text has half of a surrogate pair in it.")
        self.at = found.end()
        return value

    def _scalar(self) -> Any:
        found = _WORD.match(self.text, self.at)
        word = found[0] if found else ""
        if word in _NAMED:
            value = _NAMED[word]
        elif _NUMBER.fullmatch(word) and len(word) <= 300:
            value = json.loads(word)
        else:
            raise self._bad(f"expected a value, found {self._here()}.")
        self.at += len(word)
        return value

    def _skip(self) -> None:
        self.at = skip_gap(self.text, self.at)
        if self.text.startswith("/*", self.at):
            raise self._bad("this comment is not closed.")

    def _here(self) -> str:
        word = _WORD.match(self.text, self.at)
        if word:
            return f"`{word[0][:40]}`"
        return f"`{self.text[self.at]}`" if self.at < len(self.text) else "the end of the file"

    def _bad(self, sentence: str, at: int | None = None) -> BadJson:
        return BadJson(sentence, *line_and_column(self.text, self.at if at is None else at))
