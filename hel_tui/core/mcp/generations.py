"""One generation of a server's tools: built from what it listed, and compared with the one before.

Pure functions and data. Not here: which are loaded or switched off (catalogue), reading the list (listing).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

from hel_tui.core.mcp.binary import ResultFiles
from hel_tui.core.mcp.blank import blank_arguments
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.listing import Listing, ToolSpec
from hel_tui.core.mcp.naming import Naming, excluded_names, public_name
from hel_tui.core.mcp.tool import Caller, McpTool
from hel_tui.core.vocabulary import estimate_tokens

DESCRIPTION_LENGTH = 300


@dataclass(frozen=True, slots=True)
class ListChange:
    """How a new generation of one server's tools differs from the one before; raw names."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    """Those of the removed and changed ones that are loaded."""
    before: tuple[Listed, ...] = ()
    after: tuple[Listed, ...] = ()
    """Those that are different, as they were and as they are."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class Listed:
    """One listed tool. `tool` is None for one that cannot be offered, whatever the person wants."""

    spec: ToolSpec
    public: str
    tokens: int
    reason: str
    tool: McpTool | None
    blank: str


def build(
    entry: ServerEntry, listing: Listing, call: Caller, files: Callable[[], ResultFiles], naming: Naming
) -> tuple[Listed, ...]:
    """The tools of a listing by their own names; those that cannot be offered with their reason."""
    identity = entry.identity
    unfit: dict[str, str] = {}
    if naming == "exclude":
        unfit = excluded_names(entry.name, [spec.raw for spec in listing.tools if spec.raw])
    listed: list[Listed] = []
    for spec in listing.tools:
        public = public_name(entry.name, spec.raw) if spec.raw else ""
        if reason := spec.problem or _unwanted(entry, spec.raw) or unfit.get(spec.raw, ""):
            listed.append(Listed(spec, public, 0, reason, None, "{}"))
            continue
        tool = McpTool(
            entry.name,
            spec,
            call,
            files,
            trust_annotations=entry.trust_annotations,
            parallel=entry.parallel,
            identity=identity,
            limit=entry.timeout,
        )
        listed.append(Listed(spec, public, _tokens(public, spec), "", tool, blank_arguments(spec.parameters)))
    return tuple(sorted(listed, key=lambda one: (one.spec.raw, one.reason)))


def first_line(description: str) -> str:
    """The first line of a description that says something, at most 300 characters with `…`."""
    line = next((line.strip() for line in description.splitlines() if line.strip()), "")
    return line if len(line) <= DESCRIPTION_LENGTH else line[: DESCRIPTION_LENGTH - 1] + "…"


def _unwanted(entry: ServerEntry, raw: str) -> str:
    """Why the entry's filters leave this tool out; include wins over exclude."""
    if any(fnmatchcase(raw, glob) for glob in entry.include):
        return ""
    if entry.include:
        return "the configuration includes other tools only"
    if any(fnmatchcase(raw, glob) for glob in entry.exclude):
        return "excluded by the configuration"
    return ""


def _tokens(public: str, spec: ToolSpec) -> int:
    definition = {"name": public, "description": spec.description, "parameters": spec.parameters}
    return estimate_tokens(json.dumps(definition, ensure_ascii=False, default=str))


def compare(before: tuple[Listed, ...], after: tuple[Listed, ...], loaded: Collection[str]) -> ListChange:
    old = {one.spec.raw: one for one in before if one.tool is not None}
    new = {one.spec.raw: one for one in after if one.tool is not None}
    removed = tuple(raw for raw in old if raw not in new)
    changed = tuple(raw for raw in new if raw in old and new[raw].spec != old[raw].spec)
    added = tuple(raw for raw in new if raw not in old)
    return ListChange(
        added=added,
        removed=removed,
        changed=changed,
        loaded=tuple(raw for raw in (*removed, *changed) if old[raw].public in loaded),
        before=tuple(old[raw] for raw in (*removed, *changed)),
        after=tuple(new[raw] for raw in (*changed, *added)),
    )
