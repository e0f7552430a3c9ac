"""All tools of a conversation, looked up the same way: built-ins first, then the loader, then servers.

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

    def inventory(self) -> Sequence[tuple[str, str]]:
        """(public name, first line of the description) of all tools on offer, by name."""


class Registry:
    """Built-ins, the loader and the tools of servers under one roof."""

    def __init__(
        self,
        builtins: Mapping[str, Tool],
        servers: ServerTools | None,
        loader: Tool | None,
        starting: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """`starting` names the servers whose tools may come yet."""
        self._starting = starting
        self._builtins = dict(builtins)
        self._servers = servers
        self._loader = loader

    @property
    def has_servers(self) -> bool:
        """Whether any server tool is on offer; without one a request is as if MCP did not exist."""
        return self._servers is not None and bool(self._servers.inventory())

    def inventory(self) -> Sequence[tuple[str, str]]:
        """(public name, first line of description) of the server tools on offer."""
        return self._servers.inventory() if self._servers is not None else ()

    def definitions(self) -> list[ToolDefinition]:
        """The tool list of the next request: built-ins, the loader, loaded tools in load order."""
        tools = [tool.definition for tool in self._builtins.values()]
        if self._loader is not None and self._servers is not None and self.has_servers:
            tools.append(self._loader.definition)
            tools.extend(tool.definition for tool in self._servers.loaded())
        return tools

    def get(self, name: str) -> Tool | None:
        """The tool the model calls by this name, whether or not it is loaded."""
        if name in self._builtins:
            return self._builtins[name]
        if self._servers is None:
            return None
        if self._loader is not None and name == self._loader.definition.name:
            return self._loader if self.has_servers else None
        return self._servers.get(name)

    def by_hand(self, target: str) -> Tool | None:
        """The tool a person names: `server.tool`, a public name, or a built-in."""
        server, dot, raw = target.partition(".")
        if dot and self._servers is not None and (tool := self._servers.find(server, raw)) is not None:
            return tool
        return self.get(target)

    def not_there_yet(self) -> str:
        """A sentence about servers that are still starting; empty when none is."""
        names = self._starting()
        return f" Still starting: {', '.join(names)}; their tools may come." if names else ""

    def nearest(self, name: str, also: Callable[[], Sequence[str]] = tuple) -> list[str]:
        """Up to three real names close to a wrong one."""
        names = [*self._builtins, *(public for public, _ in self.inventory()), *also()]
        return difflib.get_close_matches(name, names, n=3, cutoff=0.5)
