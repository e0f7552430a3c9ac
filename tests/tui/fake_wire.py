"""A trace for screen tests: frames in a list, and the bodies they were made from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hel_tui.core import protocol as p

SINCE = 1_700_000_000.0


class FakeWire:
    """Satisfies `protocol.FrameWindow`; `dropped` frames at the front are gone."""

    def __init__(self) -> None:
        self.kept: list[p.Frame] = []
        self.bodies: dict[int, str] = {}
        self.exchanges: dict[int, p.HttpExchange] = {}
        self.dropped = 0
        self.reads = 0
        self.searched: list[tuple[int, int]] = []
        self.version = 0

    # ------------------------------------------------------------------ filling

    def add(self, direction: p.Direction, kind: p.FrameKind, body: Any = None, **facts: Any) -> int:
        """A frame 0.1 s after the one before it; returns its number."""
        text = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
        number = self.end
        frame = p.Frame(number, SINCE + number / 10, direction, kind, len(text.encode()), **facts)
        self.kept.append(frame)
        self.bodies[number] = text
        self.version += 1
        return number

    def call(self, tool: str, call: str = "", id: int = 1, result: Any = None, error: str = "") -> int:
        """A `tools/call` and its answer; returns the number of the request."""
        params = {"name": tool, "arguments": {"service": "api"}}
        request = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
        at = self.add(
            "out",
            "request",
            request,
            method="tools/call",
            id=str(id),
            tool=tool,
            summary=tool,
            call=call,
            pair=self.end + 1,
        )
        self.add(
            "in",
            "error" if error else "result",
            {"jsonrpc": "2.0", "id": id, "error" if error else "result": result or {"content": []}},
            method="tools/call",
            id=str(id),
            tool=tool,
            summary=error or tool,
            call=call,
            pair=at,
            latency=0.188,
        )
        return at

    def drop(self, count: int) -> None:
        del self.kept[:count]
        self.dropped += count
        self.version += 1

    # ------------------------------------------------------------- as a window

    @property
    def first(self) -> int:
        return self.dropped

    @property
    def end(self) -> int:
        return self.dropped + len(self.kept)

    def frames(self, start: int, stop: int) -> list[p.Frame]:
        found = self.kept[max(start - self.dropped, 0) : max(stop - self.dropped, 0)]
        self.reads += len(found)
        return found

    def matches(self, query: p.FrameQuery, start: int, stop: int) -> list[int]:
        self.searched.append((start, stop))
        wants = self._wants(query)
        found = self.kept[max(start - self.dropped, 0) : max(stop - self.dropped, 0)]
        return [frame.number for frame in found if wants(frame)]

    def _wants(self, query: p.FrameQuery) -> Callable[[p.Frame], bool]:
        try:
            pattern = re.compile(query.text if query.is_regex else re.escape(query.text), re.IGNORECASE)
        except re.error as error:
            raise ValueError(f"this is no regular expression: {error}") from error

        def wants(frame: p.Frame) -> bool:
            return (
                query.direction in ("", frame.direction)
                and frame.method.startswith(query.method)
                and query.id in ("", frame.id)
                and query.tool in ("", frame.tool)
                and query.call in ("", frame.call)
                and (not query.errors or frame.kind in ("error", "noise"))
                and pattern.search(f"{frame.method} {frame.summary} {self.bodies[frame.number]}") is not None
            )

        return wants

    def body(self, number: int) -> str:
        return self.bodies.get(number, "") if number >= self.dropped else ""

    def exchange(self, number: int) -> p.HttpExchange | None:
        return self.exchanges.get(number)

    def of_call(self, call_id: str) -> tuple[int, ...]:
        return tuple(frame.number for frame in self.kept if frame.call == call_id)
