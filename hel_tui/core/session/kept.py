"""Opens a kept session: reads it, mends its file, and finds out what was unfinished when it ended.

All of it runs in a thread and says nothing to anybody. Not here: putting it in the place of the session that
is open (resuming).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.agent.repair import INTERRUPTED, images_kept
from hel_tui.core.session.held import Held, find_held
from hel_tui.core.session.waiting import told_again
from hel_tui.core.store.atomic import why
from hel_tui.core.store.sessions import mending
from hel_tui.core.store.sessions.forking import fork_session
from hel_tui.core.store.sessions.locking import Lock
from hel_tui.core.store.sessions.reading import (
    Kept,
    events_of,
    read_call,
    read_compaction,
    read_session,
    records_between,
    with_bytes,
)
from hel_tui.core.vocabulary import AssistantMessage, Json, Message, ToolMessage, UserMessage

SHOWN = 200
"""Newest turns that are told at once; older ones are read when somebody wants them."""
MOST_SHOWN = 16 << 20
"""Bytes of the file that are told at once, unless the last turn alone has more."""
NEVER_RAN = "Interrupted before it ran; it was not executed."
ENDED = "hel ended before this turn did. What arrived until then is kept."
_OVER = frozenset({"ok", "failed", "refused", "cancelled"})


@dataclass(slots=True)
class Opened:
    """A kept session, ready to be gone on with. Its lock is held where `lock` could be taken."""

    kept: Kept
    lock: Lock
    events: list[p.Event] = field(default_factory=list)
    """What a screen is told again: the newest turns."""
    first_shown: int = 0
    texts: list[Json] = field(default_factory=list)
    """Texts that were cut off, to be written."""
    calls: list[Json] = field(default_factory=list)
    """Records of calls that were cut off, to be written."""
    messages: list[Message] = field(default_factory=list)
    """What the history lacks after the end that came too early."""
    ending: list[p.Event] = field(default_factory=list)
    """What a screen is told of that end."""
    untold: list[Message] = field(default_factory=list)
    """What comes into the history after that."""
    held: Held = field(default_factory=Held)
    """What waited, or was said and not sent."""
    remarks: list[str] = field(default_factory=list)
    """For the person: sentences."""
    news: list[str] = field(default_factory=list)
    """The same, of what the person wanted."""


def open_session(folder: Path) -> Opened | str:
    """Open the session in `folder`; one that is open elsewhere, as a fork. A sentence when it cannot be.

    Raises OSError.
    """
    lock, remarks = Lock(folder), []
    try:
        lock.take()
    except BlockingIOError:
        fork = fork_session(folder)
        if isinstance(fork, str):
            return fork
        remarks.append(
            f"Session {folder.name} is open elsewhere. This is a fork of it, {fork.folder.name}, "
            f"with what it had up to turn {fork.turn}."
        )
        folder, lock = fork.folder, Lock(fork.folder)
        lock.take()
    except OSError as error:
        remarks.append(f"Session {folder.name} cannot be written: {why(error)}. What comes now is not saved.")
    try:
        opened = _opened(folder, lock)
    except BaseException:
        lock.release()
        raise
    opened.remarks[:0] = remarks
    return opened


def _opened(folder: Path, lock: Lock) -> Opened:
    torn = 0
    with suppress(OSError):
        torn = mending.mend_end(folder)
    kept = read_session(folder)
    opened = Opened(kept, lock)
    _tell_damage(opened, torn)
    kept.messages[:] = _with_newest_images(kept.messages, folder)
    begin = _shown_from(kept)
    shown = list(records_between(folder, begin, None))
    opened.first_shown = next((number for number, at in kept.turns if at >= begin), 0)
    opened.events = [event for record in shown for event in events_of(record)]
    last = kept.turns[-1][1] if kept.turns else 0
    tail = shown if last <= begin else list(records_between(folder, last, None))
    opened.texts = mending.never_ended(folder, tail)
    _end(opened, [*tail, *opened.texts])
    opened.untold = _with_newest_images(kept.untold, folder)
    opened.held = find_held(kept, tail)
    held, lost = told_again(record for _, record in opened.held.waiting)
    opened.news += [held] if held else []
    opened.remarks += [lost] if lost else []
    return opened


def _tell_damage(opened: Opened, torn: int) -> None:
    damaged, folder = opened.kept.damaged, opened.kept.folder
    if not damaged and not torn:
        return
    with suppress(OSError):
        mending.keep_damaged(folder, damaged)
    count = len(damaged) + bool(torn)
    lines = "1 line" if count == 1 else f"{count} lines"
    opened.remarks.append(
        f"{lines} of this session could not be read and {'was' if count == 1 else 'were'} left out; "
        f"the originals are in {folder / mending.DAMAGED}."
    )


def _with_newest_images(messages: Sequence[Message], folder: Path) -> list[Message]:
    """The messages, the newest images with their bytes, as many as a request may carry."""
    left = images_kept(sum(len(getattr(message, "images", ())) for message in messages))
    out: list[Message] = []
    for message in reversed(messages):
        if isinstance(message, UserMessage | ToolMessage) and message.images:
            newest = message.images[-left:] if left else ()
            left -= len(newest)
            out.append(with_bytes(replace(message, images=newest), folder))
        else:
            out.append(message)
    return out[::-1]


def _shown_from(kept: Kept) -> int:
    """Where in the file begins what is told at once."""
    if len(kept.turns) <= SHOWN and kept.size <= MOST_SHOWN:
        return 0
    places = [at for _, at in kept.turns[-SHOWN:]]
    return next((at for at in places if kept.size - at <= MOST_SHOWN), places[-1] if places else 0)


# -------------------------------------------------------------------- the end


def _end(opened: Opened, tail: Sequence[Json]) -> None:
    """Find out what the last turn, and calls, left unfinished."""
    kept = opened.kept
    states = {call_id: state for call_id, state in kept.by_hand.items() if state not in _OVER}
    cards: dict[str, Json] = {}
    answered: dict[str, Json] = {}
    text = ""
    for record in tail:
        match record:
            case {"k": "StepStarted"}:
                text = ""
            case {"k": "message", "role": "assistant"}:
                text, answered = "", {}
            case {"k": "text", "text": str(piece)} if not record.get("reasoning"):
                text += piece
            case {"k": "CallStarted", "call_id": str(call_id)}:
                states[call_id] = "queued"
            case {"k": "CallChanged", "call_id": str(call_id), "state": str(state)}:
                states[call_id] = state
            case {"k": "call", "call_id": str(call_id)}:
                cards[call_id] = answered[call_id] = record
            case _:
                pass
    opened.messages += _missing_results(kept.messages, answered, states)
    for call_id, state in states.items():
        if state in _OVER:
            continue
        sentence = INTERRUPTED if state == "running" else NEVER_RAN
        if call_id not in cards and call_id in kept.calls:  # by hand, from a turn before
            cards[call_id] = next(records_between(kept.folder, kept.calls[call_id], None), {})
        if cards.get(call_id):
            opened.calls.append({**cards[call_id], "state": "cancelled", "result": sentence})
        opened.ending.append(p.CallChanged(call_id, "cancelled", preview=sentence, lines=1))
    last = kept.turns[-1][0] if kept.turns else 0
    if last > kept.ended:
        if text.strip():
            opened.messages.append(AssistantMessage(text))
        opened.ending.append(p.TurnEnded(last, "interrupted", ENDED))


def _missing_results(
    messages: Sequence[Message], cards: dict[str, Json], states: dict[str, str]
) -> list[Message]:
    """Results for the calls at the end of the history that have none: what came of each, as far as known."""
    at = len(messages) - 1
    have: set[str] = set()
    while at >= 0 and isinstance(message := messages[at], ToolMessage):
        have.add(message.call_id)
        at -= 1
    if at < 0 or not isinstance(asked := messages[at], AssistantMessage):
        return []
    out: list[Message] = []
    for call in asked.calls:
        if call.id in have:
            continue
        card = next((one for one in reversed(cards.values()) if one.get("of") == call.id), None)
        state = states.get(str(card["call_id"]), "") if card is not None else ""
        if card is not None and card.get("state") in _OVER and isinstance(card.get("result"), str):
            out.append(ToolMessage(call.id, call.name, card["result"], failed=card["state"] != "ok"))
        else:
            sentence = INTERRUPTED if state == "running" else NEVER_RAN
            out.append(ToolMessage(call.id, call.name, sentence, failed=True))
    return out


# -------------------------------------------------------------------- earlier


@dataclass(frozen=True, slots=True)
class EarlierCalls:
    """The calls of the session from before it was opened; read from its file one by one."""

    folder: Path
    places: dict[str, int]

    def __contains__(self, call_id: object) -> bool:
        return call_id in self.places

    def detail(self, call_id: str) -> p.CallDetail | None:
        """Everything about one of them; safe from any thread."""
        at = self.places.get(call_id)
        return read_call(self.folder, at) if at is not None else None


@dataclass(frozen=True, slots=True)
class EarlierCompactions:
    """How the session was shortened before it was opened; read from its file one by one."""

    folder: Path
    places: dict[int, tuple[int, int]]

    def detail(self, number: int) -> p.CompactionDetail | None:
        """Everything that is kept of one of them; safe from any thread."""
        places = self.places.get(number)
        return read_compaction(self.folder, *places) if places is not None else None


@dataclass(frozen=True, slots=True)
class EarlierTurns:
    """The turns of the session from before it was opened; read from its file when they are wanted."""

    folder: Path
    turns: tuple[tuple[int, int], ...]
    size: int = 0
    """Bytes of the file then."""

    def events(self, before_turn: int, count: int) -> tuple[p.Event, ...]:
        """The events of the newest `count` turns before the turn `before_turn`; safe from any thread."""
        end = next((n for n, (number, _) in enumerate(self.turns) if number >= before_turn), len(self.turns))
        begin = max(0, end - count)
        if count <= 0 or begin == end:
            return ()
        first = 0 if begin == 0 else self.turns[begin][1]
        stop = self.turns[end][1] if end < len(self.turns) else self.size
        try:
            read = list(records_between(self.folder, first, stop))
        except OSError:
            return ()
        return tuple(event for record in read for event in events_of(record))
