"""A person's part in a login: the question, the way back by browser or paste, and tokens for the code.

Not here: whom to ask and for what (authorization), the rules of the answer (flow).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from hel_tui.core.mcp.auth import flow, grants
from hel_tui.core.mcp.auth.asking import Asker, Refusal
from hel_tui.core.mcp.auth.callback import Listener, listen
from hel_tui.core.mcp.auth.discovery import Found
from hel_tui.core.mcp.auth.registration import Registration, register
from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.auth.tokens import Tokens
from hel_tui.core.protocol import Answer, LoginAnswer, LoginQuestion
from hel_tui.core.questions import question_id

PASTES = 5
"""How often a person may paste something that is no answer."""

Ask = Callable[[LoginQuestion], Awaitable[Answer]]


class GivenUp(Refusal):
    """The person did not go on with the login."""


@dataclass(frozen=True, slots=True)
class Consent:
    """One login of a person at one authorization server."""

    name: str
    """The MCP server's, for the question."""
    found: Found
    settings: OAuthSettings
    redirects: tuple[str, ...]
    scopes: tuple[str, ...]
    asker: Asker
    ask: Ask
    steps: list[str]
    """The lines told so far; the question shows them."""
    hide: Callable[..., None]
    clock: Callable[[], float]

    async def get(self, known: Registration | None) -> tuple[Tokens, Registration]:
        """Register if nothing is `known`, ask the person, exchange the code. Raises Refusal."""
        registration = known or await register(
            self.asker, self.found.server, self.settings, self.redirects, self.scopes
        )
        self.hide(registration.client_secret)
        redirects = tuple(one for one in self.redirects if one in registration.redirects)
        redirects = redirects or registration.redirects or self.redirects
        listener = await listen(redirects)
        redirect = listener.redirect if listener else redirects[0]
        try:
            attempt = flow.begin(
                self.found.server, registration.client_id, redirect, self.found.resource, self.scopes
            )
            self.hide(attempt.verifier)
            self._tell_of(attempt, listener)
            code = await self._code(attempt, listener)
        finally:
            if listener is not None:
                listener.close()
        self.hide(code)
        client = grants.Client(
            self.asker, self.found.server, registration, self.settings, self.found.resource, self.clock
        )
        return await grants.redeem(client, code, attempt.verifier, redirect, self.scopes), registration

    def _tell_of(self, attempt: flow.Attempt, listener: Listener | None) -> None:
        if self.found.server.challenge_methods is None:
            self.asker.tell("the authorization server does not say whether it knows PKCE; hel uses it")
        if listener is None:
            self.asker.tell(f"{attempt.redirect} is in use: paste the URL the browser ends at")
        else:
            listener.expect(lambda fields: flow.is_answer(attempt, fields))
            self.asker.tell(f"waiting for the browser at {attempt.redirect}")

    async def _code(self, attempt: flow.Attempt, listener: Listener | None) -> str:
        """The code: from the browser or pasted by the person, whichever comes first."""
        for _ in range(PASTES):
            answer = await self._answer(attempt, listener)
            if listener is not None and listener.answer.done():
                return flow.code_of(attempt, listener.answer.result())
            if not isinstance(answer, LoginAnswer) or not answer.pasted.strip():
                raise GivenUp("the login was given up")
            try:
                return flow.code_in(attempt, answer.pasted)
            except flow.NotOurs as why:
                self.asker.tell(str(why))
        raise GivenUp("nothing that was pasted is the answer to this login")

    async def _answer(self, attempt: flow.Attempt, listener: Listener | None) -> Answer | None:
        """Ask; None when the browser came back first. The question is over either way."""
        question = LoginQuestion(
            question_id(),
            self.name,
            attempt.url,
            attempt.issuer,
            attempt.redirect,
            self.scopes,
            tuple(self.steps),
        )
        asking = asyncio.ensure_future(self.ask(question))
        awaited: set[asyncio.Future[Any]] = {asking}
        if listener is not None:
            awaited.add(listener.answer)
        try:
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait([asking])
