"""What servers notify: changes, updates, log messages; never more a second than can be kept.

Not here: progress and cancellation (wire), reading the lists that changed (changes).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from hel_tui.core.mcp.limits import Rate
from hel_tui.core.store.redact import MARGIN
from hel_tui.core.vocabulary import Json

LOGS_A_SECOND = 2000
"""Log messages of one server that are kept in a second; the others are counted."""
UPDATES_A_SECOND = 50
TOLD_EVERY = 0.5
"""Seconds between two words about what was dropped."""
NAMES_KEPT = 100
MOST_TEXT = 16_384 + MARGIN
"""Characters of a logging message: more than are shown of it, once secrets are out."""
MOST_NAME = 100
"""Longer names are not told: they are none."""
"""Characters of a log message that are looked at."""


class Notes:
    """Sorts the notifications of one connection."""

    def __init__(
        self,
        on_log: Callable[[str, str], None],
        on_dropped: Callable[[int], None],
        on_updated: Callable[[str], None],
        on_stray: Callable[[str], None],
    ) -> None:
        self.on_change: Mapping[str, Callable[[], None]] = {}
        """What to do when a list changed, by method."""
        self._on_log = on_log
        self._on_dropped = on_dropped
        self._on_updated = on_updated
        self._on_stray = on_stray
        self._unknown: set[str] = set()
        self._logs = Rate(LOGS_A_SECOND)
        self._updates = Rate(UPDATES_A_SECOND)
        self._dropped = 0
        self._timer: asyncio.TimerHandle | None = None

    def take(self, method: str, params: Json) -> None:
        """One notification."""
        if method == "notifications/message":
            if self._logs.allows():
                self._log(params)
            else:
                self._drop()
        elif method == "notifications/resources/updated":
            uri = params.get("uri")
            if isinstance(uri, str) and self._updates.allows():
                self._on_updated(uri)
            else:
                self._drop()
        elif method in self.on_change:
            self.on_change[method]()
        elif method not in _SILENT and method not in self._unknown and len(self._unknown) < NAMES_KEPT:
            self._unknown.add(method)
            if len(method) > MOST_NAME:
                method = "…"
            self._on_stray(f"notifications named {method!r} are ignored")

    def _log(self, params: Json) -> None:
        level, logger, data = (params.get(key) for key in ("level", "logger", "data"))
        origin = f"{logger}: " if isinstance(logger, str) and 0 < len(logger) <= MOST_NAME else ""
        self._on_log(str(level or "info")[:20], f"{origin}{_plain(data)}")

    def _drop(self) -> None:
        self._dropped += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TOLD_EVERY, self._tell)

    def _tell(self) -> None:
        self._timer = None
        dropped, self._dropped = self._dropped, 0
        if dropped:
            self._on_dropped(dropped)

    def close(self) -> None:
        """Tell what is left to tell."""
        if self._timer is not None:
            self._timer.cancel()
        self._tell()


_SILENT = frozenset(
    {
        "notifications/initialized",
        "notifications/tools/list_changed",
        "notifications/resources/list_changed",
        "notifications/prompts/list_changed",
        "notifications/subscriptions/acknowledged",
        "notifications/elicitation/complete",
    }
)
"""Known and without news, or too early to matter: lists are read after the greeting anyway."""


def _plain(data: Any) -> str:
    """The data of a logging message as one line."""
    if isinstance(data, str):
        return data[:MOST_TEXT]
    pieces: list[str] = []
    size = 0
    for piece in json.JSONEncoder(ensure_ascii=False, default=str).iterencode(data):
        pieces.append(piece[: MOST_TEXT - size])
        size += len(piece)
        if size >= MOST_TEXT:
            break
    return "".join(pieces)
