"""Every tool of every server, and which of them are loaded.

Rows and inventory depend only on names, never on which server answered first. Readable from any thread:
what is handed out is made whole beforehand. Not here: talking to servers (connection), built-in tools.
"""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hel_tui.core.mcp.binary import ResultFiles
from hel_tui.core.mcp.choices import Choices
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.generations import ListChange, Listed, build, compare, first_line
from hel_tui.core.mcp.listing import Listing, ToolSpec
from hel_tui.core.mcp.loading import Loading
from hel_tui.core.mcp.naming import Naming, public_name
from hel_tui.core.mcp.tool import Caller, McpTool
from hel_tui.core.protocol import ToolDetail, ToolRow
from hel_tui.core.vocabulary import Json
from hel_tui.foreign import for_model

NEAREST = 3
MOST_COMPARED = 2_000
"""Names that a wrong one is compared with; with more, only those that share a part with it."""
OFF = "switched off by you"

LoadState = Literal["loaded", "already loaded", "unknown", "not offered", "no room"]
LoadingMode = Literal["deferred", "eager"]


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What became of one name. `detail`: the nearest names, or why it is not offered."""

    name: str
    state: LoadState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Server:
    """The tools of one server, and what is shown of them."""

    listed: tuple[Listed, ...]
    always: bool
    """All of them load by themselves."""
    rows: tuple[ToolRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all servers: tools, and estimated tokens of their definitions."""

    loaded: int = 0
    offered: int = 0
    loaded_tokens: int = 0
    offered_tokens: int = 0


class Catalogue:
    """The tools of all servers. Written on the core's loop, read anywhere.

    A change costs what the tools of its server cost, however many others there are.
    """

    def __init__(
        self,
        files: Callable[[], ResultFiles],
        on_change: Callable[[], None] = lambda: None,
        *,
        choices: Choices | None = None,
        naming: Naming = "hash",
        loading: LoadingMode = "deferred",
    ) -> None:
        self._files = files
        self._on_change = on_change
        self._servers: dict[str, _Server] = {}
        """Replaced as a whole with every change, rows and all: others may be reading."""
        self._staged = self._servers
        """What it will be, while a change is made."""
        self._tools: dict[str, McpTool] = {}
        self._listed: dict[str, tuple[str, Listed]] = {}
        """By public name: server and tool, those not offered too."""
        self._quarantined: dict[str, tuple[ToolSpec, str]] = {}
        self._loading = Loading()
        self._loaded: tuple[str, ...] = ()
        self._inventory: tuple[tuple[str, str], ...] | None = None
        self._always_offered: dict[str, None] = {}
        """Tools on offer that load by themselves."""
        self.choices = choices or Choices()
        self.naming: Naming = naming
        self.loading: LoadingMode = loading
        self.is_changed: Callable[[McpTool], bool] = lambda _tool: False
        """Whether a tool is not what it was when the person let it run first."""
        self.on_listed: Callable[[tuple[McpTool, ...]], None] = lambda _tools: None
        """Hears of the tools of each new generation."""
        self.adapted: Callable[[McpTool], int] = lambda _tool: 0
        """How many changes its schema needs for the model."""
        self.version = 0

    # --------------------------------------------------------------- generations

    def replace(self, entry: ServerEntry, listing: Listing, call: Caller) -> ListChange:
        """Put a complete new generation in the place of the old one and say what changed (first: nothing)."""
        before = self._servers.get(entry.name)
        after = _Server(build(entry, listing, call, self._files, self.naming), entry.always_load)
        change = ListChange() if before is None else compare(before.listed, after.listed, set(self._loaded))
        self._put(entry.name, after)
        self._changed(entry.name)
        self.on_listed(tuple(one.tool for one in after.listed if one.tool is not None))
        return change

    def remove(self, server: str) -> None:
        """The server is off or given up: its tools leave."""
        if server in self._servers:
            self._put(server, None)
            self._changed()

    def _put(self, name: str, server: _Server | None) -> None:
        """Make `server` the one of this name, and what can be looked up agree with it."""
        servers = dict(self._staged)
        before = servers.pop(name, None)
        for one in before.listed if before is not None else ():
            if self._listed.get(one.public, ("", None))[1] is one:
                del self._listed[one.public]
                self._tools.pop(one.public, None)
                self._always_offered.pop(one.public, None)
        if server is not None:
            servers[name] = server
            for one in server.listed:
                known = self._listed.get(one.public)
                if one.public and (known is None or known[1].tool is None):
                    self._listed[one.public] = (name, one)
            self._offer(name, server)
        self._staged = dict(sorted(servers.items()))

    def _offer(self, name: str, server: _Server) -> None:
        """Put those tools of a server on offer that may be, and take the others away."""
        for one in server.listed:
            if one.tool is None:
                continue
            is_wanted = (name, one.spec.raw) not in self.choices.off and not self._quarantine_of(one)
            if not is_wanted:
                self._tools.pop(one.public, None)
                self._always_offered.pop(one.public, None)
                continue
            self._tools[one.public] = one.tool
            is_pinned = (name, one.spec.raw) in self.choices.pinned
            if server.always or self.loading == "eager" or is_pinned:
                self._always_offered[one.public] = None
            else:
                self._always_offered.pop(one.public, None)

    def _quarantine_of(self, one: Listed) -> str:
        spec, reason = self._quarantined.get(one.public, (None, ""))
        return reason if spec == one.spec else ""

    def _changed(self, *touched: str) -> None:
        """Tools of these servers changed, or what is loaded: their rows are made anew, and only theirs."""
        before = self._loaded
        self._loaded = self._loading.names(self._tools, self._always_offered)
        self._inventory = None
        moved = set(before) ^ set(self._loaded)
        names = {*touched, *(self._listed[name][0] for name in moved if name in self._listed)}
        loaded = set(self._loaded)
        servers = dict(self._staged)
        for name in names & servers.keys():
            server = servers[name]
            rows = tuple(self._row(name, one, loaded) for one in server.listed)
            servers[name] = replace(server, rows=rows)
        self._servers = self._staged = servers
        self.version += 1
        self._on_change()

    def _row(self, server: str, one: Listed, loaded: Collection[str]) -> ToolRow:
        name = (server, one.spec.raw)
        is_off = name in self.choices.off
        tool = one.tool
        reason = one.reason or (OFF if is_off else self._quarantine_of(one))
        is_loaded = tool is not None and not reason and one.public in loaded
        return ToolRow(
            server=server,
            raw=one.spec.raw,
            public=one.public,
            description=first_line(one.spec.description),
            tokens=one.tokens,
            loaded=is_loaded,
            reason=reason,
            blank=one.blank,
            pinned=name in self.choices.pinned,
            off=is_off,
            changed=tool is not None and self.is_changed(tool),
            warnings=len(tool.warnings) if tool is not None else 0,
            adapted=self.adapted(tool) if tool is not None and is_loaded else 0,
        )

    def refresh(self, *servers: str) -> None:
        """What the rows say of these servers' tools (none: of all) may be another thing now."""
        self._changed(*(servers or self._servers))

    # -------------------------------------------------------------------- reading

    def rows(self) -> tuple[ToolRow, ...]:
        """All tools, those that are not offered with their reason; in order of server and raw name."""
        return tuple(itertools.chain.from_iterable(server.rows for server in self._servers.values()))

    def rows_of(self, server: str) -> tuple[ToolRow, ...]:
        """The same of one server."""
        known = self._servers.get(server)
        return known.rows if known is not None else ()

    def totals(self) -> Totals:
        """Sums over all tools."""
        rows = [row for row in self.rows() if not row.reason]
        loaded = [row for row in rows if row.loaded]
        return Totals(
            len(loaded), len(rows), sum(row.tokens for row in loaded), sum(row.tokens for row in rows)
        )

    def inventory(self) -> tuple[tuple[str, str], ...]:
        """(public name, first line of the description) of every tool that has to be loaded, in name order.

        Those that load by themselves are not, unless there was no room or the person unloaded them.
        """
        if self._inventory is None:
            there = {name for name in self._always_offered if not self._is_pinned(name)} & set(self._loaded)
            self._inventory = tuple(
                (name, for_model(first_line(tool.spec.description)))
                for name, tool in sorted(self._tools.items())
                if name not in there
            )
        return self._inventory

    def _is_pinned(self, public: str) -> bool:
        """Whether it is loaded because the person pinned it, and for no other reason."""
        server, one = self._listed[public]
        by_config = self.loading == "eager" or self._servers[server].always
        return not by_config and (server, one.spec.raw) in self.choices.pinned

    @property
    def offered(self) -> int:
        """How many tools are on offer."""
        return len(self._tools)

    @property
    def without_room(self) -> int:
        """How many tools that load by themselves found no room under the provider's limit."""
        return len(self._always_offered.keys() - set(self._loaded)) if self._loading.limit else 0

    def get(self, public: str) -> McpTool | None:
        """The tool on offer under this public name."""
        return self._tools.get(public)

    def find(self, server: str, raw: str) -> McpTool | None:
        """The tool on offer of this server under its own name."""
        tool = self._tools.get(public_name(server, raw))
        return tool if tool is not None and (tool.server, tool.raw) == (server, raw) else None

    def tools(self) -> tuple[McpTool, ...]:
        """All tools on offer, in name order."""
        return tuple(tool for _, tool in sorted(self._tools.items()))

    def generations(self) -> Mapping[str, tuple[Listed, ...]]:
        """What each server lists, whether or not it is on offer; another tuple with each new generation."""
        return {name: server.listed for name, server in self._servers.items()}

    def detail(self, server: str, raw: str) -> ToolDetail | None:
        """What is known of one listed tool; None when there is none of this name."""
        known = self._servers.get(server)
        for row, one in zip(known.rows, known.listed, strict=True) if known is not None else ():
            if row.raw == raw:
                tool = one.tool
                return ToolDetail(
                    row=row,
                    description=one.spec.description,
                    sent=pretty(one.spec.sent),
                    output=pretty(one.spec.output) if one.spec.output is not None else "",
                    given=pretty(tool.definition.parameters) if tool is not None else "",
                    claims=tool.claims if tool is not None else (),
                    warnings=tool.warnings if tool is not None else (),
                )
        return None

    def nearest(self, name: str) -> tuple[str, ...]:
        """Public names that `name` may have meant, the likeliest first."""
        tools = self._tools
        by_raw = [public for public, tool in tools.items() if tool.raw == name]
        names: Sequence[str] = tuple(tools)
        if len(names) > MOST_COMPARED:
            parts = [
                part for part in re.split(r"[^a-z0-9]+", name.lower()) if len(part) > 3 and part != "mcp"
            ]
            names = [public for public in names if any(part in public.lower() for part in parts)]
        close = difflib.get_close_matches(name, names[:MOST_COMPARED], NEAREST, 0.5)
        return tuple(dict.fromkeys([*by_raw, *close]))[:NEAREST]

    # -------------------------------------------------------------------- loading

    def loaded(self) -> tuple[McpTool, ...]:
        """The loaded tools that are on offer now, in the order they were loaded."""
        return tuple(self._tools[name] for name in self._loaded)

    def fix_order(self) -> None:
        """A request is made: what is loaded by itself has its place from now on."""
        self._loading.fix(self._loaded)

    def load(self, names: Iterable[str]) -> tuple[LoadResult, ...]:
        """Load tools by public name; says for each name what became of it."""
        results = tuple(self._load(name) for name in names)
        if any(one.state == "loaded" for one in results):
            self._changed()
        return results

    def _load(self, name: str) -> LoadResult:
        if name not in self._tools:
            if name in self._listed:
                server, one = self._listed[name]
                return LoadResult(name, "not offered", self._row(server, one, ()).reason)
            return LoadResult(name, "unknown", ", ".join(self.nearest(name)))
        loaded = self._loading.names(self._tools, self._always_offered)
        if name in loaded:
            return LoadResult(name, "already loaded")
        if self._loading.limit and len(loaded) >= self._loading.limit:
            return LoadResult(
                name, "no room", f"the provider takes no more than {self._loading.limit} of them"
            )
        self._loading.add(name)
        return LoadResult(name, "loaded")

    def unload(self, names: Iterable[str]) -> None:
        """Take tools out of the requests of this conversation; names that are not loaded do not matter."""
        for name in names:
            if name in self._tools:
                self._loading.drop(name)
        self._changed()

    def unload_all(self) -> None:
        """A new conversation begins with nothing loaded, except what loads by itself."""
        self._loading.clear()
        self._changed()

    def pin(self, names: Iterable[str], on: bool) -> Callable[[], str]:
        """Keep tools (public names) loaded in every conversation, or no longer. Returns what writes it down,
        to be run in a thread: it gives a sentence when it could not.
        """
        known = [name for name in names if name in self._listed]
        pairs = frozenset((server, one.spec.raw) for server, one in map(self._listed.__getitem__, known))
        write = self.choices.pin(pairs, on)
        for name in known:
            if on:
                self._loading.wanted(name)
        self._offer_again({server for server, _ in pairs})
        return write

    def switch(self, server: str, raw: str, on: bool) -> Callable[[], str]:
        """Offer one tool to the model, or no longer. Returns as `pin`."""
        write = self.choices.switch((server, raw), on)
        self._offer_again({server})
        return write

    def quarantine(self, public: str, reason: str) -> None:
        """Stop offering a tool until its definition or the model changes."""
        if public in self._tools:
            server, one = self._listed[public]
            self._quarantined[public] = (one.spec, reason)
            self._offer_again({server})

    def limit(self, most: int) -> None:
        """Load no more than so many tools from now on; 0 for any number."""
        self._loading.limit = most
        self._changed()

    def model_changed(self, limit: int) -> None:
        """Another model answers: it may take what the last one refused, and so many server tools (0: any)."""
        servers = {self._listed[name][0] for name in self._quarantined if name in self._listed}
        self._quarantined.clear()
        self._loading.limit = limit
        loaded = {self._listed[name][0] for name in self._loaded}
        self._offer_again(servers | loaded)

    def choices_loaded(self) -> None:
        """The person's choices were read."""
        self._offer_again(set(self._servers))

    def _offer_again(self, servers: Collection[str]) -> None:
        for name in servers:
            if (known := self._servers.get(name)) is not None:
                self._offer(name, known)
        self._changed(*servers)


def pretty(schema: Json) -> str:
    """A schema as indented JSON."""
    return json.dumps(schema, indent=2, ensure_ascii=False, default=str)
