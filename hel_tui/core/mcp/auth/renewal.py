"""New tokens without a person: by a refresh token, or by the client's own credentials.

One renewal at a time, for all requests that wait and among all hels. It is a task of its own, as breaking
off a refresh loses the refresh token. Not here: when a token is due (authorization).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from hel_tui.core.mcp.auth import grants
from hel_tui.core.mcp.auth.asking import Asker, OAuthError, Refusal
from hel_tui.core.mcp.auth.challenges import Wanted
from hel_tui.core.mcp.auth.discovery import Found, discover
from hel_tui.core.mcp.auth.flow import scopes_for
from hel_tui.core.mcp.auth.memory import Memory
from hel_tui.core.mcp.auth.registration import check_configured, configured
from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.auth.tokens import Known, Tokens

PAUSE = 15.0
"""Seconds before a renewal is tried again after the authorization server could not be reached."""
GONE = ("invalid_grant", "invalid_client", "unauthorized_client")
"""Errors after which a refresh token is of no use."""


class Renewal:
    """Renews the tokens of one server."""

    def __init__(
        self,
        url: str,
        settings: OAuthSettings,
        memory: Memory,
        asker: Asker,
        clock: Callable[[], float],
    ) -> None:
        self._url = url
        self._settings = settings
        self._memory = memory
        self._asker = asker
        self._clock = clock
        self._task: asyncio.Task[str] | None = None
        self._not_before = 0.0

    @property
    def by_itself(self) -> bool:
        """Whether tokens are had by the client's own credentials, and never by a person's consent."""
        return self._settings.grant == "client_credentials"

    def allow(self) -> None:
        """Try again at once: something changed."""
        self._not_before = 0.0

    async def renew(self, wanted: Wanted, *, refused: bool) -> str:
        """Get a new token, or wait for the renewal under way. Returns "" when there is one, else why not.

        With `refused`, the server did not take the token, so that its authorization server is looked up anew.
        """
        tokens = (await self._memory.known()).tokens
        if self._task is None:
            if not self.by_itself and not (tokens is not None and tokens.refresh):
                return "there is no refresh token"
            if self._clock() < self._not_before:
                return "the authorization server could not be reached a moment ago"
            self._task = asyncio.ensure_future(self._renew(wanted, refused))
            self._task.add_done_callback(self._ended)
        return await asyncio.shield(self._task)

    async def finish(self) -> None:
        """Wait for a renewal that is under way."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def _ended(self, task: asyncio.Task[str]) -> None:
        self._task = None
        if not task.cancelled():
            task.exception()

    async def _renew(self, wanted: Wanted, refused: bool) -> str:
        known = await self._memory.known()
        async with self._memory.turn():
            caught_up = await self._memory.catch_up()
            if caught_up == "newer":
                self._asker.tell("another hel has renewed the token")
                return ""
            if caught_up == "logged out":
                return "another hel has logged out"
            try:
                if self.by_itself:
                    known = await self._for_itself(known, wanted, refused)
                else:
                    known = await self._refreshed(known)
            except Refusal as refusal:
                await self._failed(known, refusal)
                return str(refusal)
            await self._memory.keep(known, self._asker.tell)
        if known.tokens is not None:
            self._asker.tell(f"token refreshed, {validity(known.tokens, self._clock())}")
        return ""

    async def _refreshed(self, known: Known) -> Known:
        if known.server is None or known.registration is None or known.tokens is None:
            raise OAuthError("hel is not known to the authorization server any more", "invalid_client")
        client = grants.Client(
            self._asker, known.server, known.registration, self._settings, known.resource, self._clock
        )
        return replace(known, tokens=await grants.refresh(client, known.tokens))

    async def _for_itself(self, known: Known, wanted: Wanted, refused: bool) -> Known:
        if refused or known.server is None:
            issuer = known.registration.issuer if known.registration else ""
            found = await discover(self._asker, self._url, wanted, self._settings, issuer)
            check_configured(known.registration, found.server, self._settings)
        else:
            found = Found(known.server, known.resource)
        scopes = scopes_for(wanted, found, known.requested, self._settings)
        if (
            refused
            and wanted.more_scopes
            and known.tokens is not None
            and set(scopes) <= set(known.requested)
        ):
            raise Refusal("the server wants scopes that the authorization server does not give")
        registration = configured(found.server, self._settings)
        client = grants.Client(
            self._asker, found.server, registration, self._settings, found.resource, self._clock
        )
        tokens = await grants.as_itself(client, scopes)
        return Known(tokens, registration, found.server, found.resource, scopes)

    async def _failed(self, known: Known, refusal: Refusal) -> None:
        self._asker.tell(f"the token was not refreshed: {refusal}")
        if not isinstance(refusal, OAuthError) or refusal.code not in GONE or known.tokens is None:
            self._not_before = self._clock() + PAUSE
            return
        registration = known.registration
        if refusal.code != "invalid_grant" and registration is not None and registration.how == "dynamic":
            registration = None  # the authorization server has forgotten hel
        kept = replace(known, tokens=replace(known.tokens, refresh=""), registration=registration)
        await self._memory.amend(kept, self._asker.tell)


def validity(tokens: Tokens, now: float) -> str:
    """How long a token is good, for a step: `valid 59 min`."""
    if not tokens.expires:
        return "valid until it is refused"
    left = max(0.0, tokens.expires - now)
    if left < 120:
        return f"valid {left:.0f} s"
    return f"valid {left / 60:.0f} min" if left < 7200 else f"valid {left / 3600:.0f} h"
