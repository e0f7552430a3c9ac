"""Who is authorized at which server: one authorization per server URL, made when it is first needed.

Light: OAuth itself (auth) is imported with the first remote server. Not here: dialogs, requests (http).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hel_tui.core.addresses import origin_of
from hel_tui.core.mcp.asking import Ask
from hel_tui.core.mcp.entries import Address, ServerEntry, Unset
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.protocol import Event, LoginStep
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    import httpx2

    from hel_tui.core.mcp.auth.authorization import Authorization
    from hel_tui.core.mcp.auth.tokens import TokenStore
    from hel_tui.core.mcp.life import Ground

RENEWAL_TIME = 5.0
"""Seconds the end of hel waits for a token that is being renewed."""
REFUSED_HEADER = "its entry gives an Authorization header of its own: hel starts no login there"


class Logins:
    """The authorizations of one hel."""

    def __init__(
        self,
        state_dir: Path,
        environ: Mapping[str, str],
        *,
        ask: Ask,
        emit: Callable[[Event], None],
        hide: Callable[..., None],
        mask: Callable[[str], str],
    ) -> None:
        self._state_dir = state_dir
        self._environ = environ
        self._ask = ask
        self._emit = emit
        self._hide = hide
        self._mask = mask
        self._store: TokenStore | None = None
        self._known: dict[str, tuple[Address, Authorization]] = {}

    async def of(self, entry: ServerEntry, address: Address) -> Authorization:
        """The authorization at this address. Raises ServerFault when `oauth` cannot be used."""
        known = self._known.get(entry.name)
        if known is not None and known[0] == address:
            return known[1]
        from hel_tui.core.mcp.auth.authorization import Authorization
        from hel_tui.core.mcp.auth.settings import InvalidSettings, read_settings
        from hel_tui.core.mcp.http.target import open_client, target_of

        try:
            settings, _unknown = read_settings(address.oauth)
        except InvalidSettings as problem:
            raise ServerFault("find", str(problem), lasting=True) from problem
        self._hide(*settings.secrets)
        if self._store is None:
            self._store = await in_thread(self._open_store, "hel-tokens")
        target = target_of(address.url)
        ca = Path(address.ca) if address.ca else None

        def client(url: str) -> httpx2.AsyncClient:
            """The server's own certificates count everywhere, carelessness only at the server itself."""
            careless = entry.insecure and origin_of(url) == origin_of(target.url)
            return open_client(target_of(url, ca=ca, insecure=careless, environ=self._environ))

        authorization = Authorization(
            target.url,
            settings,
            self._store,
            http=client,
            hide=self._hide,
            name=entry.name,
            tell=lambda line: self._step(entry.name, line),
        )
        self._known[entry.name] = (address, authorization)
        return authorization

    def _open_store(self) -> TokenStore:
        """The keyring is the person's; with HEL_HOME everything stays in that folder."""
        from hel_tui.core.mcp.auth.tokens import TokenStore

        return TokenStore(self._state_dir, keyring=not self._environ.get("HEL_HOME"))

    async def aclose(self) -> None:
        """Let renewals under way come to their end, for a while: a used refresh token must not be lost."""
        renewing = [authorization.aclose() for _, authorization in self._known.values()]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RENEWAL_TIME):
                await asyncio.gather(*renewing)

    def _step(self, server: str, line: str) -> None:
        self._emit(LoginStep(server, self._mask(line)))

    async def login(self, entry: ServerEntry, ground: Ground) -> str:
        """Let the person authorize hel at a server. Returns "" or why it did not come to it."""
        try:
            authorization = await self._find(entry, ground)
        except ServerFault as fault:
            return fault.sentence
        problem = self._mask(await authorization.login(self._ask, partial(self._step, entry.name)))
        self._emit(LoginStep(entry.name, problem or "authorized", "failed" if problem else "done"))
        return problem

    async def logout(self, entry: ServerEntry, ground: Ground) -> str:
        """Give up and forget the authorization. Returns "" or a sentence."""
        try:
            authorization = await self._find(entry, ground)
        except ServerFault as fault:
            return fault.sentence
        return self._mask(await authorization.logout(partial(self._step, entry.name)))

    async def _find(self, entry: ServerEntry, ground: Ground) -> Authorization:
        """The authorization of a server. Raises ServerFault where there can be none."""
        if entry.transport == "stdio":
            raise ServerFault("find", "it is a program of this machine: there is nothing to log in to")
        if entry.oauth is False:
            raise ServerFault("find", "its entry says `oauth`: false")
        if any(name.lower() == "authorization" for name, _ in entry.headers):
            raise ServerFault("find", REFUSED_HEADER)
        address = await ground.address_of(entry)
        if isinstance(address, Unset):
            raise address.fault()
        return await self.of(entry, address)
