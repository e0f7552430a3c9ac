"""Server-sent events from bytes, piece by piece (WHATWG HTML, "Interpreting an event stream").

Knows nothing of HTTP or of what events mean. Work is linear in the bytes fed, however they are split.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"
_BLANKS = re.compile(rb"\n{3,}")
"""Blank lines behind one another, of which only the first says anything."""
MAX_EVENT = 64 * 2**20
"""Bytes one event (or one line) may have."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    data: str
    event: str = ""
    """Empty for the default type, `message`."""
    id: str = ""
    """The last id the stream set, which a reconnecting client sends back."""


class EventTooLarge(ValueError):
    """An event went past the limit; the stream cannot be read further."""


class EventStream:
    """Feed it bytes, get events. `retry` and `last_id` are what the server asked for so far.

    `last_id` counts once its event is complete: who resumes behind half an event would never see it.
    """

    def __init__(self, max_event: int = MAX_EVENT) -> None:
        self.retry: float | None = None
        """Seconds the server wants a client to wait before it reconnects."""
        self.last_id = ""
        self.comments = 0
        self._id = ""
        self._max = max_event
        self._tail = bytearray()
        self._at_start = True
        self._after_return = False
        self._data = bytearray()
        """Each line of data with its line break."""
        self._event = ""

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Events that `chunk` completed. Raises EventTooLarge."""
        if self._after_return and chunk[:1] == b"\n":
            chunk = chunk[1:]
            self._after_return = False
        if not chunk:
            return []
        if b"\r" in chunk:
            self._after_return = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        else:
            self._after_return = False
        lines = _BLANKS.sub(b"\n\n", chunk).split(b"\n")
        self._keep(lines[0])
        if len(lines) == 1:
            return []
        lines[0] = bytes(self._tail)
        self._tail.clear()
        self._keep(lines.pop())
        out: list[ServerEvent] = []
        for line in lines:
            self._line(line, out)
        return out

    def close(self) -> list[ServerEvent]:
        """The event left unfinished at the end of the stream, if it has data.

        The standard drops it; endpoints that forget the last blank line are common enough to ask.
        """
        out: list[ServerEvent] = []
        if self._tail:
            self._line(bytes(self._tail), out)
            self._tail.clear()
        self._dispatch(out)
        return out

    def _keep(self, piece: bytes) -> None:
        self._tail += piece
        self._check(len(self._tail))

    def _check(self, size: int) -> None:
        if size > self._max:
            raise EventTooLarge(f"An event is larger than {self._max:,} bytes.")

    def _line(self, line: bytes, out: list[ServerEvent]) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(out)
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data += value + b"\n"
            self._check(len(self._data))
        elif not field:
            self.comments += 1
        elif field == b"event":
            self._event = value.decode("utf-8", "replace")
        elif field == b"id":
            if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
        elif field == b"retry" and value.isdigit():
            self.retry = int(value[:9]) / 1000

    def _dispatch(self, out: list[ServerEvent]) -> None:
        self.last_id = self._id
        if self._data:
            data = self._data[:-1].decode("utf-8", "replace")
            out.append(ServerEvent(data, self._event, self.last_id))
            self._data.clear()
        self._event = ""
