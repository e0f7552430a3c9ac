"""What one hel knows of the authorization at one server: read once, kept in step with the store.

Every secret that comes by is given to be masked. Not here: where it is kept (tokens), how it is got.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Literal

from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.auth.tokens import Known, TokenStore
from hel_tui.core.mcp.authorizing import Tell

CaughtUp = Literal["same", "newer", "logged out"]


class Memory:
    """The store's part about the server whose canonical URL is `key`, as far as it fits the entry."""

    def __init__(
        self, key: str, store: TokenStore, settings: OAuthSettings, hide: Callable[..., None], tell: Tell
    ) -> None:
        self._key = key
        self._store = store
        self._settings = settings
        self._hide = hide
        self._tell = tell
        self._told = ""
        """What was in the way of reading the store the last time."""
        self._is_kept = False
        """Whether the store had the tokens that are known."""
        self._known: Known | None = None

    @property
    def at_hand(self) -> Known | None:
        """What is known without a look into the store; None before the first one."""
        return self._known

    async def known(self) -> Known:
        """What is known now."""
        known = self._known
        if known is None:
            stored = await self._stored()
            known = self._known or stored  # another may have learned more meanwhile
            if known is stored:
                self._learn(stored)
                self._is_kept = stored.tokens is not None
        return known

    async def keep(self, known: Known, tell: Tell) -> None:
        """Know this from now on, in later runs too; `tell` hears when that did not work."""
        self._learn(known)
        problem = await self._store.save(self._key, known)
        self._is_kept = not problem
        if problem:
            tell(f"the tokens hold for this run only: {problem}")

    async def amend(self, known: Known, tell: Tell) -> None:
        """As `keep`, but what another hel did to the store meanwhile stays as it is there."""
        stored = await self._stored()
        if (
            stored.tokens is not None
            and known.tokens is not None
            and stored.tokens.access == known.tokens.access
        ):
            await self.keep(known, tell)
        else:
            self._learn(known)

    async def catch_up(self) -> CaughtUp:
        """Learn what another hel did meanwhile: got newer tokens, or logged out."""
        mine = (await self.known()).tokens
        stored = await self._stored()
        if stored.tokens is None:
            if mine is None or not self._is_kept or self._told:
                return "same"
            self._learn(Known())
            return "logged out"
        if mine is not None and (
            stored.tokens.access == mine.access or stored.tokens.obtained < mine.obtained
        ):
            return "same"
        self._learn(stored)
        self._is_kept = True
        return "newer"

    async def forget(self) -> str:
        """Forget all. Returns a sentence when something is left, else empty."""
        self._known = Known()
        return await self._store.forget(self._key)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """The right to renew the tokens, among all hels of this person."""
        return self._store.turn(self._key)

    async def _stored(self) -> Known:
        """What the store holds of the client that the entry names: another client's tokens are not ours."""
        stored, problem = await self._store.load(self._key)
        if problem and problem != self._told:
            self._tell(problem)
        self._told = problem
        client = stored.registration
        if self._settings.client_id:
            if client is None or client.client_id != self._settings.client_id:
                return Known()
            return replace(stored, registration=replace(client, client_secret=self._settings.client_secret))
        return Known() if client is not None and client.how == "configured" else stored

    def _learn(self, known: Known) -> None:
        self._known = known
        if known.tokens is not None:
            self._hide(known.tokens.access, known.tokens.refresh)
        if known.registration is not None:
            self._hide(known.registration.client_secret)
