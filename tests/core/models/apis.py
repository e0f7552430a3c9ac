"""A client for each API at one endpoint, and what its answers come to. Shared by tests; no tests here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from hel_tui.core.models.adapter import adapter_for
from hel_tui.core.models.client import ChatClient
from hel_tui.core.models.profiles import PROFILES, Dialect, Profile
from hel_tui.core.models.types import Finish, ModelFault, ModelInfo, Part, ReasoningPart, Request, TextPart
from hel_tui.core.vocabulary import Message, SystemMessage, UserMessage
from tests.fixtures.models.endpoint import Endpoint, Exchange
from tests.fixtures.models.spelling import SPELLINGS, Script, Spelling

KEY = "sk-very-secret-0123456789abcdef"
HELLO: tuple[Message, ...] = (SystemMessage("Be brief."), UserMessage("hi"))

PROVIDERS = {
    "chat": "openai-compatible",
    "responses": "openai-responses",
    "messages": "anthropic",
    "gemini": "gemini",
}
every_api = pytest.mark.parametrize("api", list(SPELLINGS))


def dialect_of(api: str) -> Dialect:
    """As it is before anything was learned."""
    known = PROFILES.get(PROVIDERS[api])
    return known.dialect if known is not None else Dialect()


def info_of(api: str, url: str, **facts: Any) -> ModelInfo:
    return replace(ModelInfo(PROVIDERS[api], "scripted", url, sees=False, thinks=True), **facts)


def client_at(
    url: str,
    api: str,
    *,
    idle: float = 5.0,
    waits: list[float] | None = None,
    dialect: Dialect | None = None,
    **facts: Any,
) -> ChatClient:
    async def sleep(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    return ChatClient(
        info_of(api, url, **facts),
        Profile(PROVIDERS[api], dialect=dialect or dialect_of(api)),
        KEY,
        key_hint="Check TEST_API_KEY.",
        idle=idle,
        sleep=sleep,
        clock=lambda: 1e9,
        chance=lambda: 0.0,
    )


def sent(api: str, request: Request, **facts: Any) -> dict[str, Any]:
    """The body a client of this API sends."""
    dialect = facts.pop("dialect", dialect_of(api))
    info = info_of(api, "http://127.0.0.1/v1", **facts)
    value = json.loads(adapter_for(dialect.api).body(request, info, dialect))
    assert isinstance(value, dict)
    return value


Answering = Callable[[Exchange, Spelling], Awaitable[None]]


@asynccontextmanager
async def at(api: str, answering: Answering, **options: Any) -> AsyncIterator[tuple[ChatClient, Endpoint]]:
    """A client of `api` and the endpoint it talks to, which answers in that API's spelling."""
    spelling = SPELLINGS[api]

    async def handler(exchange: Exchange) -> None:
        assert exchange.path.partition("?")[0].endswith(spelling.path)
        await answering(exchange, spelling)

    async with Endpoint(handler) as endpoint:
        model = client_at(endpoint.url, api, **options)
        try:
            yield model, endpoint
        finally:
            await model.aclose()


def playing(script: Script) -> Answering:
    """Plays a script, an event at a time."""

    async def play(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        for data in spelling.events(script):
            await exchange.write(data)
        await exchange.end()

    return play


async def parts_of(model: ChatClient, messages: Sequence[Message] = HELLO, **fields: Any) -> list[Part]:
    async with asyncio.timeout(20):
        return [part async for part in model.stream(Request(messages, **fields))]


async def finish_of(api: str, script: Script | Answering, **options: Any) -> Finish:
    answering = playing(script) if isinstance(script, Script) else script
    async with at(api, answering, **options) as (model, _):
        last = (await parts_of(model))[-1]
    assert isinstance(last, Finish)
    return last


async def fault_of(api: str, answering: Answering, **options: Any) -> ModelFault:
    async with at(api, answering, **options) as (model, _):
        with pytest.raises(ModelFault) as caught:
            await parts_of(model)
    return caught.value


def text_of(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def thought_of(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, ReasoningPart))
