"""Logins through the whole host: refusals, questions, renewals and restarts as a person meets them."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse

from hel_tui.core.mcp.entries import Address, ServerEntry
from hel_tui.core.mcp.expand import expand_address
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
    changes: dict[str, Any] = field(default_factory=dict)
    """What else the entry says."""
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
        self.host.start([replace(entry, **self.changes)])
        await self.reached("ready", "needs login", "failed", "off")

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


async def test_what_a_login_gave_is_told_without_its_tokens(desk: Desk, place: Place) -> None:
    place.challenge = {"scope": "read"}
    await desk.start()
    before = desk.host.logins.detail("shop")
    assert before is None or not before.has_token
    assert await desk.host.login("shop") == ""
    await desk.reached("ready")
    detail = desk.host.logins.detail("shop")
    assert detail is not None
    assert (detail.has_token, detail.scopes, detail.how) == (True, ("read",), "dynamic")
    assert detail.issuer.startswith("http://127.0.0.1") and detail.resource == place.mcp
    assert detail.expires > detail.obtained > 0 and detail.renewable
    (token,) = place.bank.tokens
    assert token.access not in repr(detail) and token.refresh not in repr(detail)
    await desk.host.logout("shop")
    after = desk.host.logins.detail("shop")
    assert after is None or not after.has_token


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


async def test_logging_out_neither_starts_nor_asks_a_server_that_is_off(desk: Desk, place: Place) -> None:
    await desk.start()
    assert await desk.host.login("shop") == ""
    await desk.reached("ready")
    desk.host.switch("shop", False)
    await desk.reached("off")
    await idle(desk)
    asked = len(place.asked("/mcp"))
    assert await desk.host.logout("shop") == ""
    assert desk.host.statuses()[0].phase == "off"
    await idle(desk)
    assert len(place.asked("/mcp")) == asked
    assert not place.bank.tokens[0].access_good


async def idle(desk: Desk) -> None:
    """Wait until nothing of the server runs any more, nor is about to."""
    async with asyncio.timeout(LIMIT):
        while (server := desk.host.server("shop")) is not None and server.is_alive:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"headers_helper": "/bin/echo {}"}, "`headersHelper`"),
        ({"url": "http://ada:secret-word@127.0.0.1:{port}/mcp"}, "user name"),
        ({"oauth": {"enabled": False}}, "`oauth`: false"),
    ],
)
async def test_where_something_else_gives_credentials_nobody_is_asked_to_log_in(
    place: Place, tmp_path: Path, no_keyring: None, given: dict[str, Any], sentence: str
) -> None:
    url = given.get("url", place.mcp).replace("{port}", str(place.port))
    desk = Desk(tmp_path, place, changes={**given, "url": url})
    try:
        await desk.start()
        assert desk.host.statuses()[0].phase == "failed"
        assert sentence in await desk.host.login("shop")
        assert sentence in await desk.host.logout("shop")
        assert place.paths == []
        assert desk.person.questions == []
    finally:
        await desk.host.aclose()


async def test_a_login_for_more_rights_keeps_the_connection_and_its_calls(desk: Desk, place: Place) -> None:
    await desk.start()
    assert await desk.host.login("shop") == ""
    await desk.reached("ready")
    held, let_go = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    answers = place.answers

    def slow(request: HttpRequest) -> Response:
        answers.pop("/mcp")
        body = json.loads(place.seen[-1].body)

        async def parts() -> AsyncIterator[bytes]:
            loop.call_soon_threadsafe(held.set)
            while not let_go.is_set():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            result = {"content": [{"type": "text", "text": "the long one"}]}
            yield json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}).encode()

        return StreamingResponse(parts(), 200, {"Content-Type": "application/json"})

    answers["/mcp"] = slow
    long_call = asyncio.ensure_future(desk.call())
    await asyncio.wait_for(held.wait(), LIMIT)
    place.scope_needed = "write"
    await desk.call()
    assert desk.host.statuses()[0].phase == "needs login"
    greeted = len([one for one in place.asked("/mcp") if "initialize" in one.body])
    assert await desk.host.login("shop") == ""
    assert desk.host.statuses()[0].phase == "ready"
    let_go.set()
    assert "the long one" in await asyncio.wait_for(long_call, LIMIT)
    assert "write" in await desk.call()
    assert len([one for one in place.asked("/mcp") if "initialize" in one.body]) == greeted


async def test_an_entry_that_checks_certificates_again_gets_an_authorization_of_its_own(
    desk: Desk,
) -> None:
    await desk.start()
    server = desk.host.server("shop")
    assert server is not None
    found = expand_address(server.entry, {})
    assert isinstance(found, Address)
    careful = await desk.host.logins.of(server.entry, found)
    assert await desk.host.logins.of(server.entry, found) is careful
    assert await desk.host.logins.of(replace(server.entry, insecure=True), found) is not careful


async def test_credentials_in_headers_are_hidden_and_ordinary_values_are_not(
    place: Place, tmp_path: Path, no_keyring: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTE", "blue-notes")
    headers = (
        *(("Authorization", "Bearer mine-is-this"), ("X-Api-Key", "another-one"), ("X-Note", "a ${NOTE}")),
        *(("Accept-Language", "application/json"), ("X-Version", "2024-11-05"), ("X-For", "example.com")),
    )
    desk = Desk(
        tmp_path, place, headers=headers, changes={"url": place.mcp.replace("//", "//ada:pass-phrase@")}
    )
    try:
        await desk.start()
        for secret in ("mine-is-this", "another-one", "blue-notes", "pass-phrase"):
            assert secret not in desk.redactor(f"it says {secret}, twice: {secret}")
        plain = "application/json of example.com since 2024-11-05: Bearer of news"
        assert desk.redactor(plain) == plain
    finally:
        await desk.host.aclose()
