"""`search_mcp_tools`: the tool with which the model finds tools too many to be listed.

The person searches the same way. Contacts no server; each search leaves a trace. Not here: ranking (search),
which tools are on offer (catalogue).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from hel_tui.core.mcp.catalogue import Catalogue
from hel_tui.core.mcp.generations import Listed, first_line
from hel_tui.core.mcp.own import OwnTool
from hel_tui.core.protocol import SearchHit, SearchTrace, ServerChanged
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Invocation, Json, Outcome, ToolDefinition
from hel_tui.foreign import for_model, plain_line, whole_characters

if TYPE_CHECKING:
    from hel_tui.core.mcp.search import Document, Part

NAME = "search_mcp_tools"
USUAL, MOST = 10, 20
"""Hits when no number is asked for, and at most."""
KEPT = 200
"""Traces."""
MOST_QUERY = 500
"""Characters."""
_MOST_SERVERS = 30
_REASON_LENGTH = 200
_AT_ONCE = 100
_AT_ONCE_LENGTH = 50_000
"""Tools, and characters of their descriptions, that are indexed without a thread."""
NO_MATCH = "no match"

_DEFINITION = ToolDefinition(
    NAME,
    "Search the tools of MCP servers that are too many to be listed. Say what you want to do in a few words, "
    "in English where you can; names of servers and tools count too. Load what you need of the result with "
    "load_mcp_tool.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool should do, such as: create an issue."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST,
                "description": f"How many tools to name; {USUAL} when left out.",
            },
        },
        "required": ["query"],
    },
)


class Searcher:
    """The index over the catalogue, and what was searched. In the core's loop; `traces` is safe anywhere."""

    def __init__(
        self,
        catalogue: Catalogue,
        statuses: Callable[[], Sequence[ServerChanged]],
        on_search: Callable[[SearchTrace], None] = lambda _trace: None,
        *,
        mask: Callable[[str], str] = lambda text: text,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`statuses`: of all servers, by name. `mask` takes secrets out of what is kept of a query."""
        self.catalogue = catalogue
        self._statuses = statuses
        self._on_search = on_search
        self._mask = mask
        self._now = now
        self._parts: dict[str, tuple[tuple[Listed, ...], Part]] = {}
        self._lock = asyncio.Lock()
        self._traces: deque[SearchTrace] = deque(maxlen=KEPT)
        self._count = 0

    async def search(self, query: str, by: Literal["model", "person"], limit: int = MOST) -> SearchTrace:
        """Search all tools on offer; the best `limit`, best first. Leaves a trace and tells of it."""
        from hel_tui.core.mcp.search import search

        query = whole_characters(query[:MOST_QUERY])
        parts = await self._indexed()
        catalogue = self.catalogue

        def is_there(document: Document) -> bool:
            tool = catalogue.get(document.public)
            return tool is not None and (tool.server, tool.raw) == (document.server, document.raw)

        searched = catalogue.offered
        found, matched = await in_thread(lambda: search(parts.values(), query, limit, is_there), "hel-search")
        hits = tuple(
            SearchHit(
                one.document.public,
                one.document.server,
                one.document.raw,
                round(one.score, 3),
                tuple(map(self._mask, one.words)),
            )
            for one in found
        )
        self._count += 1
        trace = SearchTrace(
            number=self._count,
            time=self._now(),
            query=self._mask(query),
            by=by,
            hits=hits,
            matched=matched,
            searched=searched,
            absent=tuple(self._absent({hit.server for hit in hits})),
        )
        self._traces.append(trace)
        self._on_search(trace)
        return trace

    def traces(self) -> tuple[SearchTrace, ...]:
        """The searches of this session, the oldest first; the last 200."""
        return tuple(self._traces.copy())

    def clear(self) -> None:
        """A new session begins: nothing was searched in it."""
        self._traces.clear()
        self._count = 0

    async def _indexed(self) -> dict[str, Part]:
        """The parts of all servers as they list their tools now; only what is new is indexed."""
        from hel_tui.core.mcp.search import build

        async with self._lock:
            while True:
                listed = self.catalogue.generations()
                known = {
                    server: kept for server, kept in self._parts.items() if listed.get(server) is kept[0]
                }
                new = {server: tools for server, tools in listed.items() if server not in known}
                if not new:
                    self._parts = known
                    return {server: part for server, (_, part) in sorted(known.items())}

                def work(new: Mapping[str, tuple[Listed, ...]] = new) -> dict[str, Part]:
                    return {server: build(_documents(server, tools)) for server, tools in new.items()}

                light = _is_light(new.values())
                built = work() if light else await in_thread(work, "hel-index")
                self._parts = known | {server: (new[server], part) for server, part in built.items()}

    def _absent(self, present: set[str]) -> list[tuple[str, str]]:
        """Every server that no hit is of, and why."""
        return [(status.name, _why(status)) for status in self._statuses() if status.name not in present]


def _documents(server: str, listed: Sequence[Listed]) -> list[Document]:
    from hel_tui.core.mcp.search import Document

    return [
        Document(
            one.public,
            server,
            one.spec.raw,
            title if isinstance(title := one.spec.annotations.get("title"), str) else "",
            one.spec.description,
            one.spec.parameters,
        )
        for one in listed
        if one.tool is not None
    ]


def _why(status: ServerChanged) -> str:
    """Why nothing of a server was found."""
    reason = plain_line(for_model(status.reason))[:_REASON_LENGTH]
    match status.phase:
        case "starting":
            return "still starting"
        case "restarting":
            return "starting again"
        case "failed" | "stopped":
            return f"{status.phase}: {reason}" if reason else status.phase
        case "off" | "needs login":
            return status.phase
        case "untrusted":
            return "not trusted by the person"
        case _:
            return NO_MATCH if status.tools else "it has no tools"


class SearchMcpTools(OwnTool):
    """Implements `vocabulary.Tool`."""

    raw = NAME
    definition = _DEFINITION

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher

    def summary(self, arguments: Json) -> str:
        """The query."""
        query = arguments.get("query")
        return " ".join(query.split())[:200] if isinstance(query, str) else ""

    async def run(self, arguments: Json, invocation: Invocation) -> Outcome:  # noqa: ARG002
        """Search, and name what was found, and which servers could not be searched."""
        query, limit = arguments.get("query"), arguments.get("limit", USUAL)
        if not isinstance(query, str) or not query.strip():
            return Outcome("arguments.query: say in a few words what the tool should do.", failed=True)
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            return Outcome(f"arguments.limit: must be a whole number from 1 to {MOST}.", failed=True)
        trace = await self._searcher.search(query, "model", min(limit, MOST))
        return Outcome("\n".join(_lines(trace, self._searcher.catalogue)))


def _lines(trace: SearchTrace, catalogue: Catalogue) -> list[str]:
    loaded = {tool.definition.name for tool in catalogue.loaded()}
    lines = []
    for hit in trace.hits:
        tool = catalogue.get(hit.public)
        description = plain_line(for_model(first_line(tool.spec.description))) if tool is not None else ""
        mark = " (loaded)" if hit.public in loaded else ""
        lines.append(f"- {hit.public}{mark}: {description}")
    if not lines:
        lines = ["No tool matches. Try other words, or the name of a server.", *_servers(catalogue)]
    else:
        if trace.matched > len(trace.hits):
            lines.insert(0, f"The best {len(trace.hits)} of {trace.matched:,} tools that match:")
        if any(hit.public not in loaded for hit in trace.hits):
            lines += ["", "Load a tool with load_mcp_tool, by its full name, before you use it."]
    lines += _not_searched(trace.absent)
    return lines


def _servers(catalogue: Catalogue) -> list[str]:
    """How many tools each server has."""
    counts: dict[str, int] = {}
    for tool in catalogue.tools():
        counts[tool.server] = counts.get(tool.server, 0) + 1
    named = [f"{server} ({count:,})" for server, count in sorted(counts.items())]
    if not named:
        return ["No server has any tool on offer now."]
    return ["Servers with their numbers of tools: " + _some(named) + "."]


def _not_searched(absent: Sequence[tuple[str, str]]) -> list[str]:
    """A sentence about servers whose tools are not there; those that only did not match are none."""
    named = [f"{server} ({why})" for server, why in absent if why not in (NO_MATCH, "it has no tools")]
    return ["Not searched, their tools are not there now: " + _some(named) + "."] if named else []


def _some(named: Sequence[str]) -> str:
    more = f", and {len(named) - _MOST_SERVERS} more" if len(named) > _MOST_SERVERS else ""
    return ", ".join(named[:_MOST_SERVERS]) + more


def _is_light(generations: Iterable[tuple[Listed, ...]]) -> bool:
    """Whether so little is to be indexed that a thread would cost more."""
    specs = [one.spec for listed in generations for one in listed]
    return len(specs) <= _AT_ONCE and sum(len(one.description) for one in specs) <= _AT_ONCE_LENGTH
