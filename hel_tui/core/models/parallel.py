"""Parallel calls: whether a model makes several in one answer, how a request says so, and how a history is
spelt for a model that takes one at a time.

What each provider does by itself stands in its profile. Not here: running calls (agent.calls), what a refusal
says of them (adapting).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hel_tui.core.models.profiles import Dialect
from hel_tui.core.models.types import ModelInfo, Request
from hel_tui.core.vocabulary import AssistantMessage, Json, Message, ToolCall, ToolMessage


def takes_one(info: ModelInfo, dialect: Dialect) -> bool:
    """Whether it takes one call in an answer, also of the history: its template or a refusal said so."""
    return dialect.parallel == "one" or info.parallel is False


def for_openai(request: Request, info: ModelInfo, dialect: Dialect) -> Json:
    """`parallel_tool_calls` of chat completions and Responses: goes along with tools only, and only where the
    server would do something else by itself.
    """
    if not request.tools or not dialect.parallel_field:
        return {}
    if info.one_call or takes_one(info, dialect):
        return {"parallel_tool_calls": False}
    return {"parallel_tool_calls": True} if dialect.parallel == "asked" else {}


def for_messages(request: Request, info: ModelInfo, dialect: Dialect) -> Json:
    """`disable_parallel_tool_use` of `tool_choice` (platform.claude.com, "Parallel tool use")."""
    one = info.one_call or takes_one(info, dialect)
    if not request.tools or not dialect.parallel_field or not one:
        return {}
    return {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}


def one_by_one(messages: Sequence[Message]) -> list[Message]:
    """A valid history as if each call had been an answer of its own, with its result right behind it.

    What the model said and thought stays with the first. Chat templates such as Llama 3's refuse a whole
    history over one answer with two calls ("This model only supports single tool-calls at once!").
    """
    out: list[Message] = []
    waiting: list[AssistantMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            out += [waiting.pop(0)] if waiting else []
        elif isinstance(message, AssistantMessage) and len(message.calls) > 1:
            waiting = [_piece(message, number, call) for number, call in enumerate(message.calls)]
            continue
        out.append(message)
    return out


def _piece(message: AssistantMessage, number: int, call: ToolCall) -> AssistantMessage:
    if number == 0:
        return replace(message, calls=(call,))
    extra = {name: value for name, value in message.extra.items() if name in ("provider", "calls")}
    return AssistantMessage(calls=(call,), extra=extra)
