"""The session's model as servers may ask it: what an allowed sampling request becomes.

Not here: whether it is allowed, and the limits (mcp.sampling).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from hel_tui.core.agent.gates import Record
from hel_tui.core.mcp.asking import Sample, Sampled, SampleFailed, SampleRequest
from hel_tui.core.models.types import ChatModel, Finish, FinishReason, ModelFault, ModelInfo, Request, Usage
from hel_tui.core.session.model import Model

REASONS: dict[FinishReason, str] = {
    "stop": "endTurn",
    "tool_calls": "toolUse",
    "length": "maxTokens",
    "filter": "contentFilter",
    "refusal": "refusal",
    "unknown": "endTurn",
}


def sample_with(model: Model, count: Callable[[Usage, ModelInfo], None], record: Record) -> Sample:
    """The model of a session for servers; `count` hears what a request cost, `record` what was asked."""

    def label() -> str:
        return model.current.info.label if model.current is not None else ""

    async def run(request: SampleRequest) -> Sampled:
        current = model.current
        if current is None:
            raise SampleFailed("there is no model to ask")
        texts = [one.text for one in request.messages]
        record.write("request", model=current.info.label, sampling=True, texts=texts)
        try:
            finish = await _finish(current, request)
        except ModelFault as fault:
            raise SampleFailed(f"the model failed: {fault.sentence}") from fault
        if finish.usage is not None:
            count(finish.usage, current.info)
        record.write("response", sampling=True, reason=finish.reason, text=finish.message.text)
        message, reason = finish.message, REASONS[finish.reason]
        cuts = [at for stop in request.stop if stop and (at := message.text.find(stop)) >= 0]
        if cuts:
            message, reason = replace(message, text=message.text[: min(cuts)], calls=()), "stopSequence"
        elif message.calls:
            reason = "toolUse"
        return Sampled(message, current.info.name, reason)

    return Sample(label, run)


async def _finish(model: ChatModel, request: SampleRequest) -> Finish:
    stream: Any = model.stream(Request(request.messages, request.tools, request.max_tokens))
    async with aclosing(stream) as parts:
        async for part in parts:
            if isinstance(part, Finish):
                return part
    raise SampleFailed("the model's answer ended without an end")
