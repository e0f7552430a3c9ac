"""Logins through the whole host: refusals, questions, renewals and restarts as a person meets them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.protocol import Answer, Event, LoginQuestion, LoginStep, NotAnswered, Question
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.store.redact import Redactor
from hel_tui.core.vocabulary import Invocation
from tests.core.mcp.auth.conftest import LIMIT, Person, free_port
from tests.fixtures.authserver.place import Place


@dataclass
class Desk:
    """A host over a folder, the events it told, and the person it asks."""

    folder: Path
    place: Place
    oauth: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    events: list[Event] = field(default_factory=list)
    person: Person = field(default_factory=Person)

    def __post_init__(self) -> None:
        files = SessionFiles(self.folder / "files")
        self.redactor = Redactor()
        environ = {**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
        self.host = Host(
            self.folder,
            environ,
            lambda: files,
            self.folder / "state",
            self.events.append,
            ask=self._ask,
            answerable=True,
            mask=self.redactor,
            hide=self.redactor.add,
            grace=0.3,
        )

    async def _ask(self, question: Question) -> Answer:
        if isinstance(question, LoginQuestion):
            return await self.person(question)
        return NotAnswered("")

    async def start(self) -> None:
        """Start the server and wait until that came to something."""
        oauth = self.oauth if self.oauth is not None else {"callbackPort": free_port()}
        entry = ServerEntry(
            "shop",
            "user",
            self.folder / "mcp.json",
            "http",
            {"url": self.place.mcp},
            url=self.place.mcp,
            oauth=oauth,
            headers=self.headers,
        )
        self.host.start([entry])
        await self.reached("ready", "needs login", "failed")

    async def reached(self, *phases: str) -> str:
        """Wait for one of these phases."""
        async with asyncio.timeout(LIMIT):
            while (phase := self.host.statuses()[0].phase) not in phases:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return phase

    async def call(self) -> str:
        """Call the one tool, which tells the scopes of the token."""
        tool = self.host.catalogue.find("shop", "scopes")
        assert tool is not None
        return (await tool.run({}, Invocation("id"))).text

    def told(self) -> str:
        """Everything that was told, and the server's log."""
        log = self.host.log("shop")
        lines = [] if log is None else [line.text for line in log.lines(log.first, log.end)]
        return "\n".join([*map(repr, self.events), *lines])


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever keyring this machine has, these tests leave it alone."""
    import keyring
    from keyring.backends import null

    before = keyring.get_keyring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: null.Keyring())
    assert before is not None


@pytest.fixture
async def desk(place: Place, tmp_path: Path, no_keyring: None) -> AsyncIterator[Desk]:
    one = Desk(tmp_path, place)
    yield one
    await one.host.aclose()


async def test_a_server_that_wants_a_login_gets_one_and_is_ready(desk: Desk, place: Place) -> None:
    place.challenge = {"scope": "read"}
    await desk.start()
    assert desk.host.statuses()[0].phase == "needs login"
    assert await desk.host.login("shop") == ""
    await desk.reached("ready")
    assert "read" in await desk.call()
    steps = [event for event in desk.events if isinstance(event, LoginStep)]
    assert steps[-1].end == "done"
    secrets = {token.access for token in place.bank.tokens} | {token.refresh for token in place.bank.tokens}
    assert not [secret for secret in secrets if secret in desk.told()]


async def test_the_next_hel_needs_no_login(desk: Desk, place: Place) -> None:
    await desk.start()
    assert await desk.host.login("shop") == ""
    await desk.reached("ready")
    await desk.host.aclose()
    later = Desk(desk.folder, place)
    try:
        await later.start()
        assert later.host.statuses()[0].phase == "ready"
        assert later.person.questions == []
    finally:
        await later.host.aclose()


async def test_a_token_that_ends_between_two_calls_is_renewed_unseen(
    desk: Desk, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.auth.authorization.FRESH", -1.0)
    await desk.start()
    assert await desk.host.login("shop") == ""
    await desk.reached("ready")
    for _ in range(3):
        place.bank.end_all()
        assert "none" in await desk.call()
    assert len(place.bank.tokens) == 4
    assert len(desk.person.questions) == 1


async def test_a_refused_header_of_the_entry_starts_no_login(
    place: Place, tmp_path: Path, no_keyring: None
) -> None:
    desk = Desk(tmp_path, place, headers=(("Authorization", "Bearer mine-is-this"),))
    try:
        await desk.start()
        assert "header of its own" in await desk.host.login("shop")
        assert place.paths == []
        assert "mine-is-this" not in desk.told()
    finally:
        await desk.host.aclose()


async def test_after_logging_out_the_server_wants_a_login(desk: Desk, place: Place) -> None:
    await desk.start()
    assert await desk.host.login("shop") == ""
    await desk.reached("ready")
    assert await desk.host.logout("shop") == ""
    await desk.reached("needs login")
    assert not place.bank.tokens[0].access_good
