"""Every tool of every server, and which of them are loaded.

Rows and inventory depend only on names, never on which server answered first. Readable from any thread:
what is handed out is made whole beforehand. Not here: talking to servers (connection), built-in tools.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from hel_tui.core.mcp.binary import ResultFiles
from hel_tui.core.mcp.blank import blank_arguments
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.listing import Listing, ToolSpec
from hel_tui.core.mcp.naming import public_name
from hel_tui.core.mcp.tool import Caller, McpTool
from hel_tui.core.protocol import ToolDetail, ToolRow
from hel_tui.core.vocabulary import Json, estimate_tokens
from hel_tui.foreign import for_model

DESCRIPTION_LENGTH = 300
NEAREST = 3

LoadState = Literal["loaded", "already loaded", "unknown", "not offered"]


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What became of one name. `detail`: the nearest names, or why it is not offered."""

    name: str
    state: LoadState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ListChange:
    """How a new generation of one server's tools differs from the one before; raw names."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    """Those of the removed and changed ones that are loaded."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class _Listed:
    """One row before it is shown."""

    spec: ToolSpec
    public: str
    tokens: int
    reason: str
    tool: McpTool | None
    blank: str


class Catalogue:
    """The tools of all servers. Written on the core's loop, read anywhere."""

    def __init__(
        self, files: Callable[[], ResultFiles], on_change: Callable[[], None] = lambda: None
    ) -> None:
        self._files = files
        self._on_change = on_change
        self._servers: dict[str, tuple[_Listed, ...]] = {}
        self._loaded: dict[str, None] = {}
        """Public names in the order they were loaded; a name stays while its tool is away."""
        self._always: set[str] = set()
        """Servers whose tools are loaded by themselves."""
        self._tools: dict[str, McpTool] = {}
        self._rows: tuple[ToolRow, ...] = ()
        self.version = 0

    # --------------------------------------------------------------- generations

    def replace(self, entry: ServerEntry, listing: Listing, call: Caller) -> ListChange:
        """Put a complete new generation in the place of the old one and say what changed (first: nothing)."""
        before = self._servers.get(entry.name)
        after = self._build(entry, listing, call)
        change = ListChange() if before is None else _compare(before, after, self._loaded)
        self._servers[entry.name] = after
        if entry.always_load:
            self._always.add(entry.name)
        self._load_always()
        self._changed()
        return change

    def _load_always(self) -> None:
        for server in sorted(self._always):
            listed = self._servers.get(server, ())
            self._loaded.update({one.public: None for one in listed if one.tool is not None})

    def remove(self, server: str) -> None:
        """The server is off or given up: its tools leave."""
        if self._servers.pop(server, None) is not None:
            self._changed()

    def _build(self, entry: ServerEntry, listing: Listing, call: Caller) -> tuple[_Listed, ...]:
        listed: list[_Listed] = []
        identity = entry.identity
        for spec in listing.tools:
            public = public_name(entry.name, spec.raw) if spec.raw else ""
            reason = spec.problem or _unwanted(entry, spec.raw)
            tool = None
            tokens = 0
            if not reason:
                tool = McpTool(
                    entry.name,
                    spec,
                    call,
                    self._files,
                    trust_annotations=entry.trust_annotations,
                    parallel=entry.parallel,
                    identity=identity,
                )
                tokens = _tokens(public, spec)
            blank = blank_arguments(spec.parameters) if tool is not None else "{}"
            listed.append(_Listed(spec, public, tokens, reason, tool, blank))
        return tuple(sorted(listed, key=lambda one: (one.spec.raw, one.reason)))

    def _changed(self) -> None:
        self._tools = {
            one.public: one.tool
            for _, listed in sorted(self._servers.items())
            for one in listed
            if one.tool is not None
        }
        self._refresh_rows()

    def _refresh_rows(self) -> None:
        self._rows = tuple(
            ToolRow(
                server=server,
                raw=one.spec.raw,
                public=one.public,
                description=first_line(one.spec.description),
                tokens=one.tokens,
                loaded=one.tool is not None and one.public in self._loaded,
                reason=one.reason,
                blank=one.blank,
            )
            for server, listed in sorted(self._servers.items())
            for one in listed
        )
        self.version += 1
        self._on_change()

    # -------------------------------------------------------------------- reading

    def rows(self) -> tuple[ToolRow, ...]:
        """All tools, those that are not offered with their reason; in order of server and raw name."""
        return self._rows

    def inventory(self) -> tuple[tuple[str, str], ...]:
        """(public name, first line of the description) of every tool on offer, in name order."""
        tools = self._tools
        return tuple((name, for_model(first_line(tools[name].spec.description))) for name in sorted(tools))

    def get(self, public: str) -> McpTool | None:
        """The tool on offer under this public name."""
        return self._tools.get(public)

    def find(self, server: str, raw: str) -> McpTool | None:
        """The tool on offer of this server under its own name."""
        tool = self._tools.get(public_name(server, raw))
        return tool if tool is not None and (tool.server, tool.raw) == (server, raw) else None

    def detail(self, server: str, raw: str) -> ToolDetail | None:
        """Everything about one listed tool; None when there is none of this name."""
        for row, one in zip(self._rows, self._listed(), strict=True):
            if (row.server, row.raw) == (server, raw):
                return ToolDetail(
                    row=row,
                    description=one.spec.description,
                    sent=_pretty(one.spec.parameters),
                    given=_pretty(one.tool.definition.parameters) if one.tool is not None else "",
                    claims=one.tool.claims if one.tool is not None else (),
                    warnings=one.tool.warnings if one.tool is not None else (),
                )
        return None

    def _listed(self) -> Iterator[_Listed]:
        """All listed tools in the order of the rows."""
        for _, listed in sorted(self._servers.items()):
            yield from listed

    def nearest(self, name: str) -> tuple[str, ...]:
        """Public names that `name` may have meant, the likeliest first."""
        tools = self._tools
        by_raw = [public for public, tool in tools.items() if tool.raw == name]
        close = difflib.get_close_matches(name, tools, NEAREST)
        return tuple(dict.fromkeys([*by_raw, *close]))[:NEAREST]

    @property
    def offered(self) -> int:
        """How many tools are on offer."""
        return len(self._tools)

    def fix_order(self) -> None:
        """A request is made: what is loaded by itself has its place from now on."""

    def quarantine(self, public: str, reason: str) -> None:
        """Stop offering a tool until its definition or the model changes."""

    # -------------------------------------------------------------------- loading

    def loaded(self) -> tuple[McpTool, ...]:
        """The loaded tools that are on offer now, in the order they were loaded."""
        return tuple(self._tools[name] for name in self._loaded if name in self._tools)

    def load(self, names: Iterable[str]) -> tuple[LoadResult, ...]:
        """Load tools by public name; says for each name what became of it."""
        results = tuple(self._load(name) for name in names)
        if any(one.state == "loaded" for one in results):
            self._refresh_rows()
        return results

    def _load(self, name: str) -> LoadResult:
        if name in self._tools:
            if name in self._loaded:
                return LoadResult(name, "already loaded")
            self._loaded[name] = None
            return LoadResult(name, "loaded")
        for listed in self._servers.values():
            for one in listed:
                if name and name == one.public:
                    return LoadResult(name, "not offered", one.reason)
        return LoadResult(name, "unknown", ", ".join(self.nearest(name)))

    def unload(self, names: Iterable[str]) -> None:
        """Take tools out of the requests; names that are not loaded do not matter."""
        before = len(self._loaded)
        for name in names:
            self._loaded.pop(name, None)
        if len(self._loaded) != before:
            self._refresh_rows()

    def unload_all(self) -> None:
        """A new conversation begins with nothing loaded, except what its server's entry asks for."""
        self._loaded.clear()
        self._load_always()
        self._refresh_rows()


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


def _pretty(schema: Json) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False, default=str)


def _tokens(public: str, spec: ToolSpec) -> int:
    definition = {"name": public, "description": spec.description, "parameters": spec.parameters}
    return estimate_tokens(json.dumps(definition, ensure_ascii=False, default=str))


def _compare(before: tuple[_Listed, ...], after: tuple[_Listed, ...], loaded: dict[str, None]) -> ListChange:
    old = {one.spec.raw: one for one in before if one.tool is not None}
    new = {one.spec.raw: one for one in after if one.tool is not None}
    removed = tuple(raw for raw in old if raw not in new)
    changed = tuple(raw for raw in new if raw in old and new[raw].spec != old[raw].spec)
    return ListChange(
        added=tuple(raw for raw in new if raw not in old),
        removed=removed,
        changed=changed,
        loaded=tuple(raw for raw in (*removed, *changed) if old[raw].public in loaded),
    )
