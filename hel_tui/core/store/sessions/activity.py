"""When a session was active last: what "newest" means, wherever sessions are put in order.

What the person or the model did counts, and that it was made, as a new one or as a fork. A title, a notice, a
model that was chosen or a file that was touched does not. Not here: the order itself (index, folders).
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from hel_tui.core.store.reading import open_plain
from hel_tui.core.store.sessions.journal import FILE
from hel_tui.core.store.sessions.jsonl import kind_of, lines_of, parsed
from hel_tui.core.vocabulary import Json

ACTIVITY = frozenset({"TurnStarted", "Joined", "text", "CallStarted", "CallChanged", "TurnEnded"})
"""Kinds of records that tell of something the person or the model did."""
_NEVER = 1e11
"""A Unix time in the year 5138."""
AHEAD = 600.0
"""Seconds by which a time may be ahead of the clock, which may have been set right since."""
_BLOCK = 1 << 16
"""Bytes of the end that are looked at first; where no activity is in them, four times as many, and so on."""


def time_of(record: Json) -> float:
    """Unix time at which a record was written; 0 where it does not say, or no time at all."""
    written = record.get("t")
    if not isinstance(written, int | float) or isinstance(written, bool):
        return 0.0
    return float(written) if 0 < written < _NEVER else 0.0


def sound_time(stamp: float, written: float, made: float, now: float) -> float:
    """When a session was active, of three times in the order of their worth: that of the last activity, that
    of its file, that of its beginning; 0 for one that is not known. A time far ahead is of a clock that was
    wrong and says nothing; one shortly ahead is now. 0 where none says anything.
    """
    for one in (stamp, written, made):
        if 0 < one <= now + AHEAD:
            return min(one, now)
    return 0.0


def last_activity(folder: Path) -> float:
    """Unix time of the last activity in the session in `folder`, as the index has it; 0 for none. Of a long
    file only the beginning and the end are read. Raises OSError.
    """
    with open_plain(folder / FILE) as file:
        head = parsed(line) if kind_of(line := next(lines_of(file), (0, 0, b""))[2]) == "session" else None
        made = time_of(head) if head is not None else 0.0
        status, block = os.fstat(file.fileno()), _BLOCK
        size, now = status.st_size, time.time()
        while True:
            begin = max(size - block, 0)
            file.seek(begin)
            lines = file.read(size - begin).splitlines(keepends=True)
            for one in reversed(lines[1 if begin else 0 :]):
                whole = one.endswith(b"\n") and kind_of(one) in ACTIVITY
                if whole and (record := parsed(one)) is not None and (at := time_of(record)):
                    return sound_time(max(at, made), status.st_mtime, made, now)
            if not begin:
                return sound_time(made, status.st_mtime, made, now)
            block *= 4
