"""The steps by which a conversation is shortened: cut results, put a summary in place, leave messages out.

Not here: which step when (compaction), the choice of what is shortened (context), asking for a summary
(summarising).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from hel_tui.core.agent.history import History
from hel_tui.core.agent.summarising import Asking, NoSummary, Summariser
from hel_tui.core.context.limits import Limits
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
    SHORT_HEAD,
    SHORT_TAIL,
    fitting_start,
    long_results,
    newest_step,
    tail_start,
)
from hel_tui.core.protocol import ShortenedResult
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import ToolMessage, estimate_tokens

Shorten = Callable[[str, int, int, str], str]
"""(text, characters of its head, of its tail, a hint for a file's name) -> the text cut around a notice of
the file that holds the whole."""

NEWEST = 0.6
"""Part of the room for the conversation that the newest answer and its results may take."""
NOT_SMALLER = "The summary was no smaller than what it stands for."


def cut_only(text: str, head: int, tail: int, _hint: str) -> str:
    """A `Shorten` without files."""
    notice = f"[… {len(text) - head - tail:,} characters are left out …]"
    return f"{text[:head]}\n\n{notice}\n\n{text[-tail:]}" if len(text) > head + tail + 100 else text


@dataclass(slots=True)
class Work:
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


class Steps:
    """What can be done to one conversation. Lives in the core's loop."""

    def __init__(
        self,
        *,
        history: History,
        meter: Meter,
        summariser: Summariser,
        shorten: Shorten = cut_only,
        reminders: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """`reminders` are texts that stand behind every summary, such as a list of what is still to do."""
        self.history = history
        self.meter = meter
        self._summariser = summariser
        self._shorten = shorten
        self._reminders = reminders
        self.replaced = 0
        """How often earlier messages made way for a summary, or for nothing."""

    def size(self, asking: Asking) -> int:
        """Estimated tokens of the next request."""
        estimate = self.meter.estimate(
            asking.system, self.history, asking.tools, sees=asking.sees, thinks=asking.thinks
        )
        return estimate.whole

    def fixed(self, asking: Asking) -> int:
        """Estimated tokens of it that no step changes."""
        return self.meter.fixed(asking.system, asking.tools)

    def tail(self, asking: Asking, bounds: Limits, budget: int = 0) -> int:
        """Where the messages begin that stay as they are: within `budget`, else within that of the limits."""
        room = max((bounds.start or self.size(asking)) - self.fixed(asking), 0)
        most = min(bounds.tail, room // 2) if bounds.tail else room // 4
        budget = min(budget, most) if budget else most
        costs = self.meter.costs(self.history)
        scale = self.meter.scale
        return tail_start(self.history, costs, int(budget / scale), int(room * NEWEST / scale))

    async def cut(
        self, asking: Asking, work: Work, span: slice, longer_than: int, kept: tuple[int, int], goal: int = 0
    ) -> None:
        """Cut results in `span` that are longer than so many characters to their head and tail, the longest
        first, until the request has at most `goal` tokens (0: all of them).
        """
        start, stop, _ = span.indices(len(self.history))
        size, done = self.size(asking), len(work.results)
        for at in long_results(self.history, start, stop, longer_than):
            if size <= goal:
                break
            message = self.history[at]
            assert isinstance(message, ToolMessage)
            text = await in_thread(partial(self._shorten, message.text, *kept, message.name), "hel-cut")
            saved = estimate_tokens(message.text) - estimate_tokens(text)
            if saved > 0:
                self.history.shorten(at, text)
                size -= round(saved * self.meter.scale)
                work.results.append(ShortenedResult(message.name, len(message.text), len(text)))
        if len(work.results) > done:
            self.meter.forget()

    async def cut_short(self, asking: Asking, work: Work, span: slice, goal: int) -> None:
        """Cut results in `span` until the request has at most `goal` tokens or all are short."""
        for kept in ((CUT_HEAD, CUT_TAIL), (SHORT_HEAD, SHORT_TAIL)):
            await self.cut(asking, work, span, sum(kept), kept, goal)

    async def make_newest_fit(self, asking: Asking, bounds: Limits, work: Work) -> None:
        """Cut the newest results where they would leave no room for anything else: they are not to be
        summarised before the model has read them.
        """
        room = int((bounds.start - self.fixed(asking)) * NEWEST / self.meter.scale)
        newest = newest_step(self.history)
        over = sum(cost.text for cost in self.meter.costs(self.history)[newest:]) - max(room, 0)
        if over > 0:
            goal = self.size(asking) - int(over * self.meter.scale)
            await self.cut_short(asking, work, slice(newest, None), goal)

    async def summarise(self, turn: int, asking: Asking, work: Work, tail: int, room: int) -> None:
        """Let a summary stand for all before `tail`. `room`: tokens the request for it may have; 0: not
        known.
        """
        history = self.history
        if tail < 1 or (tail == 1 and is_summary(history[0].text)):
            return
        part = history[:tail]
        try:
            summary = await self._summariser.summary(
                turn, asking, part, room=room, scale=self.meter.scale, focus=work.focus
            )
        except NoSummary as none:
            work.problem = none.sentence
            return
        newest = "" if newest_words(history[tail:]) else newest_words(part)
        text = summary_message(summary, newest, self._reminders())
        if estimate_tokens(text) >= sum(cost.text + cost.images for cost in self.meter.costs(history)[:tail]):
            work.problem = NOT_SMALLER
            return
        history.compact(len(history) - tail, text)
        self._others_now()
        work.summary, work.summarised = text, tail

    def drop(self, asking: Asking, work: Work, goal: int) -> None:
        """Leave the oldest messages out, whole answers with their results, until the request fits."""
        history, scale = self.history, self.meter.scale
        room = goal - self.fixed(asking)
        part = history[: newest_step(history)]
        earlier, newest = summary_in(part), newest_words(part)
        note = left_out_message(len(part), earlier, newest, self._reminders())
        start = fitting_start(history, self.meter.costs(history), int(room / scale) - estimate_tokens(note))
        if start < 1 or (start == 1 and is_summary(history[0].text)):
            return
        part = history[:start]
        newest = "" if newest_words(history[start:]) else newest_words(part)
        text = left_out_message(start, summary_in(part), newest, self._reminders())
        history.compact(len(history) - start, text)
        self._others_now()
        work.dropped += start

    def _others_now(self) -> None:
        self.meter.forget()
        self.replaced += 1
