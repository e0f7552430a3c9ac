"""Messages and tools as the body of a chat-completions request.

Only fields that every compatible server takes; never `strict`. The history is valid when it comes here
(the agent repairs it): this module spells it. Not here: headers, retries (client).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from hel_tui.core.models.profiles import Dialect
from hel_tui.core.models.types import ModelFault, ModelInfo, Request
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Json,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)


def body(request: Request, info: ModelInfo, dialect: Dialect) -> bytes:
    """The request as UTF-8 JSON. Raises ModelFault for numbers JSON does not have."""
    value: Json = {
        "model": info.name,
        "messages": [_message(message, info.provider, dialect) for message in request.messages],
        "stream": True,
    }
    if request.tools:
        value["tools"] = [_tool(tool) for tool in request.tools]
    if dialect.usage_option:
        value["stream_options"] = {"include_usage": True}
    if request.max_output is not None:
        value[dialect.limit_field] = request.max_output
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        sentence = "The request holds a number that JSON does not have (NaN or Infinity)."
        raise ModelFault("request", sentence) from error
    return text.encode("utf-8", "replace")


def _message(message: Message, provider: str, dialect: Dialect) -> Json:
    match message:
        case SystemMessage(text):
            return {"role": "system", "content": text}
        case UserMessage(text):
            return {"role": "user", "content": text}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case AssistantMessage():
            return _assistant(message, provider, dialect)


def _assistant(message: AssistantMessage, provider: str, dialect: Dialect) -> Json:
    value: Json = {"role": "assistant", "content": message.text}
    # What one provider added for itself, another one refuses as unknown.
    extra: Mapping[str, Any] = message.extra if message.extra.get("provider") == provider else {}
    if dialect.reasoning == "always" or (dialect.reasoning == "back" and message.reasoning):
        value["reasoning_content"] = message.reasoning
    if "reasoning_details" in extra:
        value["reasoning_details"] = extra["reasoning_details"]
    if message.calls:
        by_call: Mapping[str, Any] = extra.get("calls", {})
        value["tool_calls"] = [_call(call, by_call.get(call.id)) for call in message.calls]
    return value


def _call(call: ToolCall, extra: Any) -> Json:
    value: Json = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": _arguments(call.arguments)},
    }
    return value if extra is None else value | {"extra_content": extra}


def _arguments(text: str) -> str:
    """Arguments that servers can parse: they refuse a whole history over one call that is not JSON."""
    try:
        if isinstance(json.loads(text, parse_constant=_refuse), dict):
            return text
    except (ValueError, RecursionError):
        pass
    return json.dumps({"not_valid_json": text}, ensure_ascii=False) if text.strip() else "{}"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _tool(tool: ToolDefinition) -> Json:
    function: Json = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters or {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": function}


def fresh_ids(messages: Sequence[Message]) -> Callable[[], str]:
    """A maker of call ids `call_<n>` that the history does not have yet."""
    used = {message.call_id for message in messages if isinstance(message, ToolMessage)}
    used |= {call.id for m in messages if isinstance(m, AssistantMessage) for call in m.calls}

    def numbers() -> Iterator[str]:
        number = 0
        while True:
            number += 1
            if (name := f"call_{number}") not in used:
                yield name

    made = numbers()
    return lambda: next(made)
