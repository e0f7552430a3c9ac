"""How hard a model is to think, spelled in each provider's way. Pure functions.

An effort a server refused is not sent again (`Dialect.refused_efforts`); one that a model is known not to
have becomes the nearest it has. Not here: recognising the refusal (adapting).
"""

from __future__ import annotations

import re

from hel_tui.core.models.known import nearest
from hel_tui.core.models.profiles import Dialect, Thinking
from hel_tui.core.models.types import ModelInfo, Request
from hel_tui.core.vocabulary import Json

BUDGETS = {"minimal": 1_024, "low": 4_096, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 32_000}
"""Tokens of thinking for models with a budget: Anthropic from 1,024 on, Gemini 2.5 up to 24,576 (Flash)."""
_ADAPTIVE = re.compile(
    r"(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])(?!\d{3})|fable|mythos|claude-4[.-][6-9]-", re.I
)
"""Claude 4.6 and later; platform.claude.com, "Adaptive thinking": older ones take a budget."""
_BUDGETED = re.compile(r"gemini-(?:2\.5|flash-lite-2\.5)|robotics-er-1\.5", re.I)
"""ai.google.dev, "Gemini thinking": 2.5 takes thinkingBudget, Gemini 3 and later take thinkingLevel."""


def wanted(request: Request, info: ModelInfo, dialect: Dialect) -> str:
    """The effort that is asked for; empty for the provider's own."""
    effort = nearest(request.effort.strip().lower(), info.efforts)
    return "" if effort in dialect.refused_efforts else effort


def for_chat(effort: str, dialect: Dialect) -> Json:
    """Fields of a chat-completions request; none for an empty effort.

    DeepSeek, "Thinking Mode": `thinking` switches, `reasoning_effort` says how hard. OpenRouter, "Reasoning
    Tokens": `reasoning`. llama.cpp and vLLM hand `chat_template_kwargs` to the model's own chat template.
    """
    if not effort or dialect.thinking == "none":
        return {}
    if dialect.thinking == "deepseek":
        if effort == "none":
            return {"thinking": {"type": "disabled"}}
        return {"thinking": {"type": "enabled"}, "reasoning_effort": effort}
    if dialect.thinking == "field":
        return {"reasoning": {"effort": effort}}
    if dialect.thinking == "template":
        if effort == "none":
            return {"chat_template_kwargs": {"enable_thinking": False}}
        return {"chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": effort}}
    return {"reasoning_effort": effort}


def way_of(info: ModelInfo, dialect: Dialect) -> Thinking:
    """How this model is told to think, by what was learned of it, else by its name."""
    if dialect.thinking:
        return dialect.thinking
    if info.thinks is False:
        return "none"
    if dialect.api == "messages":
        return "adaptive" if _ADAPTIVE.search(info.name) else "budget"
    if dialect.api == "gemini":
        return "budget" if _BUDGETED.search(info.name) else "level"
    return "effort"


def for_messages(effort: str, info: ModelInfo, dialect: Dialect, room: int, *, may_think: bool) -> Json:
    """Fields of a Messages request. `room`: its max_tokens; a budget must be smaller.

    Models that think adaptively do so unless told not to, and are asked for a readable summary, which newer
    ones leave out otherwise. Those with a budget think only when an effort was named, and not in a turn whose
    calls came without thoughts (`may_think` false): "Expected `thinking`, but found `tool_use`".
    """
    way = way_of(info, dialect)
    if way == "adaptive":
        if effort == "none":
            return {"thinking": {"type": "disabled"}}
        shown = {"display": "summarized"} if dialect.summaries else {}
        more = {"output_config": {"effort": "low" if effort == "minimal" else effort}} if effort else {}
        return {"thinking": {"type": "adaptive", **shown}} | more
    if way == "budget" and effort not in ("", "none") and may_think:
        budget = min(BUDGETS.get(effort, BUDGETS["medium"]), room - 1_024)
        if budget >= BUDGETS["minimal"]:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    return {}


def for_responses(effort: str, info: ModelInfo, dialect: Dialect) -> Json:
    """The field `reasoning` of a Responses request, for models that may think."""
    if way_of(info, dialect) == "none":
        return {}
    reasoning: Json = {"effort": effort} if effort else {}
    if dialect.summaries and info.thinks and effort != "none":
        reasoning["summary"] = "auto"
    return {"reasoning": reasoning} if reasoning else {}


def for_gemini(effort: str, info: ModelInfo, dialect: Dialect) -> Json:
    """The field `thinkingConfig` of a generation config; level and budget must not come together."""
    way = way_of(info, dialect)
    if way == "none":
        return {}
    shown = dialect.summaries and bool(info.thinks) and effort != "none"
    config: Json = {"includeThoughts": True} if shown else {}
    if way == "level" and effort:
        config["thinkingLevel"] = {"none": "minimal", "xhigh": "high", "max": "high"}.get(effort, effort)
    elif way == "budget" and effort:
        config["thinkingBudget"] = 0 if effort == "none" else min(BUDGETS.get(effort, -1), 24_576)
    return {"thinkingConfig": config} if config else {}
