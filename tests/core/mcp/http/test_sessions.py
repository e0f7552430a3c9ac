"""Sessions that a server forgets: opened anew once, for all who lost it, or given up."""

from __future__ import annotations

import asyncio

import pytest

from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.mcp.messages import Answer
from tests.core.mcp.http.driving import Bench, text_of, until

FORGETFUL = ["ok", "session-400", "session-401", "session-200"]


@pytest.mark.parametrize("mode", FORGETFUL)
async def test_a_forgotten_session_is_opened_anew_and_the_list_asked_again(bench: Bench, mode: str) -> None:
    peer, site = await bench.greeted(mode)
    await peer.call("expire")
    assert isinstance(await peer.ask("tools/list"), Answer)
    first, again = site.received("POST", "initialize")
    assert again["body"] == first["body"] and "mcp-session-id" not in again["headers"]
    assert len(site.received("POST", "notifications/initialized")) == 2
    assert peer.told.count("renewed") == 1
    assert len([one for one in peer.intake.messages if isinstance(one, Answer) and one.id == 1]) == 1


@pytest.mark.parametrize("mode", ["ok", "session-400", "session-401"])
async def test_a_call_is_repeated_where_the_status_proves_that_it_did_not_run(
    bench: Bench, mode: str
) -> None:
    peer, site = await bench.greeted(mode)
    await peer.call("expire")
    assert text_of(await peer.call("echo", a=1)) == '{"a": 1}'
    assert len(site.received("POST", "tools/call")) == 3


async def test_a_call_refused_with_success_is_not_repeated_and_the_next_one_works(bench: Bench) -> None:
    peer, site = await bench.greeted("session-200")
    await peer.call("expire")
    refused = await peer.call()
    assert refused.error["message"] == "Session not found"
    assert isinstance((await peer.call()).result["content"], list)
    assert len(site.received("POST", "tools/call")) == 3


async def test_many_requests_that_lost_one_session_open_one_new_session(bench: Bench) -> None:
    peer, site = await bench.greeted("ok")
    await peer.call("expire")
    answers = await asyncio.gather(*(peer.call("echo", n=n) for n in range(10)))
    assert [text_of(one) for one in answers] == [f'{{"n": {n}}}' for n in range(10)]
    assert len(site.received("POST", "initialize")) == 2
    assert peer.told.count("renewed") == 1


@pytest.mark.parametrize(
    ("mode", "words"),
    [("session-for-good", "no more sessions"), ("session-version", "2025-03-26 in place of 2025-11-25")],
)
async def test_a_session_that_cannot_be_had_again_ends_the_link(bench: Bench, mode: str, words: str) -> None:
    peer, site = await bench.greeted(mode)
    await peer.call("expire")
    fault = await peer.ask("tools/list")
    assert isinstance(fault, LinkFault) and fault.kind == "expired"
    assert words in f"{fault.sentence} {fault.told}"
    assert peer.running is not None
    async with asyncio.timeout(10):
        await peer.running
    assert "its session is gone" in await peer.link.how_it_ended()
    with pytest.raises(OSError, match="session is gone"):
        await peer.send("ping")
    assert site.received("DELETE") == []


async def test_a_server_that_knows_no_session_is_not_asked_for_ever(bench: Bench) -> None:
    site = bench.serve("session-twice")
    peer = bench.peer(site)
    await peer.greet()
    fault = await peer.ask("tools/list")
    assert isinstance(fault, LinkFault) and fault.status == 404
    assert fault.sentence == "it does not know the session any more"
    assert fault.told == "Session not found"
    assert len(site.received("POST", "initialize")) == 2
    assert len(site.received("POST", "tools/list")) == 1


async def test_a_restarted_server_is_greeted_again_when_it_is_back(bench: Bench) -> None:
    peer, site = await bench.greeted("ok")
    site.stop()
    fault = await peer.call()
    assert isinstance(fault, LinkFault) and fault.kind in ("unreachable", "lost")
    down = await peer.call()
    assert down.kind == "unreachable" and down.sentence == f"nothing listens at 127.0.0.1:{site.port}"
    site.start()
    assert text_of(await peer.call("echo", a=1)) == '{"a": 1}'
    assert peer.told.count("renewed") == 1
    assert sum(one.startswith("unreachable") for one in peer.told) == 1, "told once for both calls"


async def test_while_the_server_is_away_a_lost_session_stays_lost_and_is_tried_again(bench: Bench) -> None:
    peer, site = await bench.greeted("ok")
    await peer.call("expire")
    await peer.tell("notifications/cancelled", {"requestId": 9})
    await until(lambda: any("did not take" in one for one in peer.remarks()))
    site.stop()
    assert (await peer.call()).kind in ("unreachable", "lost")
    site.start()
    assert text_of(await peer.call()) == "{}"
    assert peer.told.count("renewed") == 1


async def test_the_servers_own_stream_is_opened_again_in_the_new_session(bench: Bench) -> None:
    peer, site = await bench.greeted("sse")
    await until(lambda: site.received("GET"))
    await peer.call("expire")
    await peer.ask("ping")
    await until(lambda: len(site.received("GET")) == 2)
    old, new = site.received("GET")
    assert old["headers"]["mcp-session-id"] != new["headers"]["mcp-session-id"]
    await peer.call("change")
    await until(lambda: [one.method for one in peer.intake.notes()] == ["notifications/tools/list_changed"])


async def test_a_stream_refused_because_the_session_is_gone_renews_it_without_a_request(bench: Bench) -> None:
    peer, site = await bench.greeted("session-get")
    await until(lambda: site.received("GET"))
    await peer.call("expire")
    await until(lambda: "renewed" in peer.told)
    await until(lambda: len(site.received("GET")) >= 3)


async def test_a_session_id_that_cannot_be_one_is_left_out(bench: Bench) -> None:
    peer, site = await bench.greeted("session-odd")
    assert text_of(await peer.call()) == "{}"
    assert all("mcp-session-id" not in one["headers"] for one in site.received())
    assert "its session id is not usable and was left out" in peer.remarks()
