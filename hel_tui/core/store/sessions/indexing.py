"""What the index keeps of one session, read on from where it was read last.

Not here: the index itself (index).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from hel_tui.core.store.sessions.activity import ACTIVITY, time_of
from hel_tui.core.store.sessions.journal import FILE
from hel_tui.core.store.sessions.jsonl import is_damaged, kind_of, lines_of, parsed
from hel_tui.core.vocabulary import Json

MOST_TEXT = 20_000
"""Characters of one text that can be found."""


Value = TypeVar("Value")


@dataclass(slots=True)
class Indexed:
    """What the index has of one session."""

    id: str
    project: str = ""
    title: str = ""
    first: str = ""
    model: str = ""
    parent: str = ""
    created: float = 0.0
    updated: float = 0.0
    """When it was active last (see activity)."""
    turns: int = 0
    size: int = 0
    mtime: int = 0
    known: int = 0
    """Byte up to which turns are complete: the newest turn is read again from there."""
    turn: int = 0
    """Number of the turn that begins there."""
    cost: float | None = None
    """Dollars that were told of last."""
    damaged: int = 0
    """Lines that cannot be read."""
    damaged_before: int = 0
    """Those of the turns that are complete."""
    texts: list[tuple[int, str]] = field(default_factory=list)
    """(turn, text) that is new."""


COLUMNS = (
    *("id", "project", "title", "first", "model", "parent", "created", "updated", "turns"),
    *("size", "mtime", "known", "turn", "cost", "damaged", "damaged_before"),
)


def goes_on(one: Indexed, folder: Path) -> bool:
    """Whether the file only grew since: the turn that is to be read again begins where it did. Else it was
    written anew, by hand or by a script.
    """
    if not one.known:
        return True
    try:
        with (folder / FILE).open("rb") as file:
            file.seek(one.known - 1)
            before, (_, _, line) = file.read(1), next(lines_of(file), (0, 0, b""))
    except OSError:
        return False
    record = parsed(line) or {}
    return before == b"\n" and (record.get("k"), record.get("turn")) == ("TurnStarted", one.turn)


def read_on(one: Indexed, folder: Path) -> None:
    """Read a session on from where its newest turn begins. Raises OSError."""
    turn, parts = one.turn, list[str]()
    again = one.known > 0
    one.damaged = one.damaged_before
    with (folder / FILE).open("rb") as file:
        file.seek(one.known)
        for at, _, line in lines_of(file):
            if not line.endswith(b"\n"):
                break
            kind = kind_of(line)
            if kind not in _TELLING:
                one.damaged += kind is None and is_damaged(line)
                continue
            if (record := parsed(line)) is None:
                one.damaged += 1
                continue
            if kind in ACTIVITY:
                one.updated = time_of(record) or one.updated
            if kind == "TurnStarted":
                if parts:
                    one.texts.append((turn, "\n".join(parts)))
                    parts = []
                number = record.get("turn")
                turn = number if isinstance(number, int) else turn
                one.turns += not (again and at == one.known)
                one.known, one.turn, one.damaged_before = at, turn, one.damaged
            _take(one, kind, record)
            parts += _texts(kind, record)
    if parts:
        one.texts.append((turn, "\n".join(parts)))
    one.updated = max(one.updated, one.created)


_TELLING = frozenset(
    {
        *("session", "title", "model", "UsageChanged"),
        *("TurnStarted", "Joined", "text", "CallStarted", "CallChanged", "Notice", "TurnEnded"),
    }
)


def _take(one: Indexed, kind: str, record: Json) -> None:
    match kind:
        case "session":
            one.created = time_of(record)
            parent = record.get("parent")
            one.parent = str(parent.get("id", "")) if isinstance(parent, dict) else ""
            one.project = one.project or str(record.get("project", ""))
        case "title":
            one.title = str(record.get("title", ""))
        case "model":
            one.model = str(record.get("label", ""))
        case "UsageChanged" if isinstance(cost := record.get("cost"), int | float):
            one.cost = cost
        case "TurnStarted" if not one.first:
            one.first = " ".join(str(record.get("text", "")).split())[:200]
        case _:
            pass


def _texts(kind: str, record: Json) -> list[str]:
    """What can be found of a record: what was said, called and shown."""
    match kind:
        case "TurnStarted" | "Joined" | "text" | "Notice":
            found = [record.get("text", "")]
        case "CallStarted":
            found = [f"{record.get('tool', '')} {record.get('summary', '')}"]
        case "CallChanged":
            found = [record.get("preview", "")]
        case _:
            found = []
    return [text[:MOST_TEXT] for text in found if isinstance(text, str) and text]


def storable(value: Value) -> Value | str:
    """A value as SQLite takes it: half a character (a lone surrogate) as its escape."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
