"""How hard to think, in each provider's spelling, and what is learned from a refusal of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hel_tui.core.models.adapter import adapter_for
from hel_tui.core.models.known import facts_of, nearest
from hel_tui.core.models.profiles import profile_of
from hel_tui.core.models.types import Finish, ModelInfo, Request
from hel_tui.core.vocabulary import AssistantMessage, ToolCall, ToolMessage, UserMessage
from tests.core.models.apis import HELLO, at, every_api, parts_of, playing, text_of
from tests.fixtures.models.endpoint import Exchange
from tests.fixtures.models.spelling import Say, Script, Spelling

FIELDS = (
    "reasoning_effort",
    "reasoning",
    "thinking",
    "output_config",
    "chat_template_kwargs",
    "generationConfig",
)


def asked(label: str, effort: str, **fields: Any) -> dict[str, Any]:
    """What of a request to `provider/model` says how hard to think."""
    provider, _, name = label.partition("/")
    dialect, facts = profile_of(provider, name).dialect, facts_of(provider, name)
    info = ModelInfo(
        provider,
        name,
        "http://127.0.0.1/v1",
        thinks=facts.thinks,
        efforts=facts.efforts,
        max_output=facts.max_output,
    )
    body = json.loads(adapter_for(dialect.api).body(Request(HELLO, effort=effort, **fields), info, dialect))
    return {name: body[name] for name in FIELDS if name in body}


@pytest.mark.parametrize(
    ("label", "effort", "fields"),
    [
        ("openai/gpt-5.4", "high", {"reasoning": {"effort": "high", "summary": "auto"}}),
        ("openai/gpt-5.4", "", {"reasoning": {"summary": "auto"}}),
        ("openai/gpt-5.4", "none", {"reasoning": {"effort": "none"}}),
        ("openai/gpt-4.1", "", {}),
        ("openai-chat/gpt-5", "low", {"reasoning_effort": "low"}),
        ("deepseek/deepseek-flash", "max", {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}),
        ("deepseek/deepseek-flash", "none", {"thinking": {"type": "disabled"}}),
        ("deepseek/deepseek-flash", "", {}),
        ("openrouter/z-ai/glm-5", "high", {"reasoning": {"effort": "high"}}),
        ("ollama/qwen3:8b", "high", {"reasoning_effort": "high"}),
        ("vllm/m", "low", {"chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": "low"}}),
        ("llamacpp/m", "none", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("anthropic/claude-sonnet-5-5", "", {"thinking": {"type": "adaptive", "display": "summarized"}}),
        (
            "anthropic/claude-opus-4-8",
            "xhigh",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "xhigh"}},
        ),
        ("anthropic/claude-haiku-5-5", "none", {"thinking": {"type": "disabled"}}),
        ("anthropic/claude-haiku-4-5", "high", {"thinking": {"type": "enabled", "budget_tokens": 16_384}}),
        ("anthropic/claude-haiku-4-5-20251001", "", {}),
        ("anthropic/claude-3-5-haiku-latest", "high", {}),
        (
            "gemini/gemini-3-flash-preview",
            "low",
            {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "low"}}},
        ),
        (
            "gemini/gemini-2.5-pro",
            "medium",
            {"generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 8_192}}},
        ),
        ("gemini/gemini-2.5-flash", "none", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}),
        ("gemini/gemini-2.0-flash", "high", {}),
        ("gemini/of-tomorrow", "", {}),
        ("gemini/of-tomorrow", "low", {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}}),
    ],
)
def test_each_provider_is_asked_in_its_own_way(label: str, effort: str, fields: dict[str, Any]) -> None:
    assert asked(label, effort) == fields


@pytest.mark.parametrize(
    ("effort", "known", "taken"),
    [
        ("max", ("low", "high"), "high"),
        ("medium", ("low", "high"), "low"),
        ("minimal", ("low", "high"), "low"),
        ("none", ("low", "high"), "low"),
        ("low", ("none", "high"), "high"),
        ("high", (), "high"),
        ("ultra", ("low", "high"), "ultra"),
        ("", ("low", "high"), ""),
    ],
)
def test_an_effort_a_model_does_not_have_becomes_the_nearest(
    effort: str, known: tuple[str, ...], taken: str
) -> None:
    assert nearest(effort, known) == taken


def test_a_budget_leaves_room_for_the_answer_and_is_left_out_where_there_is_none() -> None:
    thinking = asked("anthropic/claude-haiku-4-5", "high", max_output=4_096)["thinking"]
    assert thinking["budget_tokens"] == 3_072
    assert asked("anthropic/claude-haiku-4-5", "high", max_output=1_024) == {}


def test_a_turn_that_began_without_thoughts_goes_on_without_a_budget() -> None:
    info = ModelInfo("anthropic", "claude-haiku-4-5", "http://x", thinks=True)
    dialect = profile_of("anthropic").dialect
    call = AssistantMessage("", "", (ToolCall("a", "look", "{}"),))
    in_turn = Request([*HELLO, call, ToolMessage("a", "look", "7")], effort="high")
    assert "thinking" not in json.loads(adapter_for("messages").body(in_turn, info, dialect))
    after = Request([*in_turn.messages, AssistantMessage("7."), UserMessage("and?")], effort="high")
    assert "thinking" in json.loads(adapter_for("messages").body(after, info, dialect))


# -------------------------------------------------------------------- refusals

REFUSED_FIELDS = [
    ("output_config: Extra inputs are not permitted", '"output_config"', '"adaptive"'),
    ("thinking.adaptive.display: Extra inputs are not permitted", '"display"', '"adaptive"'),
    ("system.0.cache_control: Extra inputs are not permitted", '"cache_control"', '"adaptive"'),
    ("thinking: Extra inputs are not permitted", '"thinking"', '"messages"'),
]


@pytest.mark.parametrize(("words", "sign", "left"), REFUSED_FIELDS)
async def test_a_server_that_speaks_less_than_anthropic_is_asked_with_less(
    words: str, sign: str, left: str
) -> None:
    effort = "high" if sign == '"output_config"' else ""
    async with at("messages", refusing(words, sign), name="claude-sonnet-5-5") as (model, endpoint):
        for _ in range(2):
            assert text_of(await parts_of(model, effort=effort)) == "Hello."
    assert len(endpoint.requests) == 3
    assert left in json.dumps(endpoint.requests[-1])


WORDS = {
    "chat": "Unsupported value: 'reasoning_effort' does not support 'high' with this model.",
    "responses": "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    "messages": "output_config.effort: Input should be 'low', 'medium' or 'max'",
    "gemini": "Thinking level HIGH is not supported for this model. Please retry with other thinking level.",
}
NAMES = {"messages": "claude-sonnet-5-5", "gemini": "gemini-3-flash"}


def refusing(words: str, sign: str) -> Any:
    """Refuses what has `sign` in it, in these words."""

    async def refuse(exchange: Exchange, spelling: Spelling) -> None:
        if sign in exchange.body.decode().lower():
            await exchange.answer(400, spelling.error(words, "", 400))
        else:
            await playing(Script([Say("Hello.")]))(exchange, spelling)

    return refuse


@every_api
async def test_an_effort_that_is_refused_is_not_asked_for_again_and_that_is_told(api: str) -> None:
    facts = {"name": NAMES.get(api, "m")}
    async with at(api, refusing(WORDS[api], '"high"'), **facts) as (model, endpoint):
        first = (await parts_of(model, effort="high"))[-1]
        second = (await parts_of(model, effort="high"))[-1]
        other = (await parts_of(model, effort="low"))[-1]
    assert isinstance(first, Finish) and isinstance(second, Finish) and isinstance(other, Finish)
    assert first.message.text == "Hello."
    assert first.notes == (f"{model.info.label} does not take the effort high: it is asked without it.",)
    assert second.notes == other.notes == ()
    assert ['"high"' in json.dumps(body) for body in endpoint.requests] == [True, False, False, False]
    assert '"low"' in json.dumps(endpoint.requests[-1])


@pytest.mark.parametrize(
    ("api", "name", "words", "sign", "left"),
    [
        (
            "messages",
            "claude-next",
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
            '"output_config.effort" to control thinking behavior.',
            '"enabled"',
            '"adaptive"',
        ),
        (
            "messages",
            "claude-sonnet-4-6",
            "adaptive thinking is not supported on this model",
            '"adaptive"',
            '"budget_tokens"',
        ),
        (
            "gemini",
            "gemini-4",
            "Thinking level is not supported for this model.",
            "thinkinglevel",
            "thinkingBudget",
        ),
        ("gemini", "gemini-4", "thinking_config is not supported.", "thinkinglevel", "contents"),
        (
            "responses",
            "gpt-5",
            "Your organization must be verified to generate reasoning summaries.",
            '"summary"',
            '"effort"',
        ),
    ],
)
async def test_how_thinking_is_asked_for_follows_the_server(
    api: str, name: str, words: str, sign: str, left: str
) -> None:
    async with at(api, refusing(words, sign), name=name, max_output=32_000) as (model, endpoint):
        assert text_of(await parts_of(model, effort="high")) == "Hello."
        before = len(endpoint.requests)
        await parts_of(model, effort="high")
    assert left in json.dumps(endpoint.requests[-1])
    assert len(endpoint.requests) == before + 1


async def test_chat_completions_that_send_one_to_responses_are_obeyed() -> None:
    words = (
        "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    )
    from tests.core.models.apis import client_at
    from tests.fixtures.models.endpoint import Endpoint, play, say

    async def handler(exchange: Exchange) -> None:
        if exchange.path.endswith("/chat/completions"):
            await exchange.answer(400, {"error": {"message": words, "param": "reasoning_effort"}})
        else:
            await play(exchange, say("Hello."))

    async with Endpoint(handler) as endpoint:
        model = client_at(endpoint.url, "chat", dialect=profile_of("openai-chat").dialect)
        for _ in range(2):
            assert text_of(await parts_of(model, effort="high", max_output=100)) == "Hello."
        await model.aclose()
    assert endpoint.requests[-1]["max_output_tokens"] == 100
    assert "max_completion_tokens" not in endpoint.requests[-1]
    paths = [one.path.rpartition("/")[2] for one in endpoint.exchanges]
    assert paths == ["completions", "responses", "responses"]
    assert endpoint.requests[-1]["reasoning"]["effort"] == "high"


@pytest.mark.parametrize(
    ("api", "words"),
    [
        ("messages", "messages.1.content.0: Invalid `signature` in `thinking` block"),
        ("responses", "The encrypted content for item rs_0 could not be verified."),
    ],
)
async def test_thoughts_that_cannot_be_verified_are_left_out_from_then_on(api: str, words: str) -> None:
    from tests.core.models.test_every_wire import THOUGHTFUL, answers

    history = await answers(api, THOUGHTFUL)
    sign = "signature" if api == "messages" else '"encrypted_content"'
    async with at(api, refusing(words, sign)) as (model, endpoint):
        for _ in range(2):
            assert text_of(await parts_of(model, history)) == "Hello."
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("words", "length"),
    [
        (
            "Tool call id was call_xyz_0123456789_0123456789_0123456789 but must be a-z, A-Z, 0-9, with a length "
            "of 9.",
            9,
        ),
        (
            "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, "
            "but got a string with length 41 instead.",
            40,
        ),
    ],
)
async def test_ids_of_calls_have_the_length_a_server_wants(words: str, length: int) -> None:
    id = "call_xyz_0123456789_0123456789_0123456789"
    history = [*HELLO, AssistantMessage("", "", (ToolCall(id, "look", "{}"),)), ToolMessage(id, "look", "7")]
    async with at("chat", refusing(words, id)) as (model, endpoint):
        for _ in range(2):
            assert text_of(await parts_of(model, history)) == "Hello."
    assert len(endpoint.requests) == 3
    sent = endpoint.requests[-1]["messages"]
    assert len(sent[3]["tool_call_id"]) == length
    assert sent[2]["tool_calls"][0]["id"] == sent[3]["tool_call_id"]


async def test_a_limit_that_is_too_high_is_lowered_to_the_one_the_server_names() -> None:
    words = "max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for scripted"
    async with at("messages", refusing(words, '"max_tokens":32000'), max_output=128_000) as (model, endpoint):
        assert text_of(await parts_of(model)) == "Hello."
    assert endpoint.requests[-1]["max_tokens"] == 4_096


async def test_chat_completions_that_take_less_are_asked_for_less() -> None:
    words = "max_tokens is too large: 32000. This model supports at most 16384 completion tokens"
    async with at("chat", refusing(words, '"max_tokens":32000')) as (model, endpoint):
        assert text_of(await parts_of(model, max_output=32_000)) == "Hello."
        await parts_of(model, max_output=100)
    assert [body["max_tokens"] for body in endpoint.requests] == [32_000, 16_384, 100]


@pytest.mark.parametrize(
    ("label", "api"),
    [
        ("openai/gpt-5.5", "responses"),
        ("openai/o3", "responses"),
        ("openai/gpt-6-sol", "responses"),
        ("openai/gpt-4.1", "chat"),
        ("openai/gpt-5-chat-latest", "chat"),
        ("openai-chat/gpt-5.5", "chat"),
        ("openai-responses/gpt-4.1", "responses"),
        ("anthropic/claude-opus-5-5", "messages"),
        ("gemini/gemini-3-pro", "gemini"),
        ("deepseek/deepseek-flash", "chat"),
        ("acme/x", "chat"),
    ],
)
def test_provider_and_model_decide_on_the_api(label: str, api: str) -> None:
    provider, _, name = label.partition("/")
    assert profile_of(provider, name).dialect.api == api


def test_at_an_address_of_its_own_a_provider_keeps_its_api_and_openai_speaks_what_all_know() -> None:
    url = "http://127.0.0.1:8080/v1"
    assert profile_of("anthropic", "m", url).dialect.api == "messages"
    assert profile_of("gemini", "m", url).dialect.api == "gemini"
    assert profile_of("openai", "gpt-5.5", url).dialect.api == "chat"
    assert profile_of("openai", "gpt-5.5", "https://api.openai.com/v1").dialect.api == "responses"
    assert profile_of("openai-responses", "m", url).dialect.api == "responses"
    compatible = "https://generativelanguage.googleapis.com/v1beta/openai"
    assert profile_of("gemini", "m", compatible).dialect.api == "chat"


def test_only_gateways_to_anthropics_models_get_cache_markers() -> None:
    assert profile_of("openrouter", "anthropic/claude-sonnet-5.5").dialect.cache_markers
    assert not profile_of("openrouter", "z-ai/glm-5").dialect.cache_markers
    assert replace(profile_of("openrouter").dialect, cache_markers=True) != profile_of("openrouter").dialect
