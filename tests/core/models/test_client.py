"""The client against a real endpoint on loopback: every way an answer comes, ends or fails."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from email.utils import formatdate

import pytest

from hel_tui.core.models.client import ChatClient
from hel_tui.core.models.profiles import Dialect, Profile, ReasoningBack
from hel_tui.core.models.types import (
    CallPart,
    Finish,
    ModelFault,
    ModelInfo,
    Part,
    ReasoningPart,
    Request,
    RetryPart,
    TextPart,
    Usage,
)
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from tests.fixtures.models.endpoint import Endpoint, Exchange, Handler, Reply, ScriptedModel, call, fail, say
from tests.fixtures.models.modes import MODES

KEY = "sk-very-secret-0123456789abcdef"
HELLO: tuple[Message, ...] = (SystemMessage("Be brief."), UserMessage("hi"))


PLAIN = Dialect()


def client(
    url: str, *, dialect: Dialect = PLAIN, idle: float = 5.0, waits: list[float] | None = None
) -> ChatClient:
    async def sleep(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    return ChatClient(
        ModelInfo("test", "scripted", url),
        Profile("test", dialect=dialect),
        KEY,
        key_hint="Check TEST_API_KEY.",
        idle=idle,
        sleep=sleep,
        clock=lambda: 1e9,
        chance=lambda: 0.0,
    )


@asynccontextmanager
async def at(handler: str | Handler, **options: object) -> AsyncIterator[tuple[ChatClient, Endpoint]]:
    """A client and the endpoint it talks to."""
    async with Endpoint(MODES[handler] if isinstance(handler, str) else handler) as endpoint:
        model = client(endpoint.url, **options)  # type: ignore[arg-type]
        try:
            yield model, endpoint
        finally:
            await model.aclose()


async def parts_of(model: ChatClient, messages: Sequence[Message] = HELLO) -> list[Part]:
    async with asyncio.timeout(20):
        return [part async for part in model.stream(Request(messages))]


async def finish_of(mode: str | Handler, **options: object) -> Finish:
    async with at(mode, **options) as (model, _):
        last = (await parts_of(model))[-1]
    assert isinstance(last, Finish)
    return last


async def fault_of(mode: str | Handler, **options: object) -> ModelFault:
    async with at(mode, **options) as (model, _):
        with pytest.raises(ModelFault) as caught:
            await parts_of(model)
    return caught.value


def text_of(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 (not everything has an event)
            await asyncio.sleep(0.005)


# ---------------------------------------------------------------- answers


async def test_text_comes_in_parts_that_add_up_to_the_message() -> None:
    async with at("ok-text") as (model, endpoint):
        parts = await parts_of(model)
    last = parts[-1]
    assert isinstance(last, Finish)
    assert text_of(parts) == last.message.text == "Hello, world."
    assert last.reason == "stop"
    assert last.usage == Usage(10, 5, 0)
    assert endpoint.exchanges[0].headers["authorization"] == f"Bearer {KEY}"


async def test_the_request_has_only_what_every_server_takes() -> None:
    async with at("ok-text") as (model, endpoint):
        await parts_of(model)
    assert endpoint.requests == [
        {
            "model": "scripted",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


async def test_a_call_is_announced_by_name_and_comes_whole_at_the_end() -> None:
    async with at("ok-tool") as (model, _):
        parts = await parts_of(model)
    assert [type(part) for part in parts] == [CallPart, Finish]
    last = parts[-1]
    assert isinstance(last, Finish)
    assert last.message.calls == (ToolCall("call_a", "read_file", '{"path": "config.ini"}'),)
    assert last.reason == "tool_calls"


async def test_an_answer_in_one_piece_is_as_good_as_a_stream() -> None:
    finish = await finish_of("not-streamed")
    assert finish.message.text == "All at once."
    assert finish.usage == Usage(10, 5)


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("sse-odd", "Hello"),
        ("content-parts", "Hello."),
        ("bad-chunk", "Hello"),
        ("byte-splits", "포트 é 🙂"),
        ("no-last-blank-line", "Good answer."),
        ("empty-finish", "Good answer."),
        ("no-done-text", "Good answer."),
        ("no-done-open", "Good answer."),
        ("slow-with-comments", "Late."),
    ],
)
async def test_odd_streams_give_the_answer_they_hold(mode: str, text: str) -> None:
    finish = await finish_of(mode)
    assert finish.message.text == text
    assert finish.reason == "stop"


async def test_usage_is_read_from_a_chunk_without_choices() -> None:
    assert (await finish_of("sse-odd")).usage == Usage(7, 2)


async def test_skipped_chunks_are_told() -> None:
    assert "unreadable chunks skipped: 3" in (await finish_of("bad-chunk")).notes


@pytest.mark.parametrize("mode", ["no-finish", "no-done"])
async def test_a_whole_call_runs_even_without_a_finish_reason(mode: str) -> None:
    finish = await finish_of(mode)
    assert [call.name for call in finish.message.calls] == ["look"]
    assert finish.reason == "tool_calls"
    assert "no finish reason" in finish.notes


async def test_the_end_marker_is_enough_and_the_connection_is_used_again() -> None:
    async def dawdles(exchange: Exchange) -> None:
        """After `[DONE]` it takes its time to end the body."""
        await exchange.start()
        await exchange.delta(finish="stop", content="Hi.")
        await exchange.write(b"data: [DONE]\n\n")
        await ended.wait()
        await exchange.end()

    ended = asyncio.Event()
    async with at(dawdles) as (model, endpoint):
        assert text_of(await parts_of(model)) == "Hi."
        assert not ended.is_set()
        ended.set()
        await until(lambda: not model._connection.tasks)
        await parts_of(model)
        assert endpoint.connections == 1


async def test_no_time_is_lost_between_the_end_of_a_call_and_its_finish() -> None:
    sent: list[float] = []

    async def timed(exchange: Exchange) -> None:
        await MODES["ok-tool"](exchange)
        sent.append(time.perf_counter())

    async with at(timed) as (model, _):
        for _ in range(5):
            await parts_of(model)
            sent[-1] = time.perf_counter() - sent[-1]
    assert min(sent) < 0.1  # a second would be the grace period, a wait of any kind


# -------------------------------------------------------------- reasoning


async def test_reasoning_comes_apart_from_text_under_either_name() -> None:
    for mode in ("reasoning", "reasoning-other-name", "think-tags"):
        async with at(mode) as (model, _):
            parts = await parts_of(model)
        assert "".join(p.text for p in parts if isinstance(p, ReasoningPart)) == "Let me think.", mode
        assert text_of(parts).startswith("Done"), mode


async def three_steps(model: ChatClient) -> list[Message]:
    history: list[Message] = list(HELLO)
    for _ in range(3):
        last = (await parts_of(model, history))[-1]
        assert isinstance(last, Finish)
        history.append(last.message)
        history += [ToolMessage(one.id, one.name, "7000") for one in last.message.calls]
    return history


@pytest.mark.parametrize("mode", ["reasoning-required", "reasoning-forbidden"])
@pytest.mark.parametrize("way", ["none", "back"])
async def test_reasoning_goes_back_or_not_as_the_server_wants(mode: str, way: ReasoningBack) -> None:
    async with at(mode, dialect=Dialect(way)) as (model, endpoint):
        history = await three_steps(model)
    assert isinstance(history[-1], AssistantMessage)
    assert history[-1].text == "Done."
    right = (mode == "reasoning-required") == (way == "back")
    assert len(endpoint.requests) == (3 if right else 4)


# ------------------------------------------------------------- adaptation


async def test_a_server_without_stream_options_is_asked_without_them_from_then_on() -> None:
    async with at("no-stream-options") as (model, endpoint):
        await parts_of(model)
        await parts_of(model)
    assert ["stream_options" in body for body in endpoint.requests] == [True, False, False]


async def test_the_name_of_the_output_limit_follows_the_server() -> None:
    async with at("other-limit-name") as (model, endpoint):
        async for _ in model.stream(Request(HELLO, max_output=100)):
            pass
    assert endpoint.requests[-1]["max_completion_tokens"] == 100


async def test_a_base_url_without_a_path_finds_its_v1() -> None:
    async def strict(exchange: Exchange) -> None:
        if exchange.path.startswith("/v1/"):
            await MODES["ok-text"](exchange)
        else:
            await exchange.answer(404, "404 page not found")

    async with Endpoint(strict) as endpoint:
        model = client(endpoint.url.removesuffix("/v1"))
        assert text_of(await parts_of(model)) == "Hello, world."
        await model.aclose()


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("mode", "kind", "words"),
    [
        ("401-echoes-key", "auth", "Check TEST_API_KEY."),
        ("403-html", "auth", "403 Forbidden no"),
        ("404", "missing", "model 'nope' not found"),
        ("context-length", "context", "maximum context length"),
        ("context-in-stream", "context", "context length"),
        ("schema-refused", "schema", "mcp__a__b"),
        ("429-no-quota", "rate", "quota"),
    ],
)
async def test_a_refusal_is_not_tried_again_and_says_why(mode: str, kind: str, words: str) -> None:
    async with at(mode) as (model, endpoint):
        with pytest.raises(ModelFault) as caught:
            await parts_of(model)
    assert caught.value.kind == kind
    assert words in caught.value.sentence
    assert len(caught.value.sentence) <= 500
    assert len(endpoint.requests) == 1


async def test_the_key_is_never_in_a_sentence_even_when_the_server_repeats_it() -> None:
    sentence = (await fault_of("401-echoes-key")).sentence
    assert KEY not in sentence
    assert "0123456789" not in sentence
    assert "•••" in sentence


async def test_markup_and_escapes_of_an_error_page_are_gone() -> None:
    sentence = (await fault_of("403-html")).sentence
    assert "<" not in sentence
    assert "\x1b" not in sentence
    assert "color" not in sentence


async def test_context_overflow_is_recognised_by_wording_alone() -> None:
    async with at("context-length-over-20k") as (model, _):
        assert isinstance((await parts_of(model))[-1], Finish)
        with pytest.raises(ModelFault) as caught:
            await parts_of(model, (UserMessage("x" * 21_000),))
    assert caught.value.kind == "context"


# ------------------------------------------------------------ trying again


async def test_a_rate_limit_waits_at_least_as_long_as_the_server_asks() -> None:
    waits: list[float] = []
    async with at("429-then-ok", waits=waits) as (model, _):
        parts = await parts_of(model)
    retry = parts[0]
    assert isinstance(retry, RetryPart)
    assert (retry.attempt, retry.of, retry.delay) == (1, 3, 7.0)
    assert "Slow down" in retry.why
    assert waits == [7.0]
    assert text_of(parts) == "Hello, world."


async def test_the_wait_may_be_given_as_a_date() -> None:
    async def dated(exchange: Exchange) -> None:
        if exchange.number > 1:
            await MODES["ok-text"](exchange)
        else:
            when = formatdate(1e9 + 9, usegmt=True)
            await exchange.answer(503, {"error": "busy"}, {"Retry-After": when})

    waits: list[float] = []
    async with at(dated, waits=waits) as (model, _):
        await parts_of(model)
    assert waits == [9.0]


async def test_hours_are_not_waited_for() -> None:
    waits: list[float] = []
    fault = await fault_of("429-for-hours", waits=waits)
    assert waits == []
    assert "7200 seconds" in fault.sentence


@pytest.mark.parametrize("endless", ["1e999", "9" * 400])
async def test_a_wait_without_end_is_not_waited_for(endless: str) -> None:
    async def later(exchange: Exchange) -> None:
        await exchange.answer(429, {"error": "busy"}, {"Retry-After": endless})

    async with at(later) as (model, _):
        with pytest.raises(ModelFault, match="asks for longer than hel waits"):
            await parts_of(model)


async def test_a_server_error_is_tried_four_times_in_all_with_doubling_waits() -> None:
    waits: list[float] = []
    async with at("500", waits=waits) as (model, endpoint):
        with pytest.raises(ModelFault) as caught:
            await parts_of(model)
    assert (caught.value.kind, caught.value.status) == ("server", 500)
    assert waits == [0.5, 1.0, 2.0]
    assert len(endpoint.requests) == 4


@pytest.mark.parametrize("mode", ["500-then-ok", "drop-then-ok", "error-first-then-ok"])
async def test_what_fails_before_the_first_part_is_tried_again(mode: str) -> None:
    async with at(mode) as (model, _):
        parts = await parts_of(model)
    assert isinstance(parts[0], RetryPart)
    assert text_of(parts) == "Hello, world."


async def test_an_empty_response_is_tried_again_and_then_told() -> None:
    async with at("nothing") as (model, endpoint):
        with pytest.raises(ModelFault) as caught:
            await parts_of(model)
    assert "answered with nothing" in caught.value.sentence
    assert len(endpoint.requests) == 4


@pytest.mark.parametrize("mode", ["disconnect-mid-stream", "error-in-stream"])
async def test_nothing_is_tried_again_once_text_arrived_and_the_text_is_kept(mode: str) -> None:
    async with at(mode) as (model, endpoint):
        with pytest.raises(ModelFault) as caught:
            await parts_of(model)
    assert caught.value.kind == "stream"
    assert caught.value.partial == AssistantMessage("Half an ans")
    assert len(endpoint.requests) == 1


async def test_nobody_listening_is_told_with_what_to_do() -> None:
    async with Endpoint(MODES["ok-text"]) as endpoint:
        url = endpoint.url
    profile = Profile("ollama", start="Start it with `ollama serve`.")
    model = ChatClient(ModelInfo("ollama", "m", url), profile, sleep=_at_once)
    with pytest.raises(ModelFault) as caught:
        await parts_of(model)
    await model.aclose()
    assert caught.value.kind == "connect"
    assert caught.value.sentence.endswith("nothing listens there. Start it with `ollama serve`.")


async def _at_once(_: float) -> None:
    return None


# ------------------------------------------------------- stalls and leaving


@pytest.mark.parametrize("mode", ["hang", "hang-before-headers", "hang-mid-text"])
async def test_silence_ends_at_the_idle_limit(mode: str) -> None:
    fault = await fault_of(mode, idle=0.15)
    assert fault.kind == "timeout"
    assert "0.15 seconds" in fault.sentence
    assert (fault.partial is not None) == (mode == "hang-mid-text")


async def test_comments_count_as_life() -> None:
    finish = await finish_of("slow-with-comments", idle=0.25)
    assert finish.message.text == "Late."


@pytest.mark.parametrize("mode", ["hang-mid-text", "flood-endless"])
async def test_leaving_early_closes_the_stream_at_once(mode: str) -> None:
    left = asyncio.Event()

    async def watched(exchange: Exchange) -> None:
        try:
            await MODES[mode](exchange)
        finally:
            left.set()

    async with at(watched) as (model, _):
        async with aclosing(model.stream(Request(HELLO))) as parts:
            async for _part in parts:
                break
        await asyncio.wait_for(left.wait(), 5)


async def test_cancelling_the_task_closes_the_stream_too() -> None:
    left = asyncio.Event()

    async def watched(exchange: Exchange) -> None:
        await MODES["hang-before-headers"](exchange)
        left.set()

    async with at(watched) as (model, endpoint):
        task = asyncio.create_task(parts_of(model))
        await until(lambda: endpoint.requests)
        task.cancel()
        await asyncio.wait_for(left.wait(), 5)


# ------------------------------------------------------------------ floods


async def test_a_flood_is_cheap_and_comes_merged() -> None:
    async def burst(exchange: Exchange) -> None:
        """500 events in one piece of the body."""
        piece = b'data: {"choices":[{"delta":{"content":"word "}}]}\n\n' * 500
        await exchange.start()
        await exchange.write(piece)
        await exchange.done()

    async with at(burst) as (model, _):
        parts = await parts_of(model)
    assert text_of(parts) == "word " * 500
    assert len(parts) < 50
    async with at("flood") as (model, _):
        assert len(text_of(await parts_of(model))) == 100_000


async def test_a_huge_chunk_arrives_whole() -> None:
    assert len((await finish_of("one-huge-chunk")).message.text) == 4_000_000


# --------------------------------------------------- environment and script


async def test_loopback_never_goes_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await finish_of("ok-text")).message.text == "Hello, world."


async def test_other_hosts_go_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with Endpoint(MODES["ok-text"]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        model = client("http://model.invalid/v1")
        parts = await parts_of(model)
        await model.aclose()
    assert text_of(parts) == "Hello, world."
    assert proxy.exchanges[0].path == "http://model.invalid/v1/chat/completions"


async def test_a_proxy_setting_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks9://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    model = client("http://model.invalid/v1")
    with pytest.raises(ModelFault) as caught:
        await parts_of(model)
    assert "proxy" in caught.value.sentence


async def test_a_key_that_cannot_be_a_header_is_told_without_showing_it() -> None:
    model = ChatClient(ModelInfo("test", "m", "http://127.0.0.1:9/v1"), Profile("test"), "se\ncret")
    with pytest.raises(ModelFault) as caught:
        await parts_of(model)
    assert caught.value.kind == "auth"
    assert "cret" not in caught.value.sentence


async def test_a_scripted_model_plays_its_replies_and_keeps_the_requests() -> None:
    script: list[Reply] = [
        call("read_file", {"path": "a"}),
        fail(400, "no"),
        lambda body: say(body["messages"][-1]["content"]),
    ]
    async with ScriptedModel(script) as scripted:
        model = client(scripted.url)
        first = (await parts_of(model))[-1]
        assert isinstance(first, Finish)
        assert json.loads(first.message.calls[0].arguments) == {"path": "a"}
        with pytest.raises(ModelFault):
            await parts_of(model)
        assert text_of(await parts_of(model)) == "hi"
        with pytest.raises(ModelFault, match="no reply is left"):
            await parts_of(model)
        await model.aclose()
    assert len(scripted.requests) == 4


def test_a_scripted_model_also_runs_in_a_thread() -> None:
    async def ask(url: str) -> str:
        model = client(url)
        try:
            return text_of(await parts_of(model))
        finally:
            await model.aclose()

    with ScriptedModel([say("from a thread")]) as scripted:
        assert asyncio.run(ask(scripted.url)) == "from a thread"
