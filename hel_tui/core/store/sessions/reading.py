"""Reads the file of a session back: what the model had, and where in the file each turn begins.

The file itself is read once, line by line; turns that are not shown are only looked at from outside, and
read when somebody wants them. Damaged lines are left out and counted. Not here: mending the file (mending),
what was done to messages (replaying), what a conversation makes of it (session).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.images import MAX_BYTES, for_a_model
from hel_tui.core.store.sessions import records
from hel_tui.core.store.sessions.journal import FILE, MAX_LINE
from hel_tui.core.store.sessions.jsonl import call_of, is_damaged, kind_of, lines_of, parsed
from hel_tui.core.store.sessions.own import read_own
from hel_tui.core.store.sessions.replaying import KINDS, replay
from hel_tui.core.vocabulary import Image, Json, Message, ToolMessage, UserMessage

MAX_RESULT = 2_000_000
"""Characters of a result that are read back from the file that holds it."""
_WHOLE = KINDS | {
    *("session", "title", "tool", "model", "queued", "unqueued", "untold", "Joined"),
    *("UsageChanged", "TurnStarted", "StepStarted", "TurnEnded", "Compacted", "TodosChanged"),
}
"""Kinds that are read at once. All others are events of turns, or not known."""
_BY_HAND = b"hand-"
"""How ids of the person's own calls begin, which outlast turns."""


@dataclass(frozen=True, slots=True)
class UsedTool:
    """A tool of a server that the model called in the session, as it was then."""

    name: str
    server: str
    raw: str
    fingerprint: str


@dataclass(slots=True)
class TurnUsage:
    """What the sums of the session were when a turn began and when they were told of last in it."""

    before: p.UsageChanged | None
    after: p.UsageChanged | None = None
    model: str = ""
    """What answered then."""
    steps: int = 0


@dataclass(slots=True)
class Kept:
    """What a session's file holds."""

    folder: Path
    head: Json = field(default_factory=dict)
    title: str = ""
    """As the person named it; empty when it was not named."""
    first: str = ""
    """The first message of the person."""
    model: str = ""
    """What answered last."""
    messages: list[Message] = field(default_factory=list)
    turns: list[tuple[int, int]] = field(default_factory=list)
    """(number, byte at which it begins) of each turn, oldest first."""
    calls: dict[str, int] = field(default_factory=dict)
    """Where the last record of each call begins."""
    by_hand: dict[str, str] = field(default_factory=dict)
    """The last state of each of the person's own calls."""
    tools: dict[str, UsedTool] = field(default_factory=dict)
    usage: p.UsageChanged | None = None
    spent: dict[int, TurnUsage] = field(default_factory=dict)
    """Of each turn."""
    todos: tuple[tuple[str, str], ...] = ()
    """(state, text) of what is to do, as the model wrote it last."""
    compactions: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Where it was told of each, and where the summary in force then was written (-1: nowhere)."""
    summary: int = -1
    """Where the newest summary begins, and -1 when there is none."""
    ended: int = 0
    """The last turn whose end is written."""
    damaged: list[tuple[int, int]] = field(default_factory=list)
    """(byte, length) of lines that cannot be read."""
    waiting: dict[int, Json] = field(default_factory=dict)
    """What was queued and not sent, by number; oldest first."""
    queued: int = 0
    """The highest of those numbers that was ever given."""
    leaving: dict[str, tuple[int, Json]] = field(default_factory=dict)
    """What is sent by the next record of this kind; where none comes it was not, and it is queued again."""
    began: Json | None = None
    """What was queued and became the last turn, if that turn was."""
    untold: list[Message] = field(default_factory=list)
    """What the model was to be told once the turn was over, and was not told."""
    items: int = 0
    """How many texts there are, or more."""
    size: int = 0
    """Bytes that were read."""
    updated: float = 0.0
    """Unix time of the last record that has one."""

    @property
    def name(self) -> str:
        """The title, or else the first message, one line."""
        return self.title or " ".join(self.first.split())[:200]


def read_session(folder: Path) -> Kept:
    """Read the session in `folder`. Raises OSError."""
    kept = Kept(folder)
    with (folder / FILE).open("rb") as file:
        for at, length, line in lines_of(file):
            if not _take(kept, at, line):
                kept.damaged.append((at, length))
            kept.size = at + length
    return kept


def _take(kept: Kept, at: int, line: bytes) -> bool:
    """Put down what a line says; False when it is damaged."""
    kind = kind_of(line)
    if kind is None:
        return not is_damaged(line)
    if kind == "call":
        if call_id := call_of(line):
            kept.calls[call_id] = at
        return True
    if kind in ("CallStarted", "CallChanged") and _BY_HAND in line:
        _note_call(kept, parsed(line) or {})
    if kind == "text":
        kept.items += 1
    if kind not in _WHOLE:
        return True
    record = parsed(line)
    if record is None:
        return False
    if isinstance(written := record.get("t"), int | float):
        kept.updated = written
    if kind in KINDS:
        kept.summary = at if kind == "compact" else kept.summary
        if kind == "message":
            _hear(kept, record)
        return replay(kept.messages, record, kept.folder, damaged=bool(kept.damaged))
    _note(kept, kind, record, at)
    return True


def _note(kept: Kept, kind: str, record: Json, at: int) -> None:
    left = kept.leaving.pop(kind, None) if kept.leaving else None
    match kind:
        case "session" if not kept.head:
            kept.head = record
        case "title" if isinstance(title := record.get("title"), str):
            kept.title = title
        case "model" if isinstance(label := record.get("label"), str):
            kept.model = label
        case "tool":
            fields = [record.get(name) for name in ("name", "server", "raw", "fp")]
            if all(isinstance(one, str) for one in fields):
                kept.tools[str(fields[0])] = UsedTool(*map(str, fields))
        case "TurnStarted" if isinstance(event := records.event_of(record), p.TurnStarted):
            kept.turns.append((event.turn, at))
            kept.spent[event.turn] = TurnUsage(kept.usage)
            kept.first = kept.first or event.text
            kept.began = left[1] if left is not None else None
        case "TurnEnded" if isinstance(event := records.event_of(record), p.TurnEnded):
            kept.ended = event.turn
        case "Compacted" if isinstance(event := records.event_of(record), p.Compacted):
            replaced = event.summarised or event.dropped
            kept.compactions[event.number] = (at, kept.summary if replaced else -1)
        case "UsageChanged" if isinstance(event := records.event_of(record), p.UsageChanged):
            kept.usage = event
            if kept.turns:
                last = kept.spent[kept.turns[-1][0]]
                last.after, last.model = event, kept.model
        case "untold" if (message := records.message_of(record, kept.folder)) is not None:
            kept.untold.append(message)
        case "queued" | "unqueued" if isinstance(number := record.get("n"), int):
            _queue(kept, kind, number, record)
        case "StepStarted" if kept.turns:
            kept.spent[kept.turns[-1][0]].steps += 1
        case "TodosChanged" if isinstance(event := records.event_of(record), p.TodosChanged):
            kept.todos = event.items
        case _:
            pass


def _note_call(kept: Kept, record: Json) -> None:
    call_id, state = record.get("call_id"), record.get("state", "queued")
    if isinstance(call_id, str) and call_id.startswith(_BY_HAND.decode()) and isinstance(state, str):
        kept.by_hand[call_id] = state


def _hear(kept: Kept, record: Json) -> None:
    """A message is in the history: it waits no more, and what was to be told is."""
    if record.get("role") == "user":
        kept.leaving.pop("message", None)
    text = record.get("text")
    told = next((n for n, one in enumerate(kept.untold) if one.text == text), None)
    if told is not None:
        del kept.untold[told]


def _queue(kept: Kept, kind: str, number: int, record: Json) -> None:
    kept.queued = max(kept.queued, number)
    if kind == "queued":
        kept.waiting[number] = record
        for kind_left in [one for one, (left, _) in kept.leaving.items() if left == number]:
            del kept.leaving[kind_left]  # it is queued again
    elif (waited := kept.waiting.pop(number, None)) and isinstance(event := record.get("for"), str):
        kept.leaving[event] = (number, waited)


# --------------------------------------------------------------- turns, calls


def events_of(record: Json) -> Iterator[p.Event]:
    """What a screen is told again of one record."""
    if record.get("k") == "text":
        item, text, turn = record.get("item"), record.get("text"), record.get("turn")
        if isinstance(item, str) and isinstance(text, str) and isinstance(turn, int):
            yield (p.ReasoningDelta if record.get("reasoning") else p.TextDelta)(turn, item, text)
            yield p.TextDone(turn, item)
    elif isinstance(record.get("k"), str) and record["k"] in records.EVENTS:
        event = records.event_of(record)
        if event is not None and not isinstance(event, p.UsageChanged):
            yield event


def records_between(folder: Path, begin: int, end: int | None) -> Iterator[Json]:
    """All records of the bytes from `begin` up to `end` (None: all) that can be read. Raises OSError."""
    with (folder / FILE).open("rb") as file:
        file.seek(begin)
        for at, _, line in lines_of(file):
            if end is not None and at >= end:
                return
            if (record := parsed(line)) is not None and isinstance(record.get("k"), str):
                yield record


def read_compaction(folder: Path, told: int, summary: int) -> p.CompactionDetail | None:
    """What is known of a shortening that was told of at byte `told`, with its summary at byte `summary`."""
    try:
        record = next(records_between(folder, told, None), {})
        written = next(records_between(folder, summary, None), {}) if summary >= 0 else {}
    except OSError:
        return None
    event = records.event_of(record)
    if not isinstance(event, p.Compacted):
        return None
    return p.CompactionDetail(
        number=event.number,
        time=at if isinstance(at := record.get("t"), int | float) else 0.0,
        before=event.before,
        after=event.after,
        kept=found if isinstance(found := written.get("kept"), int) else 0,
        summary=str(written.get("summary") or ""),
        summarised=event.summarised,
        dropped=event.dropped,
        problem=event.problem,
    )


def read_call(folder: Path, at: int) -> p.CallDetail | None:
    """All about the call whose record begins at byte `at`; its whole result from the file that holds it."""
    try:
        with (folder / FILE).open("rb") as file:
            file.seek(at)
            record = parsed(file.readline(MAX_LINE))
    except OSError:
        return None
    if record is None or record.get("k") != "call":
        return None
    detail = records.call_of(record, folder)
    if detail is not None and isinstance(name := record.get("whole"), str):
        with contextlib.suppress(OSError):
            data = read_own(folder, folder / name, 4 * MAX_RESULT)
            return replace(detail, result=data.decode("utf-8", "replace")[:MAX_RESULT])
    return detail


def with_bytes(message: Message, folder: Path) -> Message:
    """The message with the bytes of its images; one whose file is gone, not the session's or no image is left
    out.
    """
    if not isinstance(message, UserMessage | ToolMessage) or not message.images:
        return message
    images = []
    for image in message.images:
        try:
            data = read_own(folder, image.path, MAX_BYTES + 1) if image.path is not None else b""
        except OSError:
            continue
        if isinstance(whole := for_a_model(data, image.path), Image):
            images.append(whole)
    return replace(message, images=tuple(images))
