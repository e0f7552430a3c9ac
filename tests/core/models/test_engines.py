"""Engines on this machine and gateways: what each says of its models, in the shapes they document."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hel_tui.core.models.choose import open_model
from hel_tui.core.models.client import ChatClient
from hel_tui.core.models.engines import engine_models
from hel_tui.core.models.entries import Listed, read_list
from hel_tui.core.models.profiles import PROFILES, Profile
from hel_tui.core.models.types import Finish, ModelInfo, Rate, Request
from hel_tui.core.vocabulary import ToolDefinition, UserMessage
from tests.fixtures.models.endpoint import Endpoint, Exchange, ScriptedModel, say
from tests.fixtures.models.engine import Engine

OLLAMA: dict[str, Any] = {
    "GET /api/tags": {
        "models": [
            {"name": "qwen3:8b", "model": "qwen3:8b", "details": {"family": "qwen3"}},
            {"name": "llama2:latest", "model": "llama2:latest"},
            {"name": "gemma3:4b", "model": "gemma3:4b"},
        ]
    },
    "GET /api/ps": {"models": [{"name": "qwen3:8b", "model": "qwen3:8b", "context_length": 32_768}]},
    "POST /api/show": lambda body: {
        "qwen3:8b": {
            "capabilities": ["completion", "tools", "thinking"],
            "thinking": {"values": ["low", "high"], "default": "low"},
            "model_info": {"qwen3.context_length": 40_960},
            "parameters": 'temperature 0.6\nstop "<|im_end|>"',
        },
        "llama2:latest": {"capabilities": ["completion"], "model_info": {"llama.context_length": 4_096}},
        "gemma3:4b": {
            "capabilities": ["completion", "vision"],
            "parameters": "num_ctx                  8192",
        },
    }[body["model"]],
}
LMSTUDIO_1 = {
    "models": [
        {
            "type": "llm",
            "key": "qwen/qwen3.5-9b",
            "loaded_instances": [{"id": "qwen/qwen3.5-9b", "config": {"context_length": 4_096}}],
            "max_context_length": 262_144,
            "capabilities": {"vision": True, "trained_for_tool_use": True},
        },
        {
            "type": "llm",
            "key": "google/gemma-3-4b",
            "loaded_instances": [],
            "max_context_length": 131_072,
            "capabilities": {"vision": True, "trained_for_tool_use": False},
        },
        {"type": "embedding", "key": "nomic-embed", "loaded_instances": [], "max_context_length": 2_048},
    ]
}
LMSTUDIO_0 = {
    "object": "list",
    "data": [
        {"id": "qwen2-vl-7b-instruct", "type": "vlm", "state": "not-loaded", "max_context_length": 32_768},
        {
            "id": "meta-llama-3.1-8b-instruct",
            "type": "llm",
            "state": "loaded",
            "max_context_length": 131_072,
            "loaded_context_length": 8_192,
            "capabilities": ["tool_use"],
        },
        {"id": "text-embedding-nomic", "type": "embeddings", "state": "not-loaded"},
    ],
}


def llamacpp(supports_tools: bool, **caps: bool) -> dict[str, Any]:
    return {
        "GET /v1/models": {"object": "list", "data": [{"id": "m.gguf", "meta": {"n_ctx_train": 131_072}}]},
        "GET /props": {
            "default_generation_settings": {"n_ctx": 8_192},
            "modalities": {"vision": True, "audio": False},
            "chat_template_caps": {
                "supports_tools": supports_tools,
                "supports_tool_calls": supports_tools,
                **caps,
            },
        },
    }


async def told(provider: str, answers: dict[str, Any], only: str = "") -> tuple[Listed, ...]:
    async with Engine(answers) as engine:
        listed, problem = await engine_models(provider, engine.url, "", 10.0, only)
    assert problem == ""
    return listed


async def test_ollama_tells_the_window_it_runs_with_and_what_a_model_can() -> None:
    assert await told("ollama", OLLAMA) == (
        Listed("qwen3:8b", 32_768, False, True, True, ("low", "high"), loaded=True),
        Listed("llama2:latest", 0, False, False, False, loaded=False),
        Listed("gemma3:4b", 8_192, True, False, False, loaded=False),
    )


async def test_an_old_ollama_that_shows_nothing_still_lists_its_models() -> None:
    listed = await told("ollama", {"GET /api/tags": OLLAMA["GET /api/tags"]})
    assert listed[0] == Listed("qwen3:8b", loaded=False)


async def test_lm_studio_tells_through_its_newer_and_its_older_api() -> None:
    assert await told("lmstudio", {"GET /api/v1/models": LMSTUDIO_1}) == (
        Listed("qwen/qwen3.5-9b", 4_096, True, True, loaded=True),
        Listed("google/gemma-3-4b", 131_072, True, None, loaded=False),
    )
    assert await told("lmstudio", {"GET /api/v0/models": LMSTUDIO_0}) == (
        Listed("qwen2-vl-7b-instruct", 32_768, True, None, loaded=False),
        Listed("meta-llama-3.1-8b-instruct", 8_192, False, True, loaded=True),
    )


@pytest.mark.parametrize("tools", [True, False])
async def test_llama_cpp_tells_whether_its_chat_template_takes_tools(tools: bool) -> None:
    (one,) = await told("llamacpp", llamacpp(tools))
    assert one == Listed("m.gguf", 8_192, True, tools, loaded=True)


@pytest.mark.parametrize("parallel", [True, False])
async def test_llama_cpp_tells_whether_its_chat_template_takes_parallel_calls(parallel: bool) -> None:
    (one,) = await told("llamacpp", llamacpp(True, supports_parallel_tool_calls=parallel))
    assert one.parallel is parallel


async def test_an_engine_that_is_another_than_its_port_says_so_in_a_sentence() -> None:
    async with Engine({"GET /": "hello"}) as engine:
        listed, problem = await engine_models("ollama", engine.url, "", 10.0)
    assert listed == () and "does not list models" in problem


async def test_an_engine_that_answers_nothing_is_given_up_in_time() -> None:
    async def hangs(_self: Endpoint, exchange: Exchange) -> None:
        await exchange.client_left()

    class Hanging(Engine):
        _answer = hangs

    async with Hanging({}) as engine:
        listed, problem = await engine_models("ollama", engine.url, "", 0.2)
    assert listed == () and problem.endswith("did not list its models within 0.2 seconds.")


# ------------------------------------------------------------ lists of gateways


def test_openrouter_tells_price_tools_images_and_efforts() -> None:
    (one, free, odd) = read_list(
        {
            "data": [
                {
                    "id": "anthropic/claude-sonnet-4.5",
                    "context_length": 1_000_000,
                    "architecture": {"input_modalities": ["text", "image"], "output_modalities": ["text"]},
                    "pricing": {
                        "prompt": "0.000003",
                        "completion": "0.000015",
                        "input_cache_read": "0.0000003",
                    },
                    "top_provider": {"context_length": 1_000_000, "max_completion_tokens": 64_000},
                    "supported_parameters": ["tools", "parallel_tool_calls", "reasoning", "max_tokens"],
                },
                {
                    "id": "x/free:free",
                    "pricing": {"prompt": "0", "completion": "0"},
                    "supported_parameters": ["max_tokens"],
                },
                {"id": "openrouter/auto", "pricing": {"prompt": "-1", "completion": "-1"}},
                {"id": "x/picture", "architecture": {"output_modalities": ["image"]}},
            ]
        }
    )
    assert (one.window, one.sees, one.tools, one.thinks, one.max_output) == (
        1_000_000,
        True,
        True,
        True,
        64_000,
    )
    assert one.rate is not None
    assert (one.rate.input, one.rate.cached, one.rate.output) == pytest.approx((3.0, 0.3, 15.0))
    assert free.rate == Rate(0.0, 0.0, 0.0) and free.tools is False
    assert odd.rate is None and odd.tools is None
    assert [each.parallel for each in (one, free, odd)] == [True, None, None]


def test_anthropic_tells_limits_images_and_efforts() -> None:
    (one,) = read_list(
        {
            "data": [
                {
                    "type": "model",
                    "id": "claude-opus-5-5",
                    "max_input_tokens": 1_000_000,
                    "max_tokens": 128_000,
                    "capabilities": {
                        "image_input": {"supported": True},
                        "thinking": {"supported": True},
                        "effort": {
                            "supported": True,
                            "low": {"supported": True},
                            "high": {"supported": True},
                            "max": {"supported": False},
                        },
                    },
                }
            ]
        }
    )
    assert one == Listed("claude-opus-5-5", 1_000_000, True, None, True, ("low", "high"), 128_000)


def test_mistral_and_groq_and_a_bare_list_are_read_too() -> None:
    mistral = {"id": "mistral-large", "max_context_length": 131_072}
    mistral["capabilities"] = {"function_calling": True, "vision": False, "completion_chat": True}
    groq = {"id": "llama-3.3-70b", "context_window": 131_072}
    assert read_list([mistral, groq, {"id": "text-embedding-3-large"}, {"id": 7}, "x"]) == (
        Listed("mistral-large", 131_072, False, True),
        Listed("llama-3.3-70b", 131_072),
    )


@pytest.mark.parametrize("value", [{}, {"data": "x"}, "x", None, 7])
def test_another_shape_is_no_list(value: object) -> None:
    with pytest.raises(ValueError):
        read_list(value)


# --------------------------------------------------------------------- opening


def no_keyring(_: str) -> None:
    return None


async def opened(monkeypatch: pytest.MonkeyPatch, provider: str, name: str, engine: Endpoint) -> Any:
    monkeypatch.setitem(PROFILES, provider, Profile(provider, engine.url))
    return await open_model(f"{provider}/{name}", None, environ={}, keyring=no_keyring)


async def test_a_template_without_tools_is_told_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Engine(llamacpp(False)) as engine:
        result = await opened(monkeypatch, "llamacpp", "m.gguf", engine)
        await result.model.aclose()
    assert result.note.startswith("m.gguf takes no tools: its chat template has none.")
    info = result.model.info
    assert (info.tools, info.window, info.sees) == (False, 8_192, True)


async def test_a_name_without_a_tag_is_ollamas_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Engine(OLLAMA) as engine:
        result = await opened(monkeypatch, "ollama", "llama2", engine)
        asked = [exchange.json["model"] for exchange in engine.exchanges if exchange.path == "/api/show"]
        await result.model.aclose()
    assert asked == ["llama2:latest"], "only the one that is named is looked at"
    assert "takes no tools" in result.note


async def test_a_small_window_of_ollama_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Engine(
        OLLAMA | {"GET /api/ps": {"models": [{"name": "qwen3:8b", "context_length": 4_096}]}}
    ) as e:
        result = await opened(monkeypatch, "ollama", "qwen3:8b", e)
        await result.model.aclose()
    assert "a window of 4,096 tokens" in result.note and "OLLAMA_CONTEXT_LENGTH" in result.note


async def test_a_model_without_tools_is_offered_none() -> None:
    tools = [ToolDefinition("t", "", {"type": "object", "properties": {}})]
    async with ScriptedModel([say("hi")]) as model:
        client = ChatClient(ModelInfo("llamacpp", "m", model.url, tools=False), PROFILES["llamacpp"])
        parts = [part async for part in client.stream(Request((UserMessage("hi"),), tools))]
        await client.aclose()
    assert isinstance(parts[-1], Finish)
    assert "tools" not in model.requests[0]


async def test_many_engines_are_asked_at_once() -> None:
    """One that hangs does not keep the others waiting."""
    async with Engine(OLLAMA) as one, Engine({"GET /api/v1/models": LMSTUDIO_1}) as other:
        found = await asyncio.gather(
            engine_models("ollama", one.url, "", 10.0), engine_models("lmstudio", other.url, "", 10.0)
        )
    assert [len(listed) for listed, _ in found] == [3, 2]
