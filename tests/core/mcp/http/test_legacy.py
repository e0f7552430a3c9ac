"""The older HTTP with SSE: one stream, an address for messages, and what may be wrong with both."""

from __future__ import annotations

import asyncio

import pytest

from hel_tui.core.mcp.http.legacy import SseLink
from hel_tui.core.mcp.http.target import Target
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.mcp.messages import Answer
from tests.core.mcp.http.driving import Bench, Peer, Site, text_of, until


def old(bench: Bench, site: Site, **options: float) -> Peer:
    """A link of the older kind to a server."""
    target = Target(site.url, (("Authorization", "Bearer key"),))
    return bench.peer(target, make=lambda *given, pause: SseLink(*given, **options))


@pytest.mark.parametrize("mode", ["legacy", "legacy-body"])
async def test_messages_go_to_the_named_address_and_answers_come_over_the_stream(
    bench: Bench, mode: str
) -> None:
    site = bench.serve(mode)
    peer = old(bench, site)
    await peer.greet()
    assert text_of(await peer.call("echo", a=1)) == '{"a": 1}'
    paths = {one["path"] for one in site.received("POST")}
    assert paths == {"/messages?session=1"}
    assert {one["headers"]["authorization"] for one in site.received()} == {"Bearer key"}
    assert len(site.received("GET")) == 1


async def test_the_version_goes_along_once_it_is_agreed(bench: Bench) -> None:
    site = bench.serve("legacy")
    peer = old(bench, site)
    await peer.greet()
    await peer.reply(3)
    await until(lambda: len(site.received("POST")) == 3)
    versions = [one["headers"].get("mcp-protocol-version") for one in site.received("POST")]
    assert versions == [None, "2025-11-25", "2025-11-25"]


async def test_a_refused_message_fails_and_the_stream_stays(bench: Bench) -> None:
    site = bench.serve("legacy")
    peer = old(bench, site)
    await peer.greet()
    fault = await peer.call("fail")
    assert (fault.kind, fault.status, fault.told) == ("refused", 500, "it broke")
    assert isinstance(await peer.ask("ping"), Answer)


async def test_the_end_of_the_stream_is_the_end_of_the_link(bench: Bench) -> None:
    before = asyncio.all_tasks()
    site = bench.serve("legacy")
    peer = old(bench, site)
    await peer.greet()
    await peer.send("tools/call", {"name": "end"})
    assert peer.running is not None
    async with asyncio.timeout(10):
        await peer.running
    assert await peer.link.how_it_ended() == "it ended its stream"
    assert asyncio.all_tasks() <= before
    with pytest.raises(OSError, match="ended its stream"):
        await peer.send("ping")


async def test_a_killed_server_ends_the_link(bench: Bench) -> None:
    site = bench.serve("legacy")
    peer = old(bench, site)
    await peer.greet()
    site.stop()
    assert peer.running is not None
    async with asyncio.timeout(10):
        await peer.running
    assert f"the connection to 127.0.0.1:{site.port} ended" in await peer.link.how_it_ended()


@pytest.mark.parametrize(
    ("mode", "kind", "words"),
    [
        ("legacy-elsewhere", "refused", "it wants messages sent to another place than its own"),
        ("legacy-silent", "timeout", "it opened a stream but did not say where messages go within 0.2 s"),
        ("ok", "refused", "it answered 405 Method Not Allowed"),
        ("get-200", "refused", "it answered with application/json (200 OK) and not with an event stream"),
    ],
)
async def test_without_a_usable_stream_requests_are_told_why_until_the_end(
    bench: Bench, mode: str, kind: str, words: str
) -> None:
    site = bench.serve(mode)
    peer = old(bench, site, endpoint_limit=0.2 if mode == "legacy-silent" else 10.0)
    for _ in range(2):
        fault = await peer.ask("initialize", {})
        assert isinstance(fault, LinkFault) and fault.kind == kind and words in fault.sentence
    assert peer.running is not None and not peer.running.done()
    link = peer.link
    assert isinstance(link, SseLink) and not link.opened
    assert site.received("POST") == []


async def test_a_server_that_is_not_there_is_told_so(bench: Bench) -> None:
    site = bench.serve("legacy")
    site.stop()
    fault = await old(bench, site).ask("initialize", {})
    assert fault == LinkFault("unreachable", f"nothing listens at 127.0.0.1:{site.port}")
