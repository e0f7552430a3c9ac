"""Searches over the tools in one session: the person's own, the record of all, servers that are not hosted.

Not here: searching (mcp), what the model is told (mcp.searcher).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from hel_tui.core.mcp.host import Host
from hel_tui.core.protocol import Event, SearchTrace, ServerChanged, ServerRemoved
from hel_tui.core.session.pages import Pages


class Searches:
    """What the session adds to the host's search. Lives in the core's loop; `traces` is safe anywhere."""

    def __init__(self, host: Host, record: Pages, emit: Callable[[Event], None]) -> None:
        self._host = host
        self._record = record
        self._emit = emit
        self._standing: dict[str, ServerChanged] = {}
        host.on_search = self._searched
        host.others = lambda: tuple(self._standing.values())

    def emit(self, event: Event) -> None:
        """Pass on an event about configured servers; those that nobody runs are kept in mind by it."""
        if isinstance(event, ServerChanged):
            self._standing[event.name] = event
        elif isinstance(event, ServerRemoved):
            self._standing.pop(event.name, None)
        self._emit(event)

    async def search(self, query: str) -> None:
        """Search as the model can."""
        await self._host.searches.search(query, "person")

    def traces(self) -> tuple[SearchTrace, ...]:
        """The searches of this session, the oldest first."""
        return self._host.searches.traces()

    def clear(self) -> None:
        """A new session begins."""
        self._host.searches.clear()

    def _searched(self, trace: SearchTrace) -> None:
        hits = [{"tool": hit.public, "score": hit.score, "words": list(hit.words)} for hit in trace.hits]
        facts = {key: value for key, value in asdict(trace).items() if key not in ("time", "hits", "absent")}
        self._record.write("search", **facts, hits=hits, absent=dict(trace.absent))
