"""The lists of one connection: tools, resources and prompts, read at once, again when they changed.

Imports the SDK: import late. Not here: what an entry of a list may be (listing, offers), how often to read
again (changes), what is done with them (reports).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from hel_tui.core.mcp.changes import Changes
from hel_tui.core.mcp.client import MCPError, Session, header_problem
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.handshake import Hello
from hel_tui.core.mcp.listing import Listing, read_listing, without
from hel_tui.core.mcp.offers import Prompts, Resources, read_prompts, read_resources
from hel_tui.core.vocabulary import Json

METHOD_NOT_FOUND = -32601
LIST_TIMEOUT = 60.0
"""Seconds all pages of a list may take together."""

Found = TypeVar("Found", Resources, Prompts)


class ListHooks(Protocol):
    """Who hears of lists; the part of a connection's hooks that is about them."""

    @property
    def on_listing(self) -> Callable[[Listing], None]: ...

    @property
    def on_list_failed(self) -> Callable[[str], None]: ...

    @property
    def on_list_ignored(self) -> Callable[[], None]: ...

    @property
    def on_resources(self) -> Callable[[Resources], None]: ...

    @property
    def on_prompts(self) -> Callable[[Prompts], None]: ...

    @property
    def on_note(self) -> Callable[[str], None]: ...


class Lists:
    """The lists of one connection. Each reading replaces the one before as a whole, or not at all."""

    def __init__(
        self,
        entry: ServerEntry,
        hooks: ListHooks,
        is_lost: Callable[[], bool],
        *,
        mask: Callable[[str], str],
        refreshes: bool,
    ) -> None:
        """`mask` takes secrets out of errors; `refreshes`: a tool list that changed is read again."""
        self._entry = entry
        self._hooks = hooks
        self._is_lost = is_lost
        self._session: Session | None = None
        self._hello: Hello | None = None
        self._tools = Changes(self._tools_again, self._tools_failed, mask)
        self._resources = Changes(self._resources_again, self._offer_failed, mask)
        self._prompts = Changes(self._prompts_again, self._offer_failed, mask)
        self._has_resources = False
        """The resource lists were read once: from then on they are kept current."""
        self._refreshes = refreshes

    @property
    def on_change(self) -> Mapping[str, Callable[[], None]]:
        """What to do for which notification."""
        return {
            "notifications/tools/list_changed": self._tools.mark
            if self._refreshes
            else self._hooks.on_list_ignored,
            "notifications/resources/list_changed": self._resources_changed,
            "notifications/prompts/list_changed": self._prompts.mark,
        }

    def open(self, session: Session, hello: Hello) -> None:
        """The server was greeted."""
        self._session, self._hello = session, hello

    def begin(self) -> None:
        """Read what is read without being asked for: the prompts, since they are commands."""
        if self._hello is not None and self._hello.offers("prompts"):
            self._prompts.mark()

    def work(self) -> Iterator[Coroutine[Any, Any, None]]:
        """What has to run while the connection lives."""
        for changes in (self._tools, self._resources, self._prompts):
            yield changes.run()

    def doubt(self) -> None:
        """What was listed may have changed without a word: read it again."""
        hello = self._hello
        if hello is not None and hello.offers("tools") and self._refreshes:
            self._tools.mark()
        self.begin()
        self._resources_changed()

    # ---------------------------------------------------------------------- tools

    async def tools(self, session: Session) -> Listing:
        """Read the tools. Raises MCPError and TimeoutError."""
        async with asyncio.timeout(LIST_TIMEOUT):
            listing = await read_listing(lambda params: session.ask("tools/list", params))
        if self._entry.transport == "stdio":
            return listing
        problems = {one.raw: header_problem(one.parameters) for one in listing.tools if not one.problem}
        good = {one.raw: one.parameters for one in listing.tools if not problems.get(one.raw)}
        session.mirror_headers(good)
        return without(listing, {raw: problem for raw, problem in problems.items() if problem})

    async def _tools_again(self) -> None:
        self._hooks.on_listing(await self.tools(self._ready()))

    def _tools_failed(self, why: str) -> None:
        if not self._is_lost():
            self._hooks.on_list_failed(why)

    # ------------------------------------------------------- resources and prompts

    async def resources(self) -> Resources:
        """Its resources and templates, read now. Raises CallFault."""
        return await self._now(self._resources_again, "resources")

    async def prompts(self) -> Prompts:
        """Its prompts, read now. Raises CallFault."""
        return await self._now(self._prompts_again, "prompts")

    async def _now(self, read: Callable[[], Awaitable[Found]], what: str) -> Found:
        try:
            return await read()
        except MCPError as error:
            sentence = f"The {what} could not be listed ({error.code})."
            raise CallFault("protocol", sentence, error.message) from error
        except TimeoutError:
            sentence = f"The {what} were not listed within {LIST_TIMEOUT:.0f} s."
            raise CallFault("timeout", sentence) from None

    def _resources_changed(self) -> None:
        if self._has_resources:
            self._resources.mark()

    async def _resources_again(self) -> Resources:
        session = self._ready()

        async def templates(params: Json) -> Json:
            try:
                return await session.ask("resources/templates/list", params)
            except MCPError as error:
                if error.code == METHOD_NOT_FOUND:
                    return {"resourceTemplates": []}
                raise

        async with asyncio.timeout(LIST_TIMEOUT):
            found = await read_resources(lambda params: session.ask("resources/list", params), templates)
        self._has_resources = True
        self._hooks.on_resources(found)
        return found

    async def _prompts_again(self) -> Prompts:
        session = self._ready()
        async with asyncio.timeout(LIST_TIMEOUT):
            found = await read_prompts(lambda params: session.ask("prompts/list", params))
        self._hooks.on_prompts(found)
        return found

    def _offer_failed(self, why: str) -> None:
        if not self._is_lost():
            self._hooks.on_note(f"A list of it could not be read: {why}.")

    def _ready(self) -> Session:
        if self._session is None or self._is_lost():
            raise CallFault("unavailable", f'The server "{self._entry.name}" is not connected.')
        return self._session
