"""The authorization at one server: credentials for its requests, login and logout.

Used by several requests at once; nothing but `login` asks a person. Not here: the steps (discovery,
registration, consent, grants), renewing (renewal).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hel_tui.core.mcp.auth import flow, grants
from hel_tui.core.mcp.auth.asking import Asker, OAuthError, Refusal
from hel_tui.core.mcp.auth.callback import redirects_of
from hel_tui.core.mcp.auth.challenges import Wanted, read_challenge
from hel_tui.core.mcp.auth.consent import Ask, Consent, GivenUp
from hel_tui.core.mcp.auth.discovery import CLOSED, Found, discover
from hel_tui.core.mcp.auth.memory import Memory
from hel_tui.core.mcp.auth.registration import Registration, check_configured, usable
from hel_tui.core.mcp.auth.renewal import Renewal, validity
from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.auth.tokens import Known, Tokens, TokenStore
from hel_tui.core.mcp.authorizing import Challenge, Tell
from hel_tui.core.protocol import LoginDetail
from hel_tui.core.store.redact import Redactor

if TYPE_CHECKING:
    import httpx2

FRESH = 30.0
"""Seconds in which a new token that is refused is not renewed: another new one would not be taken either."""
AGAIN = 2
"""Logins for scopes that were asked for before and are still said to be missing."""
FORBIDDEN = 403


class Authorization:
    """Implements `authorizing.Authorizer` by OAuth for the server at one URL."""

    def __init__(
        self,
        url: str,
        settings: OAuthSettings,
        store: TokenStore,
        *,
        http: Callable[[str], httpx2.AsyncClient],
        hide: Callable[..., None],
        name: str = "",
        tell: Tell = lambda _line: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`http` opens a client for a URL, without credentials; `hide` is given every secret to be masked.

        `name` is the server's, for questions. `tell` hears what happens by itself, such as a renewal.
        """
        from mcp.shared.auth_utils import resource_url_from_server_url

        self._url = url
        self._settings = settings
        self._http = http
        self._hide_elsewhere = hide
        self._name = name
        self._clock = clock
        self._mask = Redactor()
        self._hide(*settings.secrets)
        asker = self._asker(tell)
        key = resource_url_from_server_url(url)
        self._memory = Memory(key, store, settings, self._hide, asker.tell)
        self._renewal = Renewal(url, settings, self._memory, asker, clock)
        self._wanted: Wanted | None = None
        self._in_login = False
        self._asked_again: Counter[frozenset[str]] = Counter()

    # ------------------------------------------------------ for the requests

    async def headers(self) -> Mapping[str, str]:
        """An Authorization header when there is a token, renewed if it was about to end."""
        if not self._settings.enabled:
            return {}
        tokens = (await self._memory.known()).tokens
        if tokens is not None and tokens.is_stale(self._clock()):
            await self._renewal.renew(self._wanted or Wanted(), refused=False)
            tokens = (await self._memory.known()).tokens
        return {"Authorization": f"Bearer {tokens.access}"} if tokens else {}

    async def refused(self, challenge: Challenge, sent: Mapping[str, str]) -> bool:
        """Whether sending again with new `headers` may help; the challenge is kept for the next login."""
        if not self._settings.enabled:
            return False
        used = _bearer(sent)
        tokens = (await self._memory.known()).tokens
        if tokens is not None and tokens.access != used:
            return True
        if challenge.status == FORBIDDEN and not read_challenge(challenge).more_scopes:
            return False  # no token helps
        wanted = self._keep_challenge(challenge)
        if wanted.more_scopes and not self._renewal.by_itself:
            return False  # a person has to consent
        if not wanted.more_scopes:
            if (caught_up := await self._memory.catch_up()) != "same":
                return caught_up == "newer"
            now = self._clock()
            if tokens is not None and now - tokens.obtained < FRESH and not tokens.is_stale(now):
                return False
        return not await self._renewal.renew(wanted, refused=True)

    @property
    def detail(self) -> LoginDetail | None:
        """What a person may see of it; None before it was needed, and without a login. Reads no store."""
        known = self._memory.at_hand
        if known is None or known.registration is None:
            return None
        client, tokens = known.registration, known.tokens
        granted = LoginDetail(
            client.issuer, client.label, client.how, known.resource, requested=known.requested
        )
        if tokens is None:
            return granted
        return replace(
            granted,
            scopes=tokens.scopes,
            has_token=True,
            obtained=tokens.obtained,
            expires=tokens.expires,
            renewable=bool(tokens.refresh),
        )

    async def aclose(self) -> None:
        """Let a renewal under way come to its end."""
        await self._renewal.finish()

    def _keep_challenge(self, challenge: Challenge) -> Wanted:
        wanted = read_challenge(challenge)
        if self._wanted is not None and not wanted.resource_metadata:
            wanted = replace(wanted, resource_metadata=self._wanted.resource_metadata)
        self._wanted = wanted
        return wanted

    # -------------------------------------------------------- for the person

    async def login(self, ask: Ask, tell: Tell) -> str:
        """Get a token with a person's consent. Returns a sentence when it did not come to that, else "".

        `ask` stays open until the browser came back to this machine, or the person pasted where it went;
        it is cancelled when it is not needed any more. `tell` hears each step, credentials masked.
        """
        if not self._settings.enabled:
            return "`oauth` is switched off for this server"
        if self._in_login:
            return "a login at this server is under way already"
        self._in_login = True
        try:
            if self._renewal.by_itself:
                self._renewal.allow()
                return self._mask(await self._renewal.renew(self._wanted or Wanted(), refused=True))
            await self._log_in(ask, tell)
        except Refusal as refusal:
            return self._mask(str(refusal))
        finally:
            self._in_login = False
        return ""

    async def _log_in(self, ask: Ask, tell: Tell) -> None:
        steps: list[str] = []

        def step(line: str) -> None:
            steps.append(line)
            tell(line)

        asker = self._asker(step)
        await self._memory.catch_up()
        known = await self._memory.known()
        found, wanted = await self._find(asker, known)
        requested = flow.scopes_for(wanted, found, known.requested, self._settings)
        consent = Consent(
            self._name,
            found,
            self._settings,
            redirects_of(self._settings),
            flow.with_offline(requested, found.server),
            asker,
            ask,
            steps,
            self._hide,
            self._clock,
        )
        tokens, registration = await self._consented(consent, known)
        done = Known(tokens, registration, found.server, found.resource, requested)
        await self._memory.keep(done, asker.tell)
        self._wanted = Wanted(resource_metadata=wanted.resource_metadata)
        self._renewal.allow()
        asker.tell(f"logged in, {validity(tokens, self._clock())}")
        if missing := [scope for scope in requested if scope not in tokens.scopes]:
            asker.tell(f"not given: {' '.join(missing)}")

    async def _find(self, asker: Asker, known: Known) -> tuple[Found, Wanted]:
        """Where to log in, and what the server wants; it is asked now if it was not yet."""
        wanted, is_closed = self._wanted, True
        if wanted is None:
            challenge = await asker.challenge(self._url)
            wanted, is_closed = self._keep_challenge(challenge), challenge.status in (0, *CLOSED)
        self._check_circle(wanted, known)
        issuer = known.registration.issuer if known.registration else ""
        found = await discover(asker, self._url, wanted, self._settings, issuer, guess=is_closed)
        check_configured(known.registration, found.server, self._settings)
        return found, wanted

    async def _consented(self, consent: Consent, known: Known) -> tuple[Tokens, Registration]:
        """A person's consent, with the registration of an earlier login where that still holds."""
        old = usable(
            known.registration, consent.found.server, self._settings, consent.redirects, self._clock()
        )
        if old is None:
            return await consent.get(None)
        consent.asker.tell(f"known there as client {old.label}")
        try:
            return await consent.get(old)
        except GivenUp:  # perhaps the page said that it does not know hel
            doubtful = replace(known, registration=replace(old, doubtful=True))
            await self._memory.keep(doubtful, consent.asker.tell)
            raise
        except OAuthError as error:
            if error.code not in ("invalid_client", "unauthorized_client"):
                raise
        consent.asker.tell("the authorization server has forgotten hel: registering again")
        return await consent.get(None)

    def _check_circle(self, wanted: Wanted, known: Known) -> None:
        """Refuse to go round in circles for scopes that were asked for and are still said to be missing."""
        if not wanted.more_scopes or not set(wanted.scopes) <= set(known.requested):
            return
        scopes = frozenset(wanted.scopes)
        self._asked_again[scopes] += 1
        if self._asked_again[scopes] > AGAIN:
            raise Refusal(
                f"the server wants {' '.join(sorted(scopes)) or 'more rights'} although each login asked for "
                "it; log out to begin anew"
            )

    async def logout(self, tell: Tell) -> str:
        """Revoke the tokens where the server can do that, and forget all about it. "" or a sentence."""
        asker = self._asker(tell)
        known = await self._memory.known()
        problem = ""
        if known.tokens is not None and known.server is not None and known.registration is not None:
            client = grants.Client(
                asker, known.server, known.registration, self._settings, known.resource, self._clock
            )
            problem = await grants.revoke(client, known.tokens)
            if known.server.revocation_endpoint and not problem:
                asker.tell("the tokens were revoked")
        left = await self._memory.forget()
        self._wanted = None
        self._renewal.allow()
        self._asked_again.clear()
        asker.tell(left or "tokens and registration were forgotten")
        return self._mask(left or problem)

    # ----------------------------------------------------------------- parts

    def _asker(self, tell: Tell) -> Asker:
        """Who asks for this server; what it tells is masked."""
        return Asker(self._url, self._http, lambda line: tell(self._mask(line)))

    def _hide(self, *values: str) -> None:
        given = [value for value in values if value]
        self._mask.add(*given)
        self._hide_elsewhere(*given)


def _bearer(sent: Mapping[str, str]) -> str:
    """The token in a request's headers."""
    for name, value in sent.items():
        if name.lower() == "authorization" and value[:7].lower() == "bearer ":
            return value[7:].strip()
    return ""
