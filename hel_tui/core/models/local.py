"""Engines that listen on loopback, and the models an endpoint lists.

Quick and never through a proxy: a port nobody listens on costs one refused connection, and httpx is not
even imported for it. Not here: choosing one of them (choose).
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hel_tui.core.addresses import host_of
from hel_tui.core.models.broken import is_offline
from hel_tui.core.models.entries import Listed, read_list
from hel_tui.core.models.faults import sentence
from hel_tui.core.models.profiles import LOCAL, PROFILES, Api
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    import httpx

LIMIT = 0.3
"""Seconds all local engines together get to answer."""
MAX_LIST = 2**22
"""Bytes of a model list that are read; gateways tell much of some hundred models."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    provider: str
    base_url: str
    models: tuple[str, ...] = ()


def local_places() -> tuple[tuple[str, str], ...]:
    """(provider, base URL) of the engines that are looked for."""
    return tuple((name, PROFILES[name].base_url) for name in LOCAL)


async def find_local(
    limit: float = LIMIT, places: Sequence[tuple[str, str]] | None = None
) -> tuple[LocalEngine, ...]:
    """The engines that listen and list their models the OpenAI way, within `limit` seconds in all."""
    wanted = local_places() if places is None else places
    tasks = [asyncio.create_task(_engine(provider, url, limit)) for provider, url in wanted]
    found = await asyncio.gather(*tasks)
    return tuple(engine for engine in found if engine is not None)


async def is_listening(base_url: str, limit: float = LIMIT) -> bool:
    """Whether somebody takes connections there within `limit` seconds."""
    parts = urlsplit(base_url)
    try:
        async with asyncio.timeout(limit):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


async def _engine(provider: str, base_url: str, limit: float) -> LocalEngine | None:
    if not await is_listening(base_url, limit):
        return None
    listed, problem = await listed_models(base_url, "", limit)
    return None if problem else LocalEngine(provider, base_url, tuple(one.name for one in listed))


Asked = tuple[tuple[Listed, ...], str]
"""(models, problem); the problem is a sentence, empty when all is well."""


async def listed_models(base_url: str, key: str, limit: float, api: Api = "chat") -> Asked:
    """The models in `GET <base_url>/models`.

    Anthropic and Gemini give pages: the first one, as long as it may be.
    """

    async def work(client: httpx.AsyncClient) -> tuple[Listed, ...]:
        data = bytearray()
        async with client.stream("GET", f"{base_url}/models{_PAGES.get(api, '')}") as response:
            if response.status_code != 200:
                raise _Refused(f"answered {response.status_code} when asked for its models.")
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > MAX_LIST:
                    raise _Refused("lists more models than can be read.")
        return read_list(json.loads(data))

    return await asking(base_url, key, limit, work, api)


_PAGES = {"messages": "?limit=1000", "gemini": "?pageSize=1000"}


class _Refused(Exception):
    """Why there is no list, behind the server's name."""


async def asking(
    base_url: str,
    key: str,
    limit: float,
    work: Callable[[httpx.AsyncClient], Awaitable[tuple[Listed, ...]]],
    api: Api = "chat",
) -> Asked:
    """What `work` finds out with a client for an endpoint, within `limit` seconds; never raises."""
    await in_thread(lambda: importlib.import_module("httpx"), "hel-http")
    import httpx

    from hel_tui.core.models.httpclient import open_client

    who = host_of(base_url)
    try:
        async with (
            asyncio.timeout(limit),
            open_client(base_url, key, connect=limit, idle=limit, api=api) as client,
        ):
            try:
                return await work(client), ""
            except _Refused as refusal:
                return (), f"{who} {refusal}"
            except (ValueError, RecursionError):
                return (), f"{who} does not list models the OpenAI way."
    except TimeoutError:
        return (), f"{who} did not list its models within {limit:g} seconds."
    except (httpx.HTTPError, ValueError, ImportError) as error:
        if is_offline(error, base_url):
            return (), f"There is no network: {who} could not be asked for its models."
        return (), sentence(f"{who} could not be asked for its models", str(error), "", key)
