"""Shortening a conversation: results first, then a summary of all but the newest messages, then the oldest
turns.

What is tried, and in which order; nothing is tried for ever. Not here: the limits and the choice of what is
shortened (context), how a summary is asked for (summarising), the turn (turn).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from hel_tui.core.agent.gates import Record
from hel_tui.core.agent.history import History
from hel_tui.core.agent.summarising import Asking, NoSummary, Summariser
from hel_tui.core.context.limits import TAIL, Limits, limits
from hel_tui.core.context.meter import Meter
from hel_tui.core.context.summary import (
    is_summary,
    left_out_message,
    newest_words,
    summary_in,
    summary_message,
)
from hel_tui.core.context.tails import (
    CUT_HEAD,
    CUT_TAIL,
    LONG_RESULT,
    SHORT_HEAD,
    SHORT_TAIL,
    fitting_start,
    long_results,
    newest_step,
    tail_start,
)
from hel_tui.core.models.types import ModelFault, ModelInfo
from hel_tui.core.protocol import Compacted, CompactionDetail, Event, ShortenedResult
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import ToolMessage, UserMessage, estimate_tokens

Shorten = Callable[[str, int, int, str], str]
"""(text, characters of its head, of its tail, a hint for a file's name) -> the text cut around a notice of
the file that holds the whole."""

MOST_REFUSALS = 5
"""How often one request is made shorter because the provider says it is too long."""
AFTER_REFUSAL = 0.7
"""Part of a refused request that is tried next, where the provider does not say how long it may be."""
BELOW_LIMIT = 0.9
"""Part of a limit that the provider named that is filled after a refusal."""
MOST_KEPT = 50
"""Shortenings that are kept in full."""
NEWEST = 0.6
"""Part of the room for the conversation that the newest answer and its results may take."""
NOTHING_YET = "There is nothing to summarise yet."
NOT_SMALLER = "The summary was no smaller than what it stands for."


def cut_only(text: str, head: int, tail: int, _hint: str) -> str:
    """A `Shorten` without files."""
    notice = f"[… {len(text) - head - tail:,} characters are left out …]"
    return f"{text[:head]}\n\n{notice}\n\n{text[-tail:]}" if len(text) > head + tail + 100 else text


@dataclass(slots=True)
class _Work:
    """What one shortening came to so far."""

    before: int
    began: float = field(default_factory=time.monotonic)
    results: list[ShortenedResult] = field(default_factory=list)
    summary: str = ""
    summarised: int = 0
    dropped: int = 0
    problem: str = ""
    focus: str = ""
    by_hand: bool = False

    @property
    def did_something(self) -> bool:
        return bool(self.results or self.summarised or self.dropped)


class Compactor:
    """Keeps one conversation within its model's window. Lives in the core's loop."""

    def __init__(
        self,
        *,
        history: History,
        meter: Meter,
        emit: Callable[[Event], None],
        record: Record,
        summariser: Summariser,
        shorten: Shorten = cut_only,
        reminders: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """`reminders` are texts that stand behind every summary, such as a list of what is still to do."""
        self._history = history
        self._meter = meter
        self._emit = emit
        self._record = record
        self._summariser = summariser
        self._shorten = shorten
        self._reminders = reminders
        self.said = 0
        """Tokens of the window as the person set it; 0 leaves it to the model's name and endpoint."""
        self._learned: dict[str, int] = {}
        """Windows that providers named when they refused a request, by model."""
        self._wait_until = 0
        """Tokens below which nothing is tried: what was tried last did not help."""
        self._done: dict[int, CompactionDetail] = {}
        self._count = 0
        self.replaced = 0
        """How often earlier messages made way for a summary, or for nothing."""

    # ---------------------------------------------------------------- what is known

    def clear(self) -> None:
        """A new conversation begins."""
        self._wait_until = 0
        self._done.clear()
        self._count = 0

    @property
    def count(self) -> int:
        """How often this conversation was shortened."""
        return self._count

    def detail(self, number: int) -> CompactionDetail | None:
        """Everything about one shortening; safe from any thread."""
        return self._done.get(number)

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

    def size(self, asking: Asking) -> int:
        """Estimated tokens of the next request."""
        return self._meter.estimate(
            asking.system, self._history, asking.tools, sees=asking.sees, thinks=asking.thinks
        ).whole

    # ------------------------------------------------------------- when it is done

    async def before_request(self, turn: int, asking: Asking) -> None:
        """Shorten what is too long for the request that is made next, if it is."""
        bounds = self._limits(asking)
        size = self.size(asking)
        if not bounds.window or size <= bounds.start or size <= self._wait_until:
            return
        work = _Work(size)
        await self._cut(asking, work, self._tail(asking, bounds), LONG_RESULT, (CUT_HEAD, CUT_TAIL))
        if self.size(asking) > bounds.start:
            await self._make_newest_fit(asking, bounds, work)
            await self._summarise(turn, asking, work, self._tail(asking, bounds), bounds.most)
        if self.size(asking) > bounds.start:
            await self._cut_anywhere(asking, work, bounds.start)
        if self.size(asking) > bounds.most:
            self._drop(asking, work, bounds.start)
        self._close(turn, asking, work)
        after = self.size(asking)
        self._wait_until = after + bounds.step if after > bounds.start else 0

    async def after_refusal(self, turn: int, asking: Asking, fault: ModelFault) -> bool:
        """Shorten what the provider refused as too long; say whether another try is worth it.

        What it said of its limit is remembered for the model.
        """
        size = self._learn(asking, fault)
        goal = int(min(BELOW_LIMIT * (fault.limit or size), AFTER_REFUSAL * size))
        work = _Work(size)
        await self._cut_anywhere(asking, work, goal)
        if self.size(asking) > goal:
            await self._summarise(turn, asking, work, self._tail(asking, self._limits(asking)), goal)
        if self.size(asking) > goal:
            self._drop(asking, work, goal)
        self._close(turn, asking, work)
        return work.did_something

    async def by_hand(self, turn: int, asking: Asking, focus: str) -> str:
        """Summarise now, whatever the size; a sentence when it could not be done, else empty."""
        bounds = self._limits(asking)
        work = _Work(self.size(asking), focus=focus, by_hand=True)
        spoken = max(work.before - self._meter.fixed(asking.system, asking.tools), 0)
        tail = self._tail(asking, bounds, int(TAIL * spoken))
        if tail < 2:
            return NOTHING_YET
        await self._summarise(turn, asking, work, tail, bounds.most)
        self._close(turn, asking, work)
        self._wait_until = 0
        return work.problem

    def _learn(self, asking: Asking, fault: ModelFault) -> int:
        """Remember what a refusal says of the model's window; returns the size of the refused request."""
        size = self.size(asking)
        if fault.limit > 0:
            self._meter.at_least(fault.limit, size)
            size = self.size(asking)
        window, _ = self.window(asking.model.info)
        limit = fault.limit or size
        if not window or limit < window:
            self._learned[asking.model.info.label] = limit
        return size

    # ------------------------------------------------------------------ the steps

    def _tail(self, asking: Asking, bounds: Limits, budget: int = 0) -> int:
        """Where the messages begin that stay as they are: within `budget`, else within that of the limits."""
        room = max((bounds.start or self.size(asking)) - self._meter.fixed(asking.system, asking.tools), 0)
        most = min(bounds.tail, room // 2) if bounds.tail else room // 4
        budget = min(budget, most) if budget else most
        costs = self._meter.costs(self._history)
        scale = self._meter.scale
        return tail_start(self._history, costs, int(budget / scale), int(room * NEWEST / scale))

    async def _cut(
        self, asking: Asking, work: _Work, stop: int, longer_than: int, kept: tuple[int, int], goal: int = 0
    ) -> None:
        """Cut results before `stop` that are longer than so many characters to their head and tail, the
        longest first, until the request has at most `goal` tokens (0: all of them).
        """
        for at in long_results(self._history, stop, longer_than):
            if goal and self.size(asking) <= goal:
                return
            message = self._history[at]
            assert isinstance(message, ToolMessage)
            text = await in_thread(partial(self._shorten, message.text, *kept, message.name), "hel-cut")
            if len(text) < len(message.text):
                self._history.shorten(at, text)
                self._meter.forget()
                work.results.append(ShortenedResult(message.name, len(message.text), len(text)))

    async def _cut_anywhere(self, asking: Asking, work: _Work, goal: int) -> None:
        """Cut results, the newest too, until the request has at most `goal` tokens or all are short."""
        for kept in ((CUT_HEAD, CUT_TAIL), (SHORT_HEAD, SHORT_TAIL)):
            await self._cut(asking, work, len(self._history), sum(kept), kept, goal)

    async def _make_newest_fit(self, asking: Asking, bounds: Limits, work: _Work) -> None:
        """Cut the newest results where they would leave no room for anything else: they are not to be
        summarised before the model has read them.
        """
        room = int(
            (bounds.start - self._meter.fixed(asking.system, asking.tools)) * NEWEST / self._meter.scale
        )
        newest = newest_step(self._history)
        costs = self._meter.costs(self._history)
        over = sum(cost.text for cost in costs[newest:]) - max(room, 0)
        if over > 0:
            goal = self.size(asking) - int(over * self._meter.scale)
            await self._cut(asking, work, len(self._history), CUT_HEAD + CUT_TAIL, (CUT_HEAD, CUT_TAIL), goal)

    async def _summarise(self, turn: int, asking: Asking, work: _Work, tail: int, room: int) -> None:
        """Let a summary stand for all before `tail`. `room`: tokens the request for it may have; 0: not
        known.
        """
        history = self._history
        if tail < 1 or (tail == 1 and is_summary(history[0].text)):
            return
        part = history[:tail]
        try:
            summary = await self._summariser.summary(
                turn, asking, part, room=room, scale=self._meter.scale, focus=work.focus
            )
        except NoSummary as none:
            work.problem = none.sentence
            return
        newest = "" if any(isinstance(one, UserMessage) for one in history[tail:]) else newest_words(part)
        text = summary_message(summary, newest, self._reminders())
        if estimate_tokens(text) >= sum(
            cost.text + cost.images for cost in self._meter.costs(history)[:tail]
        ):
            work.problem = NOT_SMALLER
            return
        history.compact(len(history) - tail, text)
        self._others_now()
        work.summary, work.summarised = text, tail

    def _drop(self, asking: Asking, work: _Work, goal: int) -> None:
        """Leave the oldest messages out, whole answers with their results, until the request fits."""
        history, scale = self._history, self._meter.scale
        room = goal - self._meter.fixed(asking.system, asking.tools)
        part = history[: newest_step(history)]
        earlier, newest = summary_in(part), newest_words(part)
        note = left_out_message(len(part), earlier, newest, self._reminders())
        start = fitting_start(history, self._meter.costs(history), int(room / scale) - estimate_tokens(note))
        if start < 1 or (start == 1 and is_summary(history[0].text)):
            return
        part = history[:start]
        newest = "" if any(isinstance(one, UserMessage) for one in history[start:]) else newest_words(part)
        text = left_out_message(start, summary_in(part), newest, self._reminders())
        history.compact(len(history) - start, text)
        self._others_now()
        work.dropped += start

    def _others_now(self) -> None:
        self._meter.forget()
        self.replaced += 1

    def _close(self, turn: int, asking: Asking, work: _Work) -> None:
        """Tell what was done, or why nothing was."""
        if not (work.did_something or work.problem):
            return
        self._count += 1
        after = self.size(asking)
        self._done[self._count] = CompactionDetail(
            number=self._count,
            time=time.time(),
            before=work.before,
            after=after,
            kept=max(len(self._history) - bool(work.summarised or work.dropped), 0),
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
