"""The providers hel knows: where they are, whose key they take and how their dialect differs.

A table and a few look-ups. Not here: which of them is used (choose), the wire format (wire).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReasoningBack = Literal["none", "back", "always"]
"""Whether an assistant message takes its reasoning back: never, where there was some, on every one."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between servers of the same API. Flips when a server refuses a form (see faults)."""

    reasoning: ReasoningBack = "none"
    limit_field: str = "max_tokens"
    usage_option: bool = True
    """Whether `stream_options.include_usage` is understood."""
    prefix: str = ""
    """Path put before `/chat/completions` when the base URL had none."""


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    base_url: str = ""
    key_variable: str = ""
    needs_key: bool = False
    dialect: Dialect = Dialect()
    start: str = ""
    """A sentence: how to get it to listen, when nothing does."""


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", True, Dialect("back")),
        Profile(
            "openai",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            True,
            Dialect(limit_field="max_completion_tokens"),
        ),
        Profile("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", True),
        Profile("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", True),
        Profile("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", True),
        Profile("ollama", "http://127.0.0.1:11434/v1", start="Start it with `ollama serve`."),
        Profile("lmstudio", "http://127.0.0.1:1234/v1", start="Start the server in LM Studio."),
        Profile(
            "llamacpp", "http://127.0.0.1:8080/v1", start="Start it with `llama-server --jinja -m FILE`."
        ),
        Profile("vllm", "http://127.0.0.1:8000/v1", start="Start it with `vllm serve MODEL`."),
    )
}
LOCAL = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Providers that listen on loopback, in the order they are looked for."""

GENERIC = "openai-compatible"


def profile_of(provider: str) -> Profile:
    """The provider's profile; any other name is an OpenAI-compatible endpoint without a known address."""
    known = PROFILES.get(provider)
    if known is not None:
        return known
    variable = "".join(c if c.isascii() and c.isalnum() else "_" for c in provider.upper()) + "_API_KEY"
    return Profile(provider, key_variable="" if provider == GENERIC else variable)


Prices = tuple[float, float, float]

# Windows in tokens and list prices in US dollars for a million input, cached input and output tokens.
# Taken from the genai-prices data package 0.2.3 (November 2026). Models whose price depends on the hour
# or on the length of the prompt have none here, and neither has anything that was not looked up.
_MODELS: dict[str, tuple[int, Prices | None]] = {
    "deepseek/deepseek-chat": (128_000, None),
    "deepseek/deepseek-reasoner": (128_000, None),
    "deepseek/deepseek-flash": (1_000_000, None),
    "deepseek/deepseek-v4-flash": (1_000_000, None),
    "deepseek/deepseek-v4-pro": (1_000_000, None),
    "openai/gpt-4.1": (1_000_000, (2.0, 0.5, 8.0)),
    "openai/gpt-4.1-mini": (1_000_000, (0.4, 0.1, 1.6)),
    "openai/gpt-4.1-nano": (1_000_000, (0.1, 0.025, 0.4)),
    "openai/gpt-4o": (128_000, (2.5, 1.25, 10.0)),
    "openai/gpt-4o-mini": (128_000, (0.15, 0.075, 0.6)),
    "openai/gpt-5": (400_000, (1.25, 0.125, 10.0)),
    "openai/gpt-5-mini": (400_000, (0.25, 0.025, 2.0)),
    "openai/gpt-5-nano": (400_000, (0.05, 0.005, 0.4)),
    "openai/gpt-5.1": (400_000, (1.25, 0.125, 10.0)),
    "openai/gpt-5.2": (400_000, (1.75, 0.175, 14.0)),
    "openai/gpt-5.4-mini": (400_000, (0.75, 0.075, 4.5)),
    "openai/gpt-5.4-nano": (400_000, (0.2, 0.02, 1.25)),
    "openai/gpt-5.4": (1_050_000, None),
    "openai/gpt-5.5": (1_000_000, None),
    "openai/gpt-6-astra": (1_050_000, None),
    "openai/gpt-6-luna": (1_050_000, None),
    "openai/gpt-6-sol": (1_050_000, None),
    "openai/gpt-6.1-sol": (1_050_000, None),
    "openai/gpt-6.1-terra": (1_050_000, None),
    "openai/o3": (200_000, (2.0, 0.5, 8.0)),
    "openai/o4-mini": (200_000, (1.1, 0.275, 4.4)),
}


def window_of(label: str) -> int:
    """Context window of `provider/name` in tokens; 0 when unknown."""
    return _MODELS.get(label, (0, None))[0]


def prices_of(label: str) -> Prices | None:
    return _MODELS.get(label, (0, None))[1]
