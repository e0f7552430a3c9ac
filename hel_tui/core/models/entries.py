"""What lists of models say of each: the forms of OpenAI, Anthropic, Gemini, gateways and local engines.

Pure functions over answers of servers. Not here: asking (local, engines), what a name alone tells (known).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from hel_tui.core.models.faults import clean
from hel_tui.core.models.types import EFFORTS, ModelInfo, Rate
from hel_tui.core.vocabulary import Json

MOST = 2_000
"""Models of a list that are kept."""
LONGEST = 200
"""Characters of a model's name."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One model of a list. Zero, empty and None mean: the list does not say."""

    name: str
    window: int = 0
    """Tokens."""
    sees: bool | None = None
    tools: bool | None = None
    thinks: bool | None = None
    efforts: tuple[str, ...] = ()
    max_output: int = 0
    """Tokens."""
    loaded: bool | None = None
    """Whether a local engine holds it in memory."""
    rate: Rate | None = None
    parallel: bool | None = None
    """Whether it may make several calls in one answer."""


def told_by(info: ModelInfo, listed: Listed) -> ModelInfo:
    """What a list says of a model, in the place of what its name tells; the person's own word stays."""
    return replace(
        info,
        window=listed.window or info.window,
        tools=listed.tools if listed.tools is not None else info.tools,
        sees=info.sees if info.sees is not None else listed.sees,
        thinks=listed.thinks if listed.thinks is not None else info.thinks,
        efforts=listed.efforts or info.efforts,
        max_output=listed.max_output or info.max_output,
        parallel=info.parallel if info.parallel is not None else listed.parallel,
    )


_NO_TALK = re.compile(
    r"embed|whisper|moderation|dall-e|tts|transcribe|realtime|rerank|sora|imagen|veo-|babbage|davinci|gpt-image"
    r"|chatgpt-image|gpt-audio|bge-|aqa\Z",
    re.I,
)
"""Names of models that do not answer in text."""


def read_list(value: Any) -> tuple[Listed, ...]:
    """Models in a list that answer in text, at most MOST. Raises ValueError for another shape."""
    entries = value.get("data", value.get("models")) if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise ValueError("no list")
    return tuple(
        read_entry(name, entry)
        for entry in entries[:MOST]
        if isinstance(entry, dict) and (name := clean(_name(entry))[:LONGEST])
    )


def read_entry(name: str, entry: Json) -> Listed:
    """What one entry says."""
    return Listed(
        name,
        _window(entry),
        sees_in(entry),
        _says(entry, "tools", "function_calling", "tool_use", parameter="tools"),
        _says(entry, "thinking", "reasoning", parameter="reasoning"),
        _efforts(entry),
        _number(_inner(entry, "top_provider").get("max_completion_tokens"), entry.get("max_tokens"))
        or _number(entry.get("outputTokenLimit")),
        rate=_rate(entry.get("pricing")),
        parallel=True if _says(entry, "parallel_tool_calls", parameter="parallel_tool_calls") else None,
    )


def _name(entry: Json) -> str:
    """The model's name in an entry; empty for what has none, or cannot answer in text."""
    methods = entry.get("supportedGenerationMethods")
    if isinstance(methods, list) and "generateContent" not in methods:
        return ""
    name = entry.get("id") or entry.get("name")
    if not isinstance(name, str) or _NO_TALK.search(name):
        return ""
    outputs = _inner(entry, "architecture").get("output_modalities")
    if isinstance(outputs, list) and "text" not in outputs:
        return ""
    return name.removeprefix("models/")


def _window(entry: Json) -> int:
    """Tokens: `max_model_len` (vLLM), `context_length` (OpenRouter), `meta.n_ctx` (llama.cpp),
    `max_input_tokens` (Anthropic), `inputTokenLimit` (Gemini), `max_context_length` (Mistral),
    `context_window` (Groq)."""
    return _number(
        entry.get("max_model_len"),
        entry.get("context_length"),
        _inner(entry, "meta").get("n_ctx"),
        entry.get("max_input_tokens"),
        entry.get("inputTokenLimit"),
        entry.get("max_context_length"),
        entry.get("context_window"),
    )


def sees_in(entry: Json) -> bool | None:
    """Whether it takes images: `architecture` (OpenRouter), `capabilities` (Mistral, Ollama, Anthropic)."""
    for holder in (entry, _inner(entry, "architecture")):
        for name in ("input_modalities", "supported_input_modalities"):
            if isinstance(kinds := holder.get(name), list):
                return "image" in kinds
    capabilities = entry.get("capabilities")
    if isinstance(capabilities, list):
        return "vision" in capabilities or "multimodal" in capabilities
    told = _flag(_inner(entry, "capabilities"), "vision", "image_input")
    return told if told is not None else _flag(entry, "supports_image_in", "supports_vision")


def _says(entry: Json, *names: str, parameter: str) -> bool | None:
    """Whether `capabilities` or `supported_parameters` has one of these; None where there is neither."""
    capabilities = entry.get("capabilities")
    if isinstance(capabilities, list):
        return any(name in capabilities for name in names)
    if (flag := _flag(_inner(entry, "capabilities"), *names)) is not None:
        return flag
    parameters = entry.get("supported_parameters")
    if isinstance(parameters, list):
        return parameter in parameters
    return _flag(entry, *names)


def _flag(holder: Json, *names: str) -> bool | None:
    """The first of these that is told as true or false, or as `{"supported": …}` (Anthropic)."""
    for name in names:
        value = holder.get(name)
        value = value.get("supported") if isinstance(value, dict) else value
        if isinstance(value, bool):
            return value
    return None


def _efforts(entry: Json) -> tuple[str, ...]:
    """`capabilities.effort` (Anthropic), `reasoning.supported_efforts` (OpenRouter), `thinking.values`
    (Ollama)."""
    told = _inner(_inner(entry, "capabilities"), "effort")
    words = {word for word in told if _flag(told, word)}
    for holder, name in (("reasoning", "supported_efforts"), ("thinking", "values")):
        values = _inner(entry, holder).get(name)
        words |= {word for word in values if isinstance(word, str)} if isinstance(values, list) else set()
    return tuple(word for word in EFFORTS if word in words)


def _rate(pricing: Any) -> Rate | None:
    """OpenRouter, "Models": `pricing` in dollars for one token, as text; -1 where it depends."""
    if not isinstance(pricing, dict):
        return None

    def dollars(name: str) -> float | None:
        try:
            found = float(pricing[name]) * 1e6
        except (KeyError, TypeError, ValueError):
            return None
        return found if 0 <= found < 1e6 else None

    given, output = dollars("prompt"), dollars("completion")
    if given is None or output is None:
        return None
    cached = dollars("input_cache_read")
    return Rate(given, given if cached is None else cached, output, dollars("input_cache_write"))


def _number(*found: Any) -> int:
    return next((n for n in found if isinstance(n, int) and not isinstance(n, bool) and 0 < n < 2**31), 0)


def _inner(entry: Json, name: str) -> Json:
    inner = entry.get(name)
    return inner if isinstance(inner, dict) else {}


# ------------------------------------------------------------ forms of engines


def read_ollama(name: str, shown: Any, running: Any) -> Listed:
    """From `POST /api/show` and the entry of `GET /api/ps`, each None where it could not be had.

    The window is the one it runs with, or that its own parameters set: what the model could take at most says
    nothing, since Ollama cuts what does not fit without a word.
    """
    shown = shown if isinstance(shown, dict) else {}
    running = running if isinstance(running, dict) else None
    own = re.search(r"^num_ctx\s+(\d{1,9})", str(shown.get("parameters") or ""), re.M)
    told = read_entry(name, shown)
    window = _number(running.get("context_length")) if running is not None else 0
    return Listed(
        name,
        window or (int(own[1]) if own else 0),
        told.sees,
        told.tools,
        told.thinks,
        told.efforts,
        loaded=running is not None,
    )


def read_lmstudio(value: Any) -> tuple[Listed, ...]:
    """From `GET /api/v1/models` (0.4 and later) or `GET /api/v0/models`. Raises ValueError for another shape.

    Tools are put into the words of a template for models that were not trained with any: none is told as
    taking none.
    """
    entries = value.get("models", value.get("data")) if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise ValueError("no list")
    return tuple(_lmstudio(entry) for entry in entries[:MOST] if isinstance(entry, dict) and _is_llm(entry))


def _is_llm(entry: Json) -> bool:
    return entry.get("type") in ("llm", "vlm") and isinstance(entry.get("key", entry.get("id")), str)


def _lmstudio(entry: Json) -> Listed:
    capabilities = entry.get("capabilities")
    instances = entry.get("loaded_instances")
    if isinstance(instances, list):
        configs = [_inner(one, "config") for one in instances if isinstance(one, dict)]
        window = _number(*(one.get("context_length") for one in configs))
        loaded = bool(instances)
    else:
        window = _number(entry.get("loaded_context_length"))
        loaded = entry.get("state") == "loaded"
    flags = capabilities if isinstance(capabilities, dict) else {}
    words = capabilities if isinstance(capabilities, list) else []
    trained = flags.get("trained_for_tool_use") is True or "tool_use" in words
    return Listed(
        clean(str(entry.get("key", entry.get("id"))))[:LONGEST],
        window or _number(entry.get("max_context_length")),
        entry.get("type") == "vlm" or flags.get("vision") is True,
        True if trained else None,
        _flag(flags, "thinking", "reasoning"),
        loaded=loaded,
    )


def with_props(listed: Listed, value: Any) -> Listed:
    """A model with what llama.cpp's `GET /props` says; no tools, or no parallel calls, where its chat
    template has none.

    llama.cpp, tools/server/README: `chat_template_caps`, `modalities`, `default_generation_settings.n_ctx`.
    """
    props = value if isinstance(value, dict) else {}
    window = _number(_inner(props, "default_generation_settings").get("n_ctx"), props.get("n_ctx"))
    caps = _inner(props, "chat_template_caps")
    return replace(
        listed,
        window=window or listed.window,
        tools=_flag(caps, "supports_tools"),
        sees=_flag(_inner(props, "modalities"), "vision"),
        parallel=_flag(caps, "supports_parallel_tool_calls"),
    )


def names_in(value: Any, *fields: str) -> Iterator[tuple[str, Json]]:
    """(name, entry) of each entry of a list under `models`; the name is the first of the fields."""
    entries = value.get("models") if isinstance(value, dict) else None
    for entry in entries[:MOST] if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            name = next((entry[one] for one in fields if isinstance(entry.get(one), str)), "")
            if name:
                yield clean(name)[:LONGEST], entry
