"""A tiny request tells whether an endpoint takes some tools, and what it says of them stays free of the key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hel_tui.core.models.client import ChatClient
from hel_tui.core.models.profiles import Profile
from hel_tui.core.models.types import ModelFault, ModelInfo, Request
from hel_tui.core.vocabulary import ToolDefinition, UserMessage
from tests.fixtures.models.endpoint import Endpoint, Exchange

KEY = "sk-test-0123456789abcdefghij"
TOOLS = (ToolDefinition("mcp__a__b", "Does it.", {"type": "object", "properties": {}}),)


def client(url: str) -> ChatClient:
    return ChatClient(ModelInfo("any", "m", url), Profile("any", url), KEY)


def refusing(status: int, error: Any) -> Any:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(status, error)

    return answer


async def accepts(handler: Any) -> tuple[bool, Endpoint]:
    async with Endpoint(handler) as endpoint:
        model = client(endpoint.url)
        try:
            return await model.accepts(TOOLS), endpoint
        finally:
            await model.aclose()


async def test_a_probe_is_small_has_the_tools_and_is_left_with_the_first_word() -> None:
    async def endless(exchange: Exchange) -> None:
        await exchange.start()
        await exchange.delta(content="ok")
        await exchange.client_left()
        raise ConnectionError

    taken, endpoint = await accepts(endless)
    assert taken
    body = endpoint.requests[0]
    assert len(json.dumps(body)) < 600 and body["max_tokens"] <= 16
    assert [tool["function"]["name"] for tool in body["tools"]] == ["mcp__a__b"]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "Invalid schema for function 'mcp__a__b': array schema missing items."),
        (400, "Failed to initialize samplers: failed to parse grammar"),
        (500, "failed to parse grammar"),
        (500, "json: cannot unmarshal array into Go struct field .tools.function.parameters of type string"),
        (400, "tools.function.parameters is not a valid moonshot flavored json schema"),
        (422, "tools.0.custom.input_schema: JSON schema is invalid."),
    ],
)
async def test_what_is_said_of_tools_is_a_refusal_of_them(status: int, message: str) -> None:
    taken, endpoint = await accepts(refusing(status, {"error": {"message": message}}))
    assert not taken and len(endpoint.requests) == 1


async def test_the_words_of_the_provider_behind_another_one_count() -> None:
    raw = json.dumps({"error": {"message": "tools.0.custom.input_schema: JSON schema is invalid."}})
    error = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}
    taken, _ = await accepts(refusing(400, error))
    assert not taken


async def test_no_room_for_thinking_in_a_probe_is_no_refusal_of_tools() -> None:
    message = "Could not finish the message because max_tokens or model output limit was reached."
    taken, _ = await accepts(refusing(400, {"error": {"message": message}}))
    assert taken


async def test_another_trouble_is_told_as_such() -> None:
    with pytest.raises(ModelFault) as caught:
        await accepts(refusing(401, {"error": {"message": "no"}}))
    assert caught.value.kind == "auth"


async def test_what_a_refusal_says_is_kept_without_the_key() -> None:
    error = {"error": {"message": f"Invalid schema for function 'mcp__a__b'; key {KEY}", "param": "tools[0]"}}
    async with Endpoint(refusing(400, error)) as endpoint:
        model = client(endpoint.url)
        with pytest.raises(ModelFault) as caught:
            async for _ in model.stream(Request((UserMessage("hi"),), TOOLS)):
                pass
        await model.aclose()
    assert "mcp__a__b" in caught.value.said and "tools[0]" in caught.value.said
    assert KEY not in caught.value.said and KEY not in repr(caught.value)
