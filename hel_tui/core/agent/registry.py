"""All tools of a conversation, looked up the same way: built-ins first, then hel's own, then servers.

A server can never shadow a built-in. Not here: running a call (calls), which server tools exist (mcp).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from hel_tui.core.vocabulary import Tool, ToolDefinition


class ServerTools(Protocol):
    """What the registry needs of the catalogue of server tools."""

    def get(self, public: str) -> Tool | None:
        """The tool the model calls by this name, loaded or not."""

    def find(self, server: str, raw: str) -> Tool | None:
        """The tool `raw` of `server`."""

    def loaded(self) -> Sequence[Tool]:
        """Loaded tools in the order they were loaded."""

    def fix_order(self) -> None:
        """A request is made: what is loaded by itself has its place from now on."""

    def inventory(self) -> Sequence[tuple[str, str]]:
        """(public name, first line of the description) of all tools that must be loaded first, by name."""

    def nearest(self, name: str) -> Sequence[str]:
        """Public names of tools that a wrong one may have meant, the likeliest first."""

    def quarantine(self, public: str, reason: str) -> None:
        """Stop offering a tool until its definition or the model changes."""

    def limit(self, most: int) -> None:
        """Load no more than so many tools; 0 for any number."""

    @property
    def offered(self) -> int:
        """How many tools are on offer."""


class Registry:
    """Built-ins, the loader, the search and the tools of servers under one roof.

    The tool list of requests only grows at its end, so that a provider's cache of the beginning holds: what
    joined keeps its place until it leaves.
    """

    def __init__(
        self,
        builtins: Mapping[str, Tool],
        servers: ServerTools | None,
        loader: Tool | None,
        starting: Callable[[], Sequence[str]] = tuple,
        *,
        searcher: Tool | None = None,
        is_large: Callable[[Sequence[tuple[str, str]]], bool] = lambda _inventory: False,
    ) -> None:
        """`starting` names the servers whose tools may come yet; `is_large` tells whether an inventory has
        to be searched.
        """
        self._starting = starting
        self._builtins = dict(builtins)
        self._servers = servers
        self._own = {tool.definition.name: tool for tool in (loader, searcher) if tool is not None}
        self._loader = loader
        self._searcher = searcher
        self._is_large = is_large
        self._order: tuple[str, ...] = ()
        """Names behind the built-ins, as the last request had them."""

    @property
    def has_servers(self) -> bool:
        """Whether any server tool is on offer; without one a request is as if MCP did not exist."""
        return self._servers is not None and self._servers.offered > 0

    @property
    def own(self) -> int:
        """How many tools of a request may be hel's own: built-ins, the loader, the search."""
        return len(self._builtins) + len(self._own)

    def inventory(self) -> Sequence[tuple[str, str]]:
        """(public name, first line of description) of the server tools that must be loaded first."""
        return self._servers.inventory() if self._servers is not None else ()

    def definitions(self) -> list[ToolDefinition]:
        """The tool list the next request would have: built-ins, the loader, the search, loaded tools."""
        tools = [tool.definition for tool in self._builtins.values()]
        return tools + [tool.definition for tool in self._joined().values()]

    def for_request(self) -> list[ToolDefinition]:
        """The same for a request that is made now: whatever is in it keeps its place from here on."""
        if self._servers is not None:
            self._servers.fix_order()
        definitions = self.definitions()
        self._order = tuple(self._joined())
        return definitions

    def offer(self, builtins: Mapping[str, Tool]) -> None:
        """Offer these built-ins from now on."""
        self._builtins = dict(builtins)

    def narrowed(self, keeps: Callable[[Tool], bool], *, servers: bool) -> Registry:
        """The same for a conversation beside this one: with those built-ins that `keeps` lets through, and
        the tools of servers or none.
        """
        return Registry(
            {name: tool for name, tool in self._builtins.items() if keeps(tool)},
            self._servers if servers else None,
            self._loader,
            self._starting if servers else tuple,
            searcher=self._searcher,
            is_large=self._is_large,
        )

    def turn_over(self) -> None:
        """A new conversation begins: nothing has a place yet."""
        self._order = ()

    def _joined(self) -> dict[str, Tool]:
        """What stands behind the built-ins: first what was there before, then what is new."""
        servers = self._servers
        if servers is None or not self.has_servers:
            return {}
        there: dict[str, Tool] = {}
        inventory = servers.inventory()
        if self._loader is not None and (inventory or self._loader.definition.name in self._order):
            there[self._loader.definition.name] = self._loader
        searcher = self._searcher
        if searcher is not None and (searcher.definition.name in self._order or self._is_large(inventory)):
            there[searcher.definition.name] = searcher
        there |= {tool.definition.name: tool for tool in servers.loaded()}
        before = {name: there.pop(name) for name in self._order if name in there}
        return before | there

    def get(self, name: str) -> Tool | None:
        """The tool the model calls by this name, whether or not it is loaded."""
        if name in self._builtins:
            return self._builtins[name]
        if self._servers is None:
            return None
        if name in self._own:
            return self._own[name] if self.has_servers else None
        return self._servers.get(name)

    def by_hand(self, target: str) -> Tool | None:
        """The tool a person names: `server.tool`, a public name, or a built-in."""
        server, dot, raw = target.partition(".")
        if dot and self._servers is not None and (tool := self._servers.find(server, raw)) is not None:
            return tool
        return self.get(target)

    def quarantine(self, name: str, reason: str) -> None:
        """Stop offering a server's tool the provider refuses, until its definition or the model changes."""
        if self._servers is not None:
            self._servers.quarantine(name, reason)

    def limit(self, most: int) -> None:
        """Send no more than so many tools of servers in a request; 0 for any number."""
        if self._servers is not None:
            self._servers.limit(most)

    def not_there_yet(self) -> str:
        """A sentence about servers that are still starting; empty when none is."""
        names = self._starting()
        return f" Still starting: {', '.join(names)}; their tools may come." if names else ""

    def nearest(self, name: str, also: Callable[[], Sequence[str]] = tuple) -> list[str]:
        """Up to three real names close to a wrong one."""
        near = difflib.get_close_matches(name, [*self._builtins, *also()], n=3, cutoff=0.5)
        servers = self._servers.nearest(name) if self._servers is not None else ()
        return list(dict.fromkeys([*servers, *near]))[:3]
