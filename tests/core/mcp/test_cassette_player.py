"""Answering from a cassette: the client's ids and tokens, the server's words."""

from __future__ import annotations

import asyncio
import difflib
import json
from typing import Any

import pytest

from hel_tui.core.mcp.cassette import Cassette, Taped
from hel_tui.core.mcp.cassette_player import Player
from tests.rig import LIMIT


def call(identity: Any, text: str, tool: str = "echo", **meta: Any) -> dict[str, Any]:
    params: dict[str, Any] = {"name": tool, "arguments": {"text": text}}
    return request(identity, "tools/call", {**params, "_meta": meta} if meta else params)


def request(identity: Any, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, **({"params": params} if params else {})}


def result(identity: Any, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": {"content": [{"type": "text", "text": text}]}}


def note(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


class Client:
    """What is sent to a player over a cassette of these messages, and what it says."""

    def __init__(self, *taped: Any, **options: Any) -> None:
        frames = [
            Taped(
                n / 100,
                way,
                message if isinstance(message, dict) else None,
                "" if isinstance(message, dict) else message,
            )
            for n, (way, message) in enumerate(taped)
        ]
        self.said: list[Any] = []
        self.spoke = asyncio.Event()
        """It said something."""
        self.player = Player(Cassette("fix", "", "", tuple(frames)), self._say, **options)

    def _say(self, message: Any) -> None:
        self.said.append(message)
        self.spoke.set()

    async def take(self, message: dict[str, Any]) -> list[Any]:
        """What it said because of one message."""
        before = len(self.said)
        self.player.take(message)
        await self.player.done(10)
        await asyncio.sleep(0)
        return self.said[before:]

    async def text(self, message: dict[str, Any]) -> str:
        """The text of its answer, or the sentence of its error."""
        answer = (await self.take(message))[-1]
        assert answer["id"] == message["id"]
        return answer["result"]["content"][0]["text"] if "result" in answer else answer["error"]["message"]


ECHOES = (
    ("out", call(1, "a")),
    ("in", result(1, "A")),
    ("out", call(2, "b")),
    ("in", result(2, "B")),
    ("out", call(3, "a")),
    ("in", result(3, "A again")),
)


async def test_a_request_is_found_by_its_arguments_and_the_same_one_gets_the_next_answer() -> None:
    client = Client(*ECHOES)
    assert await client.text(call("x", "b")) == "B"
    assert [await client.text(call(n, "a")) for n in range(3)] == ["A", "A again", "A again"]


async def test_what_was_not_recorded_is_an_error_that_names_the_nearest() -> None:
    client = Client(*ECHOES)
    sentence = await client.text(call(9, "c"))
    assert 'tools/call echo {"text":"c"} is not on the cassette; the nearest is tools/call echo' in sentence


async def test_by_method_any_call_of_the_tool_will_do() -> None:
    client = Client(*ECHOES, match="method")
    assert [await client.text(call(n, "whatever")) for n in range(4)] == ["A", "B", "A again", "A again"]
    assert "not on the cassette" in await client.text(call(9, "x", tool="other"))


async def test_strictly_only_the_next_one_is_answered() -> None:
    client = Client(*ECHOES, strict=True)
    assert "request 1 of the cassette is" in await client.text(call(1, "b"))
    assert [await client.text(call(n, text)) for n, text in enumerate("aba")] == ["A", "B", "A again"]
    assert "at its end" in await client.text(call(5, "a"))


async def test_hello_ping_and_lists_are_always_answered() -> None:
    client = Client(strict=True)
    (hello,) = await client.take(request(1, "initialize", {"protocolVersion": "2025-06-18"}))
    assert hello["result"]["protocolVersion"] == "2025-06-18"
    assert hello["result"]["serverInfo"]["name"] == "fix"
    for method, answer in (("ping", {}), ("tools/list", {"tools": []}), ("prompts/list", {"prompts": []})):
        assert (await client.take(request(2, method)))[0]["result"] == answer
    assert (await client.take(request(3, "server/discover")))[0]["error"]["code"] == -32601


async def test_a_recorded_hello_speaks_the_older_of_two_revisions() -> None:
    recorded = {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {"protocolVersion": "2025-11-25", "capabilities": {"x": {}}},
    }
    client = Client(("out", request(0, "initialize", {"protocolVersion": "2025-11-25"})), ("in", recorded))
    (old,) = await client.take(request(1, "initialize", {"protocolVersion": "2024-11-05", "clientInfo": {}}))
    assert (old["result"]["protocolVersion"], old["result"]["capabilities"]) == ("2024-11-05", {"x": {}})
    (new,) = await client.take(request(2, "initialize", {"protocolVersion": "2099-01-01"}))
    assert new["result"]["protocolVersion"] == "2025-11-25"


async def test_notifications_come_around_their_answer_with_the_tokens_of_the_client() -> None:
    client = Client(
        ("out", call(1, "a", progressToken="old")),
        ("in", note("notifications/progress", progressToken="old", progress=1)),
        ("in", "noise on stdout"),
        ("in", result(1, "A")),
        ("in", note("notifications/tools/list_changed")),
    )
    said = await client.take(call(7, "a", progressToken="mine"))
    assert [one if isinstance(one, str) else one.get("method", "answer") for one in said] == [
        "notifications/progress",
        "noise on stdout",
        "answer",
        "notifications/tools/list_changed",
    ]
    assert said[0]["params"]["progressToken"] == "mine"
    assert "notifications/progress" not in json.dumps(await client.take(call(8, "a")))


async def test_progress_of_two_calls_at_once_belongs_to_the_right_one() -> None:
    client = Client(
        ("out", call(1, "a", progressToken="one")),
        ("out", call(2, "b", progressToken="two")),
        ("in", note("notifications/progress", progressToken="one", progress=1)),
        ("in", result(2, "B")),
        ("in", result(1, "A")),
    )
    assert len(await client.take(call(5, "b", progressToken="t"))) == 1
    assert len(await client.take(call(6, "a", progressToken="t"))) == 2


async def test_a_question_of_the_server_is_asked_and_its_answer_waited_for() -> None:
    client = Client(
        ("out", call(1, "a")),
        ("in", request(100, "elicitation/create", {"message": "who?"})),
        ("out", {"jsonrpc": "2.0", "id": 100, "result": {"action": "accept"}}),
        ("in", result(1, "A")),
    )
    client.player.take(call(7, "a"))
    await asyncio.wait_for(client.spoke.wait(), LIMIT)
    (asked,) = client.said
    assert (asked["method"], asked["params"]) == ("elicitation/create", {"message": "who?"})
    assert asked["id"] != 100
    (answer,) = await client.take({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}})
    assert answer == result(7, "A")


async def test_a_cancelled_call_is_not_answered() -> None:
    client = Client(("out", call(1, "a")), ("in", request(5, "roots/list")), ("in", result(1, "A")))
    client.player.take(call(7, "a"))
    await asyncio.wait_for(client.spoke.wait(), LIMIT)
    assert await client.take(note("notifications/cancelled", requestId=7)) == []


@pytest.mark.parametrize(
    "message",
    [
        request([1], "tools/list"),
        request({}, "ping"),
        request(None, "ping"),
        request(True, "ping"),
        5,
        "x",
        [],
    ],
)
async def test_what_is_no_request_is_refused_and_what_follows_is_answered(message: Any) -> None:
    client = Client(*ECHOES)
    (refused,) = await client.take(message)
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert await client.text(call(1, "a")) == "A"


@pytest.mark.parametrize("meant", [{}, [1], None, "other", True])
async def test_a_cancel_that_means_no_call_changes_nothing(meant: Any) -> None:
    client = Client(*ECHOES)
    client.player.take(call(1, "a"))
    assert await client.take(note("notifications/cancelled", requestId=meant)) == [result(1, "A")]


async def test_ids_on_a_cassette_may_be_anything() -> None:
    name = "io.modelcontextprotocol/subscriptionId"
    client = Client(
        ("out", request([1], "subscriptions/listen")),
        ("in", note("notifications/subscriptions/acknowledged", _meta={name: [1]})),
        ("out", call({"a": 1}, "a")),
        ("in", note("notifications/resources/updated", uri="a://b", _meta={name: [1]})),
        ("in", note("notifications/resources/updated", uri="a://c", _meta={name: {}})),
        ("in", note("notifications/progress", progressToken={}, progress=1)),
        ("in", result({"a": 1}, "A")),
    )
    (acknowledged,) = await client.take(request(4, "subscriptions/listen"))
    assert acknowledged["params"] == {"_meta": {name: 4}}
    assert await client.take(call(5, "a")) == [
        note("notifications/resources/updated", uri="a://b", _meta={name: 4}),
        note("notifications/progress", progressToken={}, progress=1),
        result(5, "A"),
    ]


async def test_the_nearest_of_very_many_is_looked_for_among_few(monkeypatch: pytest.MonkeyPatch) -> None:
    among: list[list[str]] = []
    real = difflib.get_close_matches

    def noted(word: str, possibilities: list[str], *rest: Any) -> list[str]:
        among.append(possibilities)
        return real(word, possibilities, *rest)

    monkeypatch.setattr(difflib, "get_close_matches", noted)
    others = [("out", request(n, "prompts/get", {"name": f"{n}"})) for n in range(2_000)]
    client = Client(*others, ("out", call(1, "hello")))
    sentence = await client.text(call("x", "hell"))
    assert 'the nearest is tools/call echo {"text":"hello"}' in sentence
    assert len(among[0]) <= 500


async def test_a_request_that_was_never_answered_says_so() -> None:
    client = Client(("out", call(1, "a")))
    assert "was not answered when it was recorded" in await client.text(call(7, "a"))


async def test_credentials_do_not_matter_for_what_is_the_same() -> None:
    recorded = request(1, "tools/call", {"name": "x", "arguments": {"api_key": "‹redacted›"}})
    client = Client(("out", recorded), ("in", result(1, "A")))
    asked = request(7, "tools/call", {"name": "x", "arguments": {"api_key": "abcdefgh1"}})
    assert await client.text(asked) == "A"


async def test_with_latency_an_answer_takes_as_long_as_it_took() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        assert client.said == []
        slept.append(seconds)

    client = Client(("out", call(1, "a")), ("in", result(1, "A")), latency=True, sleep=sleep)
    assert await client.text(call(7, "a")) == "A"
    assert slept == pytest.approx([0.01])


async def test_what_a_subscription_brought_comes_with_what_led_to_it_and_under_the_clients_id() -> None:
    key = "io.modelcontextprotocol/subscriptionId"
    client = Client(
        ("out", request("listen-1", "subscriptions/listen", {"notifications": {"toolsListChanged": True}})),
        ("in", note("notifications/subscriptions/acknowledged", _meta={key: "listen-1"})),
        ("out", call(2, "a")),
        ("in", note("notifications/tools/list_changed", _meta={key: "listen-1"})),
        ("in", result(2, "A")),
        (
            "in",
            {"jsonrpc": "2.0", "id": "listen-1", "error": {"code": -32000, "message": "Connection closed"}},
        ),
    )
    assert len(await client.take(call(8, "a"))) == 1  # the client did not subscribe
    listen = request("mine", "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    (acknowledged,) = await client.take(listen)
    assert acknowledged["params"]["_meta"] == {key: "mine"}
    changed, answer = await client.take(call(9, "a"))
    assert (changed["method"], changed["params"]["_meta"][key]) == (
        "notifications/tools/list_changed",
        "mine",
    )
    assert answer == result(9, "A")
