"""The authorization at one server: credentials for its requests, renewal, login and logout.

Several requests use it at once; a renewal is done once for all, and is not broken off when the request that
needed it is. Nothing but `login` asks a person. Not here: the steps (discovery, registration, flow, grants).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hel_tui.core.mcp.auth import flow, grants
from hel_tui.core.mcp.auth.asking import Asker, OAuthError, Refusal
from hel_tui.core.mcp.auth.callback import Listener, listen, redirects_of
from hel_tui.core.mcp.auth.challenges import Wanted, read_challenge
from hel_tui.core.mcp.auth.discovery import Found, discover
from hel_tui.core.mcp.auth.registration import Registration, check_configured, configured, register, usable
from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.auth.tokens import Known, Tokens, TokenStore
from hel_tui.core.mcp.authorizing import Challenge, Tell
from hel_tui.core.protocol import Answer, LoginAnswer, LoginQuestion
from hel_tui.core.questions import question_id
from hel_tui.core.store.redact import Redactor

if TYPE_CHECKING:
    import httpx2

FRESH = 30.0
"""Seconds a new token is not renewed because it was refused: another new one would not be taken either."""
PAUSE = 15.0
"""Seconds before a renewal is tried again after the authorization server could not be reached."""
AGAIN = 2
"""Logins for scopes that were asked for before and are still said to be missing."""
PASTES = 5
"""How often a person may paste something that is no answer."""
GONE = ("invalid_grant", "invalid_client", "unauthorized_client")
"""Errors after which a refresh token is of no use."""

Ask = Callable[[LoginQuestion], Awaitable[Answer]]


class GivenUp(Refusal):
    """The person did not go on with the login."""


class Authorization:
    """Implements `authorizing.Authorizer` by OAuth for the server at one URL."""

    def __init__(
        self,
        url: str,
        settings: OAuthSettings,
        store: TokenStore,
        *,
        http: Callable[[], httpx2.AsyncClient],
        hide: Callable[..., None],
        name: str = "",
        tell: Tell = lambda _line: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`http` opens a client without credentials of its own; `hide` is given every secret to be masked.

        `tell` hears what happens by itself, such as a renewal; `name` is the server's for questions.
        """
        from mcp.shared.auth_utils import resource_url_from_server_url

        self._url = url
        self._key = resource_url_from_server_url(url)
        self._settings = settings
        self._store = store
        self._http = http
        self._tell_anyone = hide
        self._name = name
        self._tell = tell
        self._clock = clock
        self._mask = Redactor()
        self._known: Known | None = None
        self._wanted: Wanted | None = None
        self._renewing: asyncio.Task[bool] | None = None
        self._not_before = 0.0
        self._in_login = False
        self._asked_again: Counter[frozenset[str]] = Counter()
        self._hide(*settings.secrets)

    # ------------------------------------------------------ for the requests

    async def headers(self) -> Mapping[str, str]:
        """An Authorization header when there is a token, renewed if it was about to end."""
        if not self._settings.enabled:
            return {}
        tokens = (await self._load()).tokens
        if tokens is not None and tokens.is_stale(self._clock()):
            await self._renewed()
            tokens = (await self._load()).tokens
        return {"Authorization": f"Bearer {tokens.access}"} if tokens else {}

    async def refused(self, challenge: Challenge, sent: Mapping[str, str]) -> bool:
        """Whether sending again with new `headers` may help; the challenge is kept for the next login."""
        if not self._settings.enabled:
            return False
        used = _bearer(sent)
        tokens = (await self._load()).tokens
        if tokens is not None and tokens.access != used:
            return True
        wanted = read_challenge(challenge)
        if self._wanted is not None and not wanted.resource_metadata:
            wanted = replace(wanted, resource_metadata=self._wanted.resource_metadata)
        self._wanted = wanted
        if wanted.more_scopes:
            return self._by_itself and await self._renewed(rediscover=True)
        if challenge.status == 403:
            return False
        if await self._taken_over(used):
            return True
        now = self._clock()
        if tokens is not None and now - tokens.obtained < FRESH and not tokens.is_stale(now):
            return False
        return await self._renewed(rediscover=True)

    async def aclose(self) -> None:
        """Let a renewal under way come to its end, as its refresh token may be used up."""
        if self._renewing is not None:
            await asyncio.wait([self._renewing])

    @property
    def _by_itself(self) -> bool:
        return self._settings.grant == "client_credentials"

    async def _renewed(self, *, rediscover: bool = False) -> bool:
        """Renew the token, or wait for the renewal that is under way. True when there is a new one."""
        if self._renewing is None:
            tokens = (await self._load()).tokens
            possible = self._by_itself or (tokens is not None and tokens.refresh)
            if not possible or self._clock() < self._not_before:
                return False
        if self._renewing is None:
            self._renewing = asyncio.ensure_future(self._renew(rediscover))
            self._renewing.add_done_callback(self._renewal_ended)
        return await asyncio.shield(self._renewing)

    def _renewal_ended(self, task: asyncio.Task[bool]) -> None:
        self._renewing = None
        if not task.cancelled():
            task.exception()

    async def _renew(self, rediscover: bool) -> bool:
        known = await self._load()
        async with self._store.turn(self._key):
            if await self._taken_over(known.tokens.access if known.tokens else ""):
                self._say("the token was renewed by another hel")
                return True
            try:
                if self._by_itself:
                    known = await self._token_for_itself(known, rediscover)
                else:
                    known = await self._refreshed(known)
            except Refusal as refusal:
                await self._not_renewed(known, refusal)
                return False
            await self._keep(known, self._say)
        assert known.tokens is not None
        self._say(f"token refreshed, {validity(known.tokens, self._clock())}")
        return True

    async def _refreshed(self, known: Known) -> Known:
        client = self._client(known, self._asker(self._say))
        if client is None or known.tokens is None:
            raise Refusal("nothing is known of the authorization server")
        return replace(known, tokens=await grants.refresh(client, known.tokens))

    async def _token_for_itself(self, known: Known, rediscover: bool) -> Known:
        """A token by the client credentials grant, which needs no person."""
        asker = self._asker(self._say)
        if rediscover or known.server is None:
            found = await self._discover(asker, known)
            check_configured(known.registration, found.server, self._settings)
        else:
            found = Found(known.server, known.resource)
        registration = configured(found.server, self._settings)
        scopes = self._scopes(found, known, offline=False)
        again = self._wanted is not None and self._wanted.more_scopes
        if again and known.tokens is not None and set(scopes) <= set(known.requested):
            raise Refusal("the server wants scopes that its authorization server does not give")
        client = grants.Client(asker, found.server, registration, self._settings, found.resource, self._clock)
        tokens = await grants.as_itself(client, scopes)
        return Known(tokens, registration, found.server, found.resource, scopes)

    async def _not_renewed(self, known: Known, refusal: Refusal) -> None:
        self._say(f"the token was not refreshed: {refusal}")
        if not isinstance(refusal, OAuthError) or refusal.code not in GONE or known.tokens is None:
            self._not_before = self._clock() + PAUSE
            return
        registration = known.registration
        if refusal.code != "invalid_grant" and registration and registration.how == "dynamic":
            registration = None  # the server has forgotten hel
        kept = replace(known, tokens=replace(known.tokens, refresh=""), registration=registration)
        await self._keep(kept, self._say)

    async def _taken_over(self, used: str) -> bool:
        """Take the tokens over that another hel got meanwhile; True when they are not those just used."""
        stored = self._fitting(await self._store.load(self._key))
        if stored.tokens is None or stored.tokens.access == used:
            return False
        self._learn(stored)
        return True

    # -------------------------------------------------------- for the person

    async def login(self, ask: Ask, tell: Tell) -> str:
        """Get a token with a person's consent. Returns a sentence when it did not come to that, else "".

        `ask` stays open until the browser came back to this machine, or the person pasted where it went;
        it is cancelled when it is not needed any more. `tell` hears each step, credentials masked.
        """
        if not self._settings.enabled:
            return "`oauth` is switched off for this server"
        if self._in_login:
            return "a login at this server is under way"
        self._in_login = True
        steps: list[str] = []

        def step(line: str) -> None:
            steps.append(self._mask(line))
            tell(steps[-1])

        try:
            if self._by_itself:
                self._not_before = 0.0
                done = await self._renewed(rediscover=True)
                return "" if done else "no token could be had with the client's credentials"
            await self._log_in(ask, step, steps)
        except Refusal as refusal:
            return self._mask(str(refusal))
        finally:
            self._in_login = False
        return ""

    async def _log_in(self, ask: Ask, step: Tell, steps: list[str]) -> None:
        known = await self._load()
        asker = self._asker(step)
        if self._wanted is None:
            self._wanted = read_challenge(Challenge(*await asker.challenge(self._url)))
        self._check_steps(known)
        found = await self._discover(asker, known)
        scopes = self._scopes(found, known)
        redirects = redirects_of(self._settings)
        check_configured(known.registration, found.server, self._settings)
        old = usable(known.registration, found.server, self._settings, redirects, self._clock())
        if old is not None:
            step(f"known there as client {old.label}")
        try:
            tokens, registration = await self._consent(asker, found, old, redirects, scopes, ask, steps)
        except GivenUp:
            if old is not None:
                await self._keep(replace(known, registration=replace(old, doubtful=True)), step)
            raise
        except OAuthError as error:
            if old is None or error.code not in ("invalid_client", "unauthorized_client"):
                raise
            step("the authorization server has forgotten hel: registering again")
            tokens, registration = await self._consent(asker, found, None, redirects, scopes, ask, steps)
        requested = tuple(scope for scope in scopes if scope != flow.OFFLINE)
        await self._keep(Known(tokens, registration, found.server, found.resource, requested), step)
        self._wanted = Wanted(resource_metadata=self._wanted.resource_metadata)
        self._not_before = 0.0
        step(f"logged in, {validity(tokens, self._clock())}")
        if missing := [scope for scope in requested if scope not in tokens.scopes]:
            step(f"not given: {' '.join(missing)}")

    async def _consent(
        self,
        asker: Asker,
        found: Found,
        registration: Registration | None,
        redirects: tuple[str, ...],
        scopes: tuple[str, ...],
        ask: Ask,
        steps: list[str],
    ) -> tuple[Tokens, Registration]:
        """Register where that is needed, ask the person, and exchange the code."""
        if registration is None:
            registration = await register(asker, found.server, self._settings, redirects, scopes)
        self._hide(registration.client_secret)
        redirects = registration.redirects or redirects
        listener = await listen(redirects)
        redirect = listener.redirect if listener else redirects[0]
        try:
            attempt = flow.begin(found.server, registration.client_id, redirect, found.resource, scopes)
            self._hide(attempt.verifier)
            if found.server.challenge_methods is None:
                asker.tell("the authorization server does not say whether it takes PKCE; hel uses it")
            if listener is None:
                asker.tell(f"{redirect} is in use by another program: paste where the browser ends up")
            else:
                listener.expect(lambda fields: flow.is_answer(attempt, fields))
                asker.tell(f"waiting for the browser at {redirect}")
            code = await self._code(attempt, listener, ask, steps, scopes, asker.tell)
        finally:
            if listener is not None:
                listener.close()
        self._hide(code)
        client = grants.Client(asker, found.server, registration, self._settings, found.resource, self._clock)
        return await grants.redeem(client, code, attempt.verifier, redirect, scopes), registration

    async def _code(
        self,
        attempt: flow.Attempt,
        listener: Listener | None,
        ask: Ask,
        steps: list[str],
        scopes: tuple[str, ...],
        tell: Tell,
    ) -> str:
        """The code: from the browser or pasted by the person, whichever comes first."""
        for _ in range(PASTES):
            question = LoginQuestion(
                question_id(),
                self._name,
                attempt.url,
                attempt.issuer,
                attempt.redirect,
                scopes,
                tuple(steps),
            )
            asking = asyncio.ensure_future(ask(question))
            try:
                awaited: set[asyncio.Future[Any]] = {asking} | ({listener.answer} if listener else set())
                await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
                if listener is not None and listener.answer.done():
                    return flow.code_of(attempt, listener.answer.result())
                answer = asking.result()
            finally:
                asking.cancel()
                with suppress(asyncio.CancelledError):
                    await asking
            if not isinstance(answer, LoginAnswer) or not answer.pasted.strip():
                raise GivenUp("the login was given up")
            self._hide(answer.pasted.strip())
            try:
                return flow.code_in(attempt, answer.pasted)
            except flow.NotOurs as why:
                tell(str(why))
        raise GivenUp("nothing that was pasted is the answer to this login")

    async def logout(self, tell: Tell) -> str:
        """Revoke the tokens where the server can do that, and forget all about it. "" or a sentence."""
        known = await self._load()
        problem = ""
        client = self._client(known, self._asker(lambda line: tell(self._mask(line))))
        if client is not None and known.tokens is not None:
            problem = await grants.revoke(client, known.tokens)
            if client.server.revocation_endpoint and not problem:
                tell("the tokens were revoked")
        left = await self._store.forget(self._key)
        self._known, self._wanted, self._not_before = Known(), None, 0.0
        self._asked_again.clear()
        tell("tokens and registration were forgotten" if not left else self._mask(left))
        return self._mask(left or problem)

    # ----------------------------------------------------------------- parts

    def _check_steps(self, known: Known) -> None:
        """Refuse to go round in circles for scopes that were asked for and are still said to be missing."""
        wanted = self._wanted
        if wanted is None or not wanted.more_scopes or not set(wanted.scopes) <= set(known.requested):
            return
        scopes = frozenset(wanted.scopes)
        self._asked_again[scopes] += 1
        if self._asked_again[scopes] > AGAIN:
            raise Refusal(
                f"the server wants {' '.join(sorted(scopes)) or 'more rights'} although each login "
                "asked for it; log out to begin anew"
            )

    async def _discover(self, asker: Asker, known: Known) -> Found:
        preferred = known.registration.issuer if known.registration else ""
        return await discover(asker, self._url, self._wanted or Wanted(), self._settings, preferred)

    def _scopes(self, found: Found, known: Known, *, offline: bool = True) -> tuple[str, ...]:
        """Least rights: what the refusal names, else what the resource names, and what was given before."""
        wanted = self._wanted or Wanted()
        asked = self._settings.scopes or wanted.scopes or found.scopes
        if wanted.more_scopes:
            asked = (*asked, *wanted.scopes)
        chosen = flow.choose_scopes(asked, known.requested, found.server)
        return chosen if offline else tuple(dict.fromkeys((*known.requested, *asked)))

    def _client(self, known: Known, asker: Asker) -> grants.Client | None:
        if known.server is None or known.registration is None:
            return None
        return grants.Client(
            asker, known.server, known.registration, self._settings, known.resource, self._clock
        )

    def _asker(self, tell: Tell) -> Asker:
        return Asker(self._url, self._http, tell)

    async def _load(self) -> Known:
        if self._known is None:
            stored = self._fitting(await self._store.load(self._key))
            if self._known is None:
                self._learn(stored)
        assert self._known is not None
        return self._known

    def _fitting(self, stored: Known) -> Known:
        """What the store holds, as far as it is of the client the entry names."""
        known = stored.registration
        if self._settings.client_id:
            if known is None or known.client_id != self._settings.client_id:
                return Known()
            return replace(stored, registration=replace(known, client_secret=self._settings.client_secret))
        return Known() if known is not None and known.how == "configured" else stored

    def _learn(self, known: Known) -> None:
        self._known = known
        if known.tokens is not None:
            self._hide(known.tokens.access, known.tokens.refresh)
        if known.registration is not None:
            self._hide(known.registration.client_secret)

    async def _keep(self, known: Known, tell: Tell) -> None:
        self._learn(known)
        if problem := await self._store.save(self._key, known):
            tell(f"the tokens hold for this run only: {problem}")

    def _hide(self, *values: str) -> None:
        given = [value for value in values if value]
        self._mask.add(*given)
        self._tell_anyone(*given)

    def _say(self, line: str) -> None:
        self._tell(self._mask(line))


def validity(tokens: Tokens, now: float) -> str:
    """How long a token is good, for a step: `valid 59 min`."""
    if not tokens.expires:
        return "valid until it is refused"
    left = max(0.0, tokens.expires - now)
    if left < 120:
        return f"valid {left:.0f} s"
    return f"valid {left / 60:.0f} min" if left < 7200 else f"valid {left / 3600:.0f} h"


def _bearer(sent: Mapping[str, str]) -> str:
    """The token in a request's headers."""
    for name, value in sent.items():
        if name.lower() == "authorization" and value[:7].lower() == "bearer ":
            return value[7:].strip()
    return ""
