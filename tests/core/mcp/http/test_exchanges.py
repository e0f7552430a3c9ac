"""Requests of HTTP in the trace of a server: which messages they carried, and nothing secret in them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.exchanges import Exchanges
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.protocol import Frame, FrameQuery
from hel_tui.core.vocabulary import Invocation
from tests.core.mcp.conftest import Bench as Hosting
from tests.core.mcp.conftest import until
from tests.core.mcp.http.driving import Bench, Site


@pytest.fixture
async def hosting(tmp_path: Path) -> AsyncIterator[Hosting]:
    hosting = Hosting(tmp_path)
    yield hosting
    for host in hosting.hosts:
        await host.aclose()


async def _connect(hosting: Hosting, bench: Bench, mode: str, **more: Any) -> tuple[Site, FrameStore]:
    site = bench.serve(mode)
    url = more.pop("url", site.url)
    given = {
        "scope": "user",
        "file": hosting.folder / "mcp.json",
        "transport": "http",
        "definition": {"url": url},
        "default_cwd": hosting.folder,
        "url": url,
        **more,
    }
    hosting.host.start([ServerEntry(name="fix", **given)])
    async with asyncio.timeout(30):
        await hosting.host.settled()
    frames = hosting.host.frames("fix")
    assert frames is not None
    return site, frames


def _of(store: FrameStore, call: str) -> list[Frame]:
    return [store.frames(number, number + 1)[0] for number in store.of_call(call)]


@pytest.mark.parametrize("mode", ["ok", "sse", "stateless", "legacy"])
async def test_request_and_answer_of_a_call_name_the_exchange_that_carried_them(
    hosting: Hosting, bench: Bench, mode: str
) -> None:
    _, store = await _connect(hosting, bench, mode)
    await hosting.tool().run({"word": "x"}, Invocation("card"))
    asked, answered = _of(store, "card")[0], _of(store, "card")[-1]
    assert answered.pair == asked.number
    there = store.frames(asked.exchange, asked.exchange + 1)[0]
    assert (there.kind, there.method, there.size) == ("http", "POST", asked.size)
    exchange = store.exchange(asked.exchange)
    assert exchange is not None and 200 <= exchange.status < 300 and exchange.seconds > 0
    assert there.summary.endswith(str(exchange.status))
    back = store.exchange(answered.exchange)
    assert back is not None and back.method == ("GET" if mode == "legacy" else "POST")
    assert ("content-type", "application/json") in exchange.request_headers


async def test_headers_of_an_exchange_show_no_credential_and_no_session(
    hosting: Hosting, bench: Bench
) -> None:
    headers = (("Authorization", "Bearer abcdefgh12345678"), ("X-Api-Key", "k-123456789"), ("X-Plain", "yes"))
    site, store = await _connect(hosting, bench, "ok", headers=headers)
    await hosting.call()
    assert site.received("POST")[-1]["headers"]["authorization"] == "Bearer abcdefgh12345678"
    session = site.received("POST")[-1]["headers"]["mcp-session-id"]
    shown = "\n".join(store.body(number) for number in range(store.end))
    assert "x-plain: yes" in shown.lower() and "mcp-session-id: ‹redacted›" in shown.lower()
    for secret in ("abcdefgh12345678", "k-123456789", session):
        assert secret not in shown
    assert store.sessions == 1


async def test_a_server_that_is_not_there_leaves_exchanges_without_an_answer(
    hosting: Hosting, bench: Bench
) -> None:
    _, store = await _connect(hosting, bench, "ok", url="http://127.0.0.1:9/mcp", reconnect=False)
    failed = store.matches(FrameQuery(errors=True), 0, store.end)
    exchange = store.exchange(failed[0])
    assert exchange is not None and exchange.status == 0 and "nothing listens" in exchange.reason
    assert store.frames(failed[0], failed[0] + 1)[0].summary == "/mcp no answer"


async def test_a_renewed_session_shows_the_hello_that_opened_it(hosting: Hosting, bench: Bench) -> None:
    _, store = await _connect(hosting, bench, "ok")
    before = store.end
    await hosting.call("expire")
    await hosting.call()

    def again() -> list[Frame]:
        return [one for one in store.frames(before, store.end) if one.method == "initialize"]

    asked, answered = await until(lambda: again() if len(again()) == 2 else None)
    assert (asked.direction, answered.direction, answered.pair) == ("out", "in", asked.number)
    assert asked.exchange == answered.exchange >= 0 and store.sessions >= 2


def test_no_part_of_a_cookie_is_shown_whatever_stands_beside_it() -> None:
    exchanges = Exchanges()
    headers = [("Set-Cookie", "sid=CookieSecretQQ99; Path=/"), ("Cookie", "sid=ReqCookieQQ55; theme=dark")]
    shown = repr(exchanges.shown(headers))
    assert "SecretQQ99" not in shown and "CookieQQ55" not in shown
