"""The conversation as it goes into requests: system prompt, news of tools, messages, how large all that is.

Every request begins with all of the one before, so that a provider's cache holds, until the conversation has
to be shortened. Not here: shortening (compaction), the loop of a turn (turn).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hel_tui.core.agent.compaction import Compactor
from hel_tui.core.agent.gates import Record
from hel_tui.core.agent.history import History, Keeper
from hel_tui.core.agent.offer import Offer, Offered
from hel_tui.core.agent.registry import Registry
from hel_tui.core.agent.shortening import Shorten, Steps, cut_only
from hel_tui.core.agent.spending import Accounts
from hel_tui.core.agent.summarising import Asking, Summariser, sees, takes_reasoning
from hel_tui.core.context.meter import Meter
from hel_tui.core.context.picture import parts_of, scaled
from hel_tui.core.models.types import ChatModel, Usage
from hel_tui.core.protocol import ContextPicture, Event, UsageChanged
from hel_tui.core.vocabulary import Message, ToolDefinition

Prompt = Callable[[Sequence[tuple[str, str]]], str]
"""Gives the system prompt of a conversation, from the inventory of server tools."""

News = Callable[[Sequence[tuple[str, str]], Sequence[tuple[str, str]]], str]
"""Gives what to tell the model when the inventory it knows has become another one."""


class Context:
    """One conversation. Lives in the core's loop."""

    def __init__(
        self,
        *,
        registry: Registry,
        offer: Offer,
        emit: Callable[[Event], None],
        record: Record,
        prompt: Prompt,
        news: News = lambda _before, _after: "",
        max_output: int | None = None,
        keeper: Keeper | None = None,
        shorten: Shorten = cut_only,
        reminders: Callable[[], Sequence[str]] = tuple,
        accounts: Accounts | None = None,
    ) -> None:
        """`shorten` cuts results that are too long; `reminders` are texts that outlive every summary."""
        self._registry = registry
        self._offer = offer
        self._emit = emit
        self._prompt = prompt
        self._news = news
        self._max_output = max_output
        self._meter = Meter()
        self._system = ""
        """The system prompt of this conversation: made for its first request, the same until a summary."""
        self._prompted: Sequence[tuple[str, str]] = ()
        """The inventory in it."""
        self._told: Sequence[tuple[str, str]] = ()
        """The inventory the model knows, from the system prompt and the news behind messages."""
        self._heard: Sequence[tuple[str, str]] = ()
        """That which it knew at its last answer."""
        self._withdrawals = 0
        self._replaced = 0
        self._cached = 0
        """Tokens of the last request that the provider read from its cache."""
        self.effort: Callable[[], str] = str
        """How hard the model is to think."""
        self.shape: Mapping[str, Any] | None = None
        """A JSON schema that answers are to fit, where the provider can see to it."""
        self.history = History(keeper)
        self.accounts = accounts or Accounts()
        steps = Steps(
            history=self.history,
            meter=self._meter,
            summariser=Summariser(emit, record, self.accounts, self.measure),
            shorten=shorten,
            reminders=reminders,
        )
        self.compactor = Compactor(steps, emit, record)

    def reset(self) -> None:
        """An empty conversation; what it cost stays counted."""
        self.history.restore(())
        self._meter.reset()
        self.compactor.clear()
        self._registry.turn_over()
        self._system = ""
        self._cached = 0

    def go_on(self, messages: Sequence[Message], usage: UsageChanged | None, compactions: int) -> None:
        """A kept conversation, shortened so often, and what it cost so far, instead of this one."""
        self.reset()
        self.compactor.go_on(compactions)
        self.history.restore(messages)
        self.accounts.go_on(usage or UsageChanged(0, 0, 0, 0, 0, 0))

    # --------------------------------------------------------------- a request

    def prepared(self, model: ChatModel, offered: Offered) -> Asking:
        """What the next request begins with, once the conversation says what is new of servers' tools."""
        if self.history.let_go_of_images():
            self._meter.forget()
        inventory = self._registry.inventory()
        if self._withdrawals != self.history.withdrawals:  # and with the message the news behind it
            self._withdrawals, self._told = self.history.withdrawals, self._heard
        replaced, self._replaced = self._replaced, self.compactor.replaced
        # News of tools go with the messages they stood behind.
        if not self._system or (replaced != self._replaced and self._told != self._prompted):
            self._system = self._prompt(inventory)
            self._prompted = self._told = self._heard = inventory
        elif inventory != self._told and self.history.amend(self._news(self._told, inventory)):
            self._told = inventory
        return Asking(model, self._system, offered.definitions, self._max_output, self.effort(), self.shape)

    def answered(self, turn: int, asking: Asking, usage: Usage | None, sent: int, made: int) -> None:
        """A request of the first `sent` messages, which are all there are, was answered, which took this; its
        provider did not say what where `usage` is None: `made` tokens of answer are an estimate.
        """
        self._heard = self._told
        if usage is None:
            estimate = self._estimated(asking, made)
            self.accounts.add(turn, asking.model.info, None, estimate=estimate)
            return
        self.accounts.add(turn, asking.model.info, usage)
        self._cached = usage.cached_tokens
        self._meter.report(
            usage.input_tokens,
            sent,
            system=asking.system,
            history=self.history,
            tools=asking.tools,
            sees=asking.sees,
            thinks=asking.thinks,
        )

    def cut_off(self, turn: int, asking: Asking, made: int) -> None:
        """A request of all messages was cut off on its way, when about `made` tokens had come: it costs."""
        self.accounts.add(turn, asking.model.info, None, estimate=self._estimated(asking, made), cut_off=True)
        self.measure(asking.model)

    def _estimated(self, asking: Asking, made: int) -> Usage:
        """What a request of all messages took, as far as can be told from here."""
        estimate = self._meter.estimate(
            asking.system, self.history, asking.tools, sees=asking.sees, thinks=asking.thinks
        )
        return Usage(estimate.whole, made)

    async def compact(self, turn: int, model: ChatModel, focus: str) -> str:
        """Let a summary stand for all but the newest messages; a sentence when there is nothing to do."""
        asking = self.prepared(model, self._offer.request(model))
        sentence = await self.compactor.by_hand(turn, asking, focus)
        self.measure(model)
        return sentence

    # -------------------------------------------------------------- how full it is

    def measure(self, model: ChatModel | None) -> None:
        """Tell the screen how full the context is."""
        system, tools = self._begin(model)
        estimate = self._meter.estimate(
            system, self.history, tools, sees=sees(model), thinks=takes_reasoning(model)
        )
        totals = self.accounts.totals
        self._emit(
            UsageChanged(
                context_tokens=estimate.whole,
                messages_tokens=estimate.messages,
                tools_tokens=estimate.definitions,
                window=self.compactor.window(model.info if model is not None else None)[0],
                input_tokens=totals.input_tokens,
                output_tokens=totals.output_tokens,
                cached_tokens=totals.cached_tokens,
                cost=totals.cost,
                written_tokens=totals.written_tokens,
                reasoning_tokens=totals.reasoning_tokens,
                unpriced=totals.unpriced,
                requests=totals.requests,
                uncounted=totals.uncounted,
            )
        )

    def picture(self, model: ChatModel | None) -> ContextPicture:
        """What the next request would be made of, were it made now. Safe from any thread."""
        system, tools = self._begin(model)
        history, own = tuple(self.history), self._meter
        can_see, thinks = sees(model), takes_reasoning(model)
        meter = Meter(own.reported, own.counted, own.scale, own.defined)
        used = meter.estimate(system, history, tools, sees=can_see, thinks=thinks).whole
        parts = parts_of(system, history, tools, self._server_of, sees=can_see, thinks=thinks)
        info = model.info if model is not None else None
        window, learned = self.compactor.window(info)
        bounds = self.compactor.limits(info, self._max_output)
        return ContextPicture(
            model=info.label if info is not None else "",
            parts=scaled(parts, used),
            used=used,
            window=window,
            learned=learned,
            reserve=bounds.reserve,
            start=bounds.start,
            reported=own.reported,
            cached=self._cached,
            compactions=self.compactor.shortened,
        )

    def _begin(self, model: ChatModel | None) -> tuple[str, tuple[ToolDefinition, ...]]:
        """System prompt and tools of the next request, were it made now."""
        system = self._system or self._prompt(self._registry.inventory())
        return system, tuple(self._offer.definitions(model))

    def _server_of(self, name: str) -> str:
        """The server whose tool this is; empty for one of hel's own."""
        tool = self._registry.get(name)
        return tool.server if tool is not None else ""
