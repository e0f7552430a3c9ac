"""A server asks the model (specification, sampling): limits, two questions to the person, conversion.

Not here: asking a person (serving), talking to a model (passed in as `Sample`).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from hel_tui.core.mcp.asking import Ask, Sample, Sampled, SampleFailed, SampleRequest
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
A_MINUTE = 10
"""Requests of one server within a minute."""
MOST_ROUNDS = 5
"""Answers of tools one request may carry one after the other: how often a server may go round with tools."""
MOST_TOOLS = 64
MOST_CHARACTERS = 400_000
"""Text of one request."""
INVALID_PARAMS = -32602
REJECTED = -1
"""The person said no (specification, sampling: error handling)."""


@dataclass(slots=True)
class SamplingLimits:
    """How often one server asked lately."""

    clock: Callable[[], float] = time.monotonic
    _times: deque[float] = field(default_factory=deque)

    def take(self) -> float:
        """Count one request. Returns 0, or the seconds after which the next may come."""
        now = self.clock()
        while self._times and now - self._times[0] >= 60.0:
            self._times.popleft()
        if len(self._times) >= A_MINUTE:
            return 60.0 - (now - self._times[0])
        self._times.append(now)
        return 0.0


async def sample(
    server: str,
    params: Json,
    tool: str,
    limits: SamplingLimits,
    ask: Ask,
    model: Sample,
) -> Json:
    """Ask the person, the model, the person again, and return the result. Raises AskRefused."""
    wait = limits.take()
    if wait > 0:
        raise AskRefused(REJECTED, f"{A_MINUTE} requests a minute are the limit; try again in {wait:.0f} s")
    request = read_request(params)
    label = model.label()
    if not label:
        raise AskRefused(REJECTED, "there is no model to ask")
    system = next((one.text for one in request.messages if isinstance(one, SystemMessage)), "")
    question = SamplingQuestion(
        question_id(),
        server,
        "request",
        readable(request.messages),
        system=system,
        model=label,
        max_tokens=request.max_tokens,
        tools=tuple(one.name for one in request.tools),
        limits=f"at most {request.max_tokens:,} tokens, {TIME:.0f} s, {A_MINUTE} requests a minute",
        tool=tool,
    )
    await _allowed(ask, question, "the person did not allow the request")
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
    )
    await _allowed(ask, question, "the person did not let the answer go back")
    return to_result(sampled, with_tools=bool(request.tools))


async def _allowed(ask: Ask, question: SamplingQuestion, refusal: str) -> None:
    answer = await ask(question)
    if not (isinstance(answer, SamplingAnswer) and answer.allow):
        raise AskRefused(REJECTED, refusal)


# ------------------------------------------------------------------ conversion


def read_request(params: Json) -> SampleRequest:
    """Read the params of `sampling/createMessage`. Raises AskRefused with what is wrong with them."""
    listed = params.get("messages")
    if not isinstance(listed, list) or not listed:
        raise AskRefused(INVALID_PARAMS, "messages are missing")
    messages: list[Message] = []
    system = params.get("systemPrompt")
    if isinstance(system, str) and system:
        messages.append(SystemMessage(for_model(system)))
    rounds = 0
    for item in listed:
        read = _message(item)
        rounds += any(isinstance(one, ToolMessage) for one in read)
        messages += read
    if rounds > MOST_ROUNDS:
        raise AskRefused(REJECTED, f"{MOST_ROUNDS} rounds of tools are the limit")
    if sum(len(_text_of(one)) for one in messages) > MOST_CHARACTERS:
        raise AskRefused(INVALID_PARAMS, f"more than {MOST_CHARACTERS:,} characters")
    wanted = params.get("maxTokens")
    tokens = int(wanted) if isinstance(wanted, int | float) and 0 < wanted < MOST_TOKENS else MOST_TOKENS
    stop = params.get("stopSequences")
    return SampleRequest(
        tuple(messages),
        _tools(params),
        tokens,
        tuple(one for one in stop if isinstance(one, str))[:4] if isinstance(stop, list) else (),
    )


def _tools(params: Json) -> tuple[ToolDefinition, ...]:
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
        tools[name] = ToolDefinition(
            name,
            for_model(description) if isinstance(description, str) else "",
            schema if isinstance(schema, dict) else {"type": "object", "properties": {}},
        )
    return tuple(tools.values())


def _message(item: Any) -> list[Message]:
    role = item.get("role") if isinstance(item, dict) else None
    content = item.get("content") if isinstance(item, dict) else None
    given = content if isinstance(content, list) else [content]
    blocks: list[Json] = [one for one in given if isinstance(one, dict)]
    if role not in ("user", "assistant") or len(blocks) < len(given):
        raise AskRefused(INVALID_PARAMS, "a message needs a role and content")
    texts = [_block(one) for one in blocks if one.get("type") not in ("tool_use", "tool_result")]
    text = "\n".join(filter(None, texts))
    if role == "assistant":
        calls = tuple(_call(one) for one in blocks if one.get("type") == "tool_use")
        return [AssistantMessage(text, calls=calls)]
    results: list[Message] = [_result(one) for one in blocks if one.get("type") == "tool_result"]
    return [*results, UserMessage(text)] if text or not results else results


def _block(block: Json) -> str:
    if block.get("type") == "text":
        return for_model(str(block.get("text") or ""))
    mime = block.get("mimeType")
    return f"[{block.get('type')!s:.40} {mime if isinstance(mime, str) else ''}, left out]"


def _call(block: Json) -> ToolCall:
    arguments = block.get("input")
    text = json.dumps(arguments if isinstance(arguments, dict) else {}, ensure_ascii=False)
    return ToolCall(str(block.get("id") or "")[:200], str(block.get("name") or "")[:200], text)


def _result(block: Json) -> ToolMessage:
    content = block.get("content")
    parts: Iterable[Any] = content if isinstance(content, list) else ()
    text = "\n".join(_block(one) for one in parts if isinstance(one, dict))
    if not text and block.get("structuredContent") is not None:
        text = json.dumps(block["structuredContent"], ensure_ascii=False, default=str)
    identity = str(block.get("toolUseId") or "")[:200]
    return ToolMessage(identity, "", text or "(no output)", block.get("isError") is True)


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
