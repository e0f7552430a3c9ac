"""Engines on this machine, each asked in its own way: which models, how large a window, tools, images.

Not here: finding those that listen (local), what their answers mean (entries).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hel_tui.core.models.entries import Listed, names_in, read_list, read_lmstudio, read_ollama, with_props
from hel_tui.core.models.local import MAX_LIST, Asked, asking, listed_models

if TYPE_CHECKING:
    import httpx

MOST_SHOWN = 100
"""Models of Ollama that are asked about one by one."""
AT_ONCE = 8
SMALL = 16_384
"""Tokens of a window below which Ollama's default is named as the reason why little fits."""


async def engine_models(provider: str, base_url: str, key: str, limit: float, only: str = "") -> Asked:
    """(models, problem) of an engine; with `only`, just that one is told of in full."""
    way = _WAYS.get(provider)
    if way is None:
        return await listed_models(base_url, key, limit)
    return await asking(base_url, key, limit, lambda client: way(client, base_url, only))


async def _ollama(client: httpx.AsyncClient, base_url: str, only: str) -> tuple[Listed, ...]:
    """docs.ollama.com/api: `GET /api/tags`, `GET /api/ps`, `POST /api/show`."""
    root = root_of(base_url)
    names = [name for name, _ in names_in(await get_json(client, f"{root}/api/tags"), "model", "name")]
    running = dict(names_in(await _or_none(get_json(client, f"{root}/api/ps")), "model", "name"))
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> Listed:
        async with gate:
            shown = await _or_none(get_json(client, f"{root}/api/show", {"model": name}))
        return read_ollama(name, shown, running.get(name))

    wanted = [name for name in names if not only or same_name(name, only)][:MOST_SHOWN]
    told = {found.name: found for found in await asyncio.gather(*map(one, wanted))}
    return tuple(told.get(name, Listed(name)) for name in names)


async def _lmstudio(client: httpx.AsyncClient, base_url: str, _only: str) -> tuple[Listed, ...]:
    """lmstudio.ai/docs/developer/rest: version 1 of its own API, else version 0."""
    root = root_of(base_url)
    with suppress(ValueError):
        return read_lmstudio(await get_json(client, f"{root}/api/v1/models"))
    return read_lmstudio(await get_json(client, f"{root}/api/v0/models"))


async def _llamacpp(client: httpx.AsyncClient, base_url: str, _only: str) -> tuple[Listed, ...]:
    """llama.cpp, tools/server/README: `GET /v1/models`, and `GET /props` where one model is served."""
    models = read_list(await get_json(client, f"{base_url}/models"))
    if len(models) != 1:
        return models
    props = await _or_none(get_json(client, f"{root_of(base_url)}/props"))
    return (replace(with_props(models[0], props), loaded=True),)


_Way = Callable[["httpx.AsyncClient", str, str], Awaitable[tuple[Listed, ...]]]
_WAYS: dict[str, _Way] = {
    "ollama": _ollama,
    "lmstudio": _lmstudio,
    "llamacpp": _llamacpp,
    "local": _llamacpp,
}


def same_name(listed: str, wanted: str) -> bool:
    """Whether a listed model is the one wanted: Ollama takes a name without a tag for `:latest`."""
    return listed in (wanted, f"{wanted}:latest")


def root_of(base_url: str) -> str:
    """The address of an engine's own API, beside that of OpenAI."""
    return base_url.removesuffix("/v1")


def tool_note(provider: str, listed: Listed) -> str:
    """A sentence for a model that takes no tools, or runs with a window in which little fits; else empty."""
    name = listed.name[:80]
    if listed.tools is False:
        help_ = {
            "ollama": "Choose one that `ollama show` lists with tools.",
            "llamacpp": "Start llama-server with a --chat-template-file that has them, or another model.",
            "local": "Serve a file whose chat template has them.",
        }.get(provider, "Choose another one to work with tools.")
        return f"{name} takes no tools: its chat template has none. It answers, but calls nothing. {help_}"
    if provider == "ollama" and 0 < listed.window < SMALL:
        return (
            f"{name} runs with a window of {listed.window:,} tokens, and Ollama cuts what does not fit "
            "without a word. `OLLAMA_CONTEXT_LENGTH=32768 ollama serve` makes it larger."
        )
    return ""


async def get_json(client: httpx.AsyncClient, url: str, body: Any = None) -> Any:
    """The JSON of an answer of at most MAX_LIST bytes, by POST where there is a body. Raises ValueError for
    another answer, or httpx.HTTPError.
    """
    data = bytearray()
    async with client.stream("GET" if body is None else "POST", url, json=body) as response:
        if response.status_code != 200:
            raise ValueError(f"answered {response.status_code}")
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > MAX_LIST:
                raise ValueError("lists more than can be read")
    return json.loads(data)


async def _or_none(work: Awaitable[Any]) -> Any:
    """What is not vital: None where it could not be had."""
    import httpx

    try:
        return await work
    except (httpx.HTTPError, ValueError, RecursionError):
        return None
