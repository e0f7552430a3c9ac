"""What a session took of its models: tokens as their providers counted them, and dollars.

In all, by turn, and for summaries. Where a provider told nothing, such as of an answer that was cut off,
hel's own estimate stands. Not here: prices (models), the estimate of the next request (context).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from hel_tui.core.models.types import ModelInfo, Prices, Usage
from hel_tui.core.protocol import Spending, Spent, TurnSpent, UsageChanged
from hel_tui.core.store.sessions.reading import TurnUsage

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

    def join(self, other: Totals) -> None:
        """Count in what others are the sums of."""
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.cost is not None:
            self.cost = (self.cost or 0.0) + other.cost

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
class _Turn:
    """What one turn took."""

    model: str = ""
    sums: Totals = field(default_factory=Totals)
    summaries: int = 0
    """So many of its requests were for summaries."""

    def told(self, turn: int) -> TurnSpent:
        """The same as the door has it."""
        return TurnSpent(turn, self.model, self.sums.told(), compact=self.summaries == self.sums.requests)


@dataclass(slots=True)
class Accounts:
    """Who took what. Lives in the core's loop; `told` is safe from any thread."""

    totals: Totals = field(default_factory=Totals)
    summaries: Totals = field(default_factory=Totals)
    _turns: OrderedDict[int, _Turn] = field(default_factory=OrderedDict)
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
        own = self._turns.pop(turn, None) or _Turn()
        self._turns[turn] = own
        own.model, own.summaries = info.label, own.summaries + summary
        every = (self.totals, own.sums, self.summaries) if summary else (self.totals, own.sums)
        for one in every:
            one.add(usage, info.prices, estimate=estimate, cut_off=cut_off)
        self._drop()

    def _drop(self) -> None:
        while len(self._turns) > MOST_TURNS:
            self._turns.popitem(last=False)
            self._dropped += 1

    def go_on(self, usage: UsageChanged) -> None:
        """Count on from the sums of an earlier run, and from nothing else."""
        self.totals, self.summaries = _sums(usage), Totals()
        self._turns.clear()
        self._dropped = 0

    def tell_apart(self, turns: Mapping[int, TurnUsage]) -> None:
        """Of an earlier run also these turns, oldest first. A summary that was made in the middle of one is
        part of it: that is not told apart any more.
        """
        for turn, usage in turns.items():
            if usage.after is None:
                continue
            sums = _sums(usage.after, usage.before)
            if sums.requests > 0:
                self._turns[turn] = _Turn(usage.model, sums, 0 if usage.steps else sums.requests)
                if not usage.steps:
                    self.summaries.join(sums)
        self._drop()

    def told(self) -> Spending:
        """All of it."""
        turns = tuple(one.told(turn) for turn, one in tuple(self._turns.items()))
        return Spending(self.totals.told(), turns, self._dropped, self.summaries.told())


_COUNTS = (
    *("requests", "input_tokens", "cached_tokens", "written_tokens"),
    *("output_tokens", "reasoning_tokens", "unpriced", "uncounted"),
)


def _sums(usage: UsageChanged, before: UsageChanged | None = None) -> Totals:
    """What was told of as sums; of it what came since `before`."""
    sums = Totals(cost=usage.cost)
    for name in _COUNTS:
        setattr(sums, name, max(getattr(usage, name) - getattr(before, name, 0), 0))
    if before is not None and before.cost is not None and usage.cost is not None:
        sums.cost = max(usage.cost - before.cost, 0.0) if sums.requests > sums.unpriced else None
    return sums
