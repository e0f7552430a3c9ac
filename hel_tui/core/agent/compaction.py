"""When a conversation is shortened, by which steps and how far; nothing is tried for ever.

Results first, then a summary of all but the newest messages, then the oldest turns. Not here: the steps
(shortening), the limits (context), the turn (turn).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from hel_tui.core.agent.gates import Record
from hel_tui.core.agent.shortening import Steps, Work
from hel_tui.core.agent.summarising import Asking
from hel_tui.core.context.limits import TAIL, Limits, limits
from hel_tui.core.context.tails import CUT_HEAD, CUT_TAIL, LONG_RESULT, newest_step
from hel_tui.core.models.types import ModelFault, ModelInfo
from hel_tui.core.protocol import Compacted, CompactionDetail, Event, Notice

MOST_REFUSALS = 5
"""How often one request is made shorter because the provider says it is too long."""
AFTER_REFUSAL = 0.7
"""Part of a refused request that is tried next, where the provider does not say how long it may be."""
BELOW_LIMIT = 0.9
"""Part of a limit that the provider named that is filled after a refusal."""
MOST_KEPT = 50
"""Shortenings that are kept in full."""
EVERYTHING = slice(None)
NOTHING_YET = "There is nothing to summarise yet."


def _nothing(_number: int) -> None:
    """Nothing was shortened before."""


class Compactor:
    """Keeps one conversation within its model's window. Lives in the core's loop."""

    def __init__(self, steps: Steps, emit: Callable[[Event], None], record: Record) -> None:
        self._steps = steps
        self._emit = emit
        self._record = record
        self.said = 0
        """Tokens of the window as the person set it; 0 leaves it to the model's name and endpoint."""
        self._learned: dict[str, int] = {}
        """Windows that providers named when they refused a request, by model."""
        self._wait_until = 0
        """Tokens below which nothing is tried: what was tried last did not help."""
        self._waits_for = 0
        """The window in which it did not."""
        self._crowded = 0
        """The window of which the person was told that tools leave too little of it."""
        self._done: dict[int, CompactionDetail] = {}
        self._count = 0
        """The newest number of one."""
        self.shortened = 0
        """How often this conversation was shortened."""
        self.earlier: Callable[[int], CompactionDetail | None] = _nothing
        """Gives those of before a kept conversation was gone on with."""

    # ---------------------------------------------------------------- what is known

    def go_on(self, count: int) -> None:
        """A kept conversation that was shortened so often: the next one has a number of its own."""
        self._count = self.shortened = count

    def clear(self) -> None:
        """A new conversation begins."""
        self._wait_until = 0
        self._done.clear()
        self._count = self.shortened = 0
        self.earlier = _nothing

    @property
    def replaced(self) -> int:
        """How often earlier messages made way for a summary, or for nothing."""
        return self._steps.replaced

    def detail(self, number: int) -> CompactionDetail | None:
        """Everything about one shortening; safe from any thread."""
        return self._done.get(number) or self.earlier(number)

    def window(self, info: ModelInfo | None) -> tuple[int, bool]:
        """Tokens of a model's window, and whether the provider said so when it refused a request."""
        if info is None:
            return 0, False
        learned, known = self._learned.get(info.label, 0), self.said or info.window
        if learned and (not known or learned < known):
            return learned, True
        return known, False

    def limits(self, info: ModelInfo | None, max_output: int | None = None) -> Limits:
        """The limits in force for a model whose answers may have `max_output` tokens."""
        return limits(self.window(info)[0], max_output or (info.max_output if info is not None else 0))

    def _limits(self, asking: Asking) -> Limits:
        return self.limits(asking.model.info, asking.max_output)

    # ------------------------------------------------------------- when it is done

    async def before_request(self, turn: int, asking: Asking) -> None:
        """Shorten what is too long for the request that is made next, if it is."""
        steps, bounds = self._steps, self._limits(asking)
        size = steps.size(asking)
        waits = size <= self._wait_until and bounds.window == self._waits_for
        if not bounds.window or size <= bounds.start or waits:
            return
        work = Work(size)
        try:
            before = slice(steps.tail(asking, bounds))
            await steps.cut(asking, work, before, LONG_RESULT, (CUT_HEAD, CUT_TAIL))
            if steps.size(asking) > bounds.start:
                await steps.make_newest_fit(asking, bounds, work)
                await steps.summarise(turn, asking, work, steps.tail(asking, bounds), bounds.most)
            if steps.size(asking) > bounds.start:
                await steps.cut_short(asking, work, slice(newest_step(steps.history)), bounds.start)
            if steps.size(asking) > bounds.most:
                await steps.cut_short(asking, work, EVERYTHING, bounds.most)
            if steps.size(asking) > bounds.most:
                steps.drop(asking, work, bounds.start)
        finally:
            self._close(turn, asking, work)
        after = steps.size(asking)
        self._wait_until = after + bounds.step if after > bounds.start else 0
        self._waits_for = bounds.window
        self._warn_of_tools(asking, bounds)

    async def after_refusal(self, turn: int, asking: Asking, fault: ModelFault) -> bool:
        """Shorten what the provider refused as too long; say whether another try is worth it.

        What it said of its limit is remembered for the model.
        """
        steps, size = self._steps, self._learn(asking, fault)
        goal = int(min(BELOW_LIMIT * (fault.limit or size), AFTER_REFUSAL * size))
        work = Work(size)
        try:
            await steps.cut_short(asking, work, EVERYTHING, goal)
            if steps.size(asking) > goal:
                await steps.summarise(turn, asking, work, steps.tail(asking, self._limits(asking)), goal)
            if steps.size(asking) > goal:
                steps.drop(asking, work, goal)
        finally:
            self._close(turn, asking, work)
        self._wait_until = max(goal, steps.size(asking))
        self._waits_for = self._limits(asking).window
        return work.did_something

    async def by_hand(self, turn: int, asking: Asking, focus: str) -> str:
        """Summarise now, whatever the size; a sentence when there is nothing to summarise, else empty."""
        steps, bounds = self._steps, self._limits(asking)
        work = Work(steps.size(asking), focus=focus, by_hand=True)
        spoken = max(work.before - steps.fixed(asking), 0)
        tail = steps.tail(asking, bounds, int(TAIL * spoken))
        if tail < 2:
            return NOTHING_YET
        try:
            await steps.summarise(turn, asking, work, tail, bounds.most)
        finally:
            self._close(turn, asking, work)
        self._wait_until = 0
        return ""

    def _learn(self, asking: Asking, fault: ModelFault) -> int:
        """Remember what a refusal says of the model's window; returns the size of the refused request."""
        size = self._steps.size(asking)
        if fault.limit > 0:
            self._steps.meter.at_least(fault.limit, size)
            size = self._steps.size(asking)
        if fault.status == 413 and not fault.limit:  # of bytes: the window may well be larger
            return size
        window, _ = self.window(asking.model.info)
        limit = fault.limit or size
        if not window or limit < window:
            self._learned[asking.model.info.label] = limit
        return size

    def _warn_of_tools(self, asking: Asking, bounds: Limits) -> None:
        """Say once that what cannot be shortened leaves too little room."""
        fixed = self._steps.fixed(asking)
        if fixed > bounds.start and self._crowded != bounds.window:
            self._crowded = bounds.window
            self._emit(
                Notice(
                    "warning",
                    f"The system prompt and the tools take {fixed:,} of the {bounds.window:,} tokens of "
                    f"{asking.model.info.label}: unload tools, or choose a model with a larger window.",
                )
            )

    def _close(self, turn: int, asking: Asking, work: Work) -> None:
        """Tell what was done, or why nothing was."""
        if not (work.did_something or work.problem):
            return
        self._count += 1
        self.shortened += work.did_something
        after = self._steps.size(asking)
        self._done[self._count] = CompactionDetail(
            number=self._count,
            time=time.time(),
            before=work.before,
            after=after,
            kept=max(len(self._steps.history) - bool(work.summarised or work.dropped), 0),
            summary=work.summary,
            focus=work.focus,
            results=tuple(work.results),
            summarised=work.summarised,
            dropped=work.dropped,
            problem=work.problem,
            seconds=time.monotonic() - work.began,
            by_hand=work.by_hand,
        )
        self._done.pop(self._count - MOST_KEPT, None)
        facts = {"summarised": work.summarised, "shortened": len(work.results), "dropped": work.dropped}
        self._record.write(
            "note",
            turn=turn,
            compaction=self._count,
            before=work.before,
            after=after,
            problem=work.problem,
            **facts,
        )
        self._emit(Compacted(self._count, turn, work.before, after, problem=work.problem, **facts))
