"""Does to the messages of a session what its records say was done to them.

Where lines are missing, places are not what they were: then no message is changed that may be another one.
Not here: the lines (reading), what a message's record means (records).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hel_tui.core.store.sessions import records
from hel_tui.core.vocabulary import Json, Message, ToolMessage, UserMessage

KINDS = frozenset({"message", "amend", "shorten", "withdraw", "compact", "clear"})
"""Kinds of records that tell what the model has."""
_ALIKE = 200
"""Characters in which a result that was cut is as the whole; every cut leaves more of its beginning."""


def replay(messages: list[Message], record: Json, folder: Path, *, damaged: bool) -> bool:
    """Change `messages` as a record says; say whether that is clear. `damaged`: lines are missing."""
    match record:
        case {"k": "message"}:
            message = records.message_of(record, folder)
            if message is None:
                return False
            messages.append(message)
        case {"k": "amend", "text": str(text)}:
            if messages and isinstance(last := messages[-1], UserMessage | ToolMessage):
                messages[-1] = replace(last, text=f"{last.text}\n\n{text}")
        case {"k": "shorten", "at": int(at), "text": str(text)}:
            place = _alike(messages, at, text) if damaged else at
            if place is not None and 0 <= place < len(messages):
                messages[place] = replace(messages[place], text=text)
        case {"k": "withdraw"}:
            if messages and isinstance(messages[-1], UserMessage):
                count = record.get("count", 1)
                del messages[-max(count if isinstance(count, int) and not damaged else 1, 1) :]
        case {"k": "compact", "kept": int(count), "summary": str(summary)}:
            messages[: max(0, len(messages) - count)] = [UserMessage(summary)]
        case {"k": "clear"}:
            messages.clear()
        case _:
            return False
    return True


def _alike(messages: Sequence[Message], at: int, text: str) -> int | None:
    """The result nearest to `at` that `text` may be the beginning of."""
    fitting = [
        place
        for place, one in enumerate(messages)
        if isinstance(one, ToolMessage) and len(one.text) > len(text) and one.text.startswith(text[:_ALIKE])
    ]
    return min(fitting, key=lambda place: abs(place - at), default=None)
