"""Server-sent events from bytes, piece by piece (WHATWG HTML, "Interpreting an event stream").

Knows nothing of HTTP or of what events mean. Work is linear in the bytes fed, however they are split.
"""

from __future__ import annotations

from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"
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
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._at_start = True
        self._after_return = False
        self._data: list[str] = []
        self._size = 0
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
        lines = chunk.split(b"\n")
        self._keep(lines[0])
        if len(lines) == 1:
            return []
        lines[0] = b"".join(self._tail)
        self._tail.clear()
        self._tail_size = 0
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
        if self._tail_size:
            self._line(b"".join(self._tail), out)
            self._tail.clear()
            self._tail_size = 0
        self._dispatch(out)
        return out

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._tail.append(piece)
            self._tail_size += len(piece)
            self._check(self._tail_size)

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
            self._size += len(value)
            self._check(self._size)
            self._data.append(value.decode("utf-8", "replace"))
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
            out.append(ServerEvent("\n".join(self._data), self._event, self.last_id))
            self._data.clear()
            self._size = 0
        self._event = ""
