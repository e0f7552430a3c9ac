"""Who is authorized at which server: one authorization per server, made when it is first needed.

Light: OAuth itself (auth) is imported with the first remote server. Not here: dialogs, requests (http).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hel_tui.core.addresses import origin_of
from hel_tui.core.mcp.asking import Ask
from hel_tui.core.mcp.entries import Address, ServerEntry, Unset
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.protocol import Event, LoginDetail, LoginStep
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    import httpx2

    from hel_tui.core.mcp.auth.authorization import Authorization
    from hel_tui.core.mcp.auth.tokens import TokenStore
    from hel_tui.core.mcp.life import Ground

RENEWAL_TIME = 5.0
"""Seconds the end of hel waits for a token that is being renewed."""
NO_LOGIN = "hel starts no login there"


def why_no_login(entry: ServerEntry, address: Address) -> str:
    """Say what gives a server its credentials in the place of a login; "" where that is OAuth."""
    oauth = entry.oauth
    if entry.transport == "stdio":
        return "it is a program of this machine: there is nothing to log in to"
    if address.helper:
        return f"its entry gives credentials by `headersHelper`: {NO_LOGIN}"
    if any(name.strip().lower() == "authorization" for name, _ in address.headers):
        return f"its entry gives an Authorization header of its own: {NO_LOGIN}"
    if urlsplit(address.url).username is not None:
        return f"its `url` has a user name in it: {NO_LOGIN}"
    if oauth is False or (isinstance(oauth, dict) and oauth.get("enabled") is False):
        return "its entry says `oauth`: false"
    return ""


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
        self._known: dict[str, tuple[Address, bool, Authorization]] = {}
        """By name of the server: where it is, whether its certificate counts, and the authorization there."""

    async def of(self, entry: ServerEntry, address: Address) -> Authorization:
        """The authorization at this address. Raises ServerFault when `oauth` cannot be used."""
        known = self._known.get(entry.name)
        if known is not None and known[:2] == (address, entry.insecure):
            return known[2]
        from hel_tui.core.mcp.auth.authorization import Authorization
        from hel_tui.core.mcp.auth.settings import InvalidSettings, located, read_settings
        from hel_tui.core.mcp.http.target import open_client, target_of

        try:
            settings, _unknown = read_settings(address.oauth)
            target = target_of(address.url)
        except (InvalidSettings, ValueError) as problem:
            raise ServerFault("find", str(problem), lasting=True) from problem
        settings = located(settings, address.cwd, self._environ)
        self._hide(*settings.secrets)
        if self._store is None:
            self._store = await in_thread(self._open_store, "hel-tokens")
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
        self._known[entry.name] = (address, entry.insecure, authorization)
        return authorization

    def detail(self, server: str) -> LoginDetail | None:
        """What is known of the login at a server that was spoken to; safe from any thread."""
        known = self._known.get(server)
        return known[2].detail if known is not None else None

    def _open_store(self) -> TokenStore:
        """The keyring is the person's; with HEL_HOME everything stays in that folder."""
        from hel_tui.core.mcp.auth.tokens import TokenStore

        return TokenStore(self._state_dir, keyring=not self._environ.get("HEL_HOME"))

    async def aclose(self) -> None:
        """Let renewals under way come to their end, for a while: a used refresh token must not be lost."""
        renewing = [authorization.aclose() for *_, authorization in self._known.values()]
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
        address = await ground.address_of(entry)
        if isinstance(address, Unset):
            raise address.fault()
        if why := why_no_login(entry, address):
            raise ServerFault("find", why)
        return await self.of(entry, address)
