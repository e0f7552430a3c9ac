"""What a session took of its models: tokens as their providers counted them, and dollars.

Where a provider told nothing, such as of an answer that was cut off, hel's own estimate stands. In all, by turn, and for summaries. Not here: prices (models), the estimate of the next request (context).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from hel_tui.core.models.types import ModelInfo, Prices, Usage
from hel_tui.core.protocol import Spending, Spent, TurnSpent, UsageChanged

MOST_TURNS = 200
"""Turns that are told apart; older ones are in the sum only."""


@dataclass(slots=True)
class Totals:
    """Sums over requests, as the provider reported them, or as hel estimates them where it did not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    """US dollars of the requests whose price is known; None while there is none."""
    written_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    unpriced: int = 0
    """Requests whose price is unknown."""
    uncounted: int = 0
    """Requests whose tokens no provider counted: they are hel's estimate."""
    untold: int = 0
    """Of these, such as were answered to the end."""

    def add(
        self,
        usage: Usage | None,
        prices: Prices | None,
        *,
        estimate: Usage | None = None,
        cut_off: bool = False,
    ) -> None:
        """Count one request. Where its provider said nothing `usage` is None and `estimate` stands for it;
        `cut_off`: it could not say anything, because the answer did not come to its end.
        """
        self.requests += 1
        if usage is None:
            self.uncounted += 1
            self.untold += not cut_off
            usage = estimate
        if usage is None:
            return
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        self.cached_tokens += usage.cached_tokens
        self.written_tokens += usage.written_tokens
        self.reasoning_tokens += usage.reasoning_tokens
        if prices is not None:
            self.cost = (self.cost or 0.0) + prices.cost(usage)
        else:
            self.unpriced += 1

    def told(self) -> Spent:
        """The same as the door has it."""
        return Spent(
            requests=self.requests,
            input_tokens=self.input_tokens,
            cached_tokens=self.cached_tokens,
            written_tokens=self.written_tokens,
            output_tokens=self.output_tokens,
            reasoning_tokens=self.reasoning_tokens,
            cost=self.cost,
            unpriced=self.unpriced,
            uncounted=self.uncounted,
        )


@dataclass(slots=True)
class Accounts:
    """Who took what. Lives in the core's loop; `told` is safe from any thread."""

    totals: Totals = field(default_factory=Totals)
    summaries: Totals = field(default_factory=Totals)
    _turns: OrderedDict[int, tuple[str, Totals]] = field(default_factory=OrderedDict)
    _dropped: int = 0

    def add(
        self,
        turn: int,
        info: ModelInfo,
        usage: Usage | None,
        *,
        estimate: Usage | None = None,
        cut_off: bool = False,
        summary: bool = False,
    ) -> None:
        """Count one request of a turn; see `Totals.add`."""
        _, sums = self._turns.pop(turn, ("", Totals()))
        self._turns[turn] = (info.label, sums)
        every = (self.totals, sums, self.summaries) if summary else (self.totals, sums)
        for one in every:
            one.add(usage, info.prices, estimate=estimate, cut_off=cut_off)
        while len(self._turns) > MOST_TURNS:
            self._turns.popitem(last=False)
            self._dropped += 1

    def go_on(self, usage: UsageChanged) -> None:
        """Count on from the sums of an earlier run, and from nothing else; its turns are not told apart."""
        self.totals, self.summaries = Totals(), Totals()
        self._turns.clear()
        self._dropped = 0
        sums = self.totals
        sums.input_tokens, sums.output_tokens = usage.input_tokens, usage.output_tokens
        sums.cached_tokens, sums.written_tokens = usage.cached_tokens, usage.written_tokens
        sums.reasoning_tokens, sums.unpriced = usage.reasoning_tokens, usage.unpriced
        sums.cost, sums.requests, sums.uncounted = usage.cost, usage.requests, usage.uncounted

    def told(self) -> Spending:
        """All of it."""
        turns = tuple(
            TurnSpent(turn, model, sums.told()) for turn, (model, sums) in tuple(self._turns.items())
        )
        return Spending(self.totals.told(), turns, self._dropped, self.summaries.told())
