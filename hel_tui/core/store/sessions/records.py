"""What the lines of a session file mean: each is one thing that happened, as a JSON object with its kind `k`.

Events of the screen have the name of their class as kind; `message`, `amend`, `shorten`, `compact` and
`clear` are what the model has; `call` is all about one call. Kinds a reader does not know it leaves alone.
Not here: bytes and files (journal, reading).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Json,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)

VERSION = 1
"""Of this format. A file of a later version is read as far as it is understood."""

EVENTS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        p.TurnStarted,
        p.Joined,
        p.PromptSent,
        p.StepStarted,
        p.CallStarted,
        p.CallChanged,
        p.TurnEnded,
        p.Compacted,
        p.UsageChanged,
        p.TodosChanged,
        p.Notice,
    )
}
"""Events that are written as they are. Pieces of text have records of their own: `text`."""

MOST_RAW = 200_000
"""Characters of a result as its server sent it that are kept; and of a result that no other file holds."""


# --------------------------------------------------------------------- events


def event_record(event: p.Event) -> Json:
    """The record of an event of `EVENTS`, without fields that have their default."""
    record: Json = {"k": type(event).__name__}
    for name, default in _fields(type(event)):
        value = getattr(event, name)
        if value != default:
            record[name] = value
    return record


def event_of(record: Mapping[str, Any]) -> p.Event | None:
    """The event a record tells of; None when it tells of none, or wrongly."""
    kind = EVENTS.get(record["k"])
    if kind is None:
        return None
    given: Json = {}
    for field in dataclasses.fields(kind):
        if field.name not in record:
            continue
        value = _tuples(record[field.name])
        if not _fits(value, str(field.type)):
            return None
        given[field.name] = value
    try:
        event: p.Event = kind(**given)
    except TypeError:  # a field without a default is missing
        return None
    return event


_FIELDS: dict[type[Any], tuple[tuple[str, Any], ...]] = {}


def _fields(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    """(name, default) of the fields of an event."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple((field.name, field.default) for field in dataclasses.fields(kind))
    return _FIELDS[kind]


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": _is_number,
    "float | None": lambda value: value is None or _is_number(value),
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "CallState": lambda value: (
        value in ("queued", "waiting", "running", "ok", "failed", "refused", "cancelled")
    ),
    "TurnEnd": lambda value: (
        value in ("done", "length", "refusal", "filter", "limit", "interrupted", "failed")
    ),
    "Severity": lambda value: value in ("info", "warning", "error"),
    "tuple[str, ...]": lambda value: isinstance(value, tuple) and all(isinstance(one, str) for one in value),
    "tuple[tuple[str, str], ...]": lambda value: (
        isinstance(value, tuple)
        and all(isinstance(pair, tuple) and len(pair) == 2 and all(map(_is_text, pair)) for pair in value)
    ),
}
"""Whether a value is of the type that a field of an event is declared to have."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _fits(value: Any, declared: str) -> bool:
    check = _CHECKS.get(declared)
    return check is None or check(value)


# ------------------------------------------------------------------- messages


def message_record(message: Message, folder: Path) -> Json:
    """The record of a message at the end of the history; images by their files, seen from `folder`."""
    record: Json = {"k": "message", "role": _ROLES[type(message)], "text": message.text}
    if isinstance(message, AssistantMessage):
        if message.reasoning:
            record["reasoning"] = message.reasoning
        if message.calls:
            record["calls"] = [[call.id, call.name, call.arguments] for call in message.calls]
        if message.extra:
            record["extra"] = dict(message.extra)
    if isinstance(message, ToolMessage):
        record |= {"of": message.call_id, "name": message.name}
        if message.failed:
            record["failed"] = True
    if isinstance(message, UserMessage | ToolMessage) and message.images:
        record["images"] = [
            [image.mime, relative(image.path, folder), image.width, image.height]
            for image in message.images
            if image.path is not None
        ]
    return record


_ROLES: dict[type, str] = {
    SystemMessage: "system",
    UserMessage: "user",
    AssistantMessage: "assistant",
    ToolMessage: "tool",
}


def message_of(record: Mapping[str, Any], folder: Path) -> Message | None:
    """The message a record tells of, images without their bytes (`with_bytes`); None when it is none."""
    try:
        text = _text(record.get("text", ""))
        match record["role"]:
            case "user":
                return UserMessage(text, _images(record, folder))
            case "assistant":
                calls = tuple(ToolCall(*map(_text, call)) for call in record.get("calls", ()))
                extra = record.get("extra", {})
                return AssistantMessage(text, _text(record.get("reasoning", "")), calls, dict(extra))
            case "tool":
                call_id, name = _text(record["of"]), _text(record["name"])
                return ToolMessage(
                    call_id, name, text, bool(record.get("failed", False)), _images(record, folder)
                )
            case _:
                return None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


def _images(record: Mapping[str, Any], folder: Path) -> tuple[Image, ...]:
    return tuple(
        Image(_text(mime), b"", folder / _text(path), int(width), int(height))
        for mime, path, width, height in record.get("images", ())
    )


def relative(path: Path | None, folder: Path) -> str:
    """A file as the record names it: seen from the session's folder where it lies in there."""
    if path is None:
        return ""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


# ---------------------------------------------------------------------- calls


def call_record(detail: p.CallDetail, of: str, text: str, folder: Path) -> Json:
    """The record of what is known of a call; `of` is the id its provider gave it, `text` its result as the
    model got it. A longer one that a file of the session holds is not written again: `whole` names the file.
    """
    whole = next((path for path in detail.saved if f"saved as {path}." in text), "")
    detail = replace(detail, result=text if whole else detail.result[:MOST_RAW])
    record: Json = {"k": "call", "of": of}
    for name, default in _fields(p.CallDetail):
        value = getattr(detail, name)
        if value != default:
            record[name] = value
    for name in ("saved", "images"):
        if name in record:
            record[name] = [relative(Path(path), folder) for path in record[name]]
    if whole:
        record["whole"] = relative(Path(whole), folder)
    if len(detail.raw) > MOST_RAW:
        del record["raw"]
    return record


def call_of(record: Mapping[str, Any], folder: Path) -> p.CallDetail | None:
    """All about a call, as a record tells it; None when it does not."""
    given: Json = {}
    try:
        for field in dataclasses.fields(p.CallDetail):
            if field.name in record:
                given[field.name] = value = _tuples(record[field.name])
                if not _fits(value, str(field.type)):
                    return None
        for name in ("saved", "images"):
            given[name] = tuple(str(folder / path) for path in given.get(name, ()))
        return p.CallDetail(**given)
    except TypeError:
        return None
