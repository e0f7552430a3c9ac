"""A server asks the model (specification, sampling): limits, two questions to the person, conversion.

Not here: asking a person (serving), talking to a model (passed in as `Sample`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

from hel_tui.core.mcp.asking import Ask, Sample, Sampled, SampleFailed, SampleRequest
from hel_tui.core.mcp.limits import SAMPLES_A_MINUTE, Lately
from hel_tui.core.mcp.messages import INVALID_PARAMS
from hel_tui.core.mcp.wire import AskRefused
from hel_tui.core.protocol import SamplingAnswer, SamplingQuestion
from hel_tui.core.questions import question_id
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
from hel_tui.foreign import for_model

MOST_TOKENS = 4096
TIME = 30.0
"""Seconds the model may take."""
MOST_ROUNDS = 5
"""Answers of tools one request may carry one after the other: how often a server may go round with tools."""
MOST_TOOLS = 64
MOST_NAME = 200
MOST_CHARACTERS = 400_000
"""Text of one request."""
Clean = Callable[[str], str]

BY_HAND = "written by a person"
"""The name of the model in an answer that none gave."""
REJECTED = -1
"""The person said no (specification, sampling: error handling)."""


async def sample(
    server: str,
    params: Json,
    tool: str,
    lately: Lately,
    hide: Callable[[str], str],
    ask: Ask,
    model: Sample,
) -> Json:
    """Ask the person, the model, the person again, and return the result. Raises AskRefused.

    `lately` counts this server's requests; `hide` takes known secrets out of what the model is told.
    """
    if lately.count >= SAMPLES_A_MINUTE:
        wait = f"try again in {lately.until_next:.0f} s"
        raise AskRefused(REJECTED, f"{SAMPLES_A_MINUTE} requests a minute are the limit; {wait}")
    lately.happened()
    request = read_request(params, lambda text: hide(for_model(text)))
    label = model.label()
    system = next((one.text for one in request.messages if isinstance(one, SystemMessage)), "")
    question = SamplingQuestion(
        question_id(),
        server,
        "request",
        readable(request.messages),
        system=system,
        model=label,
        max_tokens=request.max_tokens,
        tools=tuple(f"{one.name}: {one.description}".rstrip(": ") for one in request.tools),
        limits=f"at most {request.max_tokens:,} tokens, {TIME:.0f} s, {SAMPLES_A_MINUTE} requests a minute",
        tool=tool,
    )
    answer = await _allowed(ask, question, "the person did not allow the request")
    if answer.text is not None:
        return to_result(_written(answer.text, BY_HAND), with_tools=bool(request.tools))
    if not label:
        raise AskRefused(REJECTED, "there is no model to ask")
    try:
        async with asyncio.timeout(TIME):
            sampled = await model.run(request)
    except TimeoutError:
        raise AskRefused(REJECTED, f"the model did not answer within {TIME:.0f} s") from None
    except SampleFailed as failure:
        raise AskRefused(REJECTED, str(failure)) from failure
    question = SamplingQuestion(
        question_id(),
        server,
        "answer",
        readable((sampled.message,)),
        model=label,
        max_tokens=request.max_tokens,
        tool=tool,
        reply=sampled.message.text,
    )
    answer = await _allowed(ask, question, "the person did not let the answer go back")
    if answer.text is not None:
        sampled = _written(answer.text, f"{sampled.model}, {BY_HAND}")
    return to_result(sampled, with_tools=bool(request.tools))


async def _allowed(ask: Ask, question: SamplingQuestion, refusal: str) -> SamplingAnswer:
    answer = await ask(question)
    if not (isinstance(answer, SamplingAnswer) and answer.allow):
        raise AskRefused(REJECTED, refusal)
    return answer


def _written(text: str, by: str) -> Sampled:
    """An answer in a person's words."""
    return Sampled(AssistantMessage(text), by, "endTurn")


# ------------------------------------------------------------------ conversion


def read_request(params: Json, clean: Clean) -> SampleRequest:
    """Read the params of `sampling/createMessage`. Raises AskRefused with what is wrong with them.

    `clean` is applied to every text that goes to the model.
    """
    listed = params.get("messages")
    if not isinstance(listed, list) or not listed:
        raise AskRefused(INVALID_PARAMS, "messages are missing")
    messages: list[Message] = []
    system = params.get("systemPrompt")
    if isinstance(system, str) and system:
        messages.append(SystemMessage(clean(system)))
    rounds = 0
    for item in listed:
        read = _message(item, clean)
        rounds += any(isinstance(one, ToolMessage) for one in read)
        messages += read
    if rounds > MOST_ROUNDS:
        raise AskRefused(REJECTED, f"{MOST_ROUNDS} rounds of tools are the limit")
    if sum(len(_text_of(one)) for one in messages) > MOST_CHARACTERS:
        raise AskRefused(INVALID_PARAMS, f"more than {MOST_CHARACTERS:,} characters")
    wanted = params.get("maxTokens")
    is_number = isinstance(wanted, int | float) and 0 < wanted < MOST_TOKENS
    tokens = max(1, int(wanted)) if is_number and wanted is not None else MOST_TOKENS
    stop = params.get("stopSequences")
    return SampleRequest(
        tuple(messages),
        _tools(params, clean),
        tokens,
        tuple(one for one in stop if isinstance(one, str))[:4] if isinstance(stop, list) else (),
    )


def _tools(params: Json, clean: Clean) -> tuple[ToolDefinition, ...]:
    choice = params.get("toolChoice")
    if isinstance(choice, dict) and choice.get("mode") == "none":
        return ()
    listed = params.get("tools")
    tools: dict[str, ToolDefinition] = {}
    for one in listed[:MOST_TOOLS] if isinstance(listed, list) else ():
        name = one.get("name") if isinstance(one, dict) else None
        if not isinstance(name, str) or not name:
            continue
        schema, description = one.get("inputSchema"), one.get("description")
        name = clean(name[:MOST_NAME])
        tools[name] = ToolDefinition(
            name,
            clean(description) if isinstance(description, str) else "",
            _cleaned(schema, clean) if isinstance(schema, dict) else {"type": "object", "properties": {}},
        )
    return tuple(tools.values())


def _message(item: Any, clean: Clean) -> list[Message]:
    role = item.get("role") if isinstance(item, dict) else None
    content = item.get("content") if isinstance(item, dict) else None
    given = content if isinstance(content, list) else [content]
    blocks: list[Json] = [one for one in given if isinstance(one, dict)]
    if role not in ("user", "assistant") or len(blocks) < len(given):
        raise AskRefused(INVALID_PARAMS, "a message needs a role and content")
    texts = [_block(one, clean) for one in blocks if one.get("type") not in ("tool_use", "tool_result")]
    text = "\n".join(filter(None, texts))
    if role == "assistant":
        calls = tuple(_call(one, clean) for one in blocks if one.get("type") == "tool_use")
        return [AssistantMessage(text, calls=calls)]
    results: list[Message] = [_result(one, clean) for one in blocks if one.get("type") == "tool_result"]
    return [*results, UserMessage(text)] if text or not results else results


def _block(block: Json, clean: Clean) -> str:
    if block.get("type") == "text":
        return clean(str(block.get("text") or ""))
    mime = block.get("mimeType")
    what = f"{block.get('type')!s:.40} {mime[:100] if isinstance(mime, str) else ''}"
    return clean(f"[{what.strip()}, left out]")


def _call(block: Json, clean: Clean) -> ToolCall:
    arguments = block.get("input")
    given = _cleaned(arguments, clean) if isinstance(arguments, dict) else {}
    text = json.dumps(given, ensure_ascii=False)
    identity, name = (clean(str(block.get(key) or "")[:MOST_NAME]) for key in ("id", "name"))
    return ToolCall(identity, name, text)


def _result(block: Json, clean: Clean) -> ToolMessage:
    content = block.get("content")
    parts: Iterable[Any] = content if isinstance(content, list) else ()
    text = "\n".join(_block(one, clean) for one in parts if isinstance(one, dict))
    if not text and block.get("structuredContent") is not None:
        text = clean(json.dumps(block["structuredContent"], ensure_ascii=False, default=str))
    identity = clean(str(block.get("toolUseId") or "")[:MOST_NAME])
    return ToolMessage(identity, "", text or "(no output)", block.get("isError") is True)


def _cleaned(value: Any, clean: Clean) -> Any:
    """JSON with every string in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(item, clean) for key, item in value.items()}
    return [_cleaned(item, clean) for item in value] if isinstance(value, list) else value


def _text_of(message: Message) -> str:
    calls = "".join(one.arguments for one in message.calls) if isinstance(message, AssistantMessage) else ""
    return message.text + calls


def readable(messages: Iterable[Message]) -> str:
    """Messages as text for a person: roles as headings, calls and results of tools in between."""
    parts = []
    for one in messages:
        match one:
            case UserMessage():
                parts.append(f"user:\n{one.text}")
            case AssistantMessage():
                calls = [f"calls {call.name} {call.arguments}" for call in one.calls]
                parts.append("\n".join(["assistant:", *filter(None, [one.text]), *calls]))
            case ToolMessage():
                parts.append(f"result of a tool{' (failed)' if one.failed else ''}:\n{one.text}")
            case _:
                continue
    return "\n\n".join(parts)


def to_result(sampled: Sampled, *, with_tools: bool) -> Json:
    """The result of `sampling/createMessage`; content is a list only where tools were given."""
    text: Json = {"type": "text", "text": sampled.message.text}
    content: Any = text
    if with_tools:
        uses = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": _object(call.arguments)}
            for call in sampled.message.calls
        ]
        content = [*([text] if sampled.message.text or not uses else []), *uses]
    return {
        "role": "assistant",
        "content": content,
        "model": sampled.model,
        "stopReason": sampled.reason,
    }


def _object(text: str) -> Json:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
