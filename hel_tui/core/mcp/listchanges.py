"""How the lists of tools changed in this run, numbered: what a card shows of each change.

Differences are made when they are read, not when a list changes. Not here: comparing lists (generations).
"""

from __future__ import annotations

import difflib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from hel_tui.core.mcp.generations import ListChange, Listed
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.protocol import ListChangeDetail, ToolChange

MOST = 200
"""Changes that are kept, the newest."""
MOST_DIFF = 100_000
"""Characters of one difference."""


@dataclass(frozen=True, slots=True)
class _Kept:
    number: int
    server: str
    time: float
    cause: str
    change: ListChange
    pinned: frozenset[str]
    approvals: dict[str, int]


class ListChanges:
    """The newest changes of all servers' lists. Reading is safe from any thread."""

    def __init__(self, is_pinned: Callable[[str, str], bool] = lambda _server, _raw: False) -> None:
        self._is_pinned = is_pinned
        self.dropped: Callable[[McpTool, McpTool], int] = lambda _before, _after: 0
        """How many remembered approvals of the first tool do not count for the second."""
        self._kept: dict[int, _Kept | ListChangeDetail] = {}
        self._last = 0
        self._lock = threading.Lock()

    def add(self, server: str, change: ListChange, cause: str) -> int:
        """Keep it and return its number."""
        before = {one.spec.raw: one for one in change.before}
        approvals: dict[str, int] = {}
        for one in change.after:
            old = before.get(one.spec.raw)
            if old is not None and old.tool is not None and one.tool is not None:
                approvals[one.spec.raw] = self.dropped(old.tool, one.tool)
        names = (*change.added, *change.removed, *change.changed)
        pinned = frozenset(raw for raw in names if self._is_pinned(server, raw))
        with self._lock:
            self._last += 1
            self._kept[self._last] = _Kept(self._last, server, time.time(), cause, change, pinned, approvals)
            self._kept.pop(self._last - MOST, None)
            return self._last

    def tell(self, server: str, tools: tuple[ToolChange, ...], cause: str) -> int:
        """Keep a change whose differences are known already; return its number."""
        with self._lock:
            self._last += 1
            self._kept[self._last] = ListChangeDetail(self._last, server, time.time(), cause, tools)
            self._kept.pop(self._last - MOST, None)
            return self._last

    def get(self, number: int) -> ListChangeDetail | None:
        """The change with this number; None when it is not kept any more."""
        with self._lock:
            kept = self._kept.get(number)
        if kept is None or isinstance(kept, ListChangeDetail):
            return kept
        change = kept.change
        before = {one.spec.raw: one for one in change.before}
        after = {one.spec.raw: one for one in change.after}

        def row(raw: str, kind: str) -> ToolChange:
            diff = _difference(before[raw], after[raw]) if kind == "changed" else ""
            return ToolChange(
                raw,
                kind,  # type: ignore[arg-type]
                diff,
                loaded=raw in change.loaded,
                pinned=raw in kept.pinned,
                approvals=kept.approvals.get(raw, 0),
            )

        rows = [
            *(row(raw, "removed") for raw in change.removed),
            *(row(raw, "changed") for raw in change.changed),
            *(row(raw, "added") for raw in change.added),
        ]
        return ListChangeDetail(kept.number, kept.server, kept.time, kept.cause, tuple(rows))


def _difference(before: Listed, after: Listed) -> str:
    lines = difflib.unified_diff(_said(before), _said(after), "before", "after", lineterm="", n=2)
    text = "\n".join(lines)
    return text if len(text) <= MOST_DIFF else f"{text[:MOST_DIFF]}\n… ({len(text):,} characters)"


def _said(listed: Listed) -> list[str]:
    """Description, schemas and claims of a tool, as lines."""
    spec = listed.spec
    schema = spec.sent if spec.sent is not None else spec.parameters
    parts = [("inputSchema", schema), ("outputSchema", spec.output), ("annotations", spec.annotations)]
    lines = spec.description.splitlines()
    for name, value in parts:
        if value:
            text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str)
            lines += ["", f"{name}: {text}".splitlines()[0], *f"{name}: {text}".splitlines()[1:]]
    return lines
