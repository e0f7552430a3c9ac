"""The same table of nasty streams for every API: one script, spelled by a real endpoint in each one's way."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from contextlib import aclosing
from email.utils import formatdate
from typing import Any

import pytest

from hel_tui.core.models.ending import MOST, MOST_CALLS, TOO_LONG, TOO_MANY
from hel_tui.core.models.types import (
    CallPart,
    Finish,
    ModelFault,
    ReasoningPart,
    Request,
    RetryPart,
    TextPart,
    Usage,
)
from hel_tui.core.vocabulary import AssistantMessage, ToolCall
from tests.core.models.apis import (
    HELLO,
    KEY,
    at,
    client_at,
    every_api,
    fault_of,
    finish_of,
    parts_of,
    playing,
    text_of,
    thought_of,
)
from tests.fixtures.models.endpoint import Endpoint, Exchange, ScriptedModel, call, say
from tests.fixtures.models.spelling import Call, Say, Script, Spelling, Think, Tokens

LOOK = Call("look", ('{"service":', ' "api"}'))
HALF = Script([Say("Half an "), Say("ans")], None)

pytestmark = every_api


def called(finish: Finish) -> list[tuple[str, Any]]:
    return [(one.name, json.loads(one.arguments)) for one in finish.message.calls]


# ---------------------------------------------------------------- answers


async def test_text_comes_in_parts_that_add_up_to_the_message(api: str) -> None:
    async with at(api, playing(Script([Say("Hello"), Say(", 세계 🙂"), Say(".")]))) as (model, endpoint):
        parts = await parts_of(model)
    last = parts[-1]
    assert isinstance(last, Finish)
    assert text_of(parts) == last.message.text == "Hello, 세계 🙂."
    assert (last.reason, last.notes, last.usage) == ("stop", (), Usage(10, 5))
    name, value = {"messages": ("x-api-key", KEY), "gemini": ("x-goog-api-key", KEY)}.get(
        api, ("authorization", f"Bearer {KEY}")
    )
    headers = endpoint.exchanges[0].headers
    assert [header for header, said in headers.items() if KEY in said] == [name]
    assert headers[name] == value
    assert KEY not in endpoint.exchanges[0].path


async def test_reasoning_comes_apart_from_the_text(api: str) -> None:
    async with at(api, playing(Script([Think("Let me "), Think("think."), Say("Done.")]))) as (model, _):
        parts = await parts_of(model)
    last = parts[-1]
    assert isinstance(last, Finish)
    assert thought_of(parts) == last.message.reasoning == "Let me think."
    assert last.message.text == "Done."


async def test_calls_are_announced_by_name_and_come_whole_at_the_end(api: str) -> None:
    script = Script([Say("I look."), LOOK, Call("list", (), "call_b")], "calls")
    async with at(api, playing(script)) as (model, _):
        parts = await parts_of(model)
    assert [part.name for part in parts if isinstance(part, CallPart)] == ["look", "list"]
    last = parts[-1]
    assert isinstance(last, Finish)
    assert called(last) == [("look", {"service": "api"}), ("list", {})]
    assert [one.id for one in last.message.calls] == ["call_a", "call_b"]
    assert (last.reason, last.notes) == ("tool_calls", ())


async def test_two_calls_in_one_event_are_two_calls(api: str) -> None:
    async def at_once(exchange: Exchange, spelling: Spelling) -> None:
        script = Script([LOOK, Call("look", ('{"service": "worker"}',), "call_b")], "calls", joined=True)
        await exchange.start()
        await exchange.write(b"".join(spelling.events(script)))
        await exchange.end()

    finish = await finish_of(api, at_once)
    assert called(finish) == [("look", {"service": "api"}), ("look", {"service": "worker"})]


async def test_calls_without_ids_get_some(api: str) -> None:
    steps = [Call("look", ('{"service": "api"}',), None), Call("look", ('{"service": "worker"}',), None)]
    calls = (await finish_of(api, Script(steps, "calls"))).message.calls
    assert len({one.id for one in calls}) == 2
    assert all(one.id for one in calls)


async def test_calls_with_the_same_id_get_different_ones(api: str) -> None:
    steps = [LOOK, Call("look", ('{"service": "worker"}',))]
    finish = await finish_of(api, Script(steps, "calls"))
    assert [value for _, value in called(finish)] == [{"service": "api"}, {"service": "worker"}]
    assert len({one.id for one in finish.message.calls}) == 2


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ((), {}),
        (("",), {}),
        (None, {}),
        (("null",), {}),
        ({"service": "api"}, {"service": "api"}),
        ('{"service": "api"}', {"service": "api"}),
    ],
)
async def test_arguments_that_are_empty_null_or_an_object_are_taken(
    api: str, arguments: Any, value: Any
) -> None:
    assert called(await finish_of(api, Script([Call("look", arguments)], "calls"))) == [("look", value)]


@pytest.mark.parametrize("finish", ["stop", "calls"])
async def test_whole_calls_run_whatever_the_finish_reason_says(api: str, finish: Any) -> None:
    result = await finish_of(api, Script([LOOK], finish))
    assert called(result) == [("look", {"service": "api"})]
    assert result.reason == "tool_calls"


async def test_an_answer_in_one_piece_is_as_good_as_a_stream(api: str) -> None:
    async def at_once(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.answer(200, spelling.whole(Script([Say("All at once."), LOOK], "calls")))

    finish = await finish_of(api, at_once)
    assert finish.message.text == "All at once."
    assert called(finish) == [("look", {"service": "api"})]
    assert finish.usage == Usage(10, 5)


# ---------------------------------------------------------------- how it ends


@pytest.mark.parametrize(
    ("end", "reason"), [("length", "length"), ("filter", ("filter", "refusal")), ("stop", "stop")]
)
async def test_an_end_is_told_by_its_kind(api: str, end: Any, reason: Any) -> None:
    finish = await finish_of(api, Script([Say("It was a dark and")], end))
    assert finish.reason in (reason if isinstance(reason, tuple) else (reason,))
    assert finish.message.text == "It was a dark and"


async def test_a_call_that_the_output_limit_cuts_is_not_made(api: str) -> None:
    finish = await finish_of(api, Script([Say("I look."), Call("look", ('{"service":',))], "length"))
    assert finish.message.calls == ()
    assert finish.reason == "length"
    assert "The call of look was cut off and not executed." in finish.notes


async def test_a_stream_without_an_end_of_its_own_still_gives_its_answer(api: str) -> None:
    finish = await finish_of(api, Script([Say("Good answer."), LOOK], None))
    assert finish.message.text == "Good answer."
    assert called(finish) == [("look", {"service": "api"})]
    assert "no finish reason" in finish.notes


async def test_an_empty_answer_is_an_answer(api: str) -> None:
    finish = await finish_of(api, Script([]))
    assert finish.message == AssistantMessage()
    assert finish.reason == "stop"


async def test_nothing_at_all_is_tried_again_and_then_told(api: str) -> None:
    async def nothing(exchange: Exchange, _: Spelling) -> None:
        await exchange.start()
        await exchange.end()

    async with at(api, nothing) as (model, endpoint):
        with pytest.raises(ModelFault, match="answered with nothing"):
            await parts_of(model)
    assert len(endpoint.requests) == 4


async def test_the_end_of_an_answer_is_enough_though_the_connection_stays_open(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.models.gemini.assemble.GRACE", 0.05)

    async def open_end(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        await exchange.write(b"".join(spelling.events(Script([Say("Good answer.")]))))
        await exchange.client_left()

    finish = await finish_of(api, open_end)
    assert (finish.message.text, finish.reason) == ("Good answer.", "stop")


async def test_an_error_event_of_any_shape_is_an_error(api: str) -> None:
    async def odd(exchange: Exchange, _: Spelling) -> None:
        await exchange.start()
        await exchange.write(b'event: error\ndata: {"message": "The engine fell over"}\n\n')
        await exchange.end()

    assert "The engine fell over" in (await fault_of(api, odd)).sentence


@pytest.mark.parametrize("tokens", [None, "many", 7, [], {}, {"prompt_tokens": "7"}, {"input_tokens": -1}])
async def test_usage_that_is_missing_or_odd_is_no_usage(api: str, tokens: Any) -> None:
    finish = await finish_of(api, Script([Say("Hi.")], tokens=tokens))
    assert finish.message.text == "Hi."
    assert finish.usage is None


async def test_cache_and_reasoning_are_counted(api: str) -> None:
    written = 0 if api == "gemini" else 50
    tokens = Tokens(1_000, 60, 800, written, 40)
    finish = await finish_of(api, Script([Say("Hi.")], tokens=tokens))
    assert finish.usage == Usage(1_000, 60, 800, written, 40)


# ---------------------------------------------------------------- odd bytes


async def test_every_byte_may_be_a_chunk_of_its_own(api: str) -> None:
    async def crumbs(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        for byte in b"".join(spelling.events(Script([Say("포트 é 🙂"), LOOK], "calls"))):
            await exchange.write(bytes([byte]))
        await exchange.end()

    finish = await finish_of(api, crumbs)
    assert finish.message.text == "포트 é 🙂"
    assert called(finish) == [("look", {"service": "api"})]


async def test_pings_comments_and_unknown_events_change_nothing(api: str) -> None:
    async def noisy(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        for data in spelling.events(Script([Think("Hm."), Say("Hel"), Say("lo")])):
            for noise in spelling.noise:
                await exchange.write(noise)
            await exchange.write(data.replace(b"\n", b"\r\n"))
        await exchange.end()

    finish = await finish_of(api, noisy)
    assert (finish.message.text, finish.reason) == ("Hello", "stop")
    assert finish.usage == Usage(10, 5)


async def test_values_that_are_no_events_are_skipped_and_told(api: str) -> None:
    async def broken(exchange: Exchange, spelling: Spelling) -> None:
        events = spelling.events(Script([Say("Hel"), Say("lo")]))
        await exchange.start()
        await exchange.write(b"".join(events[:-2]))
        await exchange.write(b'data: {"a":\n\ndata: 7\n\ndata: [1]\n\n' + b"data: " + b"[" * 99_999 + b"\n\n")
        await exchange.write(b"".join(events[-2:]))
        await exchange.end()

    finish = await finish_of(api, broken)
    assert finish.message.text == "Hello"
    assert "unreadable chunks skipped: 4" in finish.notes


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [None], [7]])
async def test_fields_of_another_type_break_nothing(api: str, odd: Any) -> None:
    """Every field of every event is replaced by something else in turn."""
    script = Script([Think("Hm."), Say("Hello"), LOOK], "calls")

    async def bent(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        for value in (event for data in spelling.events(script) for event in _bent(data, odd)):
            await exchange.write(value)
        await exchange.end()

    async with at(api, bent) as (model, _):
        try:
            parts = await parts_of(model)
        except ModelFault as fault:
            assert fault.kind in ("stream", "server")
        else:
            assert isinstance(parts[-1], Finish)


def _bent(data: bytes, odd: Any) -> list[bytes]:
    head, found, text = data.rstrip().rpartition(b"data: ")
    if not found or not text.startswith(b"{"):
        return [data]
    value = json.loads(text)
    out = []
    for path in _paths(value):
        copy = json.loads(text)
        holder = copy
        for key in path[:-1]:
            holder = holder[key]
        if path[-1] in ("error", "type"):
            continue  # what is no event, or a fault, is another test's matter
        holder[path[-1]] = odd
        out.append(head + b"data: " + json.dumps(copy).encode() + b"\n\n")
    return out


def _paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        keys: Any = list(value)
    elif isinstance(value, list):
        keys = range(len(value))
    else:
        return []
    return [path for key in keys for path in [(*before, key), *_paths(value[key], (*before, key))]]


async def test_a_huge_event_arrives_whole(api: str) -> None:
    finish = await finish_of(api, Script([Say("0123456789abcdef" * 250_000)]))
    assert len(finish.message.text) == 4_000_000


async def test_a_flood_comes_in_few_parts(api: str) -> None:
    async def burst(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        await exchange.write(b"".join(spelling.events(Script([Say("word ")] * 2_000))))
        await exchange.end()

    async with at(api, burst) as (model, _):
        parts = await parts_of(model)
    assert text_of(parts) == "word " * 2_000
    assert len(parts) < 100


async def test_an_answer_longer_than_any_is_cut_off_and_the_stream_left(api: str) -> None:
    left = asyncio.Event()

    async def far_too_long(exchange: Exchange, spelling: Spelling) -> None:
        try:
            await exchange.start()
            for data in spelling.events(Script([Say("word " * 10_000)] * 100, None)):
                await exchange.write(data)
            await exchange.client_left()
        finally:
            left.set()

    async with at(api, far_too_long) as (model, _):
        parts = await parts_of(model)
        await asyncio.wait_for(left.wait(), 10)
    finish = parts[-1]
    assert isinstance(finish, Finish)
    assert len(text_of(parts)) == len(finish.message.text) == MOST
    assert (finish.reason, TOO_LONG in finish.notes) == ("length", True)


async def test_one_piece_longer_than_any_answer_is_cut_off(api: str) -> None:
    async with at(api, playing(Script([Say("0123456789abcdef" * 400_000)]))) as (model, _):
        parts = await parts_of(model)
    finish = parts[-1]
    assert isinstance(finish, Finish)
    assert text_of(parts) == finish.message.text == "0123456789abcdef" * (MOST // 16)
    assert (finish.reason, TOO_LONG in finish.notes) == ("length", True)


async def test_more_calls_than_any_provider_takes_back_are_left_out(api: str) -> None:
    made = [Call("look", (json.dumps({"number": n}),), id=f"call_{n}") for n in range(MOST_CALLS + 50)]
    finish = await finish_of(api, Script([Say("I look."), *made]))
    assert [json.loads(one.arguments)["number"] for one in finish.message.calls] == list(range(MOST_CALLS))
    assert (finish.message.text, finish.reason) == ("I look.", "tool_calls")
    assert TOO_MANY in finish.notes


async def test_a_call_longer_than_any_answer_is_not_made(api: str) -> None:
    script = Script([Say("I write."), Call("write", (json.dumps({"content": "x" * (MOST + 1)}),))])
    finish = await finish_of(api, script)
    assert (finish.message.text, finish.message.calls, finish.reason) == ("I write.", (), "length")
    assert [note for note in finish.notes if "write" in note and "not executed" in note]


# ---------------------------------------------------------------- broken off


async def test_what_arrived_before_a_reset_is_kept_and_not_asked_for_again(api: str) -> None:
    async def reset(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        for data in spelling.events(HALF):
            await exchange.write(data)
        await exchange.raw(b"40\r\ndata:")
        exchange._writer.close()

    async with at(api, reset) as (model, endpoint):
        with pytest.raises(ModelFault) as caught:
            await parts_of(model)
    assert caught.value.kind == "stream"
    assert caught.value.partial == AssistantMessage("Half an ans")
    assert len(endpoint.requests) == 1


async def test_an_error_among_the_events_keeps_what_came_before(api: str) -> None:
    async def fails(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        for data in spelling.events(HALF):
            await exchange.write(data)
        await exchange.write(spelling.error_event("The engine fell over", "", 500))
        await exchange.end()

    fault = await fault_of(api, fails)
    assert "The engine fell over" in fault.sentence
    assert fault.partial == AssistantMessage("Half an ans")


async def test_an_error_before_the_answer_is_tried_again(api: str) -> None:
    async def first_busy(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        if exchange.number == 1:
            await exchange.write(spelling.error_event("Overloaded", "overloaded_error", 529))
        else:
            for data in spelling.events(Script([Say("Hello.")])):
                await exchange.write(data)
        await exchange.end()

    async with at(api, first_busy) as (model, _):
        parts = await parts_of(model)
    assert isinstance(parts[0], RetryPart)
    assert text_of(parts) == "Hello."


@pytest.mark.parametrize("events", [-1, 0, 3])
async def test_silence_ends_at_the_idle_limit(api: str, events: int) -> None:
    """Before the head, right behind it, and in the middle of the answer."""

    async def hang(exchange: Exchange, spelling: Spelling) -> None:
        if events >= 0:
            await exchange.start()
        for data in spelling.events(Script([Say("Half"), Say(" an"), Say(" ans")], None))[: max(events, 0)]:
            await exchange.write(data)
        await exchange.client_left()

    fault = await fault_of(api, hang, idle=0.15)
    assert fault.kind == "timeout"
    assert "0.15 seconds" in fault.sentence


async def test_leaving_early_closes_the_stream_at_once(api: str) -> None:
    left = asyncio.Event()

    async def watched(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        for data in spelling.events(HALF):
            await exchange.write(data)
        await exchange.client_left()
        left.set()

    async with at(api, watched) as (model, _):
        async with aclosing(model.stream(Request(HELLO))) as parts:
            async for part in parts:
                assert isinstance(part, TextPart | ReasoningPart)
                break
        await asyncio.wait_for(left.wait(), 5)


async def test_the_connection_is_used_again(api: str) -> None:
    async with at(api, playing(Script([Say("Hi.")]))) as (model, endpoint):
        for _ in range(3):
            await parts_of(model)
            while model._connection.tasks:  # the end of the body is read beside
                await asyncio.wait(model._connection.tasks)
    assert endpoint.connections == 1


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("headers", "waited"),
    [({"Retry-After": "7"}, 7.0), ({"Retry-After": formatdate(1e9 + 9, usegmt=True)}, 9.0), ({}, 0.5)],
)
async def test_a_rate_limit_waits_as_long_as_it_is_asked_to(
    api: str, headers: dict[str, str], waited: float
) -> None:
    async def slow_down(exchange: Exchange, spelling: Spelling) -> None:
        if exchange.number == 1:
            await exchange.answer(429, spelling.error("Slow down", "", 429), headers)
        else:
            await playing(Script([Say("Hello.")]))(exchange, spelling)

    waits: list[float] = []
    async with at(api, slow_down, waits=waits) as (model, _):
        parts = await parts_of(model)
    retry = parts[0]
    assert isinstance(retry, RetryPart)
    assert "Slow down" in retry.why
    assert waits == [waited]
    assert text_of(parts) == "Hello."


@pytest.mark.parametrize("status", [500, 503, 529])
async def test_a_server_in_trouble_is_asked_four_times_in_all(api: str, status: int) -> None:
    async def trouble(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.answer(status, spelling.error("Overloaded", "", status))

    waits: list[float] = []
    fault = await fault_of(api, trouble, waits=waits)
    assert (fault.kind, fault.status, waits) == ("server", status, [0.5, 1.0, 2.0])


async def test_a_refused_key_is_never_shown(api: str) -> None:
    async def echo(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.answer(401, spelling.error(f"Incorrect API key provided: {KEY}.", "", 401))

    fault = await fault_of(api, echo)
    assert fault.kind == "auth"
    assert "Check TEST_API_KEY." in fault.sentence
    assert KEY not in fault.sentence + fault.said


async def test_an_error_page_is_told_without_its_markup(api: str) -> None:
    async def page(exchange: Exchange, _: Spelling) -> None:
        await exchange.answer(
            502,
            "<html><body><h1>502 Bad Gateway</h1>\x1b[31mnginx</body></html>",
            {"Content-Type": "text/html"},
        )

    fault = await fault_of(api, page)
    assert "502 Bad Gateway" in fault.sentence
    assert "<" not in fault.sentence and "\x1b" not in fault.sentence


async def test_a_page_that_comes_with_200_is_no_answer(api: str) -> None:
    async def page(exchange: Exchange, _: Spelling) -> None:
        await exchange.answer(200, "<html><body>Log in to the hotel's network</body></html>")

    async with at(api, page) as (model, endpoint):
        with pytest.raises(ModelFault, match="answered with a web page"):
            await parts_of(model)
        assert len(endpoint.requests) == 1


async def test_a_refusal_is_unpacked_no_further_than_it_is_read(api: str) -> None:
    packed = gzip.compress(b'{"error": {"message": "too much ' + b"x" * 50_000_000)
    head = f"HTTP/1.1 400 Bad\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"

    async def bomb(exchange: Exchange, _: Spelling) -> None:
        await exchange.raw(head.encode() + packed)

    tracemalloc.start()
    fault = await fault_of(api, bomb)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "too much" in fault.sentence
    assert most < 20_000_000


async def test_a_redirect_is_told_and_not_followed(api: str) -> None:
    async def moved(exchange: Exchange, _: Spelling) -> None:
        await exchange.answer(308, "", {"Location": "https://elsewhere.invalid/v1"})

    async with at(api, moved) as (model, endpoint):
        with pytest.raises(ModelFault, match=r"https://elsewhere\.invalid/v1"):
            await parts_of(model)
    assert len(endpoint.exchanges) == 1


# ---------------------------------------------------------------- the address


async def test_a_base_url_without_a_path_finds_its_version(api: str) -> None:
    async def strict(exchange: Exchange) -> None:
        if exchange.path.startswith(("/v1/", "/v1beta/")):
            from tests.fixtures.models.endpoint import play

            await play(exchange, say("Hello."))
        else:
            await exchange.answer(404, f"404: there is no {exchange.path}")

    async with Endpoint(strict) as endpoint:
        model = client_at(endpoint.url.removesuffix("/v1"), api)
        assert text_of(await parts_of(model)) == "Hello."
        assert text_of(await parts_of(model)) == "Hello."
        await model.aclose()
    assert len(endpoint.requests) == 3


async def test_a_scripted_model_answers_in_the_api_it_is_asked_in(api: str) -> None:
    async with ScriptedModel(
        [call("look", {"service": "api"}, "call_7"), say("포트.", reasoning="Hm.")]
    ) as one:
        model = client_at(one.url, api)
        first, second = (await parts_of(model))[-1], (await parts_of(model))[-1]
        await model.aclose()
    assert isinstance(first, Finish) and isinstance(second, Finish)
    assert first.message.calls == (ToolCall("call_7", "look", '{"service": "api"}'),)
    assert (second.message.text, second.message.reasoning) == ("포트.", "Hm.")
