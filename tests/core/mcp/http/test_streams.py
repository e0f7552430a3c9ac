"""Event streams: odd ones, ones that break, the one a server opens of itself."""

from __future__ import annotations

import asyncio

import pytest

from hel_tui.core.mcp.http import listening, resuming, sending
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.mcp.messages import Answer
from hel_tui.core.sse import EventStream, ServerEvent
from tests.core.mcp.http.driving import Bench, text_of, until

# -------------------------------------------------------------- streams of answers


@pytest.mark.parametrize(
    ("mode", "text"), [("sse-odd", "odd"), ("sse-unfinished", "whole"), ("sse-stays", "done")]
)
async def test_whatever_the_format_allows_is_read(bench: Bench, mode: str, text: str) -> None:
    peer, _ = await bench.greeted(mode)
    assert text_of(await peer.call()) == text
    assert not [one for one in peer.intake.messages if not isinstance(one, Answer)]


async def test_a_small_answer_that_unpacks_to_a_flood_leaves_the_loop_its_turns(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer, _ = await bench.greeted("sse-blank")
    turns = 0
    fed: list[tuple[int, int]] = []

    class Watched(EventStream):
        def feed(self, chunk: bytes) -> list[ServerEvent]:
            fed.append((turns, len(chunk)))
            return super().feed(chunk)

    monkeypatch.setattr(resuming, "EventStream", Watched)

    async def tick() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    call = await peer.send("tools/call", {"name": "echo"})
    ticking = asyncio.create_task(tick())
    answer = await until(lambda: peer.intake.outcome(call))
    ticking.cancel()
    assert text_of(answer) == "behind the blank lines"
    assert sum(size for _, size in fed) > 30 << 20
    assert max(size for _, size in fed) <= sending.PIECE
    assert len({turn for turn, _ in fed}) == len(fed), "others had a turn between any two pieces"


@pytest.mark.parametrize("mode", ["sse", "get-once-a-note"])
async def test_a_stream_is_asked_for_as_it_is_and_an_answer_may_be_packed(bench: Bench, mode: str) -> None:
    _peer, site = await bench.greeted(mode)
    [stream] = (await until(lambda: site.received("GET")))[:1]
    assert stream["headers"]["accept-encoding"] == "identity"
    assert "gzip" in site.received("POST")[0]["headers"]["accept-encoding"]


async def test_a_stream_that_stays_open_behind_its_answer_is_closed(bench: Bench) -> None:
    peer, site = await bench.greeted("sse-stays")
    await peer.call()
    await until(lambda: site.noted("closed") == [True])


async def test_a_cut_stream_is_resumed_behind_the_last_whole_event(bench: Bench) -> None:
    peer, site = await bench.greeted("sse-drop")
    assert text_of(await peer.call()) == "after the cut"
    resumed = [
        one["headers"]["last-event-id"] for one in site.received("GET") if "last-event-id" in one["headers"]
    ]
    assert resumed == ["first", "first"], "the second after a stream that died before a new id"
    assert peer.waits == [0.2, 0.2], "the time the server asked for"
    assert len(site.received("POST", "tools/call")) == 1


async def test_a_server_that_closes_its_stream_again_and_again_is_followed_to_the_result(
    bench: Bench,
) -> None:
    peer, site = await bench.greeted("sse-polls")
    assert text_of(await peer.call()) == "after the cut"
    resumed = [one["headers"].get("last-event-id") for one in site.received("GET")]
    assert [one for one in resumed if one] == ["first", "1", "2", "3", "4", "5", "6", "7"]


@pytest.mark.parametrize(
    ("mode", "tries", "words"),
    [
        ("sse-drop-for-good", 5, "could not be resumed: the result is unknown"),
        ("sse-drop-refused", 1, "404 Not Found to the attempt to resume it: the result is unknown"),
        ("sse-cut", 0, "ended before the answer"),
    ],
)
async def test_a_stream_that_does_not_come_back_leaves_the_result_unknown(
    bench: Bench, mode: str, tries: int, words: str
) -> None:
    peer, site = await bench.greeted(mode)
    fault = await peer.call()
    assert isinstance(fault, LinkFault) and fault.kind == "lost" and words in fault.sentence
    assert "the result is unknown" in fault.sentence
    assert len([one for one in site.received("GET") if "last-event-id" in one["headers"]]) == tries
    assert len(site.received("POST", "tools/call")) == 1
    assert isinstance(await peer.ask("ping"), Answer)


async def test_a_cancelled_call_is_not_resumed(bench: Bench) -> None:
    held = asyncio.Event()

    async def pause(_seconds: float) -> None:
        await held.wait()

    peer, site = await bench.greeted("sse-drop-for-good", pause=pause)
    call = await peer.send("tools/call", {"name": "echo"})
    await until(lambda: site.received("POST", "tools/call"))
    await peer.tell("notifications/cancelled", {"requestId": call})
    await until(lambda: site.received("POST", "notifications/cancelled"))
    held.set()
    assert isinstance(await peer.ask("ping"), Answer)
    assert peer.intake.outcome(call) is None


# ---------------------------------------------------------- the server's own stream


@pytest.mark.parametrize("mode", ["ok", "get-404", "get-400", "get-200"])
async def test_a_server_without_a_stream_of_its_own_is_asked_once(bench: Bench, mode: str) -> None:
    peer, site = await bench.greeted(mode)
    await until(lambda: any("no stream of its own" in one for one in peer.remarks()))
    await peer.call()
    await peer.ask("tools/list")
    assert len(site.received("GET")) == 1 and peer.waits == []


async def test_what_a_server_says_of_itself_arrives(bench: Bench) -> None:
    peer, site = await bench.greeted("sse")
    await until(lambda: site.received("GET"))
    await peer.call("change")
    await until(lambda: [one.method for one in peer.intake.notes()] == ["notifications/tools/list_changed"])


async def test_a_stateless_server_is_not_asked_for_a_stream(bench: Bench) -> None:
    site = bench.serve("stateless")
    peer = bench.peer(site)
    peer.version = "2026-07-28"
    await peer.ask("server/discover")
    await peer.call()
    await peer.tell("notifications/initialized")
    await until(lambda: site.received("POST", "notifications/initialized"))
    assert isinstance(await peer.ask("ping"), Answer)
    assert site.received("GET") == []


async def test_a_stream_that_is_closed_at_once_is_opened_ever_more_rarely(bench: Bench) -> None:
    enough = asyncio.Event()
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 8:
            await enough.wait()
        await asyncio.sleep(0)

    await bench.greeted("get-closes", pause=pause)
    await until(lambda: len(waits) == 8)
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, listening.MOST_WAIT, listening.MOST_WAIT, listening.MOST_WAIT]


async def test_a_stream_that_ends_goes_on_behind_its_last_event_at_the_pace_the_server_asks_for(
    bench: Bench,
) -> None:
    peer, site = await bench.greeted("get-once-a-note")
    await until(lambda: len(peer.intake.notes()) >= 4)
    assert [one.params["data"] for one in peer.intake.notes()[:4]] == [1, 2, 3, 4]
    ids = [one["headers"].get("last-event-id") for one in site.received("GET")[:4]]
    assert ids == [None, "1", "2", "3"]
    assert peer.waits[:3] == [1.234, 2.468, 4.936]


async def test_the_stream_comes_back_when_the_server_does(bench: Bench) -> None:
    peer, site = await bench.greeted("sse", pause=lambda _seconds: asyncio.sleep(0.02))
    await until(lambda: site.received("GET"))
    site.stop()
    await until(lambda: any(one.startswith("unreachable: nothing listens") for one in peer.remarks()))
    site.start()
    await until(lambda: len(site.received("GET")) >= 2)
    site.stop()
    await until(lambda: sum(one.startswith("unreachable: ") for one in peer.remarks()) == 2)
