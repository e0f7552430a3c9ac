"""Messages and tools as the body of a Responses request: a flat list of items, stored nowhere.

Reasoning goes back as it came, encrypted, in front of what followed it (guides "Reasoning models" and
"Conversation state"). Not here: headers, retries (client), what came (assemble).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hel_tui.core.models.efforts import for_responses, wanted
from hel_tui.core.models.ids import UniqueIds, fit_id, fit_name
from hel_tui.core.models.parallel import for_openai
from hel_tui.core.models.profiles import Dialect
from hel_tui.core.models.shapes import shape_of
from hel_tui.core.models.types import ModelInfo, Request
from hel_tui.core.models.wire import (
    base64_of,
    encoded,
    images_for,
    output_limit,
    own_extra,
    valid_arguments,
)
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Json,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)


def body(
    request: Request, info: ModelInfo, dialect: Dialect, unwanted: Collection[Image] = frozenset()
) -> bytes:
    """The request as UTF-8 JSON. Raises ModelFault for numbers JSON does not have."""
    sent = images_for(request, info, unwanted)
    system = "\n\n".join(one.text for one in request.messages if isinstance(one, SystemMessage))
    items: list[Json] = []
    ids, given = UniqueIds(), dict[str, str]()
    for message in request.messages:
        if isinstance(message, AssistantMessage):
            given = {call.id: ids.next(call.id) for call in message.calls}
            items += _answer(message, info, dialect, given)
        elif isinstance(message, ToolMessage):
            items.append(_result(message, sent, given))
        elif isinstance(message, UserMessage):
            items.append({"role": "user", "content": _content(message, sent)})
    value: Json = {"model": info.name, "stream": True, "store": False}
    if system:
        value["instructions"] = system
    if request.tools:
        value["tools"] = [_tool(tool) for tool in request.tools]
        value |= for_openai(request, info, dialect)
    value["input"] = items
    if info.thinks is not False and dialect.reasoning != "none":
        value["include"] = ["reasoning.encrypted_content"]
    value |= output_limit(request, dialect) | shape_of(request, info, dialect)
    return encoded(value | for_responses(wanted(request, info, dialect), info, dialect))


def _tool(tool: ToolDefinition) -> Json:
    """A function. `strict` is on where it is left out, and would refuse most schemas of servers."""
    parameters = tool.parameters or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
        "strict": False,
    }


def _content(message: UserMessage | ToolMessage, sent: Collection[Image]) -> list[Json]:
    parts: list[Json] = [{"type": "input_text", "text": message.text}] if message.text else []
    parts += [
        {
            "type": "input_image",
            "detail": "auto",
            "image_url": f"data:{one.mime};base64,{base64_of(one)}",
        }
        for one in message.images
        if one in sent
    ]
    return parts or [{"type": "input_text", "text": ""}]


def _result(message: ToolMessage, sent: Collection[Image], ids: Mapping[str, str]) -> Json:
    output: Any = message.text
    if any(image in sent for image in message.images):
        output = _content(message, sent)
    id = ids.get(message.call_id) or fit_id(message.call_id)
    return {"type": "function_call_output", "call_id": id, "output": output}


def _answer(
    message: AssistantMessage, info: ModelInfo, dialect: Dialect, ids: Mapping[str, str]
) -> list[Json]:
    """The items of an answer, in the order they came where the same model gave them."""
    calls = {call.id: call for call in message.calls}
    items: list[Json] = []
    text = message.text
    for item in _kept(message, info, dialect):
        kind = item.get("type")
        if kind == "reasoning":
            items.append(dict(item))
        elif kind == "message" and text.startswith(said := item.get("text", "")):
            text = text[len(said) :]
            items.append(_said(said, item.get("phase")))
        elif kind == "function_call" and (call := calls.pop(str(item.get("call_id")), None)) is not None:
            items.append(_call(call, ids[call.id]))
    if text.strip():
        items.append(_said(text, None))
    items += [_call(call, ids[call.id]) for call in calls.values()]
    while items and items[-1]["type"] == "reasoning":
        items.pop()  # "Item of type 'reasoning' was provided without its required following item"
    return items


def _kept(message: AssistantMessage, info: ModelInfo, dialect: Dialect) -> list[Json]:
    """What came, in order; nothing of another model: it cannot read what this one encrypted."""
    extra: Mapping[str, Any] = own_extra(message, info.provider)
    items = extra.get("items")
    same = extra.get("model") == info.name and dialect.reasoning != "none"
    return items if same and isinstance(items, list) else []


def _said(text: str, phase: Any) -> Json:
    """Words of the model; `phase` says whether they were remarks or the answer, and belongs to them."""
    item: Json = {"type": "message", "role": "assistant", "content": text}
    return item | {"phase": phase} if isinstance(phase, str) else item


def _call(call: ToolCall, id: str) -> Json:
    return {
        "type": "function_call",
        "call_id": id,
        "name": fit_name(call.name),
        "arguments": valid_arguments(call.arguments),
    }
