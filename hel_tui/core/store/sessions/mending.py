"""Makes the file of a session whole again before it is written on: its end, and text that was cut off.

Nothing is thrown away: what cannot be read is put into `damaged.jsonl` beside it. Only for whoever holds the
lock. Not here: what is missing in the conversation itself (session).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from hel_tui.core.store.lines import LineFile
from hel_tui.core.store.sessions.journal import FILE, LIVE, MAX_LINE
from hel_tui.core.store.sessions.jsonl import parsed
from hel_tui.core.vocabulary import Json

DAMAGED = "damaged.jsonl"
_BLOCK = 1 << 16
_DIGEST = 16
"""Bytes that stand for a line: no two lines of one file have the same."""


@dataclass(slots=True)
class _Text:
    head: Json
    pieces: list[str] = field(default_factory=list)


def mend_end(folder: Path) -> int:
    """Make the file end in a whole line: one that was cut off is moved aside. Returns its bytes; 0 for none.

    Raises OSError; the file is as it was then, or mended.
    """
    path = folder / FILE
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        begin = _last_line(file.fileno(), size)
        if begin == size:
            return 0
        file.seek(begin)
        rest = file.read()
        if len(rest) <= MAX_LINE and parsed(rest) is not None:  # only its end of line is missing
            file.seek(size)
            file.write(b"\n")
            return 0
        keep_aside(folder, [rest])
        file.truncate(begin)
    return size - begin


def _last_line(handle: int, size: int) -> int:
    """Where what stands behind the last end of line begins."""
    at = size
    while at > 0:
        begin = max(0, at - _BLOCK)
        found = os.pread(handle, at - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        at = begin
    return 0


def keep_aside(folder: Path, lines: Iterable[bytes]) -> None:
    """Put lines that cannot be read into the file for them, each once. Raises OSError.

    Every line is looked at once, those that are there already too, and no more than one is held.
    """
    path = folder / DAMAGED
    known: set[bytes] = set()
    with suppress(FileNotFoundError), path.open("rb") as before:
        known.update(_digest(line) for line in before)
    file = LineFile(path)
    try:
        for line in lines:
            if (digest := _digest(line)) not in known:
                file.append(line.rstrip(b"\n") + b"\n")
                known.add(digest)
    finally:
        file.close()


def _digest(line: bytes) -> bytes:
    """The same for the same line, with its end or without."""
    return blake2b(line.rstrip(b"\n"), digest_size=_DIGEST).digest()


def keep_damaged(folder: Path, places: Iterable[tuple[int, int]]) -> None:
    """Put copies of the damaged lines at these (byte, length) aside. Raises OSError."""
    with (folder / FILE).open("rb") as file:

        def read(at: int, length: int) -> bytes:
            file.seek(at)
            return file.read(length)

        keep_aside(folder, (read(*place) for place in places))


def cut_off(folder: Path) -> list[Json]:
    """The records of texts that were still arriving when the writer ended; oldest first."""
    try:
        lines = (folder / LIVE).read_bytes().split(b"\n")
    except OSError:
        return []
    texts: dict[int, _Text] = {}
    for line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        match value:
            case {"n": int(number), "k": "text", "item": str()}:
                texts[number] = _Text({name: one for name, one in value.items() if name != "n"})
            case [int(number), str(piece)] if number in texts:
                texts[number].pieces.append(piece)
            case _:
                pass
    return [{**text.head, "text": "".join(text.pieces)} for text in texts.values() if any(text.pieces)]


def never_ended(folder: Path, newest: Iterable[Json]) -> list[Json]:
    """What is missing behind the `newest` records, those of the last turn: texts that were cut off."""
    written = {str(record.get("item")) for record in newest if record.get("k") == "text"}
    return [text for text in cut_off(folder) if text["item"] not in written]


def forget_cut_off(folder: Path) -> None:
    """What was cut off is written now. Raises OSError."""
    path = folder / LIVE
    if path.exists():
        os.truncate(path, 0)
