"""A person, a browser and a hel beside a real authorization server: what the tests of this folder share."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

from hel_tui.core.mcp.auth.authorization import Authorization
from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.auth.tokens import TokenStore
from hel_tui.core.mcp.authorizing import Challenge
from hel_tui.core.mcp.http.target import open_client, target_of
from hel_tui.core.protocol import Answer, LoginAnswer, LoginQuestion
from tests.fixtures.authserver.place import Place

LIMIT = 30.0
"""Seconds a condition may take on a busy machine before a test fails."""


def free_port() -> int:
    """A port nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def browse(url: str) -> httpx.Response:
    """Play the browser: go where it is sent, to the end."""
    async with httpx.AsyncClient(follow_redirects=True, timeout=LIMIT, trust_env=False) as client:
        return await client.get(url)


async def end_of(url: str) -> str:
    """Play a browser on another machine: the address it is sent to at the end, which it cannot reach."""
    async with httpx.AsyncClient(timeout=LIMIT, trust_env=False) as client:
        return str((await client.get(url)).headers["location"])


class HandClock:
    """A clock that is moved by hand, ahead of the real one."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@dataclass
class Person:
    """Answers login questions: by the browser, or as `pastes` says for one question after another."""

    pastes: list[Callable[[LoginQuestion], Any]] = field(default_factory=list)
    questions: list[LoginQuestion] = field(default_factory=list)
    browsing: list[asyncio.Task[httpx.Response]] = field(default_factory=list)
    taken_back: int = 0

    async def __call__(self, question: LoginQuestion) -> Answer:
        self.questions.append(question)
        try:
            if self.pastes:
                pasted = self.pastes.pop(0)(question)
                return LoginAnswer(await pasted if asyncio.iscoroutine(pasted) else pasted)
            self.browsing.append(asyncio.ensure_future(browse(question.url)))
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.taken_back += 1
            raise
        raise AssertionError("not reached")


@dataclass
class Hel:
    """One hel with its memory in a folder: `again` is the next one with the same memory."""

    url: str
    folder: Path
    settings: OAuthSettings = field(default_factory=lambda: OAuthSettings(callback_port=free_port()))
    keyring: bool = False
    clock: Callable[[], float] = time.time
    told: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    person: Person = field(default_factory=Person)

    def __post_init__(self) -> None:
        self.auth = Authorization(
            self.url,
            self.settings,
            TokenStore(self.folder, keyring=self.keyring),
            http=lambda url: open_client(target_of(url)),
            hide=lambda *values: self.hidden.extend(values),
            name="shop",
            tell=self.told.append,
            clock=self.clock,
        )

    def again(self, **changes: Any) -> Hel:
        """The hel after this one."""
        given = {"settings": self.settings, "keyring": self.keyring, **changes}
        return Hel(self.url, self.folder, **given)

    async def request(self) -> int:
        """Ask the resource as a link does: again once when that is worth it. Returns the last status."""
        async with httpx2.AsyncClient(trust_env=False) as client:
            for _ in range(3):
                sent = await self.auth.headers()
                answer = await client.post(self.url, headers=dict(sent), json={})
                if answer.status_code not in (401, 403):
                    break
                said = answer.headers.get("www-authenticate", "")
                if not await self.auth.refused(Challenge(answer.status_code, said), sent):
                    break
        return answer.status_code

    async def login(self) -> str:
        """Log in; returns the sentence, empty when it worked."""
        async with asyncio.timeout(LIMIT):
            return await self.auth.login(self.person, self.told.append)

    async def logged_in(self) -> Hel:
        """Be refused, log in, and be let in."""
        assert await self.request() == 401
        assert await self.login() == ""
        assert await self.request() == 200
        return self


@pytest.fixture(autouse=True)
def _plain_http_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.fixture
def place() -> Iterator[Place]:
    """A place as the specification wants it."""
    with Place() as one:
        yield one


@pytest.fixture
def hel(place: Place, tmp_path: Path) -> Hel:
    """A hel that knows nothing yet."""
    return Hel(place.mcp, tmp_path)
