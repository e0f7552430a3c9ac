"""The body of a response, as bytes arrive, read into parts. No network here.

A server may stream events or answer in one piece whatever it was asked for; the first byte tells. Not
here: what a chunk means (assemble), when to read (client).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hel_tui.core.models.adapter import Assembling
from hel_tui.core.models.faults import Failure, in_stream
from hel_tui.core.models.types import ModelFault, Part, ReasoningPart, TextPart
from hel_tui.core.sse import EventStream, ServerEvent

MAX_WHOLE = 64 * 2**20
"""Bytes of an answer that comes in one piece."""


class Reading:
    """Reads one response. `done` turns true with `[DONE]`, or the API's own end: nothing after it matters."""

    def __init__(self, assembler: Assembling, who: str, key: str) -> None:
        self._assembler = assembler
        self._who = who
        self._key = key
        self._events = EventStream()
        self._whole: bytearray | None = None
        self._started = False
        self._is_page = False
        """It begins like a page for a browser."""
        self._unreadable = 0
        self._chunks = 0
        self.done = False
        self.cut = False
        """It was longer than any answer is, and the rest is not wanted."""
        self.failure: Failure | None = None
        """An error the server reported among its chunks; what came before it was read."""

    def feed(self, data: bytes) -> list[Part]:
        """Parts in `data`, neighbours merged. Raises Failure for an answer too large to hold."""
        if not self._started:
            data = data.lstrip()
            if not data:
                return []
            self._started = True
            self._is_page = data[:1] == b"<"
            if data[:1] in (b"{", b"["):
                self._whole = bytearray()
        if self._whole is None:
            return self._take(self._events.feed(data))
        self._whole += data
        if len(self._whole) > MAX_WHOLE:
            raise Failure(ModelFault("stream", f"{self._who} answered with more than {MAX_WHOLE:,} bytes."))
        return []

    def finish(self) -> list[Part]:
        """What is left, then `Finish`. Raises Failure when nothing of an answer came."""
        parts: list[Part] = []
        if self._whole is not None:
            self.done = True
            parts += self._take([ServerEvent(self._whole.decode("utf-8", "replace"))])
        elif not self.done:
            parts += self._take(self._events.close())
        if self.failure is not None:
            raise self.failure
        parts += self._assembler.held()
        if not self._chunks and self._is_page:
            text = f"{self._who} answered with a web page, which no model does. Check the base URL."
            raise Failure(ModelFault("stream", text))
        if not self._chunks:
            what = "nothing that could be read" if self._unreadable or self._started else "nothing"
            raise Failure(ModelFault("stream", f"{self._who} answered with {what}."), passing=True)
        notes = (f"unreadable chunks skipped: {self._unreadable}",) if self._unreadable else ()
        last = self._assembler.finish(self.done)
        return [*merged(parts), replace(last, notes=last.notes + notes)]

    def _take(self, events: Iterable[ServerEvent]) -> list[Part]:
        parts: list[Part] = []
        for event in events:
            if self.failure is not None or (self.done and self._whole is None):
                break
            if event.data == "[DONE]":
                self.done = True
            elif event.data:
                self._event(event, parts)
                self.done = self.done or self._assembler.complete
        return merged(parts)

    def _event(self, event: ServerEvent, parts: list[Part]) -> None:
        try:
            value = json.loads(event.data)
        except (ValueError, RecursionError):
            value = None
        if event.event == "error" and not isinstance(value, dict):
            self.failure = in_stream(event.data, who=self._who, key=self._key)
        elif isinstance(value, list) and self._whole is not None:
            for one in value:  # a stream of values that came as one list of them
                self._chunk(one, "", parts)
        else:
            self._chunk(value, event.event, parts)

    def _chunk(self, chunk: Any, event: str, parts: list[Part]) -> None:
        if not isinstance(chunk, dict):
            self._unreadable += 1
            return
        fault = self._assembler.fault(chunk)
        if fault is None and event == "error":
            fault = chunk
        if fault is not None:
            self.failure = in_stream(fault, who=self._who, key=self._key)
        elif self._assembler.understands(chunk):
            self._chunks += 1
            came = self._assembler.feed(chunk)
            if self._assembler.got.is_too_long:
                self.cut = self.done = True
                came = _without(came, self._assembler.got.cut_off())
            parts += came


def _without(parts: list[Part], characters: int) -> list[Part]:
    """The parts without the last so many characters of their texts."""
    out: list[Part] = []
    for part in reversed(parts):
        if characters > 0 and isinstance(part, TextPart | ReasoningPart):
            left = part.text[: max(0, len(part.text) - characters)]
            characters -= len(part.text) - len(left)
            out.append(replace(part, text=left))
        else:
            out.append(part)
    return out[::-1]


def merged(parts: list[Part]) -> list[Part]:
    """Neighbouring text (and reasoning) as one part: a flood comes as few parts."""
    if len(parts) < 2:
        return parts
    out: list[Part] = []
    run: list[str] = []
    kind: type[TextPart] | type[ReasoningPart] | None = None
    for part in parts:
        if kind is not None and type(part) is not kind:
            out.append(kind("".join(run)))
            run, kind = [], None
        if isinstance(part, TextPart | ReasoningPart):
            run.append(part.text)
            kind = type(part)
        else:
            out.append(part)
    if kind is not None:
        out.append(kind("".join(run)))
    return out
