"""The scripted model behind `hel demo`: a real endpoint on loopback, a real client, no intelligence.

`start_demo` opens both. Not here: the endpoint (endpoint), what it says (script, samples/demo.toml).
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Sequence

from hel_tui.core.models.client import ChatClient
from hel_tui.core.models.demo.endpoint import PAUSE, DemoEndpoint
from hel_tui.core.models.profiles import Profile
from hel_tui.core.models.schemas.profile import SchemaProfile
from hel_tui.core.models.types import FREE, ModelInfo, Part, Request
from hel_tui.core.vocabulary import ToolDefinition

NAME = "walk-through"


class DemoModel:
    """A `ChatModel` that owns the endpoint it talks to."""

    def __init__(self, client: ChatClient, endpoint: DemoEndpoint) -> None:
        self._client = client
        self._endpoint = endpoint

    @property
    def info(self) -> ModelInfo:
        return self._client.info

    @property
    def schemas(self) -> SchemaProfile:
        return self._client.schemas

    def learn(self, schemas: SchemaProfile) -> None:
        self._client.learn(schemas)

    async def sight(self) -> bool:
        return await self._client.sight()

    async def look_up(self) -> bool:
        return False

    async def accepts(self, tools: Sequence[ToolDefinition]) -> bool:
        return await self._client.accepts(tools)

    def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        return self._client.stream(request)

    async def aclose(self) -> None:
        await self._client.aclose()
        await self._endpoint.aclose()


async def start_demo(pause: float = PAUSE) -> DemoModel:
    """Start the scripted model; `pause` is the time between pieces of its answers, in seconds."""
    key = secrets.token_hex(16)  # other users of the machine have no business at this port
    endpoint = DemoEndpoint(key, pause)
    base_url = await endpoint.start()
    info = ModelInfo("demo", NAME, base_url, window=32_000, prices=FREE, is_demo=True)
    client = ChatClient(info, Profile("demo", base_url), key)
    client.warm_up()
    return DemoModel(client, endpoint)
