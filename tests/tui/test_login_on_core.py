"""The login at a server from its first sign to the last, on the real core with a real authorization server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from textual import events

from hel_tui.core import protocol as p
from hel_tui.core.threads import in_thread
from tests.fixtures.authserver.place import Place
from tests.rig import LIMIT, options, sample
from tests.tui.live import Live, living


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    monkeypatch.setenv("DISPLAY", ":0")
    with Place() as one:
        yield one


def running(place: Place, tmp_path: Path) -> Any:
    project = sample(tmp_path)
    (project / ".hel" / "mcp.json").unlink()
    named = tmp_path / "servers.json"
    named.write_text(json.dumps({"servers": {"shop": {"url": place.mcp}}}))
    more = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    given = options(project, tmp_path, None, mcp_config=(named,))
    given.environ.update(more)
    return living(given)


def follow(url: str, redirects: bool = True) -> httpx.Response:
    """What a browser does with an address."""
    with httpx.Client(follow_redirects=redirects, timeout=LIMIT, trust_env=False) as client:
        return client.get(url)


async def begin(live: Live) -> p.LoginQuestion:
    """Press the key of the server that needs a login, until its dialog hears."""
    await live.sees("needs login (a)")
    await live.press("tab", "tab", "a", after=1)
    await live.decision("Log in at shop", "/authorize")
    question = live.dialog.question  # type: ignore[attr-defined]
    assert isinstance(question, p.LoginQuestion)
    return question


async def test_the_browser_comes_back_and_the_server_is_ready(place: Place, tmp_path: Path) -> None:
    async with running(place, tmp_path) as live:
        went: list[str] = []
        live.app.open_url = lambda url, **_more: went.append(url)  # type: ignore[method-assign]
        question = await begin(live)
        assert went == []
        await live.decide("o")
        assert went == [question.url]
        await in_thread(lambda: follow(question.url), "browser")
        await live.until(lambda: not live.has_dialog, "the end of the dialog")
        await live.until(lambda: live.app.bridge.state.servers["shop"].phase == "ready", "the server")
        await live.press("enter", after=1)
        await live.sees("Login, step by step")


async def test_what_the_browser_ended_at_can_be_pasted(place: Place, tmp_path: Path) -> None:
    async with running(place, tmp_path) as live:
        question = await begin(live)
        ended = await in_thread(lambda: follow(question.url, redirects=False).headers["location"], "browser")
        paste = events.Paste(ended)
        paste.time = live.clock.now = live.clock.now + 1
        live.app.post_message(paste)
        await live.until(lambda: live.dialog.pasted.value == ended, "the pasted address")  # type: ignore[attr-defined]
        await live.press("enter", after=1)
        await live.until(lambda: live.app.bridge.state.servers["shop"].phase == "ready", "the server")


async def test_giving_up_leaves_the_server_as_it_was(place: Place, tmp_path: Path) -> None:
    async with running(place, tmp_path) as live:
        await begin(live)
        await live.decide("escape")
        await live.until(lambda: not live.has_dialog, "the end of the dialog")
        await live.until(lambda: any(step.end for step in live.app.bridge.state.logins["shop"]), "the end")
        assert live.app.bridge.state.servers["shop"].phase == "needs login"
