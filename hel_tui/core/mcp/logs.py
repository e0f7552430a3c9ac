"""Bounded logs that one thread writes and others read: what servers say, and hel's remarks on it.

A million lines take some tens of megabytes: all but the newest are packed. Not here: turning bytes into lines
(intake), making foreign text safe to draw (the screen's own border).
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Literal, cast, get_args

from hel_tui.core.mcp.levels import LEVELS
from hel_tui.core.mcp.logchunks import CHARACTERS, SIZE, Lines, pack, unpack
from hel_tui.core.mcp.looking import Wanted
from hel_tui.core.protocol import LogLevel, LogLine, LogQuery
from hel_tui.core.store.redact import head

MAX_LINES = 1_000_000
MAX_BYTES = 64 * 1024 * 1024
"""Of packed lines."""
LINE_LENGTH = 8192
"""Longer lines are cut."""
AT_HAND = 8
"""Packed chunks that are kept unpacked too, the last ones that were looked at."""

Stream = Literal["stderr", "stdout", "hel", "message", "start"]
_STREAMS: tuple[Stream, ...] = get_args(Stream)
_STREAM_NUMBER = {stream: number for number, stream in enumerate(_STREAMS)}
_LEVEL_NAMES: tuple[LogLevel | str, ...] = ("", *LEVELS)
_LEVEL_NUMBER: dict[str, int] = {level: number for number, level in enumerate(_LEVEL_NAMES)}
MOST_SERVERS = 60_000


class LogStore:
    """A log of numbered lines; implements `protocol.LogWindow`. All methods are safe from any thread."""

    def __init__(
        self,
        max_lines: int = MAX_LINES,
        max_bytes: int = MAX_BYTES,
        *,
        mask: Callable[[str], str] = lambda text: text,
        server: str = "",
        also: LogStore | None = None,
    ) -> None:
        """`mask` hides known secrets in hel's own remarks, which may quote a server. `also` gets each line
        too, once it is complete."""
        self._mask = mask
        self._max_lines = max_lines
        self._max_bytes = max_bytes
        self._server = server
        self._also = also
        self._names: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}
        self._firsts: list[int] = []
        """Number of the first line of each packed chunk."""
        self._packed: list[bytes] = []
        self._bytes = 0
        self._open = Lines()
        self._open_first = 0
        self._characters = 0
        """Of the lines that are not packed."""
        self._first = 0
        self._version = 0
        self._unfinished = False
        """True while the newest line is the beginning of one that has not ended yet."""
        self._at_hand: dict[int, Lines] = {}
        self._lock = threading.Lock()

    # ------------------------------------------------------------------- reading

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self._version

    @property
    def first(self) -> int:
        """Number of the oldest line kept."""
        return self._first

    @property
    def end(self) -> int:
        """Number after the newest line."""
        with self._lock:
            return self._end

    @property
    def _end(self) -> int:
        return self._open_first + len(self._open)

    def lines(self, start: int, stop: int) -> list[LogLine]:
        """The lines numbered start..stop-1 that are still kept."""
        found: list[LogLine] = []
        number = start
        with self._lock:
            number, stop = max(start, self._first), min(stop, self._end)
            while number < stop:
                first, lines = self._chunk(number)
                high = min(stop - first, len(lines))
                found += [self._line(lines, at) for at in range(number - first, high)]
                number = first + high
        return found

    def matches(self, query: LogQuery, start: int, stop: int) -> list[int]:
        """The numbers of those kept lines among start..stop-1 that `query` wants.

        Raises ValueError with a sentence for a regular expression that is none, or takes too long.
        """
        wanted = Wanted(query.text, is_regex=query.is_regex) if query.text else None
        least = _LEVEL_NUMBER.get(query.level, 0)
        found: list[int] = []
        number = start
        while True:  # the lock is held for one chunk at a time
            with self._lock:
                number, last = max(number, self._first), min(stop, self._end)
                if number >= last:
                    return found
                first, lines = self._chunk(number)
                high = min(last - first, len(lines))
                found += [first + at for at in lines.matches(wanted, least, number - first, high)]
            number = first + high

    def tail(self, count: int, stream: Stream | None = None, since: int = 0) -> list[str]:
        """The newest `count` texts from line `since` on, of `stream` only if it is given, oldest first."""
        of = _STREAM_NUMBER[stream] if stream is not None else -1
        found: list[str] = []
        with self._lock:
            stop, since = self._end, max(since, self._first)
            while stop > since and len(found) < count:
                first, lines = self._chunk(stop - 1)
                for at in range(stop - first - 1, max(since - first, 0) - 1, -1):
                    if of in (-1, lines.streams[at]):
                        found.append(lines.texts[at])
                        if len(found) == count:
                            break
                stop = first
        return found[::-1]

    def _chunk(self, number: int) -> tuple[int, Lines]:
        """The lines around this one, and the number of the first of them."""
        if number >= self._open_first:
            return self._open_first, self._open
        at = bisect_right(self._firsts, number) - 1
        first = self._firsts[at]
        lines = self._at_hand.pop(first, None)
        if lines is None:
            lines = unpack(self._packed[at])
            if len(self._at_hand) >= AT_HAND:
                del self._at_hand[next(iter(self._at_hand))]
        self._at_hand[first] = lines
        return first, lines

    def _line(self, lines: Lines, at: int) -> LogLine:
        level = cast(LogLevel, _LEVEL_NAMES[lines.levels[at]])
        server = self._names[lines.servers[at]]
        return LogLine(lines.times[at], lines.texts[at], _STREAMS[lines.streams[at]], level, server)

    # ------------------------------------------------------------------- writing

    def clear(self) -> None:
        """Forget all lines; numbers go on."""
        with self._lock:
            self._first = self._open_first = self._end
            self._open = Lines()
            self._firsts.clear()
            self._packed.clear()
            self._at_hand.clear()
            self._bytes, self._characters, self._unfinished = 0, 0, False
            self._version += 1

    def append(
        self,
        texts: list[str],
        stream: Stream,
        *,
        unfinished: bool = False,
        levels: Sequence[str] = (),
    ) -> None:
        """Add lines, with the level each seems to have. With `unfinished` the last one is a beginning,
        replaced by the next `append`."""
        if not texts:
            return
        texts = [_cut(text) for text in texts]
        now, kind = time.time(), _STREAM_NUMBER[stream]
        numbers = [_LEVEL_NUMBER.get(level, 0) for level in levels] or [0] * len(texts)
        with self._lock:
            if self._unfinished and self._open.streams[-1] == kind:
                self._characters -= len(self._open.take_last())
            self._unfinished = unfinished
            self._extend(now, kind, numbers, self._server, texts)
        if self._also is not None:
            complete = len(texts) - unfinished
            self._also.take(now, kind, numbers[:complete], self._server, texts[:complete])

    def take(self, now: float, kind: int, levels: list[int], server: str, texts: list[str]) -> None:
        """Add complete lines of one server as another log has them."""
        if texts:
            with self._lock:
                self._extend(now, kind, levels, server, texts)

    def finish(self) -> None:
        """The beginning of a line that was added is all there will be of it."""
        with self._lock:
            if not self._unfinished:
                return
            self._unfinished = False
            lines = self._open
            last = (lines.times[-1], lines.streams[-1], [lines.levels[-1]], self._server, [lines.texts[-1]])
        if self._also is not None:
            self._also.take(*last)

    def remark(self, text: str) -> None:
        """Add a line of hel's own, or several."""
        self.append(head(text, 2 * LINE_LENGTH, self._mask).split("\n"), "hel")

    def started(self, what: str) -> None:
        """A life of the server begins: a rule, such as `started, pid 4711: python server.py`."""
        self.append([head(what, LINE_LENGTH, self._mask).replace("\n", " ")], "start")

    def _extend(self, now: float, kind: int, levels: list[int], server: str, texts: list[str]) -> None:
        number = self._numbers.get(server)
        if number is None:
            number = len(self._names) if len(self._names) < MOST_SERVERS else 0
            if number:
                self._names.append(server)
                self._numbers[server] = number
        lines = self._open
        for text, level in zip(texts, levels, strict=True):
            lines.add(now, kind, level, number, text)
            self._characters += len(text)
        while len(lines) > SIZE or (self._characters > CHARACTERS and len(lines) > 1):
            self._pack_oldest()
        self._first = max(self._first, self._end - self._max_lines)
        while self._packed and (self._bytes > self._max_bytes or self._next_first <= self._first):
            self._first = max(self._first, self._next_first)
            self._at_hand.pop(self._firsts.pop(0), None)
            self._bytes -= len(self._packed.pop(0))
        self._version += 1

    def _pack_oldest(self) -> None:
        """Pack the oldest of the open lines, but never the newest: it may still change."""
        count, characters = 0, 0
        for text in self._open.texts[: min(SIZE, len(self._open) - 1)]:
            count += 1
            characters += len(text)
            if characters > CHARACTERS:
                break
        packed = pack(self._open.take_first(count))
        self._firsts.append(self._open_first)
        self._packed.append(packed)
        self._bytes += len(packed)
        self._characters -= characters
        self._open_first += count

    @property
    def _next_first(self) -> int:
        """Number of the first line behind the oldest packed chunk."""
        return self._firsts[1] if len(self._firsts) > 1 else self._open_first


def _cut(text: str) -> str:
    text = text if "\n" not in text else text.replace("\n", " ")
    return text if len(text) <= LINE_LENGTH else f"{text[:LINE_LENGTH]}… ({len(text):,} characters)"
