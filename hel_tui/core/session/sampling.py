"""The session's model as servers may ask it: what an allowed sampling request becomes.

Not here: whether it is allowed, and the limits (mcp.sampling).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from hel_tui.core.agent.answer import Underway, made
from hel_tui.core.agent.budget import Budget
from hel_tui.core.agent.gates import Record
from hel_tui.core.agent.repair import repaired
from hel_tui.core.agent.spending import Accounts
from hel_tui.core.context.meter import definition_tokens, message_tokens
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


@dataclass(frozen=True, slots=True)
class Purse:
    """What such requests may cost, and where that is counted: with the turn in which a server asks."""

    budget: Callable[[], Budget]
    accounts: Callable[[], Accounts]
    turn: Callable[[], int]
    """0 before the first."""
    told: Callable[[], None] = lambda: None
    """Called when something was counted."""

    def hold(self, info: ModelInfo) -> None:
        """Raises SampleFailed when no further request may be made."""
        if stop := self.budget().stop(self.accounts().totals, info):
            raise SampleFailed(stop.sentence)

    def count(self, info: ModelInfo, usage: Usage | None, estimate: Usage, *, cut_off: bool = False) -> None:
        """Count a request; the estimate stands where its provider told nothing."""
        accounts, turn = self.accounts(), self.turn()
        if turn:
            accounts.add(turn, info, usage, estimate=estimate, cut_off=cut_off)
        else:
            accounts.totals.add(usage, info.prices, estimate=estimate, cut_off=cut_off)
        self.told()


def sample_with(model: Model, purse: Purse, record: Record) -> Sample:
    """The model of a session for servers; `record` hears what was asked."""

    def label() -> str:
        return model.current.info.label if model.current is not None else ""

    async def run(request: SampleRequest) -> Sampled:
        current = await model.settled()
        if current is None:
            raise SampleFailed("there is no model to ask")
        purse.hold(current.info)
        texts = [one.text for one in request.messages]
        record.write("request", model=current.info.label, sampling=True, texts=texts)
        try:
            with model.lent(current):
                finish = await _finish(current, request, purse)
        except ModelFault as fault:
            raise SampleFailed(f"the model failed: {fault.sentence}") from fault
        record.write("response", sampling=True, reason=finish.reason, text=finish.message.text)
        message, reason = finish.message, REASONS[finish.reason]
        cuts = [at for stop in request.stop if stop and (at := message.text.find(stop)) >= 0]
        if cuts:
            message, reason = replace(message, text=message.text[: min(cuts)], calls=()), "stopSequence"
        elif message.calls:
            reason = "toolUse"
        return Sampled(message, current.info.name, reason)

    return Sample(label, run)


async def _finish(model: ChatModel, request: SampleRequest, purse: Purse) -> Finish:
    """Make the request and count it, also when it is cut off. Raises ModelFault, SampleFailed."""
    given = sum(map(message_tokens, request.messages)) + sum(map(definition_tokens, request.tools))
    underway = Underway()
    try:
        finish = await _ended(model, request, underway)
    except BaseException as stopped:  # also when the time is up
        fault = stopped if isinstance(stopped, ModelFault) else None
        if underway.costs(fault):
            purse.count(model.info, None, Usage(given, underway.tokens(fault)), cut_off=True)
        raise
    purse.count(model.info, finish.usage, Usage(given, made(finish.message)))
    return finish


async def _ended(model: ChatModel, request: SampleRequest, underway: Underway) -> Finish:
    stream: Any = model.stream(Request(repaired(request.messages), request.tools, request.max_tokens))
    async with aclosing(stream) as parts:
        async for part in parts:
            underway.take(part)
            if isinstance(part, Finish):
                return part
    raise SampleFailed("the model's answer ended without an end")
