"""What a refusal says of a server's dialect: the form to try instead, remembered from then on.

Each change is one a server asked for in words. Pure functions. Not here: trying again (client), refusals of
images and of tools (faults, agent.offer).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from hel_tui.core.models.efforts import wanted, way_of
from hel_tui.core.models.faults import Failure
from hel_tui.core.models.parallel import for_messages, for_openai, takes_one
from hel_tui.core.models.profiles import Dialect, Thinking
from hel_tui.core.models.types import ModelInfo, Request
from hel_tui.core.vocabulary import AssistantMessage

MAX_SAID = 2_000
"""Characters of a refusal that are looked at: some servers send the whole request back."""

_REASONING = re.compile(r"reasoning[_ ]content|encrypted[_ ]content|reasoning_details", re.I)
_SIGNED = re.compile(
    r"(?:thinking|redacted_thinking).{0,60}block|signature|`(?:redacted_)?thinking`", re.I | re.S
)
_MISSING = re.compile(r"missing|must be|required|must include|passed back|should be", re.I)
_UNKNOWN_FIELD = re.compile(
    r"unsupported|unrecogni[sz]ed|unknown|unexpected|not supported|not permitted|extra|invalid"
    r"|does not support|only support|must be one of|input should be|no longer|cannot find field"
    r"|not allowed|not available",
    re.I,
)
_EFFORT = re.compile(
    r"reasoning[_. ]?effort|\beffort\b|output_config"
    r"|think(?:ing)?[_ .]?(?:level|budget|config|type|value)|think value"
    r"|support thinking|adaptive thinking|thinking\b|enable_thinking|chat_template_kwargs"
    r"|(?:parameter|field|argument|name).{0,12}['\"`]reasoning|['\"`]reasoning['\"`.]",
    re.I,
)
_SUMMARY = re.compile(
    r"reasoning\.summary|reasoning summar|includethoughts|include_thoughts|\bdisplay\b", re.I
)
_OUTPUT = re.compile(
    r"max_tokens: (?P<asked>\d+) > (?P<most>\d+)|at most (?P<least>\d+) (?:output|completion)"
)
_ID = re.compile(
    r"call.{0,3}id.{0,200}length of (?P<exact>\d+)"
    r"|tool_call(?:s|_id)\b.{0,60}\bid\b.{0,60}maximum length (?P<most>\d+)"
    r"|tool_call_id.{0,60}maximum length (?P<also>\d+)",
    re.I | re.S,
)
"""Mistral: "must be a-z, A-Z, 0-9, with a length of 9"; OpenAI: "Invalid 'messages[2].tool_calls[0].id':
string too long. Expected a string with maximum length 40".
"""
_SHAPE = re.compile(
    r"response_format|json_schema|output_config|output_format|text\.format|structured output"
    r"|schema for response|compiled grammar|grammar compilation",
    re.I,
)
_SINGLE = re.compile(
    r"single tool[- ]calls? at once"
    r"|one tool[- ]?call (?:.{0,20} )?(?:at a time|per (?:message|turn|assistant|response|answer))"
    r"|(?:multiple|parallel) (?:tool|function)[- ]?(?:calls?|calling|use)[ ,].{0,40}(?:not|n't)"
    r" (?:supported|allowed)|not support (?:multiple|parallel) (?:tool|function)[- ]?call"
    r"|tool_calls\b.{0,80}maximum length 1\b",
    re.I,
)
"""Llama 3's chat template: "This model only supports single tool-calls at once!"."""
_CACHE = re.compile(r"cache_control", re.I)


@dataclass(frozen=True, slots=True)
class Change:
    """Another dialect, and what to tell the person of it; empty for what is no loss."""

    dialect: Dialect
    note: str = ""


def adapted(request: Request, info: ModelInfo, dialect: Dialect, failure: Failure) -> Change | None:
    """What to try instead after this refusal, or None when it says nothing about dialect."""
    fault, said = failure.fault, failure.said[:MAX_SAID]
    if fault.kind == "missing":
        return _with_prefix(info, dialect, said)
    if fault.status in (400, 422, 500) and (change := _parallel(request, info, dialect, said)):
        return change
    if fault.status not in (400, 422) or fault.kind == "context":
        return None
    if "/v1/responses" in said and dialect.api == "chat":
        way: Thinking = "" if dialect.thinking == "effort" else dialect.thinking
        limit = "max_output_tokens"
        return Change(replace(dialect, api="responses", reasoning="back", thinking=way, limit_field=limit))
    if request.shape is not None and dialect.shapes and _SHAPE.search(said):
        return Change(replace(dialect, shapes=False))
    return (
        _thoughts(request, dialect, said) or _fields(dialect, said) or _effort(request, info, dialect, said)
    )


def _parallel(request: Request, info: ModelInfo, dialect: Dialect, said: str) -> Change | None:
    """Several calls in one answer: the field is not known, or the model takes one at a time.

    Chat templates say so only when they meet a history with two, and some engines tell that with 500.
    """
    single = _SINGLE.search(said) is not None
    if single and not takes_one(info, dialect):
        note = (
            f"{info.label} takes one call at a time: several of an answer are shown to it one after another."
        )
        return Change(replace(dialect, parallel="one"), note)
    sent = for_openai(request, info, dialect) or for_messages(request, info, dialect)
    if sent and (single or "parallel_tool" in said):
        return Change(replace(dialect, parallel_field=False))
    return None


def _with_prefix(info: ModelInfo, dialect: Dialect, said: str) -> Change | None:
    """The version that a base URL without a path lacks."""
    bare = urlsplit(info.base_url).path in ("", "/")
    about_model = "model" in said.lower().replace("/models/", "/")  # Gemini's paths hold that word
    if not bare or dialect.prefix or about_model:
        return None
    return Change(replace(dialect, prefix="/v1beta" if dialect.api == "gemini" else "/v1"))


def _thoughts(request: Request, dialect: Dialect, said: str) -> Change | None:
    """Whether reasoning goes back."""
    answers = [one for one in request.messages if isinstance(one, AssistantMessage)]
    sent = (dialect.reasoning == "always" and bool(answers)) or (
        dialect.reasoning == "back" and any(one.reasoning or one.extra for one in answers)
    )
    if dialect.api == "chat":
        if not _REASONING.search(said):
            return None
        wanted_back = bool(_MISSING.search(said)) if sent else True
        return Change(replace(dialect, reasoning="always" if wanted_back else "none"))
    if sent and (_SIGNED.search(said) or _REASONING.search(said)) and "thinking.type" not in said:
        return Change(replace(dialect, reasoning="none"))
    return None


def _fields(dialect: Dialect, said: str) -> Change | None:
    """Fields of the request that have another name, or none."""
    if found := _OUTPUT.search(said):
        most = int(found["most"] or found["least"])
        return Change(replace(dialect, output=most)) if 0 < most != dialect.output else None
    if dialect.api == "chat" and (found := _ID.search(said)):
        length = int(found["exact"] or found["most"] or found["also"])
        fits = 8 <= length <= 64 and length != dialect.id_length
        return Change(replace(dialect, id_length=length)) if fits else None
    if dialect.cache_markers and _CACHE.search(said):
        return Change(replace(dialect, cache_markers=False))
    if not _UNKNOWN_FIELD.search(said):
        return Change(replace(dialect, summaries=False)) if _unverified(dialect, said) else None
    if "stream_options" in said or "include_usage" in said:
        return Change(replace(dialect, usage_option=False))
    if dialect.api == "chat" and dialect.limit_field in said:
        other = "max_tokens" if dialect.limit_field != "max_tokens" else "max_completion_tokens"
        return Change(replace(dialect, limit_field=other))
    if _unverified(dialect, said):
        return Change(replace(dialect, summaries=False))
    return None


def _unverified(dialect: Dialect, said: str) -> bool:
    """A summary of the reasoning is refused: OpenAI gives it to verified organisations only."""
    return dialect.summaries and dialect.api != "chat" and _SUMMARY.search(said) is not None


def _effort(request: Request, info: ModelInfo, dialect: Dialect, said: str) -> Change | None:
    """How the model is told to think, or that it is not told at all."""
    if not _EFFORT.search(said):
        return None
    way, effort = way_of(info, dialect), wanted(request, info, dialect)
    if dialect.api == "messages":
        if way != "adaptive" and re.search(r"thinking\.type\.adaptive|use .{0,20}adaptive", said):
            return Change(replace(dialect, thinking="adaptive"))
        if way == "adaptive" and re.search(r"adaptive.{0,40}not supported", said):
            return Change(replace(dialect, thinking="budget"))
    if (
        dialect.api == "gemini"
        and way == "level"
        and re.search(r"thinking[_ ]level is not supported", said, re.I)
    ):
        return Change(replace(dialect, thinking="budget"))
    if effort and _UNKNOWN_FIELD.search(said):
        note = f"{info.label} does not take the effort {effort}: it is asked without it."
        return Change(replace(dialect, refused_efforts=dialect.refused_efforts | {effort}), note)
    asked = way in ("adaptive", "level") or (dialect.api == "gemini" and way == "budget")
    if dialect.api in ("messages", "gemini") and asked and _UNKNOWN_FIELD.search(said):
        return Change(replace(dialect, thinking="none"))
    return None
