"""When a session was active last: what "newest" means, wherever sessions are put in order.

What the person or the model did counts, and that it was made, as a new one or as a fork. A title, a notice, a
model that was chosen or a file that was touched does not. Not here: the order itself (index, folders).
"""

from __future__ import annotations

import os
from pathlib import Path

from hel_tui.core.store.sessions.journal import FILE
from hel_tui.core.store.sessions.jsonl import kind_of, lines_of, parsed
from hel_tui.core.vocabulary import Json

ACTIVITY = frozenset({"TurnStarted", "Joined", "text", "CallStarted", "CallChanged", "TurnEnded"})
"""Kinds of records that tell of something the person or the model did."""
_BLOCK = 1 << 16
"""Bytes of the end that are looked at first; where no activity is in them, four times as many, and so on."""


def time_of(record: Json) -> float:
    """Unix time at which a record was written; 0 where it does not say."""
    written = record.get("t")
    return float(written) if isinstance(written, int | float) else 0.0


def last_activity(folder: Path) -> float:
    """Unix time of the last activity in the session in `folder`, as the index has it; 0 for none, or where it
    cannot be read. Of a long file only the beginning and the end are read.
    """
    try:
        with (folder / FILE).open("rb") as file:
            head = (
                parsed(line) if kind_of(line := next(lines_of(file), (0, 0, b""))[2]) == "session" else None
            )
            made = time_of(head) if head is not None else 0.0
            size, block = os.fstat(file.fileno()).st_size, _BLOCK
            while True:
                begin = max(size - block, 0)
                file.seek(begin)
                lines = file.read(size - begin).splitlines(keepends=True)
                for one in reversed(lines[1 if begin else 0 :]):
                    whole = one.endswith(b"\n") and kind_of(one) in ACTIVITY
                    if whole and (record := parsed(one)) is not None and (at := time_of(record)):
                        return max(at, made)
                if not begin:
                    return made
                block *= 4
    except OSError:
        return 0.0
