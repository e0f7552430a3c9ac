"""A turn: assemble the request, stream the answer, run its calls, and again until the model is done.

Ends on any finish reason that is not tool use, each with its own message; what arrived before an
interrupt or a fault stays. Not here: running calls (calls), the wire (models), commands (session).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from hel_tui.core.agent.answer import Answer
from hel_tui.core.agent.calls import Caller
from hel_tui.core.agent.gates import Record
from hel_tui.core.agent.history import History, Keeper
from hel_tui.core.agent.ledger import recorded
from hel_tui.core.agent.offer import MOST_ROUNDS, Offer, Offered
from hel_tui.core.agent.registry import Registry
from hel_tui.core.agent.repair import repaired
from hel_tui.core.context.meter import Meter
from hel_tui.core.models.types import (
    ChatModel,
    Finish,
    FinishReason,
    ModelFault,
    Prices,
    Request,
    Usage,
)
from hel_tui.core.protocol import (
    ContinueAnswer,
    ContinueQuestion,
    Event,
    Notice,
    StepStarted,
    TurnEnd,
    UsageChanged,
)
from hel_tui.core.questions import Desk, question_id
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Message,
    SystemMessage,
    ToolDefinition,
    UserMessage,
)

ENDINGS: dict[FinishReason, tuple[TurnEnd, str]] = {
    "stop": ("done", ""),
    "tool_calls": ("done", ""),
    "unknown": ("done", ""),
    "length": ("length", "The answer reached the model's output limit and is cut off here."),
    "filter": ("filter", "The provider's content filter ended the answer."),
    "refusal": ("refusal", "The model refused to answer."),
}
EMPTY = "The model answered with nothing."


Prompt = Callable[[Sequence[tuple[str, str]]], str]
"""Gives the system prompt of a conversation, from the inventory of server tools."""


News = Callable[[Sequence[tuple[str, str]], Sequence[tuple[str, str]]], str]
"""Gives what to tell the model when the inventory it knows has become another one."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended."""

    reason: TurnEnd
    message: str = ""
    text: str = ""
    """The last answer."""
    steps: int = 0


@dataclass(slots=True)
class Totals:
    """Sums over a session, as the provider reported them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    def add(self, usage: Usage, prices: Prices | None) -> None:
        """Count one request."""
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.cached_tokens += usage.cached_tokens
        if prices is not None:
            self.cost = (self.cost or 0.0) + prices.cost(usage)


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
        keeper: Keeper | None = None,
    ) -> None:
        self._registry = registry
        self._offer = offer
        self._caller = caller
        self._desk = desk
        self._emit = emit
        self._record = record
        self._prompt = prompt
        self._news = news
        self.max_steps = max_steps
        self._max_output = max_output
        self._meter = Meter()
        self._items = 0
        self._system = ""
        """The system prompt of this conversation: made for its first request, the same ever after."""
        self._told: Sequence[tuple[str, str]] = ()
        """The inventory the model knows, from the system prompt and the news behind messages."""
        self._recorded_system = ""
        self.history = History(keeper)
        self.totals = Totals()

    def reset(self) -> None:
        """An empty conversation; what it cost stays counted."""
        self.history.restore(())
        self._meter.reset()
        self._registry.turn_over()
        self._system = ""

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
        for message in before:
            self.history.append(message)
            self._record.write("user", turn=turn, role=type(message).__name__, text=message.text)
        self.history.append(UserMessage(text, images))
        self._record.write("user", turn=turn, text=text, **recorded(images))
        step = 0
        limit = self.max_steps
        while True:
            if step >= limit:
                if not await self._goes_on(step):
                    return Ending("limit", f"Stopped after {step} steps, the step limit.", steps=step)
                limit += self.max_steps
            step += 1
            self._emit(StepStarted(turn, step))
            try:
                finish, offered = await self._ask_model(turn, step, model)
            except ModelFault as fault:
                return self._faulted(fault, step)
            if not finish.message.calls:
                return self._ended(finish, step)
            await self._caller.perform(turn, finish.message.calls, offered, self.history.append)
            self.measure(model)
            if self._caller.stopped:
                return Ending("interrupted", "You stopped the turn.", finish.message.text, step)

    # --------------------------------------------------------------- a request

    async def _ask_model(self, turn: int, step: int, model: ChatModel) -> tuple[Finish, Offered]:
        """One answer and what its request offered. A refused tool is left out, and the request made again."""
        for _ in range(MOST_ROUNDS):
            offered = self._offer.request(model)
            try:
                return await self._ask_once(turn, step, model, offered), offered
            except ModelFault as fault:
                if not await self._offer.mended(fault, model, offered):
                    raise
        offered = self._offer.request(model)
        return await self._ask_once(turn, step, model, offered), offered

    async def _ask_once(self, turn: int, step: int, model: ChatModel, offered: Offered) -> Finish:
        """One request and its whole answer."""
        messages = self._messages()
        tools = offered.definitions
        self._record_request(turn, step, model, messages, tools)
        answer = Answer(self._emit, turn, self._next_item)
        sent = len(self.history)
        try:
            async with aclosing(_as_generator(model, messages, tools, self._max_output)) as parts:
                async for part in parts:
                    answer.take(part)
        except BaseException as stopped:  # also when the task is cancelled: what arrived stays
            answer.close()
            fault = stopped if isinstance(stopped, ModelFault) else None
            partial = fault.partial.text if fault and fault.partial else answer.text
            if partial.strip():
                self.history.append(AssistantMessage(partial))
            raise
        answer.close()
        finish = answer.finish
        if finish is None:
            raise ModelFault("stream", "The model's answer ended without an end.")
        self._received(finish, model, sent)
        return finish

    def _messages(self) -> list[Message]:
        self.history.let_go_of_images()
        inventory = self._registry.inventory()
        if not self._system:
            self._system, self._told = self._prompt(inventory), inventory
        elif inventory != self._told and self.history.amend(self._news(self._told, inventory)):
            self._told = inventory
        return [SystemMessage(self._system), *repaired(self.history)]

    def _next_item(self) -> str:
        self._items += 1
        return f"answer-{self._items}"

    def _received(self, finish: Finish, model: ChatModel, sent: int) -> None:
        self.history.append(finish.message)
        if finish.usage is not None:
            self.totals.add(finish.usage, model.info.prices)
            self._meter.report(finish.usage.input_tokens, sent)
        for note in finish.notes:
            self._emit(Notice("info", note, model.info.label))
        self._record.write(
            "response",
            reason=finish.reason,
            text=finish.message.text,
            calls=[{"id": c.id, "name": c.name, "arguments": c.arguments} for c in finish.message.calls],
        )
        self.measure(model)

    def measure(self, model: ChatModel | None) -> None:
        """Tell the screen how full the context is."""
        tools = self._offer.definitions(model)
        system = self._system or self._prompt(self._registry.inventory())
        whole, messages, definitions = self._meter.estimate(
            system, self.history, tools, sees=model is not None and bool(model.info.sees)
        )
        self._emit(
            UsageChanged(
                context_tokens=whole,
                messages_tokens=messages,
                tools_tokens=definitions,
                window=model.info.window if model is not None else 0,
                input_tokens=self.totals.input_tokens,
                output_tokens=self.totals.output_tokens,
                cached_tokens=self.totals.cached_tokens,
                cost=self.totals.cost,
            )
        )

    def _record_request(
        self,
        turn: int,
        step: int,
        model: ChatModel,
        messages: Sequence[Message],
        tools: Sequence[ToolDefinition],
    ) -> None:
        facts: dict[str, Any] = {
            "turn": turn,
            "step": step,
            "model": model.info.label,
            "messages": len(messages),
            "tools": [tool.name for tool in tools],
        }
        system = messages[0].text
        if system != self._recorded_system:
            self._recorded_system = facts["system"] = system
        self._record.write("request", **facts)

    # ----------------------------------------------------------------- endings

    async def _goes_on(self, steps: int) -> bool:
        answer = await self._desk.ask(ContinueQuestion(question_id(), steps))
        return isinstance(answer, ContinueAnswer) and answer.go_on

    def _faulted(self, fault: ModelFault, steps: int) -> Ending:
        self._record.write("note", fault=fault.kind, status=fault.status, text=fault.sentence)
        return Ending("failed", fault.sentence, steps=steps)

    def _ended(self, finish: Finish, steps: int) -> Ending:
        reason, message = ENDINGS[finish.reason]
        if reason == "done" and not finish.message.text.strip():
            message = EMPTY
        return Ending(reason, message, finish.message.text, steps)


async def _as_generator(
    model: ChatModel, messages: Sequence[Message], tools: Sequence[ToolDefinition], max_output: int | None
) -> Any:
    """The model's parts as a generator that can be closed early, which closes the HTTP stream."""
    stream = model.stream(Request(messages, tools, max_output))
    try:
        async for part in stream:
            yield part
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
