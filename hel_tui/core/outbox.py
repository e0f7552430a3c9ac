"""The way out of the core: events wait here, merged, until somebody drains them.

Neighbouring deltas of one text become one event and a repeated counter replaces its older self, so
that a slow reader finds a short list. Safe from any thread. Not here: what events mean to a screen.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from hel_tui.core.protocol import (
    CallProgress,
    Event,
    ReasoningDelta,
    ServerChanged,
    TextDelta,
    ToolsChanged,
    UsageChanged,
)


def _slot(event: Event) -> tuple[str, ...] | None:
    """Key under which a newer event replaces an older one; None when every one counts."""
    match event:
        case CallProgress():
            return ("progress", event.call_id)
        case UsageChanged():
            return ("usage",)
        case ToolsChanged():
            return ("tools",)
        case ServerChanged():
            return ("server", event.name, event.phase, event.reason)
        case _:
            return None


class Outbox:
    """A merging buffer of events."""

    def __init__(self) -> None:
        self._ready = threading.Condition()
        self._events: list[Event] = []
        self._slots: dict[tuple[str, ...], int] = {}
        self._pieces: list[str] = []
        """Texts of the delta at the end of `_events`, joined when it is closed."""

    def put(self, event: Event) -> None:
        """Add an event, or merge it with what waits."""
        with self._ready:
            if isinstance(event, (TextDelta, ReasoningDelta)) and self._extends_last(event):
                self._pieces.append(event.text)
                return
            self._join_pieces()
            slot = _slot(event)
            if slot is not None and slot in self._slots:
                self._events[self._slots[slot]] = event
                return
            if slot is not None:
                self._slots[slot] = len(self._events)
            if isinstance(event, ServerChanged):
                self._forget_other_phases(event)
            if isinstance(event, (TextDelta, ReasoningDelta)):
                self._pieces = [event.text]
            self._events.append(event)
            self._ready.notify_all()

    def _extends_last(self, event: TextDelta | ReasoningDelta) -> bool:
        if not self._pieces or not self._events:
            return False
        last = self._events[-1]
        return type(last) is type(event) and isinstance(last, type(event)) and last.item == event.item

    def _join_pieces(self) -> None:
        if len(self._pieces) > 1 and isinstance(last := self._events[-1], (TextDelta, ReasoningDelta)):
            self._events[-1] = replace(last, text="".join(self._pieces))
        self._pieces = []

    def _forget_other_phases(self, event: ServerChanged) -> None:
        """A phase that comes back later must not land on its old place in the order."""
        kept = ("server", event.name, event.phase, event.reason)
        for slot in [s for s in self._slots if s[:2] == kept[:2] and s != kept]:
            del self._slots[slot]

    def drain(self) -> list[Event]:
        """Take everything that waits, in order. Quick when there is nothing."""
        if not self._events:
            return []
        with self._ready:
            self._join_pieces()
            events, self._events = self._events, []
            self._slots.clear()
            return events

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until something is there (seconds; None waits for ever); say whether it is."""
        with self._ready:
            return self._ready.wait_for(lambda: bool(self._events), timeout)
