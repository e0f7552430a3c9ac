"""A look into a kept session without opening it: what it ends with, which turns it has, what one turn said.

Only reads, and only what is wanted: the end from the end of the file. Damaged lines are left out. Not here:
opening a session (core.session.kept), the whole of it as text (exporting).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from hel_tui.core.protocol import Said, Speaker
from hel_tui.core.store.sessions.journal import FILE
from hel_tui.core.store.sessions.jsonl import kind_of, lines_of, parsed
from hel_tui.core.vocabulary import Json

TAIL = 256 << 10
"""Bytes from the end of the file in which the newest pieces are looked for."""
MOST_SAID = 40
"""Pieces of a glance."""
MOST_TEXT = 400
"""Characters of a piece."""
MOST_HEAD = 160
"""Characters of what a person said that name a turn."""
_TELLING = frozenset({"TurnStarted", "Joined", "text", "CallStarted", "Notice", "TurnEnded"})


def newest(folder: Path) -> tuple[Said, ...]:
    """What the session in `folder` ends with, oldest first; at most `MOST_SAID` pieces. Raises OSError."""
    with (folder / FILE).open("rb") as file:
        size = file.seek(0, 2)
        begin = max(0, size - TAIL)
        file.seek(begin)
        if begin:
            file.readline()  # the rest of a line that began before
        pieces = _pieces(_records(line for _, _, line in lines_of(file)))
    return tuple(pieces[-MOST_SAID:])


def turns(folder: Path) -> tuple[tuple[int, str], ...]:
    """(number, beginning of what the person said) of every turn, oldest first. Raises OSError."""
    found: list[tuple[int, str]] = []
    with (folder / FILE).open("rb") as file:
        for _, _, line in lines_of(file):
            if kind_of(line) != "TurnStarted" or (record := parsed(line)) is None:
                continue
            number, text = record.get("turn"), record.get("text", "")
            if isinstance(number, int) and isinstance(text, str):
                found.append((number, _short(text, MOST_HEAD)))
    return tuple(found)


def turn(folder: Path, number: int) -> tuple[Said, ...]:
    """What was said in one turn, from its beginning; empty when there is no such turn. Raises OSError."""

    def lines() -> Iterator[bytes]:
        inside = False
        with (folder / FILE).open("rb") as file:
            for _, _, line in lines_of(file):
                if kind_of(line) == "TurnStarted":
                    if inside:
                        return
                    inside = (parsed(line) or {}).get("turn") == number
                if inside:
                    yield line

    return tuple(_pieces(_records(lines()))[:MOST_SAID])


def _records(lines: Iterable[bytes]) -> Iterator[Json]:
    for line in lines:
        if kind_of(line) in _TELLING and (record := parsed(line)) is not None:
            yield record


def _pieces(records: Iterable[Json]) -> list[Said]:
    """The pieces that records tell of; those of one text are joined."""
    pieces: list[Said] = []
    item, now = "", 0
    for record in records:
        number = record.get("turn")
        now = number if isinstance(number, int) else now
        who, text = _said(record)
        if not text.strip():
            continue
        same = who == "model" and record.get("item") == item and bool(pieces) and pieces[-1].who == "model"
        item = str(record.get("item", ""))
        if same:
            text = pieces.pop().text + text
        pieces.append(Said(now, who, _short(text, MOST_TEXT) if who != "model" else text[:MOST_TEXT]))
    return [Said(one.turn, one.who, _short(one.text, MOST_TEXT)) for one in pieces]


def _said(record: Json) -> tuple[Speaker, str]:
    """Who speaks in a record, and what; nothing for what only the model thought."""
    match record:
        case {"k": "TurnStarted" | "Joined", "text": str(text)}:
            return "person", text
        case {"k": "text", "text": str(text)} if not record.get("reasoning"):
            return "model", text
        case {"k": "CallStarted"}:
            name = ".".join(str(record[key]) for key in ("server", "tool") if record.get(key))
            return "call", f"{name} {record.get('summary', '')}"
        case {"k": "Notice", "text": str(text)}:
            return "note", text
        case {"k": "TurnEnded", "message": str(text)}:
            return "note", text
        case _:
            return "note", ""


def _short(text: str, most: int) -> str:
    """One line of at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[:most]}…"
