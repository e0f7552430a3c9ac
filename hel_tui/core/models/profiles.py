"""The providers hel knows: where they are, whose key they take and how their dialect differs.

A table and a few look-ups. Not here: which of them is used (choose), the wire format (wire).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from hel_tui.core.models.known import facts_of

Api = Literal["chat", "responses", "messages", "gemini"]
"""OpenAI chat completions, OpenAI Responses, Anthropic Messages, Gemini generateContent."""

ReasoningBack = Literal["none", "back", "always"]
"""Whether an assistant message takes its reasoning back: never, where there was some, on every one."""

Thinking = Literal["", "adaptive", "budget", "level", "effort", "field", "deepseek", "template", "none"]
"""How a request says how hard to think (`efforts` spells them); empty goes by the model's name."""


Parallel = Literal["made", "model", "asked", "one"]
"""Several calls in one answer: made, as the model or its chat template can, where the request asks, never."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between servers of the same API. Flips when a server refuses a form (see adapting)."""

    reasoning: ReasoningBack = "none"
    limit_field: str = "max_tokens"
    usage_option: bool = True
    """Whether `stream_options.include_usage` is understood."""
    prefix: str = ""
    """Path put before the API's own when the base URL had none."""
    api: Api = "chat"
    reasoning_field: str = "reasoning_content"
    """Name of the field in which reasoning goes back."""
    thinking: Thinking = ""
    summaries: bool = True
    """Whether a readable form of hidden reasoning may be asked for."""
    cache_markers: bool = False
    """Whether the parts of a request that stay are marked for the provider's cache."""
    refused_efforts: frozenset[str] = frozenset()
    """What it was asked for and refused."""
    id_length: int = 0
    """How long ids of calls must be, where the server said so; 0 when it did not."""
    output: int = 0
    """Most tokens it lets an answer have, where it said so; 0 when it did not."""
    shapes: bool = True
    """Whether answers may be held to a schema: until it is refused."""
    parallel: Parallel = "model"
    parallel_field: bool = True
    """Whether a request may say how many calls are wanted: until it is refused."""


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    base_url: str = ""
    key_variable: str = ""
    needs_key: bool = False
    dialect: Dialect = Dialect()
    start: str = ""
    """A sentence: how to get it to listen, when nothing does."""


# OpenAI, "Function calling", "Parallel function calling": the model may choose several, unless told not to.
_CHAT = Dialect(limit_field="max_completion_tokens", thinking="effort", parallel="made")
_RESPONSES = Dialect("back", "max_output_tokens", api="responses", parallel="made")
_OPENAI = "https://api.openai.com/v1"

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        # DeepSeek, guide "Thinking Mode": reasoning_content goes back where tools were called. API reference:
        # `tool_calls` is a list, and there is no field that keeps it to one.
        Profile(
            "deepseek",
            "https://api.deepseek.com",
            "DEEPSEEK_API_KEY",
            True,
            Dialect("back", thinking="deepseek", parallel="made"),
        ),
        Profile("openai", _OPENAI, "OPENAI_API_KEY", True, _CHAT),
        Profile("openai-chat", _OPENAI, "OPENAI_API_KEY", True, _CHAT),
        Profile("openai-responses", _OPENAI, "OPENAI_API_KEY", True, _RESPONSES),
        # Anthropic, "Parallel tool use": several by default.
        Profile(
            "anthropic",
            "https://api.anthropic.com/v1",
            "ANTHROPIC_API_KEY",
            True,
            Dialect("back", api="messages", cache_markers=True, parallel="made"),
        ),
        # Gemini, "Function calling", "Parallel function calling": several by default, no field against it.
        Profile(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta",
            "GEMINI_API_KEY",
            True,
            Dialect("back", "maxOutputTokens", api="gemini", parallel="made"),
        ),
        # OpenRouter, "Reasoning Tokens": `reasoning` asks, `reasoning_details` go back unchanged.
        # "Parameters": `parallel_tool_calls` is on by default; its list of models says which take it.
        Profile(
            "openrouter",
            "https://openrouter.ai/api/v1",
            "OPENROUTER_API_KEY",
            True,
            Dialect(reasoning_field="reasoning", thinking="field"),
        ),
        # Ollama, docs/api/openai-compatibility: `reasoning_effort`; thoughts come as `reasoning`.
        # Capabilities, "Tool calling": several as the model makes them; the field is not read.
        Profile(
            "ollama",
            "http://127.0.0.1:11434/v1",
            dialect=Dialect(reasoning_field="reasoning", thinking="effort"),
            start="Start it with `ollama serve`.",
        ),
        Profile(
            "lmstudio",
            "http://127.0.0.1:1234/v1",
            dialect=Dialect(thinking="effort"),
            start="Start the server in LM Studio.",
        ),
        # llama.cpp, tools/server/README: `reasoning_content` of earlier messages reaches the chat template.
        # docs/function-calling: several calls only with `"parallel_tool_calls": true`; newer ones go by the
        # template.
        Profile(
            "llamacpp",
            "http://127.0.0.1:8080/v1",
            dialect=Dialect("back", thinking="template", parallel="asked"),
            start="Start it with `llama-server --jinja -m FILE`.",
        ),
        # A file of the person's own, served by hel itself (served).
        Profile("local", dialect=Dialect("back", thinking="template", parallel="asked")),
        # vLLM, "Reasoning Outputs": `reasoning` used to be called `reasoning_content`.
        # `parallel_tool_calls` is true by default; false keeps the first (its entrypoints.openai.utils).
        Profile(
            "vllm",
            "http://127.0.0.1:8000/v1",
            dialect=Dialect("back", reasoning_field="reasoning", thinking="template"),
            start="Start it with `vllm serve MODEL`.",
        ),
    )
}
LOCAL = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Providers that listen on loopback, in the order they are looked for."""

LOCAL_FILE = "local"
"""Of files that hel serves itself."""

GENERIC = "openai-compatible"


def runs_here(provider: str, name: str) -> bool:
    """Whether a model of this provider's own address runs on this machine, and so costs nothing.

    Ollama hands models with `cloud` for a tag on to its own servers (docs.ollama.com/cloud).
    """
    return provider in (*LOCAL, LOCAL_FILE) and not name.endswith((":cloud", "-cloud"))


def profile_of(provider: str, model: str = "", base_url: str = "") -> Profile:
    """The provider's profile for a model; any other name is an OpenAI-compatible endpoint without an address.

    `openai` speaks the Responses API where the model thinks, since chat completions refuse tools to models
    that think ("Function tools with reasoning_effort are not supported … use /v1/responses"). At an address
    of the person's own it speaks chat completions, which every compatible server knows. `openai-chat` and
    `openai-responses` say which one. An address that ends in `/openai` is Gemini's compatible one.
    """
    known = PROFILES.get(provider)
    if known is None:
        variable = "".join(c if c.isascii() and c.isalnum() else "_" for c in provider.upper()) + "_API_KEY"
        return Profile(provider, key_variable="" if provider == GENERIC else variable)
    if provider == "openai" and model and _is_openai(base_url) and facts_of(provider, model).thinks:
        return replace(known, dialect=_RESPONSES)
    if provider == "gemini" and urlsplit(base_url).path.rstrip("/").endswith("/openai"):
        return replace(known, dialect=Dialect(thinking="effort", parallel="made"))
    if provider == "openrouter" and _CLAUDE.search(model):
        return replace(known, dialect=replace(known.dialect, cache_markers=True))
    return known


_CLAUDE = re.compile(r"\A~?anthropic/|claude", re.I)


def _is_openai(base_url: str) -> bool:
    return not base_url or (urlsplit(base_url).hostname or "") == "api.openai.com"
