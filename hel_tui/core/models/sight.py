"""Whether a model takes images: by its name, or by what its endpoint tells of it.

Asked only when there is an image to send. Not here: how images are sent (wire), refusals of them (faults).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hel_tui.core.models.entries import sees_in
from hel_tui.core.models.types import ModelInfo

if TYPE_CHECKING:
    import httpx

LIMIT = 3.0
"""Seconds an endpoint gets to tell."""
MAX_ANSWER = 2**22
"""Bytes of an answer that are read; lists of gateways have some hundred models."""

# Names as providers, gateways and engines write them; what comes first decides.
_BLIND = re.compile(
    r"deepseek-(?!vl|ocr)|gpt-3|gpt-oss|gpt-4(?:-\d{4}|-32k)?\Z|o1-(?:mini|preview)|o3-mini"
    r"|codestral|devstral|mixtral|coder|gemma-?3.?(?:270m|1b)|embed|whisper",
    re.I,
)
_SEES = re.compile(
    r"gpt-4o|gpt-4\.\d|gpt-4-(?:turbo|vision)|gpt-[5-9]|chatgpt-4o|(?:\A|/)o[134](?:-|\Z)"
    r"|claude-(?:[3-9]|opus|sonnet|haiku|fable)|gemini|gemma-?[3-9]|llama-?4|vision|multimodal|omni"
    r"|(?:\A|[-_/.\d])vl(?:\d|[-_:.]|\Z)|qwen-?[\d.]*-?vl|qvq|internvl|pixtral|llava|moondream|minicpm-[vo]"
    r"|mistral-(?:small-3\.[1-9]|medium-3|large-3)|ministral-3|magistral.*-1\.[2-9]|glm-\d[\d.]*v"
    r"|grok-[4-9]|kimi-k2\.[5-9]|molmo|smolvlm|nova-(?:lite|pro|premier)|paligemma|idefics|cogvlm",
    re.I,
)


def sees_by_name(name: str) -> bool | None:
    """Whether a model of this name takes images; None when the name does not say."""
    if _BLIND.search(name):
        return False
    return True if _SEES.search(name) else None


def why_blind(info: ModelInfo) -> str:
    """A sentence for the person, of a model that is sent no images."""
    if info.sight_unsaid:
        return f"Nobody says that {info.label} takes images (`vision = true` in the settings does)."
    return f"{info.label} takes no images."


async def asked(info: ModelInfo, key: str, limit: float = LIMIT) -> bool | None:
    """What the endpoint says of the model within `limit` seconds; None when it says nothing. Never raises."""
    with suppress(Exception):
        import httpx

        from hel_tui.core.models.httpclient import open_client

        async with (
            asyncio.timeout(limit),
            open_client(info.base_url, key, connect=limit, idle=limit) as client,
        ):
            for way in _WAYS.get(info.provider, _ANY):
                with suppress(httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
                    if (said := await way(client, info)) is not None:
                        return said
    return None


# ----------------------------------------------------------- what endpoints tell


async def _listed(client: httpx.AsyncClient, info: ModelInfo) -> bool | None:
    """The entry in `GET <base>/models`: gateways and some engines say more there than OpenAI does."""
    listed = await _json(client, "GET", f"{info.base_url}/models")
    for entry in _entries(listed):
        if info.name in (entry.get("id"), entry.get("name"), entry.get("model")):
            return sees_in(entry)
    return None


async def _openrouter(client: httpx.AsyncClient, info: ModelInfo) -> bool | None:
    """`GET <base>/models/AUTHOR/SLUG/endpoints`: the architecture of one model."""
    told = await _json(client, "GET", f"{info.base_url}/models/{quote(info.name)}/endpoints")
    data = told.get("data") if isinstance(told, dict) else None
    return sees_in(data) if isinstance(data, dict) else None


async def _llamacpp(client: httpx.AsyncClient, info: ModelInfo) -> bool | None:
    """`GET /props`: `modalities`, true for vision when a projector is loaded."""
    told = await _json(client, "GET", f"{_root(info)}/props")
    modalities = told.get("modalities") if isinstance(told, dict) else None
    seen = modalities.get("vision") if isinstance(modalities, dict) else None
    return seen if isinstance(seen, bool) else None


async def _ollama(client: httpx.AsyncClient, info: ModelInfo) -> bool | None:
    """`POST /api/show`: `capabilities`."""
    told = await _json(client, "POST", f"{_root(info)}/api/show", {"model": info.name})
    return sees_in(told) if isinstance(told, dict) else None


async def _lmstudio(client: httpx.AsyncClient, info: ModelInfo) -> bool | None:
    """`GET /api/v0/models`: `type` is `vlm` for those that see."""
    listed = await _json(client, "GET", f"{_root(info)}/api/v0/models")
    for entry in _entries(listed):
        if entry.get("id") == info.name and isinstance(entry.get("type"), str):
            return bool(entry["type"] == "vlm")
    return None


_Way = Callable[["httpx.AsyncClient", ModelInfo], Awaitable[bool | None]]
_ANY: tuple[_Way, ...] = (_listed, _llamacpp, _ollama)
_WAYS: dict[str, tuple[_Way, ...]] = {
    "openrouter": (_openrouter,),
    "llamacpp": (_llamacpp, _listed),
    "ollama": (_ollama,),
    "lmstudio": (_lmstudio,),
    "vllm": (_listed,),
    "anthropic": (),
    "gemini": (),
}


def _entries(listed: Any) -> Iterator[dict[str, Any]]:
    entries = listed.get("data") if isinstance(listed, dict) else listed
    if isinstance(entries, list):
        yield from (entry for entry in entries if isinstance(entry, dict))


def _root(info: ModelInfo) -> str:
    return info.base_url.removesuffix("/v1")


async def _json(client: httpx.AsyncClient, method: str, url: str, body: Any = None) -> Any:
    """The JSON of an answer of at most MAX_ANSWER bytes; None for any other answer."""
    data = bytearray()
    async with client.stream(method, url, json=body) as response:
        if response.status_code != 200:
            return None
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > MAX_ANSWER:
                return None
    return json.loads(data)
