"""What names of models tell: windows, the longest answer, whether and how hard they think.

From the providers' pages of models. Not here: whether a model takes images (sight), what its endpoint says of
it (local, choose), what it costs (prices).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hel_tui.core.models.types import EFFORTS


@dataclass(frozen=True, slots=True)
class Facts:
    """What a name tells. Zero, empty and None mean: not known."""

    window: int = 0
    """Tokens."""
    max_output: int = 0
    """Tokens."""
    thinks: bool | None = None
    efforts: tuple[str, ...] = ()


_UP_TO_HIGH = ("low", "medium", "high")
_ALL_BUT_MINIMAL = ("none", "low", "medium", "high", "xhigh", "max")

_ANTHROPIC: tuple[tuple[str, Facts], ...] = (
    (r"claude-3-(?:opus|haiku|sonnet)", Facts(200_000, 4_096, False)),
    (r"claude-3-5", Facts(200_000, 8_192, False)),
    (r"claude-3-7", Facts(200_000, 64_000, True, ("none", *_UP_TO_HIGH))),
    (
        r"claude-opus-4(?:-[01])?(?:-\d{8})?\Z|claude-4-opus",
        Facts(200_000, 32_000, True, ("none", *_UP_TO_HIGH)),
    ),
    (r"(?:sonnet|haiku)-4(?:-[05])?(?:-\d{8})?\Z", Facts(200_000, 64_000, True, ("none", *_UP_TO_HIGH))),
    (r"opus-4-5", Facts(200_000, 64_000, True, ("none", *_UP_TO_HIGH))),
    (r"(?:opus|sonnet)-4-6", Facts(1_000_000, 128_000, True, ("none", *_UP_TO_HIGH, "max"))),
    (r"opus-5-5|fable|mythos", Facts(1_000_000, 128_000, True, (*_UP_TO_HIGH, "xhigh", "max"))),
    (r"claude-(?:opus|sonnet|haiku)-(?:4-[7-9]|[5-9])", Facts(1_000_000, 128_000, True, _ALL_BUT_MINIMAL)),
)
"""platform.claude.com, "Models overview", "Effort" and each model's page."""

_OPENAI: tuple[tuple[str, Facts], ...] = (
    (r"gpt-(?:3|4)|chatgpt|codex-mini-latest|computer-use", Facts(thinks=False)),
    (r"gpt-5(?:\.\d)?-chat|gpt-5\.3\Z", Facts(thinks=False)),
    (r"o1-(?:mini|preview)", Facts(thinks=True)),
    (r"\Ao[134]", Facts(max_output=100_000, thinks=True, efforts=_UP_TO_HIGH)),
    (r"gpt-5(?:-mini|-nano)?(?:-\d{4}.*)?\Z", Facts(0, 128_000, True, ("minimal", *_UP_TO_HIGH))),
    (r"gpt-5(?:\.\d)?-pro", Facts(0, 128_000, True)),
    (r"gpt-5\.1", Facts(0, 128_000, True, ("none", *_UP_TO_HIGH))),
    (r"gpt-5\.[2-6]", Facts(0, 128_000, True, ("none", *_UP_TO_HIGH, "xhigh"))),
    (r"gpt-oss", Facts(131_072, 0, True, _UP_TO_HIGH)),
    (r"gpt-[5-9]", Facts(0, 128_000, True)),
)
"""developers.openai.com, guide "Reasoning" and the models' pages."""

_GEMINI: tuple[tuple[str, Facts], ...] = (
    (r"gemini-(?:1|2\.0)", Facts(1_048_576, 8_192, False)),
    (r"gemini-2\.5-pro", Facts(1_048_576, 65_536, True, _UP_TO_HIGH)),
    (r"gemini-2\.5", Facts(1_048_576, 65_536, True, ("none", *_UP_TO_HIGH))),
    (r"gemini-3-pro", Facts(1_048_576, 65_536, True, ("low", "high"))),
    (r"gemini-3-flash", Facts(1_048_576, 65_536, True, ("minimal", *_UP_TO_HIGH))),
    (r"gemini-(?:[3-9]|flash|pro)", Facts(1_048_576, 65_536, True, _UP_TO_HIGH)),
)
"""ai.google.dev, "Gemini thinking" (levels and budgets) and the models' pages."""

_DEEPSEEK: tuple[tuple[str, Facts], ...] = (
    (r"deepseek-(?:flash|pro|v4|v[5-9])", Facts(0, 0, True, ("none", "low", "high", "max"))),
    (r"deepseek-reasoner", Facts(0, 0, True)),
)
"""api-docs.deepseek.com, guide "Thinking Mode": none, low, high, max."""

_FAMILIES = {
    "anthropic": _ANTHROPIC,
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "gemini": _GEMINI,
    "google": _GEMINI,
    "deepseek": _DEEPSEEK,
}


def facts_of(provider: str, model: str) -> Facts:
    """What the name `provider/model` tells; a gateway names the vendor before the model."""
    vendor, slash, rest = model.removeprefix("~").partition("/")
    family, name = _FAMILIES.get(provider), model
    if family is None and slash:
        family, name = _FAMILIES.get(vendor), rest.replace(".", "-") if vendor == "anthropic" else rest
    for pattern, facts in family or ():
        if re.search(pattern, name, re.I):
            return facts
    return Facts()


def nearest(effort: str, known: tuple[str, ...]) -> str:
    """The effort of `known` that comes closest to the one wished: the next lower one, else the least.

    As it is where nothing is known, or where it is no word of EFFORTS. Who wants thinking at all, gets some.
    """
    if not effort or effort in known or not known or effort not in EFFORTS:
        return effort
    if effort == "none":
        return next(one for one in EFFORTS if one in known)
    thinking = [one for one in known if one != "none"]
    below = [one for one in thinking if EFFORTS.index(one) < EFFORTS.index(effort)]
    return below[-1] if below else thinking[0] if thinking else ""


_WINDOWS = {
    "deepseek/deepseek-chat": 128_000,
    "deepseek/deepseek-reasoner": 128_000,
}
"""Tokens, where the table of prices is behind the provider's own pages (api-docs.deepseek.com, "Models")."""


def window_of(label: str) -> int:
    """Context window of `provider/name` in tokens, where only this module knows it; else 0."""
    return _WINDOWS.get(label, 0)
