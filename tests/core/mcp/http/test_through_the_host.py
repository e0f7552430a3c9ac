"""Remote servers as hel runs them: from the entry to states, tools, calls and what is said when it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.entries import ServerEntry
from tests.core.mcp.conftest import Bench as Hosting
from tests.core.mcp.conftest import until
from tests.core.mcp.http.driving import Bench, Site


@pytest.fixture
async def hosting(tmp_path: Path) -> AsyncIterator[Hosting]:
    hosting = Hosting(tmp_path)
    yield hosting
    for host in hosting.hosts:
        await host.aclose()


Open = Callable[..., Any]


@pytest.fixture
def connect(hosting: Hosting, bench: Bench) -> Open:
    """Start a fixture server and let the host connect to it; returns the server."""

    async def connect(mode: str, **more: Any) -> Site:
        site = bench.serve(mode)
        given = {
            "scope": "user",
            "file": hosting.folder / "mcp.json",
            "transport": "http",
            "definition": {"url": site.url},
            "default_cwd": hosting.folder,
            "url": site.url,
            **more,
        }
        hosting.host.start([ServerEntry(name="fix", **given)])
        async with asyncio.timeout(30):
            await hosting.host.settled()
        return site

    return connect


@pytest.mark.parametrize(
    ("mode", "version"), [("ok", "2025-11-25"), ("sse", "2025-11-25"), ("stateless", "2026-07-28")]
)
async def test_both_eras_are_hosted_over_http(
    hosting: Hosting, connect: Open, mode: str, version: str
) -> None:
    site = await connect(mode)
    status = hosting.status()
    assert (status.phase, status.protocol, status.tools) == ("ready", version, 3)
    outcome = await hosting.call(word="안녕")
    assert json.dumps({"word": "안녕"}) in outcome.text and not outcome.failed
    await hosting.host.aclose()
    assert len(site.received("DELETE")) == (0 if mode == "stateless" else 1)


async def test_a_server_of_the_older_transport_is_found_out_and_remembered(
    hosting: Hosting, connect: Open
) -> None:
    site = await connect("legacy")
    assert hosting.status().phase == "ready"
    assert not (await hosting.call()).failed
    posts = len([one for one in site.received("POST") if one["path"] == "/mcp"])
    hosting.host.restart("fix")
    await until(lambda: len(site.received("GET")) >= 2 and hosting.status().phase == "ready")
    assert len([one for one in site.received("POST") if one["path"] == "/mcp"]) == posts


async def test_the_older_transport_is_used_where_the_entry_says_so(hosting: Hosting, connect: Open) -> None:
    site = await connect("legacy", transport="sse")
    assert hosting.status().phase == "ready"
    assert {one["path"] for one in site.received("POST")} == {"/messages?session=1"}


async def test_an_expired_session_is_renewed_behind_the_call_and_the_lists_are_read_again(
    hosting: Hosting, connect: Open
) -> None:
    site = await connect("ok")
    await hosting.call("expire")
    outcome = await hosting.call(a=1)
    assert not outcome.failed and '{"a": 1}' in outcome.text
    assert hosting.phases()[-1] == "ready"
    await until(lambda: len(site.received("POST", "tools/list")) >= 2)
    assert "its session had expired; a new one was begun" in hosting.log()


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("closes", "ended before the answer"),
        ("html", "text/html, which is no protocol message"),
        ("sse-drop-refused", "the result is unknown"),
        ("accepted", "sends no answer to it"),
    ],
)
async def test_a_call_that_came_to_nothing_says_why(
    hosting: Hosting, connect: Open, mode: str, words: str
) -> None:
    site = await connect(mode)
    outcome = await hosting.call()
    assert outcome.failed and words in outcome.text
    assert hosting.status().phase == "ready"
    assert len(site.received("POST", "tools/call")) == 1


async def test_a_call_that_is_not_answered_ends_at_its_limit_and_the_server_hears_it(
    hosting: Hosting, connect: Open
) -> None:
    site = await connect("hang", timeout=0.3)
    outcome = await hosting.call()
    assert outcome.failed and "did not answer within 0.3 s" in outcome.text
    await until(lambda: site.received("POST", "notifications/cancelled"))


async def test_a_server_that_tells_of_a_change_is_listed_again(hosting: Hosting, connect: Open) -> None:
    site = await connect("sse")
    await until(lambda: site.received("GET"))
    await hosting.call("change")
    await until(lambda: len(site.received("POST", "tools/list")) >= 2)


async def test_a_server_that_wants_a_login_says_so_and_nothing_is_opened(
    hosting: Hosting, connect: Open
) -> None:
    await connect("401")
    assert hosting.status().phase == "needs login"


async def test_a_refused_header_of_the_entry_is_no_reason_for_a_login(
    hosting: Hosting, connect: Open
) -> None:
    await connect("401", headers=(("Authorization", "Bearer wrong-value"),))
    status = hosting.status()
    assert status.phase == "failed"
    assert "did not accept the credentials it was given" in status.reason
    assert "wrong-value" not in hosting.log()


async def test_a_good_header_is_enough(hosting: Hosting, connect: Open) -> None:
    await connect("401", headers=(("Authorization", "Bearer good"),))
    assert hosting.status().phase == "ready"


async def test_a_redirect_elsewhere_is_told_as_the_failure(
    hosting: Hosting, connect: Open, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELSEWHERE", "http://127.0.0.1:9/other")
    await connect("redirect-cross")
    assert hosting.status().phase == "failed"
    assert "hel did not follow, for it is another place" in hosting.status().reason


async def test_a_server_that_was_started_again_meanwhile_goes_on_working(
    hosting: Hosting, connect: Open
) -> None:
    site = await connect("ok")
    site.stop()
    outcome = await hosting.call()
    assert outcome.failed
    site.start()
    await until(lambda: hosting.status().phase == "ready")
    assert not (await hosting.call()).failed


async def test_a_server_that_goes_away_while_nothing_is_asked_is_shown_so_until_it_is_back(
    hosting: Hosting, connect: Open
) -> None:
    site = await connect("sse")
    await until(lambda: site.received("GET"))
    site.stop()
    await until(lambda: hosting.status().phase == "degraded")
    assert hosting.host.catalogue.rows()
    site.start()
    await until(lambda: hosting.status().phase == "ready")
    assert not (await hosting.call()).failed
