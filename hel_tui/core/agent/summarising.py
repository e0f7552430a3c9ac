"""Asks the model for a summary of the earlier part of a conversation, and judges what it gives.

The request begins with the very bytes of the one before, tools included, so that a provider's cache holds;
nothing is executed. Not here: when there is a summary, and what becomes of it (compaction).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from hel_tui.core.agent.answer import Underway, made
from hel_tui.core.agent.gates import Record
from hel_tui.core.agent.repair import repaired
from hel_tui.core.agent.spending import Accounts
from hel_tui.core.context.meter import definition_tokens, message_tokens
from hel_tui.core.context.summary import summary_request
from hel_tui.core.context.tails import fitted
from hel_tui.core.models.types import (
    ChatModel,
    Finish,
    FinishReason,
    ModelFault,
    Request,
    RetryPart,
    Usage,
)
from hel_tui.core.protocol import Compacting, Event, Retrying
from hel_tui.core.vocabulary import Message, SystemMessage, ToolDefinition, UserMessage, estimate_tokens

TRIES = 3
"""Requests for one summary: a further one, with less in it, only where the provider says it is too long."""
SHARE = 0.05
"""Part of the room that a summary should take."""

_REJECTED: dict[FinishReason, str] = {
    "length": "The summary was cut off at the model's output limit.",
    "filter": "The provider's content filter ended the summary.",
    "refusal": "The model refused to summarise.",
}
CALLED = "The model called a tool instead of summarising."
EMPTY = "The summary was empty."
BROKE_OFF = "The summary broke off: its provider never said that it was over."


@dataclass(frozen=True, slots=True)
class Asking:
    """What every request of a conversation begins with."""

    model: ChatModel
    system: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    max_output: int | None = None
    effort: str = ""
    """How hard the model is to think."""
    shape: Mapping[str, Any] | None = None
    """A JSON schema that its answers, not its summaries, are to fit."""

    @property
    def sees(self) -> bool:
        """Whether images go to the model."""
        return sees(self.model)

    @property
    def thinks(self) -> bool:
        """Whether reasoning goes back to the model with the answers it belongs to."""
        return takes_reasoning(self.model)

    def request(self, messages: Sequence[Message]) -> Request:
        """The request with these messages behind the system prompt, made valid."""
        sent = [SystemMessage(self.system), *repaired(messages)]
        return Request(sent, self.tools, self.max_output, self.effort, self.shape)


def sees(model: ChatModel | None) -> bool:
    """Whether images go to this model."""
    return model is not None and bool(model.info.sees)


def takes_reasoning(model: ChatModel | None) -> bool:
    """Whether reasoning goes back to this model with the answers it belongs to."""
    dialect = getattr(model, "dialect", None)
    return getattr(dialect, "reasoning", "none") != "none"


@dataclass(frozen=True, slots=True)
class NoSummary(Exception):
    """There is none; `sentence` says why."""

    sentence: str

    def __str__(self) -> str:
        return self.sentence


class Summariser:
    """Asks for summaries, and tells what they took."""

    def __init__(
        self,
        emit: Callable[[Event], None],
        record: Record,
        accounts: Accounts,
        cut_off: Callable[[ChatModel], None] = lambda _model: None,
    ) -> None:
        """`cut_off` hears that a request was, once it is counted."""
        self._cut_off = cut_off
        self._emit = emit
        self._record = record
        self._accounts = accounts

    async def summary(
        self,
        turn: int,
        asking: Asking,
        messages: Sequence[Message],
        *,
        room: int,
        scale: float,
        focus: str = "",
    ) -> str:
        """A summary of these messages, which end where an answer could begin. Raises NoSummary.

        `room`: tokens the request may have (0: not known), of which each stands for `scale` estimated ones.
        """
        self._emit(Compacting(turn))
        try:
            for tried in range(TRIES):
                wish = summary_request(max(int(room * SHARE), 400) if room else 2_000, focus)
                free = int(room / scale) - self._fixed(asking) - estimate_tokens(wish) if room else 0
                part = fitted(messages, max(free, 1)) if room else messages
                try:
                    return await self._ask(turn, asking, [*part, UserMessage(wish)], scale)
                except ModelFault as fault:
                    if fault.kind != "context" or tried == TRIES - 1:
                        raise NoSummary(f"There is no summary: {fault.sentence}") from fault
                    size = sum(estimate_tokens(one.text) for one in part) + self._fixed(asking)
                    room = int(0.7 * (fault.limit or size * scale))
            raise NoSummary(EMPTY)
        finally:
            self._emit(Compacting(turn, on=False))

    @staticmethod
    def _fixed(asking: Asking) -> int:
        return estimate_tokens(asking.system) + sum(map(definition_tokens, asking.tools))

    async def _ask(self, turn: int, asking: Asking, messages: Sequence[Message], scale: float) -> str:
        info = asking.model.info
        request = replace(asking, shape=None).request(messages)
        self._record.write(
            "request", turn=turn, purpose="summary", model=info.label, messages=len(request.messages)
        )
        given = self._fixed(asking) + sum(
            message_tokens(one, sees=asking.sees, thinks=asking.thinks) for one in messages
        )
        given, underway = round(given * scale), Underway()
        try:
            finish = await self._finish(turn, asking.model, request, underway)
        except BaseException as stopped:  # also when the task is cancelled
            fault = stopped if isinstance(stopped, ModelFault) else None
            if underway.costs(fault):
                took = Usage(given, underway.tokens(fault))
                self._accounts.add(turn, info, None, estimate=took, cut_off=True, summary=True)
                self._cut_off(asking.model)
            raise
        took = Usage(given, made(finish.message))
        self._accounts.add(turn, info, finish.usage, estimate=took, summary=True)
        text, calls = finish.message.text.strip(), finish.message.calls
        self._record.write(
            "response",
            purpose="summary",
            reason=finish.reason,
            text=text,
            calls=[call.name for call in calls],
        )
        if finish.reason in _REJECTED:
            raise NoSummary(_REJECTED[finish.reason])
        if calls or finish.written_call:
            raise NoSummary(CALLED)
        if not text:
            raise NoSummary(EMPTY)
        if not finish.ended:
            raise NoSummary(BROKE_OFF)
        return text

    async def _finish(self, turn: int, model: ChatModel, request: Request, underway: Underway) -> Finish:
        stream: Any = model.stream(request)
        async with aclosing(stream) as parts:
            async for part in parts:
                underway.take(part)
                match part:
                    case Finish():
                        return part
                    case RetryPart(attempt, of, delay, why):
                        self._emit(Retrying(turn, attempt, of, delay, why))
        raise ModelFault("stream", "The model's answer ended without an end.")
