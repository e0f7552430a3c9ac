"""Messages and tools as the body of a Messages request.

Results stand first in the user message right behind their calls, images inside the result they belong to;
thoughts go back unchanged, in their places. Not here: headers, retries (client), what came (assemble).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hel_tui.core.models.efforts import for_messages, wanted
from hel_tui.core.models.ids import UniqueIds, fit_id, fit_name
from hel_tui.core.models.parallel import for_messages as for_tools
from hel_tui.core.models.profiles import Dialect
from hel_tui.core.models.shapes import shape_of
from hel_tui.core.models.types import ModelInfo, Request
from hel_tui.core.models.wire import base64_of, encoded, images_for, own_extra, valid_arguments
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Json,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)

ANSWER = 32_000
"""Tokens an answer may have when nobody said: the API wants a number. Models with less have their own."""
LONG_ANSWER = 64_000
"""The same where a model is to think long: thoughts count as answer."""
UNKNOWN = 8_192
"""The same for a model whose limit is not known."""
CONTINUED = "(The conversation so far was shortened.)"
"""What a history that begins with the model's words begins with: the first message is a user's."""
_MARK: Json = {"type": "ephemeral"}


def body(
    request: Request, info: ModelInfo, dialect: Dialect, unwanted: Collection[Image] = frozenset()
) -> bytes:
    """The request as UTF-8 JSON. Raises ModelFault for numbers JSON does not have."""
    effort = wanted(request, info, dialect)
    room = _room(request, info, dialect, effort)
    back = dialect.reasoning != "none"
    system, messages = _messages(request, info.provider, back, images_for(request, info, unwanted))
    value: Json = {"model": info.name, "max_tokens": room, "stream": True}
    if system:
        value["system"] = [{"type": "text", "text": system}]
    if request.tools:
        value["tools"] = [_tool(tool) for tool in request.tools]
        value |= for_tools(request, info, dialect)
    value["messages"] = messages
    value |= for_messages(effort, info, dialect, room, may_think=_may_think(messages))
    for field, more in shape_of(request, info, dialect).items():
        value[field] = {**value.get(field, {}), **more}
    if dialect.cache_markers:
        _mark(value)
    return encoded(value)


def _room(request: Request, info: ModelInfo, dialect: Dialect, effort: str) -> int:
    most = dialect.output or info.max_output
    if request.max_output is not None:
        return min(request.max_output, most) if most else request.max_output
    return min(most, LONG_ANSWER if effort in ("xhigh", "max") else ANSWER) if most else UNKNOWN


def _tool(tool: ToolDefinition) -> Json:
    schema = tool.parameters or {"type": "object", "properties": {}}
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _messages(request: Request, provider: str, back: bool, sent: Collection[Image]) -> tuple[str, list[Json]]:
    """The system prompt and the messages, in which the two roles take turns."""
    system: list[str] = []
    out: list[Json] = []

    def add(role: str, blocks: Sequence[Json]) -> None:
        if not blocks:
            return
        if out and out[-1]["role"] == role:
            out[-1]["content"] += blocks
        else:
            out.append({"role": role, "content": list(blocks)})

    ids, given = UniqueIds(), dict[str, str]()
    for message in request.messages:
        if isinstance(message, SystemMessage):
            system.append(message.text)
        elif isinstance(message, AssistantMessage):
            given = {call.id: ids.next(call.id) for call in message.calls}
            add("assistant", _assistant(message, provider, back, given))
        else:
            add("user", _told(message, sent, given))
    if out and out[0]["role"] == "assistant":
        out.insert(0, {"role": "user", "content": [_text(CONTINUED)]})
    return "\n\n".join(system), out


def _told(message: Message, sent: Collection[Image], ids: Mapping[str, str]) -> list[Json]:
    """The blocks of what a user or a tool says."""
    if isinstance(message, ToolMessage):
        return [_result(message, sent, ids)]
    if not isinstance(message, UserMessage):
        return []
    blocks = [_text(message.text)] if message.text.strip() else []
    return blocks + [_image(one) for one in message.images if one in sent]


def _result(message: ToolMessage, sent: Collection[Image], ids: Mapping[str, str]) -> Json:
    id = ids.get(message.call_id) or fit_id(message.call_id)
    block: Json = {"type": "tool_result", "tool_use_id": id}
    content = [_text(message.text)] if message.text.strip() else []
    content += [_image(one) for one in message.images if one in sent]
    if content:
        block["content"] = content
    if message.failed and not any(one["type"] == "image" for one in content):
        block["is_error"] = True  # "all content must be type text if is_error is true"
    return block


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _image(image: Image) -> Json:
    source = {"type": "base64", "media_type": image.mime, "data": base64_of(image)}
    return {"type": "image", "source": source}


def _assistant(message: AssistantMessage, provider: str, back: bool, ids: Mapping[str, str]) -> list[Json]:
    """The blocks of an answer, thoughts where they came; text and calls alone where there are none."""
    calls = {call.id: call for call in message.calls}
    kept = own_extra(message, provider).get("blocks") if back else None
    blocks: list[Json] = []
    text = message.text
    for block in kept if isinstance(kept, list) else ():
        kind = block.get("type")
        if kind in ("thinking", "redacted_thinking"):
            blocks.append(block)
        elif kind == "text" and text.startswith(said := block.get("text", "")):
            text = text[len(said) :]
            blocks += [_text(said)] if said.strip() else []
        elif kind == "tool_use" and (call := calls.pop(block.get("id"), None)) is not None:
            blocks.append(_use(call, ids[call.id]))
    if text.strip():
        blocks.append(_text(text))
    blocks += [_use(call, ids[call.id]) for call in calls.values()]
    while blocks and "thinking" in blocks[-1]["type"]:
        blocks.pop()  # "The final block in an assistant message cannot be `thinking`"
    return blocks


def _use(call: ToolCall, id: str) -> Json:
    value = json.loads(valid_arguments(call.arguments))
    return {"type": "tool_use", "id": id, "name": fit_name(call.name), "input": value}


def _may_think(messages: Sequence[Json]) -> bool:
    """Whether a budget is accepted: the turn's last answer, if it called a tool, began with a thought.

    "When `thinking` is enabled, a final `assistant` message must start with a thinking block".
    """
    for message in reversed(messages):
        if message["role"] == "assistant":
            answered = messages[-1]["content"][0]["type"] != "tool_result"
            return answered or message["content"][0]["type"] in ("thinking", "redacted_thinking")
    return True


def _mark(value: Json) -> None:
    """Mark what stays for the cache, at most four places: the tools, the system prompt, the two newest user
    messages, of which the older one was the newest when its request was written (guide "Prompt caching").
    """
    places: list[Any] = [value["tools"][-1]] if "tools" in value else []
    places += value.get("system", [])[-1:]
    users = [message for message in value["messages"] if message["role"] == "user"]
    places += [message["content"][-1] for message in users[-2:]]
    for place in places:
        place["cache_control"] = _MARK
