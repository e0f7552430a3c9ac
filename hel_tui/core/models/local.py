"""Engines that listen on loopback, and the models an endpoint lists.

Quick and never through a proxy: a port nobody listens on costs one refused connection, and httpx is not
even imported for it. Not here: choosing one of them (choose).
"""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hel_tui.core.addresses import host_of
from hel_tui.core.models.faults import clean, sentence
from hel_tui.core.models.profiles import LOCAL, PROFILES, Api
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json

LIMIT = 0.3
"""Seconds all local engines together get to answer."""
MAX_LIST = 2**20
"""Bytes of a model list that are read."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One model of a list; `window` in tokens, 0 when the list does not say."""

    name: str
    window: int = 0


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


async def _engine(provider: str, base_url: str, limit: float) -> LocalEngine | None:
    parts = urlsplit(base_url)
    try:
        async with asyncio.timeout(limit):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except (OSError, TimeoutError):
        return None
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    listed, problem = await listed_models(base_url, "", limit)
    return None if problem else LocalEngine(provider, base_url, tuple(one.name for one in listed))


async def listed_models(
    base_url: str, key: str, limit: float, api: Api = "chat"
) -> tuple[tuple[Listed, ...], str]:
    """(models, problem) from `GET <base_url>/models`; the problem is a sentence, empty when all is well.

    Anthropic and Gemini give pages: the first one, as long as it may be.
    """
    await in_thread(lambda: importlib.import_module("httpx"), "hel-http")
    import httpx

    from hel_tui.core.models.httpclient import open_client

    who = host_of(base_url)
    data = bytearray()
    try:
        async with (
            asyncio.timeout(limit),
            open_client(base_url, key, connect=limit, idle=limit, api=api) as client,
            client.stream("GET", f"{base_url}/models{_PAGES.get(api, '')}") as response,
        ):
            if response.status_code != 200:
                return (), f"{who} answered {response.status_code} when asked for its models."
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > MAX_LIST:
                    return (), f"{who} lists more models than can be read."
    except TimeoutError:
        return (), f"{who} did not list its models within {limit:g} seconds."
    except (httpx.HTTPError, ValueError, ImportError) as error:
        return (), sentence(f"{who} could not be asked for its models", str(error), "", key)
    try:
        return _listed(json.loads(data)), ""
    except (ValueError, RecursionError):
        return (), f"{who} does not list models the OpenAI way."


_PAGES = {"messages": "?limit=1000", "gemini": "?pageSize=1000"}


def _listed(value: Any) -> tuple[Listed, ...]:
    """Models in a list of OpenAI's, Anthropic's or Gemini's form, at most 2,000. Of Gemini's, those that
    generate text. Raises ValueError for another shape.
    """
    entries = value.get("data", value.get("models")) if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise ValueError("no list")
    return tuple(
        Listed(clean(name)[:200], _window(entry))
        for entry in entries[:2000]
        if isinstance(entry, dict) and (name := _name(entry))
    )


def _name(entry: Json) -> str:
    """The model's name in an entry; empty for what has none, or cannot answer."""
    methods = entry.get("supportedGenerationMethods")
    if isinstance(methods, list) and "generateContent" not in methods:
        return ""
    name = entry.get("id") or entry.get("name")
    return name.removeprefix("models/") if isinstance(name, str) else ""


def _window(entry: Json) -> int:
    """The context window an entry gives: `max_model_len` (vLLM), `context_length` (OpenRouter), `meta.n_ctx`
    (llama.cpp), `max_input_tokens` (Anthropic), `inputTokenLimit` (Gemini)."""
    meta = entry.get("meta")
    found = (
        entry.get("max_model_len"),
        entry.get("context_length"),
        meta.get("n_ctx") if isinstance(meta, dict) else None,
        entry.get("max_input_tokens"),
        entry.get("inputTokenLimit"),
    )
    return next((size for size in found if isinstance(size, int) and 0 < size < 2**31), 0)
