"""What waits in the queue as a line of the session's file, and back: what was on the screen is not lost.

Lines are `queued` and `unqueued`, told apart by numbers. Not here: the queue (queue), reading the file
(store.sessions.reading).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.vocabulary import Json

Waiting = p.Submit | p.UsePrompt | p.Compact | p.RunShell
MOST_NAMED = 300
"""Characters of what is named that is attached no more."""


def record_of(command: Waiting, attached: Iterable[str] = ()) -> Json:
    """What it takes to make the command again; `attached` names what went with it and cannot be had again."""
    match command:
        case p.Submit():
            record: Json = {"what": "message", "text": command.text}
            record |= {"later": True} if command.later else {}
            record |= {"behind": command.behind} if command.behind else {}
            record |= {"names": list(command.names)} if command.names else {}
            return record | ({"attached": list(attached)} if (attached := tuple(attached)) else {})
        case p.UsePrompt():
            arguments = [list(pair) for pair in command.arguments]
            return {
                "what": "prompt",
                "server": command.server,
                "prompt": command.prompt,
                "arguments": arguments,
            }
        case p.Compact(focus):
            return {"what": "compact", "text": focus}
        case p.RunShell(line):
            return {"what": "shell", "text": line}


def command_of(record: Mapping[str, Any]) -> Waiting | None:
    """The command a record tells of; None when it tells of none."""
    match record:
        case {"what": "message", "text": str(text)}:
            behind, names = record.get("behind", ""), _texts(record.get("names"))
            return p.Submit(text, bool(record.get("later")), behind if isinstance(behind, str) else "", names)
        case {"what": "prompt", "server": str(server), "prompt": str(prompt)}:
            return p.UsePrompt(server, prompt, _pairs(record.get("arguments")))
        case {"what": "compact", "text": str(focus)}:
            return p.Compact(focus)
        case {"what": "shell", "text": str(line)}:
            return p.RunShell(line)
        case _:
            return None


def told_again(records: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """(sentence about what is held now, sentence about what is attached no more); empty for nothing."""
    waiting = [one for one in records if command_of(one) is not None]
    if not waiting:
        return "", ""
    many = "One thing that was" if len(waiting) == 1 else f"{len(waiting)} things that were"
    lost = ", ".join(name for one in waiting for name in _texts(one.get("attached")))
    return (
        f"{many} not sent when hel ended {'is' if len(waiting) == 1 else 'are'} held in the queue.",
        f"Attached no more to what is held in the queue: {lost[:MOST_NAMED]}." if lost else "",
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    found = []
    for one in value if isinstance(value, list) else ():
        match one:
            case [str(name), str(text)]:
                found.append((name, text))
            case _:
                pass
    return tuple(found)
