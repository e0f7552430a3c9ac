"""What the tools of servers said of themselves when a person let them run first, and what they said since.

A pin is a hash of description, schema and claims, with the words for a diff. Kept for a project in a file
that only hel writes. Not here: approvals with "always" (approvals), what a change leads to (policy).
"""

from __future__ import annotations

import difflib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hel_tui.core.permissions.approvals import fingerprint, told
from hel_tui.core.protocol import DefinitionChange
from hel_tui.core.store.atomic import Document, read_toml, update_toml
from hel_tui.core.store.places import project_key
from hel_tui.core.vocabulary import Tool

FOLDER = "pins"
MOST = 20
"""Definitions that are kept of one tool: the pinned one and the newest."""

Name = tuple[str, str]
"""(server, raw name)."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition a tool had. `shown` is what it said, bounded; `time` when hel first saw it (Unix)."""

    fingerprint: str
    identity: str
    shown: str
    time: float
    pinned: bool = False
    """The person let it run like this."""
    seen: bool = False
    """The person looked at it."""


class Pins:
    """The definitions of one project's tools that were let run. Reading is quick; what methods return to be
    written touches the disk.
    """

    def __init__(self, state: Path, project: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = state / FOLDER / f"{project_key(project)}.toml"
        self._clock = clock
        self._known: dict[Name, tuple[Definition, ...]] = {}

    def load(self) -> str:
        """Read what was kept. A sentence when it cannot be read; then nothing is pinned."""
        document, problem = read_toml(self._path)
        self._known = {**_kept(document), **self._known}
        return problem

    def pinned(self, server: str, raw: str) -> Definition | None:
        """The definition under which the person let the tool run last."""
        known = self._known.get((server, raw), ())
        return next((one for one in reversed(known) if one.pinned), None)

    def is_changed(self, tool: Tool) -> bool:
        """Whether a tool is not what it was when it was let run, and nobody looked at the difference yet."""
        pinned = self.pinned(tool.server, tool.raw)
        if pinned is None:
            return False
        now = fingerprint(tool)
        return pinned.fingerprint != now and not any(
            one.seen and one.fingerprint == now for one in self._known[tool.server, tool.raw]
        )

    def pin(self, tool: Tool) -> Callable[[], str] | None:
        """The person lets the tool run as it is. Returns what writes it down (it gives a sentence when it
        could not); None when that is known already.
        """
        now = replace(self._now(tool), pinned=True, seen=True)
        known = self._known.get((tool.server, tool.raw), ())
        if known and (last := known[-1]).pinned and _same(last, now):
            return None
        return self._put((tool.server, tool.raw), now)

    def sighted(self, tool: Tool) -> Callable[[], str] | None:
        """A server lists the tool as it is now; only a change of a pinned one is kept. Returns as `pin`."""
        known = self._known.get((tool.server, tool.raw), ())
        if not known or known[-1].fingerprint == (now := self._now(tool)).fingerprint:
            return None
        return self._put((tool.server, tool.raw), now)

    def looked_at(self, tool: Tool) -> Callable[[], str] | None:
        """The person looked at how it changed: it is no longer marked, and asks all the same."""
        if not self.is_changed(tool):
            return None
        return self._put((tool.server, tool.raw), replace(self._now(tool), seen=True))

    def history(self, tool: Tool) -> tuple[DefinitionChange, ...]:
        """The tool's definitions with their differences, oldest first; the last one is in force."""
        known = self._known.get((tool.server, tool.raw), ())
        now = self._now(tool)
        if not known or known[-1].fingerprint != now.fingerprint:
            known = (*known, now)
        changes = [DefinitionChange(known[0].time, known[0].fingerprint)]
        for before, after in itertools.pairwise(known):
            if before.fingerprint != after.fingerprint:
                changes.append(
                    DefinitionChange(after.time, after.fingerprint, difference(before.shown, after.shown))
                )
        return tuple(changes)

    def _now(self, tool: Tool) -> Definition:
        return Definition(fingerprint(tool), tool.identity, told(tool), self._clock())

    def _put(self, name: Name, now: Definition) -> Callable[[], str]:
        """Put `now` at the end, in the place of an equal one there."""
        self._known[name] = kept = _joined(self._known.get(name, ()), now)

        def change(document: Document) -> None:
            document["version"] = 1
            rows = [row for row in _rows(document) if (row["server"], row["tool"]) != name]
            document["tool"] = [*rows, *(_row(name, one) for one in kept)]

        def write() -> str:
            failed = update_toml(self._path, change)
            return f"What tools said when you let them run was not kept. {failed.sentence}" if failed else ""

        return write


def difference(before: str, after: str) -> str:
    """A unified diff of two definitions as text; empty when they say the same."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2)
    return "\n".join(lines)


def _same(one: Definition, other: Definition) -> bool:
    return (one.fingerprint, one.identity) == (other.fingerprint, other.identity)


def _joined(known: tuple[Definition, ...], now: Definition) -> tuple[Definition, ...]:
    if known and known[-1].fingerprint == now.fingerprint:
        last = known[-1]
        now = replace(now, time=last.time, pinned=now.pinned or last.pinned, seen=now.seen or last.seen)
        known = known[:-1]
    kept = (*known, now)
    pinned = [one for one in kept[:-MOST] if one.pinned][-1:]
    return (*pinned, *kept[-MOST:]) if len(kept) > MOST else kept


def _row(name: Name, one: Definition) -> dict[str, Any]:
    return {"server": name[0], "tool": name[1], **asdict(one)}


def _rows(document: Document) -> Iterator[Mapping[str, Any]]:
    rows = document.get("tool")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, Mapping) and all(isinstance(row.get(key), str) for key in ("server", "tool")):
            yield row


def _kept(document: Document) -> dict[Name, tuple[Definition, ...]]:
    kept: dict[Name, tuple[Definition, ...]] = {}
    for row in _rows(document):
        when = row.get("time")
        one = Definition(
            str(row.get("fingerprint", "")),
            str(row.get("identity", "")),
            str(row.get("shown", "")),
            float(when) if isinstance(when, int | float) else 0.0,
            row.get("pinned") is True,
            row.get("seen") is True,
        )
        name = (row["server"], row["tool"])
        kept[name] = (*kept.get(name, ()), one)
    return kept
