"""What waited, or had begun and reached nobody, when a session ended: found in what its file holds.

Pure functions over records. Not here: reading the file (store.sessions.reading), how a record becomes work
again (waiting), writing and telling it (resuming).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hel_tui.core.store.sessions.reading import Kept
from hel_tui.core.vocabulary import Json

_STAMPS = ("k", "n", "t", "turn")
"""Fields of a line that are not of what waits."""


@dataclass(slots=True)
class Held:
    """What is held in the queue when the session is opened again, and what its file lacks for that."""

    waiting: list[tuple[int, Json]] = field(default_factory=list)
    """(number, record) of what was queued, or said, and not sent; what goes first is first."""
    last: int = 0
    """The highest number that something queued ever had."""
    lines: list[Json] = field(default_factory=list)
    """Records to be written: the file does not say of these that they wait."""
    unsent: int = 0
    """Newest messages that are in the history although nobody was sent them."""


def find_held(kept: Kept, tail: Sequence[Json]) -> Held:
    """What waits in a session; `tail` are the records of its last turn, from its beginning on."""
    held = Held(last=kept.queued)
    waiting = dict(kept.waiting)
    for number, record in kept.leaving.values():  # it was on its way out, and did not get there
        waiting[number] = again = _line(record, number)
        held.lines.append(again)
    last = kept.turns[-1][0] if kept.turns else 0
    begun = next((one for one in tail if one.get("k") == "TurnStarted"), None)
    wanted = _not_sent(begun, kept.began, tail) if last > kept.ended and begun is not None else None
    if wanted is not None:
        held.unsent = _in_history(tail)
        if not any(one.get("turn") == last for one in waiting.values()):
            held.last += 1
            waiting[held.last] = unsent = {**_line(wanted, held.last), "turn": last}
            held.lines.append(unsent)
    held.waiting = sorted(waiting.items(), key=lambda one: _place(*one))
    return held


def _line(record: Json, number: int) -> Json:
    bare = {key: value for key, value in record.items() if key not in _STAMPS}
    return {"k": "queued", "n": number, **bare, **({"turn": record["turn"]} if "turn" in record else {})}


def _place(number: int, record: Json) -> tuple[int, int]:
    """What had begun is before what waited behind it, the newest first, as it was taken out of the queue."""
    turn = record.get("turn")
    return (-turn if isinstance(turn, int) else 0, number)


def _not_sent(begun: Json, queued: Json | None, tail: Sequence[Json]) -> Json | None:
    """What the turn that `begun` tells of was to do, where it did nothing of it; `queued` is its record, if
    it had one. Calls by hand run beside it and say nothing of it.
    """
    kinds = [one.get("k") for one in tail]
    match queued:
        case {"what": "shell"}:
            ran = any(str(one.get("call_id", "")).startswith("shell-") for one in tail)
            return None if ran else queued
        case {"what": "compact"}:
            return None if "Compacted" in kinds or "compact" in kinds else queued
        case _:
            pass
    text = begun.get("text")
    if not isinstance(text, str) or not text.strip():
        return None
    if "StepStarted" in kinds and "withdraw" not in kinds:
        return None
    return queued or {"what": "message", "text": text, "attached": begun.get("attachments", [])}


def _in_history(tail: Sequence[Json]) -> int:
    """How many messages the turn put there that nobody took out again."""
    count = 0
    for one in tail:
        if one.get("k") == "message":
            count += 1
        elif one.get("k") == "withdraw":
            taken = one.get("count", 1)
            count -= taken if isinstance(taken, int) else 1
    return max(0, count)
