"""Which family's rules hold for a model."""

from __future__ import annotations

import pytest

from hel_tui.core.models.profiles import PROFILES
from hel_tui.core.models.schemas.profile import profile_for


@pytest.mark.parametrize(
    ("provider", "model", "url", "family"),
    [
        ("openai", "gpt-5", "", "openai"),
        ("anthropic", "claude-opus-5-5", "", "anthropic"),
        ("gemini", "gemini-3-flash", "", "gemini"),
        ("deepseek", "deepseek-chat", "", "deepseek"),
        ("ollama", "qwen3", "", "llamacpp"),
        ("lmstudio", "openai/gpt-oss-20b", "", "llamacpp"),
        ("openrouter", "google/gemini-3-pro", "", "gemini"),
        ("openrouter", "anthropic/claude-opus-5-5:beta", "", "anthropic"),
        ("openrouter", "moonshotai/kimi-k3", "", "generic"),
        ("openrouter", "ollama/qwen3", "", "generic"),
        ("mine", "anything", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini"),
        ("openai", "deepseek-chat", "https://api.deepseek.com", "deepseek"),
        ("mine", "anything", "http://127.0.0.1:9/v1", "generic"),
        ("mine", "anything", "", "generic"),
    ],
)
def test_the_family_follows_from_host_provider_and_vendor(
    provider: str, model: str, url: str, family: str
) -> None:
    assert profile_for(provider, model, url).name == family


def test_every_known_provider_is_of_its_family_by_its_own_address_too() -> None:
    for name, profile in PROFILES.items():
        if name in ("openai", "anthropic", "gemini", "deepseek"):
            assert profile_for("somebody", "m", profile.base_url).name == name
