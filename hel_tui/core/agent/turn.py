"""A turn: assemble the request, stream the answer, run its calls, and again until the model is done.

Ends on any finish reason that is not tool use, each with its own message; what arrived before an
interrupt or a fault stays. Not here: running calls (calls), the wire (models), commands (session).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from hel_tui.core.agent.answer import Answer, made
from hel_tui.core.agent.budget import Budget
from hel_tui.core.agent.calls import Caller
from hel_tui.core.agent.compaction import MOST_REFUSALS
from hel_tui.core.agent.context import Context, News, Prompt
from hel_tui.core.agent.gates import Record
from hel_tui.core.agent.history import History, Keeper
from hel_tui.core.agent.ledger import recorded
from hel_tui.core.agent.offer import MOST_ROUNDS, Offer, Offered
from hel_tui.core.agent.registry import Registry
from hel_tui.core.agent.shortening import Shorten, cut_only
from hel_tui.core.agent.spending import Accounts, Totals
from hel_tui.core.agent.summarising import Asking
from hel_tui.core.context.summary import NOT_THEIRS
from hel_tui.core.counts import counted
from hel_tui.core.models.ending import TOO_LONG, TOO_MANY
from hel_tui.core.models.types import ChatModel, Finish, FinishReason, ModelFault, Request
from hel_tui.core.protocol import (
    ContinueAnswer,
    ContinueQuestion,
    Event,
    Notice,
    Severity,
    StepStarted,
    TurnEnd,
    UsageChanged,
)
from hel_tui.core.questions import Desk, question_id
from hel_tui.core.vocabulary import AssistantMessage, Image, Message, UserMessage

ENDINGS: dict[FinishReason, tuple[TurnEnd, str]] = {
    "stop": ("done", ""),
    "tool_calls": ("done", ""),
    "unknown": ("done", ""),
    "length": ("length", "The answer reached the model's output limit and is cut off here."),
    "filter": ("filter", "The provider's content filter ended the answer."),
    "refusal": ("refusal", "The model refused to answer."),
}
EMPTY = "The model answered with nothing."
NUDGE = (
    f"{NOT_THEIRS}{{name}} as text, so it was not made. Make the call with the tool itself, "
    "or answer without it."
)


FallBack = Callable[[ModelFault, ChatModel], Awaitable[ChatModel | None]]


Join = Callable[[int], Awaitable[None]]


async def _nobody(_fault: ModelFault, _model: ChatModel) -> ChatModel | None:
    return None


async def _nothing_joins(_turn: int) -> None:
    """Nothing is said while the turn runs."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended."""

    reason: TurnEnd
    message: str = ""
    text: str = ""
    """The last answer."""
    steps: int = 0
    unsent: bool = False
    """Nothing of an answer came: the message is no part of the conversation."""


class Agent:
    """One conversation with a model. Lives in the core's loop; one turn at a time."""

    def __init__(
        self,
        *,
        registry: Registry,
        offer: Offer,
        caller: Caller,
        desk: Desk,
        emit: Callable[[Event], None],
        record: Record,
        prompt: Prompt,
        news: News = lambda _before, _after: "",
        max_steps: int,
        max_output: int | None = None,
        budget: Budget | None = None,
        keeper: Keeper | None = None,
        shorten: Shorten = cut_only,
        reminders: Callable[[], Sequence[str]] = tuple,
        accounts: Accounts | None = None,
    ) -> None:
        """`shorten` cuts results that are too long; `reminders` are texts that outlive every summary."""
        self._offer = offer
        self._caller = caller
        self._desk = desk
        self._emit = emit
        self._record = record
        self.max_steps = max_steps
        self.fall_back: FallBack = _nobody
        """Who stands in for a model that cannot be reached; None for nobody."""
        self.join: Join = _nothing_joins
        """Puts what the person said meanwhile behind the results, before the turn's next request."""
        self._budget = budget or Budget()
        self._items = 0
        self.asked: ChatModel | None = None
        """The model of the turn that runs, from its first request on; whoever runs turns forgets it."""
        self._heard = False
        """Something of an answer came in the turn that runs, or ran last."""
        self._recorded_system = ""
        self.context = Context(
            registry=registry,
            offer=offer,
            emit=emit,
            record=record,
            prompt=prompt,
            news=news,
            max_output=max_output,
            keeper=keeper,
            shorten=shorten,
            reminders=reminders,
            accounts=accounts,
        )

    @property
    def history(self) -> History:
        """The conversation as the model has it."""
        return self.context.history

    @property
    def totals(self) -> Totals:
        """Sums over the session, as its providers reported them."""
        return self.context.accounts.totals

    def reset(self) -> None:
        """An empty conversation; what it cost stays counted."""
        self.context.reset()

    def go_on(
        self, messages: Sequence[Message], usage: UsageChanged | None, *, items: int, compactions: int
    ) -> None:
        """A kept conversation instead of this one, and what it cost so far; it has at most `items` texts and
        was shortened `compactions` times.
        """
        self.context.go_on(messages, usage, compactions)
        self._items = items

    def measure(self, model: ChatModel | None) -> None:
        """Tell the screen how full the context is."""
        self.context.measure(model)

    async def compact(self, turn: int, focus: str, model: ChatModel) -> Ending:
        """Let a summary stand for all but the newest messages, because the person wants it."""
        try:
            return Ending("done", await self.context.compact(turn, model, focus))
        except asyncio.CancelledError:
            return Ending("interrupted", "Interrupted. There is no summary: the conversation is as it was.")

    async def turn(
        self,
        turn: int,
        text: str,
        model: ChatModel,
        *,
        images: tuple[Image, ...] = (),
        before: Sequence[Message] = (),
    ) -> Ending:
        """Answer `text`, which has a marker for each of `images`, after the messages `before` it. Cancelling
        the task ends the turn and keeps what arrived.
        """
        self._heard = False
        for message in before:
            self.history.append(message)
            self._record.write("user", turn=turn, role=type(message).__name__, text=message.text)
        self.history.append(UserMessage(text, images))
        self._record.write("user", turn=turn, text=text, **recorded(images))
        step = 0
        limit = self.max_steps
        nudged = called = False
        while True:
            if step >= limit:
                if not await self._goes_on(step):
                    told = f"Stopped after {counted(step, 'step')}, the step limit."
                    return Ending("limit", told, steps=step)
                limit += self.max_steps
            if stop := self._budget.stop(self.totals, model.info):
                unsent = self.take_back(before)
                return Ending(stop.reason, stop.sentence, steps=step, unsent=unsent)
            if called:  # only now is it sure that there is another request
                await self.join(turn)
            step += 1
            called = False
            self._emit(StepStarted(turn, step))
            try:
                finish, offered = await self._ask_model(turn, step, model)
            except ModelFault as fault:
                other = await self.fall_back(fault, model)
                if other is None:
                    return self._faulted(fault, step, before)
                model = other
                continue
            if not finish.message.calls:
                if not nudged and self._nudge(turn, finish, offered):
                    nudged = True
                    continue
                return self._ended(finish, step)
            await self._caller.perform(turn, finish.message.calls, offered, self.history.append)
            self.measure(model)
            if self._caller.stopped:
                return Ending("interrupted", "You stopped the turn.", finish.message.text, step)
            if self._caller.circling:
                return Ending("limit", self._caller.circling, finish.message.text, step)
            called = True

    def _nudge(self, turn: int, finish: Finish, offered: Offered) -> bool:
        """Ask the model to make a call that it wrote as text, where the tool is one it was offered; else an
        answer that only talks about calls would be asked again.
        """
        name = finish.written_call
        if name not in offered.names or finish.reason != "stop":
            return False
        text = NUDGE.format(name=name)
        self.history.append(UserMessage(text))
        self._record.write("user", turn=turn, role="nudge", text=text)
        self._emit(Notice("info", f"The model was asked once to make its call of {name} properly."))
        return True

    # --------------------------------------------------------------- a request

    async def _ask_model(self, turn: int, step: int, model: ChatModel) -> tuple[Finish, Offered]:
        """One answer and what its request offered. A request that is refused as too long, or for one of its
        tools, is made again without what was too much.
        """
        context, refusals, self.asked = self.context, 0, model
        for _ in range(MOST_ROUNDS):
            offered = self._offer.request(model)
            asking = context.prepared(model, offered)
            await context.compactor.before_request(turn, asking)
            try:
                return await self._ask_once(turn, step, context.prepared(model, offered)), offered
            except ModelFault as fault:
                if fault.kind == "context" and fault.partial is None and refusals < MOST_REFUSALS:
                    refusals += 1
                    if await context.compactor.after_refusal(turn, asking, fault):
                        continue
                if not await self._offer.mended(fault, model, offered):
                    raise
        offered = self._offer.request(model)
        return await self._ask_once(turn, step, context.prepared(model, offered)), offered

    async def _ask_once(self, turn: int, step: int, asking: Asking) -> Finish:
        """One request and its whole answer."""
        request = asking.request(self.history)
        self._record_request(turn, step, asking, request)
        answer = Answer(self._emit, turn, self._next_item)
        sent = len(self.history)
        try:
            async with aclosing(_as_generator(asking.model, request)) as parts:
                async for part in parts:
                    answer.take(part)
                    self._heard = self._heard or answer.underway.begun
        except BaseException as stopped:  # also when the task is cancelled: what arrived stays
            answer.close()
            fault = stopped if isinstance(stopped, ModelFault) else None
            if answer.underway.costs(fault):
                self.context.cut_off(turn, asking, answer.underway.tokens(fault))
            partial = fault.partial.text if fault and fault.partial else answer.text
            if partial.strip():
                self.history.append(AssistantMessage(partial))
            raise
        answer.close()
        finish = answer.finish
        if finish is None:
            self.context.cut_off(turn, asking, answer.underway.tokens())
            raise ModelFault("stream", "The model's answer ended without an end.")
        self._received(turn, finish, asking, sent)
        return finish

    def _next_item(self) -> str:
        self._items += 1
        return f"answer-{self._items}"

    def _received(self, turn: int, finish: Finish, asking: Asking, sent: int) -> None:
        model = asking.model
        self.context.answered(turn, asking, finish.usage, sent, made(finish.message))
        self.history.append(finish.message)
        for note in finish.notes:
            if note != TOO_LONG or finish.message.calls:  # else the turn ends with it
                severity: Severity = "warning" if note in (TOO_LONG, TOO_MANY) else "info"
                self._emit(Notice(severity, note, model.info.label))
        self._record.write(
            "response",
            reason=finish.reason,
            text=finish.message.text,
            calls=[{"id": c.id, "name": c.name, "arguments": c.arguments} for c in finish.message.calls],
        )
        self.measure(model)

    def _record_request(self, turn: int, step: int, asking: Asking, request: Request) -> None:
        facts: dict[str, Any] = {
            "turn": turn,
            "step": step,
            "model": asking.model.info.label,
            "messages": len(request.messages),
            "tools": [tool.name for tool in request.tools],
        }
        if asking.system != self._recorded_system:
            self._recorded_system = facts["system"] = asking.system
        self._record.write("request", **facts)

    # ----------------------------------------------------------------- endings

    async def _goes_on(self, steps: int) -> bool:
        answer = await self._desk.ask(ContinueQuestion(question_id(), steps))
        return isinstance(answer, ContinueAnswer) and answer.go_on

    def _faulted(self, fault: ModelFault, steps: int, before: Sequence[Message]) -> Ending:
        self._record.write("note", fault=fault.kind, status=fault.status, text=fault.sentence)
        unsent = fault.partial is None and self.take_back(before)
        return Ending("failed", fault.sentence, steps=steps, unsent=unsent)

    def take_back(self, before: Sequence[Message] = ()) -> bool:
        """Take the message of the turn, and what came `before` it, out of the conversation where nothing of
        an answer came; say whether it was.
        """
        return not self._heard and self.history.withdraw(before)

    def _ended(self, finish: Finish, steps: int) -> Ending:
        reason, message = ENDINGS[finish.reason]
        if reason == "done" and not finish.message.text.strip():
            message = EMPTY
        if TOO_LONG in finish.notes:
            message = TOO_LONG
        return Ending(reason, message, finish.message.text, steps)


async def _as_generator(model: ChatModel, request: Request) -> Any:
    """The model's parts as a generator that can be closed early, which closes the HTTP stream."""
    stream = model.stream(request)
    try:
        async for part in stream:
            yield part
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
