"""Messages and tools as the body of a generateContent request.

The roles are user and model; results are the user's, one for each call of the model's last turn and in its
order, with images beside them. Signatures go back unchanged on the parts they came on (guide "Thought
signatures"). Not here: headers, retries (client), what came (assemble).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from hel_tui.core.models.efforts import for_gemini, wanted
from hel_tui.core.models.ids import fit_name
from hel_tui.core.models.profiles import Dialect
from hel_tui.core.models.types import ModelInfo, Request
from hel_tui.core.models.wire import (
    TOOL_IMAGES,
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

UNSIGNED = "skip_thought_signature_validator"
"""What stands for the signature of a call that another model made: Gemini 3 refuses calls of the current turn
without one (guide "Thought signatures", "transferring history from a different model")."""
CONTINUED = "(The conversation so far was shortened.)"
"""What a history that begins with the model's words begins with: a call must follow a user's turn."""


def body(
    request: Request, info: ModelInfo, dialect: Dialect, unwanted: Collection[Image] = frozenset()
) -> bytes:
    """The request as UTF-8 JSON. Raises ModelFault for numbers JSON does not have."""
    sent = images_for(request, info, unwanted)
    system = "\n\n".join(one.text for one in request.messages if isinstance(one, SystemMessage))
    value: Json = {}
    if system:
        value["systemInstruction"] = {"parts": [{"text": system}]}
    if request.tools:
        value["tools"] = [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]
    value["contents"] = _contents(request, info, dialect, sent)
    config = for_gemini(wanted(request, info, dialect), info, dialect)
    config |= output_limit(request, dialect)
    if config:
        value["generationConfig"] = config
    return encoded(value)


def _tool(tool: ToolDefinition) -> Json:
    declaration: Json = {"name": tool.name, "description": tool.description}
    if tool.parameters:
        declaration["parameters"] = tool.parameters
    return declaration


def _contents(request: Request, info: ModelInfo, dialect: Dialect, sent: Collection[Image]) -> list[Json]:
    """The turns; neighbours of one role are one turn, or an image would part results from their calls."""
    out: list[Json] = []
    returned: list[tuple[str, Image]] = []
    given: dict[str, str] = {}
    """By call id the id that the provider gave it."""

    def add(role: str, parts: Sequence[Json]) -> None:
        if not parts:
            return
        if out and out[-1]["role"] == role:
            out[-1]["parts"] += parts
        else:
            out.append({"role": role, "parts": list(parts)})

    for message in request.messages:
        if isinstance(message, ToolMessage):
            add("user", [_result(message, given.get(message.call_id, ""))])
            returned += [(message.name, image) for image in message.images if image in sent]
            continue
        add("user", _returned(returned))
        returned = []
        if isinstance(message, AssistantMessage):
            signed = own_extra(message, info.provider).get("signed", {})
            given |= {id: more["id"] for id, more in signed.items() if "id" in more}
            add("model", _answer(message, info, dialect))
        elif isinstance(message, UserMessage):
            parts: list[Json] = [{"text": message.text}] if message.text else []
            add("user", parts + [_image(one) for one in message.images if one in sent])
    add("user", _returned(returned))
    if out and out[0]["role"] == "model":
        out.insert(0, {"role": "user", "parts": [{"text": CONTINUED}]})
    return out


def _image(image: Image) -> Json:
    return {"inlineData": {"mimeType": image.mime, "data": base64_of(image)}}


def _returned(images: Sequence[tuple[str, Image]]) -> list[Json]:
    """Images of tools, behind the results of their batch."""
    if not images:
        return []
    names = ", ".join(f"{name} ({image.label})" for name, image in images)
    return [{"text": f"{TOOL_IMAGES} {names}"}, *(_image(image) for _, image in images)]


def _result(message: ToolMessage, id: str) -> Json:
    """A result: `output` holds it, `error` says that it failed (API reference, `FunctionResponse`)."""
    kind = "error" if message.failed else "output"
    response: Json = {"name": fit_name(message.name), "response": {kind: message.text}}
    return {"functionResponse": response | ({"id": id} if id else {})}


def _answer(message: AssistantMessage, info: ModelInfo, dialect: Dialect) -> list[Json]:
    """The parts of an answer, with the signatures they came with."""
    extra = own_extra(message, info.provider) if dialect.reasoning != "none" else {}
    signed: dict[str, dict[str, str]] = extra.get("signed", {})
    parts: list[Json] = []
    if message.text:
        part: Json = {"text": message.text}
        if text := extra.get("text_signature"):
            part["thoughtSignature"] = text
        parts.append(part)
    for number, call in enumerate(message.calls):
        given = signed.get(call.id, {})
        part = {"functionCall": _call(call, given.get("id", ""))}
        if "signature" in given:
            part["thoughtSignature"] = given["signature"]
        elif number == 0 and info.thinks is not False:
            part["thoughtSignature"] = UNSIGNED
        parts.append(part)
    return parts


def _call(call: ToolCall, id: str) -> Json:
    value: Json = {"name": fit_name(call.name), "args": json.loads(valid_arguments(call.arguments))}
    return value | {"id": id} if id else value
