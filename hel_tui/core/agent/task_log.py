"""What the tasks of a session do, kept for a while so that a person can look into them.

Not here: running them (crew), drawing it (a screen).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from hel_tui.core.protocol import Event, ReasoningDelta, TaskWindow, TextDelta, TextDone
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions.masking import Veil

MOST_TASKS = 100
"""Tasks that are kept, the newest."""
MOST_EVENTS = 5_000
MOST_TEXT = 2_000_000
"""Events and characters of one task; beyond, its texts are left out."""


class TaskLog:
    """The conversation of one task, as events. Written in the core's loop, read from any thread."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._read = 0
        """Events that somebody has: those do not change any more."""
        self._size = 0
        self._is_cut = False
        self._veils: dict[str, Veil] = {}

    def add(self, event: Event) -> None:
        """Keep an event; of text, what is no secret."""
        match event:
            case TextDelta() | ReasoningDelta():
                veil = self._veils.setdefault(event.item, Veil(self._redactor))
                self._text(replace(event, text=veil.take(event.text)))
            case TextDone():
                if event.item in self._veils:
                    rest = self._veils.pop(event.item).end()
                    self._text(TextDelta(event.turn, event.item, rest))
                self._put(event)
            case _:
                self._put(event)

    def _text(self, event: TextDelta | ReasoningDelta) -> None:
        if not event.text:
            return
        with self._lock:
            last = self._events[-1] if len(self._events) > self._read else None
            self._size += len(event.text)
            if self._size > MOST_TEXT:
                self._is_cut = True
            elif isinstance(last, TextDelta | ReasoningDelta) and last.item == event.item:
                self._events[-1] = replace(last, text=last.text + event.text)
            else:
                self._events.append(event)

    def _put(self, event: Event) -> None:
        with self._lock:
            if len(self._events) < MOST_EVENTS:
                self._events.append(event)
            else:
                self._is_cut = True

    def window(self, after: int) -> TaskWindow:
        """The events from `after` on."""
        with self._lock:
            self._read = len(self._events)
            return TaskWindow(tuple(self._events[max(after, 0) :]), self._read, self._is_cut)


class TaskLogs:
    """Those of one session, by the id of the call that a task is."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._logs: OrderedDict[str, TaskLog] = OrderedDict()
        self.clear: Callable[[], None] = self._logs.clear
        """Another session is open."""

    def begin(self, call_id: str) -> TaskLog:
        """A log for a task that begins; the oldest is let go."""
        log = self._logs[call_id] = TaskLog(self._redactor)
        while len(self._logs) > MOST_TASKS:
            self._logs.popitem(last=False)
        return log

    def window(self, call_id: str, after: int) -> TaskWindow | None:
        """What a task did from `after` on; None when that is not kept. Safe from any thread."""
        log = self._logs.get(call_id)
        return log.window(after) if log is not None else None
