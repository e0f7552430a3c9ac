"""Streamable HTTP with real servers: what goes out, what comes back, in which order, and how it ends."""

from __future__ import annotations

import asyncio
import json

import pytest

from hel_tui.core.mcp.http.outgoing import Outgoing
from hel_tui.core.mcp.http.posting import Poster
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.mcp.messages import Answer
from tests.core.mcp.http.driving import Bench, text_of, until


@pytest.mark.parametrize("mode", ["ok", "sse", "charset", "gzip"])
async def test_answers_come_as_json_or_as_a_stream_whatever_the_type_is_spelled_like(
    bench: Bench, mode: str
) -> None:
    peer, _ = await bench.greeted(mode)
    listed = await peer.ask("tools/list")
    assert [one["name"] for one in listed.result["tools"]] == ["echo", "expire", "change"]
    assert text_of(await peer.call(word="안녕")) == json.dumps({"word": "안녕"})


async def test_session_and_version_go_along_with_everything_behind_initialize(bench: Bench) -> None:
    peer, site = await bench.greeted("ok")
    await peer.call()
    await peer.reply(99)
    await peer.end()
    hello, *others = site.received()
    assert "mcp-session-id" not in hello["headers"] and "mcp-protocol-version" not in hello["headers"]
    assert {one["method"] for one in others} == {"POST", "GET", "DELETE"}
    assert len({one["headers"]["mcp-session-id"] for one in others}) == 1
    assert {one["headers"]["mcp-protocol-version"] for one in others} == {"2025-11-25"}


async def test_headers_of_a_message_are_sent_with_it_and_the_version_is_kept_for_what_has_none(
    bench: Bench,
) -> None:
    site = bench.serve("stateless")
    peer = bench.peer(site)
    stamp = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "Mcp-Name": "echo"}
    await peer.ask("tools/call", {"name": "echo", "arguments": {}}, {**stamp, "Mcp-Param-City": "Seoul"})
    await peer.reply(5)
    await until(lambda: len(site.received("POST")) == 2)
    call, reply = site.received("POST")
    assert call["headers"]["mcp-name"] == "echo" and call["headers"]["mcp-param-city"] == "Seoul"
    assert reply["headers"]["mcp-protocol-version"] == "2026-07-28"
    assert "mcp-param-city" not in reply["headers"]


async def test_a_version_of_a_probe_is_not_sent_with_initialize(bench: Bench) -> None:
    site = bench.serve("ok")
    peer = bench.peer(site)
    await peer.ask("server/discover", {}, {"mcp-protocol-version": "2026-07-28"})
    await peer.greet()
    [hello] = site.received("POST", "initialize")
    assert "mcp-protocol-version" not in hello["headers"]


async def test_requests_run_side_by_side(bench: Bench) -> None:
    peer, _ = await bench.greeted("hang")
    hung = await peer.send("tools/call", {"name": "echo"})
    assert (await peer.ask("ping")).error is None
    assert peer.intake.outcome(hung) is None


async def test_a_request_arrives_behind_the_notifications_before_it(bench: Bench) -> None:
    site = bench.serve("ok")
    peer = bench.peer(site)
    await peer.greet()
    for number in range(20):
        await peer.tell("notifications/progress", {"progressToken": number, "progress": 1})
    await peer.ask("tools/list")
    methods = [json.loads(one["body"])["method"] for one in site.received("POST")]
    assert methods[:2] == ["initialize", "notifications/initialized"]
    assert methods[-1] == "tools/list"
    told = [json.loads(one["body"])["params"] for one in site.received("POST", "notifications/progress")]
    assert [one["progressToken"] for one in told] == list(range(20))


async def test_a_notification_leaves_only_when_the_requests_before_it_have_left() -> None:
    outgoing = Outgoing(print)
    left: list[str] = []
    sent, answered = asyncio.Event(), asyncio.Event()

    async def request() -> None:
        await answered.wait()
        left.append("answer")

    async def note() -> None:
        left.append("note")

    outgoing.request(request(), sent)
    await outgoing.note(note())
    for _ in range(10):
        await asyncio.sleep(0)
    assert left == []
    sent.set()
    await until(lambda: left == ["note"])
    answered.set()
    await until(lambda: left == ["note", "answer"])
    await outgoing.end(0)


async def test_a_notification_without_an_answer_does_not_hold_up_what_comes_behind_it_for_long(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.http.outgoing.NOTE_PATIENCE", 0.05)
    peer, _ = await bench.greeted("note-hang")
    assert isinstance(await peer.ask("tools/list"), Answer)


async def test_cancelling_without_sessions_closes_the_stream_and_posts_nothing(bench: Bench) -> None:
    site = bench.serve("stateless")
    peer = bench.peer(site)
    peer.version = "2026-07-28"
    call = await peer.send("tools/call", {"name": "hang"})
    await until(lambda: site.received("POST", "tools/call"))
    await peer.tell("notifications/cancelled", {"requestId": call})
    await until(lambda: site.noted("closed") == [True])
    assert len(site.received("POST")) == 1
    assert peer.intake.outcome(call) is None


async def test_cancelling_in_a_session_tells_the_server_and_leaves_the_stream_for_a_while(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.http.streamable.LINGER", 0.2)
    peer, site = await bench.greeted("hang")
    call = await peer.send("tools/call", {"name": "echo"})
    await until(lambda: site.received("POST", "tools/call"))
    await peer.tell("notifications/cancelled", {"requestId": call})
    await until(lambda: site.received("POST", "notifications/cancelled"))
    assert site.noted("closed") == []
    await until(lambda: site.noted("closed") == [True])
    assert peer.intake.outcome(call) is None


async def test_a_request_cancelled_before_it_left_leaves_nothing_behind(bench: Bench) -> None:
    site = bench.serve("stateless")
    peer = bench.peer(site)
    peer.version = "2026-07-28"
    call = await peer.send("tools/call", {"name": "echo"})
    await peer.tell("notifications/cancelled", {"requestId": call})
    assert isinstance(await peer.ask("ping"), Answer)
    assert site.received("POST", "tools/call") == []


async def test_the_end_closes_the_session_and_leaves_no_task(bench: Bench) -> None:
    before = asyncio.all_tasks()
    peer, site = await bench.greeted("sse")
    await until(lambda: site.received("GET"))
    await peer.send("tools/call", {"name": "echo"})
    await peer.end()
    assert asyncio.all_tasks() <= before
    [end] = site.received("DELETE")
    assert end["headers"]["mcp-session-id"]
    assert await peer.link.how_it_ended() == "it was closed"
    with pytest.raises(OSError, match="closed"):
        await peer.send("ping")


async def test_what_was_said_last_still_arrives_before_the_end(bench: Bench) -> None:
    peer, site = await bench.greeted("ok")
    await peer.tell("notifications/cancelled", {"requestId": 5})
    await peer.end()
    order = [one["method"] for one in site.received()]
    assert site.received("POST", "notifications/cancelled") and order[-1] == "DELETE"


async def test_a_stuck_server_holds_up_the_end_for_two_seconds_at_most(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.http.streamable.PARTING", 0.2)
    peer, site = await bench.greeted("delete-hang")
    await peer.end()
    assert site.received("DELETE")


async def test_ids_are_mended_where_only_one_request_can_be_meant(bench: Bench) -> None:
    peer, _ = await bench.greeted("ids")
    for name in ("text", "null", "other"):
        assert text_of(await peer.call(name)) == "mine"


@pytest.mark.parametrize("kind", ["json", "event"])
async def test_a_result_of_many_megabytes_arrives_whole(bench: Bench, kind: str) -> None:
    peer, _ = await bench.greeted("big")
    assert len(text_of(await peer.call(kind, size=9_000_000))) == 9_000_000


@pytest.mark.parametrize("kind", ["json", "event"])
async def test_a_result_over_the_limit_fails_its_request_and_nothing_else(
    bench: Bench, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.http.posting.MAX_LINE", 100_000)
    monkeypatch.setattr("hel_tui.core.mcp.http.resuming.MAX_LINE", 100_000)
    peer, _ = await bench.greeted("big")
    fault = await peer.call(kind, size=1_000_000)
    assert isinstance(fault, LinkFault) and fault.kind == "refused" and "over 100,000 bytes" in fault.sentence
    assert isinstance(await peer.ask("ping"), Answer)


async def test_large_arguments_go_out(bench: Bench) -> None:
    peer, site = await bench.greeted("ok")
    await peer.call(text="y" * 5_000_000)
    [call] = [one for one in site.received("POST") if one["body"].endswith("bytes")]
    assert int(call["headers"]["content-length"]) > 5_000_000


async def test_a_reader_with_enough_to_do_slows_the_server_down(bench: Bench) -> None:
    peer, site = await bench.greeted("flood")
    await until(lambda: len(peer.intake.notes()) > 100)
    peer.intake.gate.clear()
    await until(lambda: site.noted("flooded"))
    held = len(peer.intake.messages)
    peer.intake.gate.set()
    await until(lambda: len(peer.intake.messages) > held)


async def test_a_bug_at_an_answer_fails_that_request(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    peer, _ = await bench.greeted("ok")

    async def broken(*_: object) -> None:
        raise KeyError("x")

    with monkeypatch.context() as patch:
        patch.setattr("hel_tui.core.mcp.http.posting.look", broken)
        fault = await peer.ask("ping")
        patch.setattr(Poster, "note", broken)
        await peer.tell("notifications/x")
        await until(lambda: "a message was lost: hel failed at it (KeyError)" in peer.remarks())
    assert isinstance(fault, LinkFault) and fault.sentence == "hel failed at its answer (KeyError)"
    assert isinstance(await peer.ask("ping"), Answer)
