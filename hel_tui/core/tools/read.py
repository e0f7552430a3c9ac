"""`read_file`: text of a file, at most 10,000 bytes a time, with a cursor to go on.

The file is never read whole; a cursor is good only in this session and while the file is unchanged. Not
here: finding files (glob, grep).
"""

from __future__ import annotations

import os
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import ClassVar

from hel_tui.core.counts import counted
from hel_tui.core.tools.builtin import FileTool, one_line, refused
from hel_tui.core.tools.opening import Opened, Stamp, changed_to_link, opened_file
from hel_tui.core.tools.paths import Refusal, ResolvedPath, Workspace
from hel_tui.core.vocabulary import Json, Outcome, ToolDefinition

MAX_BYTES = 10_000
"""UTF-8 bytes of a result, notice included."""
_NOTICE_ROOM = 300
_SNIFFED = 8_192
_CHUNK = 1 << 16
MAX_CURSORS = 128


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a reading stopped: `offset` in bytes, at or inside line `line`."""

    place: ResolvedPath
    stamp: Stamp
    offset: int
    line: int
    max_lines: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file: `lines` begun lines from `data`; `ends_line` when it stops at a line's end."""

    data: bytes
    lines: int
    ends_line: bool


class ReadFile(FileTool):
    """Read a text file in pieces."""

    definition: ClassVar[ToolDefinition] = ToolDefinition(
        "read_file",
        "Read a text file of the project, or one a result was saved in. At most 10,000 bytes a time; "
        "a longer text ends with a cursor to continue from.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "start_line": {"type": "integer", "minimum": 1, "description": "from 1"},
                "max_lines": {"type": "integer", "minimum": 1},
                "cursor": {"type": "string", "description": "from an earlier result; give it alone"},
            },
        },
    )

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._cursors: OrderedDict[str, Cursor] = OrderedDict()

    def subject(self, arguments: Json) -> str:
        """The path, also where only a cursor is given."""
        cursor = self._cursors.get(str(arguments.get("cursor")))
        return cursor.place.shown if cursor is not None else super().subject(arguments)

    def summary(self, arguments: Json) -> str:
        """Path and lines."""
        if cursor := self._cursors.get(str(arguments.get("cursor"))):
            return f"{cursor.place.shown} from line {cursor.line}"
        text = super().summary(arguments)
        start, count = arguments.get("start_line"), arguments.get("max_lines")
        if isinstance(start, int) or isinstance(count, int):
            first = start if isinstance(start, int) else 1
            text += f" {first}–{first + count - 1}" if isinstance(count, int) else f" from line {first}"
        return one_line(text)

    def work(self, arguments: Json) -> Outcome:
        """Read by cursor or by path."""
        if "cursor" in arguments:
            if len(arguments) > 1:
                return refused("Give read_file a cursor alone, or a path with start_line and max_lines.")
            cursor = self._cursors.get(arguments["cursor"])
            if cursor is None:
                return refused(
                    "This cursor is not known in this session (or too old). Read by path and start_line."
                )
            return self._read(cursor.place, cursor, 1, cursor.max_lines)
        if "path" not in arguments:
            return refused("read_file needs a path, or a cursor from an earlier result.")
        place = self.workspace.resolve(arguments["path"])
        if isinstance(place, Refusal):
            return refused(place)
        return self._read(place, None, arguments.get("start_line", 1), arguments.get("max_lines", 0))

    def _read(self, place: ResolvedPath, cursor: Cursor | None, start: int, max_lines: int) -> Outcome:
        try:
            with opened_file(place) as file:
                if isinstance(file, Refusal):
                    hint = " Use glob to list it." if "folder" in file.sentence else ""
                    return refused(file.sentence + hint)
                if cursor is not None and cursor.stamp != file.stamp:
                    return refused(f"{place.shown} has changed since; the cursor is void. Read it again.")
                if problem := _unreadable(file, place):
                    return refused(problem)
                if cursor is not None:
                    offset, line = cursor.offset, cursor.line
                else:
                    offset, line = _find_line(file, start)
                    if line < start:
                        lines = counted(line, "line")
                        return refused(f"{place.shown} has {lines}; line {start:,} is past its end.")
                return self._answer(file, place, offset, line, max_lines)
        except FileNotFoundError:
            return refused(self.workspace.missing(place))
        except OSError as error:
            return refused(changed_to_link(place, error))

    def _answer(self, file: Opened, place: ResolvedPath, offset: int, line: int, max_lines: int) -> Outcome:
        size = file.stamp.size
        if size == 0:
            return Outcome("(empty file)")
        room = MAX_BYTES if size - offset <= MAX_BYTES else MAX_BYTES - _NOTICE_ROOM
        piece = _cut(os.pread(file.handle, MAX_BYTES, offset), room, max_lines, at_end=size - offset <= room)
        text, spoilt = _decoded(piece.data, offset)
        if spoilt:  # replacement characters are longer than what they replace
            piece = _cut(piece.data, MAX_BYTES // 3 - _NOTICE_ROOM, max_lines, at_end=False)
            text, _ = _decoded(piece.data, offset)
        end = offset + len(piece.data)
        notes = [f"{place.shown} is not valid UTF-8; what could not be read is shown as �."] if spoilt else []
        if end < size:
            notes.append(self._continuation(file, place, end, line, piece, max_lines))
        if not notes:
            return Outcome(text)
        return Outcome(f"{text}{'' if text.endswith(chr(10)) else chr(10)}[{' '.join(notes)}]")

    def _continuation(
        self, file: Opened, place: ResolvedPath, end: int, line: int, piece: Piece, max_lines: int
    ) -> str:
        last = line + piece.lines - 1
        following = last + 1 if piece.ends_line else last
        key = str(uuid.uuid4())
        self._cursors[key] = Cursor(place, file.stamp, end, following, max_lines)
        while len(self._cursors) > MAX_CURSORS:
            self._cursors.popitem(last=False)
        where = f"lines {line:,} to {last:,}" + ("" if piece.ends_line else ", the last one in part")
        return f'Not the end: {where}; {end:,} of {file.stamp.size:,} bytes. Continue with cursor "{key}".'


def _find_line(file: Opened, start: int) -> tuple[int, int]:
    """Offset of line `start`, and its number; a lower number is that of the last line there is."""
    line, offset = 1, 0
    while line < start:
        chunk = os.pread(file.handle, _CHUNK, offset)
        if not chunk:
            return offset, line - (1 if line > 1 and _ends_in_newline(file, offset) else 0)
        breaks = chunk.count(b"\n")
        if line + breaks < start:
            line += breaks
            offset += len(chunk)
            continue
        at = -1
        for _ in range(start - line):
            at = chunk.index(b"\n", at + 1)
        line, offset = start, offset + at + 1
    if line > 1 and offset >= file.stamp.size:  # behind the newline that ends the file there is no line
        return offset, line - 1
    return offset, line


def _ends_in_newline(file: Opened, end: int) -> bool:
    return os.pread(file.handle, 1, end - 1) == b"\n"


def _cut(data: bytes, room: int, max_lines: int, *, at_end: bool) -> Piece:
    """The first `room` bytes of `data` or `max_lines` lines (0: any), ending at a line if one fits."""
    data = data[:room]
    if max_lines:
        at = -1
        for _ in range(max_lines):
            at = data.find(b"\n", at + 1)
            if at < 0:
                break
        else:
            return Piece(data[: at + 1], max_lines, ends_line=True)
    if at_end:
        return Piece(data, data.count(b"\n") + (not data.endswith(b"\n")), ends_line=True)
    whole = data.rfind(b"\n") + 1
    if whole:
        return Piece(data[:whole], data.count(b"\n", 0, whole), ends_line=True)
    return Piece(_whole_characters(data), 1, ends_line=False)


def _whole_characters(data: bytes) -> bytes:
    """`data` without the beginning of a UTF-8 character at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if length > back and len(data) > back else data
    return data


def _decoded(data: bytes, offset: int) -> tuple[str, bool]:
    """Text of a piece, without a byte order mark at the file's start, and whether bytes were replaced."""
    if offset == 0:
        data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def _unreadable(file: Opened, place: ResolvedPath) -> str:
    """Why the file is no text, or nothing."""
    head = os.pread(file.handle, _SNIFFED, 0)
    if b"\0" not in head:
        return ""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"{place.shown} is UTF-16 text; read_file reads UTF-8 only."
    return f"{place.shown} is a binary file of {file.stamp.size:,} bytes; read_file reads text only."
