"""Lists that change: read again one at a time and slower in a storm; the long request that tells of changes.

Imports the SDK: import late. Not here: reading a list (lists), what a change means (supervisor).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from hel_tui.core.mcp.client import MCPError, Session
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.handshake import Hello
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.store.redact import head
from hel_tui.core.vocabulary import Json

REFRESH_FIRST = 0.3
REFRESH_GAP = 30.0
"""Seconds a refresh of a list waits: first and, in a storm, at most."""
REFRESH_QUIET = 60.0
"""Seconds without a change after which the wait is short again."""
LISTEN_FIRST = 1.0
LISTEN_GAP = 60.0
"""Seconds before the long request is made again: first and at most."""
LISTEN_STABLE = 30.0
"""Seconds it must have stood for the wait to be short again."""


class Changes:
    """Reads one list again whenever it was marked: one reading runs, one waits."""

    def __init__(
        self,
        read: Callable[[], Awaitable[object]],
        on_failed: Callable[[str], None],
        mask: Callable[[str], str] = str,
    ) -> None:
        self._read = read
        self._on_failed = on_failed
        self._mask = mask
        self._stale = asyncio.Event()

    def mark(self) -> None:
        """The list changed."""
        self._stale.set()

    async def run(self) -> None:
        """For ever."""
        gap, last = REFRESH_FIRST, -REFRESH_QUIET
        while True:
            await self._stale.wait()
            now = time.monotonic()
            gap = REFRESH_FIRST if now - last > REFRESH_QUIET else min(gap * 2, REFRESH_GAP)
            await asyncio.sleep(gap)
            self._stale.clear()
            try:
                await self._read()
            except CallFault:
                return  # the connection is over
            except MCPError as error:
                self._on_failed(f"{head(error.message, 300, self._mask)} ({error.code})")
            except TimeoutError:
                self._on_failed("no answer in time")
            last = time.monotonic()


class Listening:
    """`subscriptions/listen` of a stateless server, made again when it ends or what is wanted changes."""

    def __init__(self, session: Session, hello: Hello, on_missed: Callable[[], None]) -> None:
        """`on_missed` is called when changes may have gone by unheard."""
        self._session = session
        self._hello = hello
        self._on_missed = on_missed
        self._watched: dict[str, None] = {}
        self._changed = asyncio.Event()
        self._number = 0
        self.is_over = False
        """The server does not do this."""

    def watch(self, uri: str, on: bool) -> None:
        """Begin or end to hear of the updates of a resource."""
        if on:
            self._watched[uri] = None
        else:
            self._watched.pop(uri, None)
        self._changed.set()

    def _wanted(self) -> Json:
        hello = self._hello
        wanted: Json = {
            f"{kind}ListChanged": True
            for kind in ("tools", "prompts", "resources")
            if hello.tells_changes(kind)
        }
        if self._watched:
            wanted["resourceSubscriptions"] = list(self._watched)
        return wanted

    async def run(self) -> None:
        """Until the server says that it does not do this, or the session ends."""
        gap = LISTEN_FIRST
        while True:
            self._changed.clear()
            wanted = self._wanted()
            if not wanted:
                await self._changed.wait()
                continue
            began = time.monotonic()
            asking = asyncio.ensure_future(self._ask(wanted))
            changing = asyncio.ensure_future(self._changed.wait())
            try:
                await asyncio.wait({asking, changing}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changing.cancel()
                if not asking.done():
                    asking.cancel()
                    await asyncio.gather(asking, return_exceptions=True)
            if asking.cancelled():
                continue
            if not asking.result():
                self.is_over = True
                return
            gap = LISTEN_FIRST if time.monotonic() - began > LISTEN_STABLE else min(gap * 2, LISTEN_GAP)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(gap):
                    await self._changed.wait()
            self._on_missed()

    async def _ask(self, wanted: Json) -> bool:
        """One long request. False when there is no sense in another."""
        self._number += 1
        try:
            await self._session.ask(
                "subscriptions/listen", {"notifications": wanted}, request_id=f"listen-{self._number}"
            )
        except MCPError as error:
            return isinstance(error.error.data, LinkFault) and error.error.data.kind in (
                "lost",
                "unreachable",
            )
        return True
