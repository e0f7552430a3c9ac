"""A cassette as steps: what a client sent, and everything the server said because of it.

Pure functions of the frames. Not here: the file (cassette), answering from it (cassette_player).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from hel_tui.core.mcp.cassette import Cassette, Taped, redacted
from hel_tui.core.store.redact import Redactor
from hel_tui.core.vocabulary import Json

Match = Literal["arguments", "method"]

LISTEN = "subscriptions/listen"
"""A request that stays open (specification 2026-07-28, subscriptions)."""
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_NAMES = ("name", "uri", "ref")
"""Parameters that say what a request is about."""
_NOT_MEANT = ("_meta", "inputResponses", "requestState")
"""Parameters that are another thing each time."""
_PLAIN = Redactor()
"""The shapes of credentials: a cassette does not have them, so a request is matched without them."""


@dataclass(slots=True)
class Step:
    """One request or notification of the client."""

    sent: Taped
    method: str
    params: Json
    id: Any = None
    """None for a notification."""
    before: list[Taped] = field(default_factory=list)
    """What the server sent until it answered, in order."""
    answer: Taped | None = None
    after: list[Taped] = field(default_factory=list)
    """What it sent afterwards, until the next step began."""

    @property
    def is_request(self) -> bool:
        return self.id is not None


def steps_of(cassette: Cassette) -> list[Step]:
    """The steps of a cassette in the order in which they were sent."""
    steps: list[Step] = []
    waiting: dict[str, Step] = {}
    for frame, message in _messages(cassette):
        method, has_id = message.get("method"), message.get("id") is not None
        if frame.way == "out":
            if isinstance(method, str):
                params = message.get("params")
                step = Step(frame, method, params if isinstance(params, dict) else {}, message.get("id"))
                steps.append(step)
                if has_id:
                    waiting[name_of(step.id)] = step
        elif isinstance(method, str) or not message:
            target = _target(message, waiting)
            if target is not None:
                target.before.append(frame)
            elif steps:
                steps[-1].after.append(frame)
        elif has_id and (answered := waiting.pop(name_of(message["id"]), None)) is not None:
            answered.answer = frame
    return steps


def _messages(cassette: Cassette) -> Iterator[tuple[Taped, Json]]:
    """Each message with a frame of its own; noise has an empty one."""
    for frame in cassette.frames:
        several = frame.message if isinstance(frame.message, list) else [frame.message]
        for message in several:
            if isinstance(message, dict):
                yield Taped(frame.time, frame.way, message), message
            elif frame.text and frame.way == "in":
                yield frame, {}


def _target(message: Json, waiting: dict[str, Step]) -> Step | None:
    """The request under way that a message of the server belongs to: by its token, else the newest one."""
    params = message.get("params")
    token = params.get("progressToken") if isinstance(params, dict) else None
    if token is not None:
        for step in waiting.values():
            if progress_token(step.params) == token:
                return step
    if message.get("method") != ACKNOWLEDGED:  # what a subscription brings comes because of something else
        return next((step for step in reversed(waiting.values()) if step.method != LISTEN), None)
    return next(reversed(waiting.values()), None)


def progress_token(params: Json) -> Any:
    """The token a request wants to be told progress with; None when it does not."""
    meta = params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def key_of(method: str, params: Json, match: Match) -> str:
    """What two requests have in common that count as the same."""
    if match == "method":
        return " ".join([method, *(_canonical(params[name]) for name in _NAMES if name in params)])
    meant = {key: value for key, value in params.items() if key not in _NOT_MEANT}
    return f"{method} {_canonical(redacted(meant, _PLAIN))}"


def name_of(identity: Any) -> str:
    """An id as a key: whoever wrote a cassette may have put anything there."""
    return json.dumps(identity)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def told(method: str, params: Json) -> str:
    """A request in a sentence."""
    name = next((params[key] for key in _NAMES if isinstance(params.get(key), str)), "")
    arguments = params.get("arguments")
    parts = [method, str(name)[:100], _canonical(arguments)[:200] if arguments else ""]
    return " ".join(part for part in parts if part)
