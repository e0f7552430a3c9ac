"""What fills a model's context window, what it cost, and how a conversation was shortened.

Not here: the meter of the header (`UsageChanged` in turns).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.values import dataclass

ContextKind = Literal[
    "system",
    "instructions",
    "inventory",
    "builtins",
    "server",
    "summary",
    "person",
    "answers",
    "reasoning",
    "results",
    "images",
]
"""Of the system prompt: hel's own words, the project's instructions, the list of server tools. Of the tool
list: hel's own, those of one server. Of the conversation: summaries, messages of the person, answers with
their calls, reasoning that goes back, results, images."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Shorten the conversation now: a summary takes the place of all but its newest messages."""

    focus: str = ""
    """What the summary should keep above all, in the person's words."""


@dataclass(frozen=True, slots=True)
class Compacting:
    """The model is asked for a summary, or no longer (`on` false)."""

    turn: int
    on: bool = True


@dataclass(frozen=True, slots=True)
class Compacted:
    """The conversation was shortened, or could not be. What it became is in `Runtime.compaction`."""

    number: int
    """From 1, in this session."""
    turn: int
    before: int
    """Estimated tokens of the next request, before and after."""
    after: int
    summarised: int = 0
    """Messages that a summary stands for now."""
    shortened: int = 0
    """Results that were cut to their head and tail."""
    dropped: int = 0
    """Messages that were left out without a summary."""
    problem: str = ""
    """Why there is no summary, where one was wanted: a sentence."""


@dataclass(frozen=True, slots=True)
class ShortenedResult:
    tool: str
    """Public name."""
    before: int
    """Characters, before and after."""
    after: int


@dataclass(frozen=True, slots=True)
class CompactionDetail:
    """Everything about one shortening of the conversation."""

    number: int
    time: float
    """Unix time."""
    before: int
    """Estimated tokens of the next request, before and after."""
    after: int
    kept: int
    """Newest messages that stayed as they were."""
    summary: str = ""
    """The message that stands for the earlier part now; empty when there is none."""
    focus: str = ""
    results: tuple[ShortenedResult, ...] = ()
    summarised: int = 0
    dropped: int = 0
    problem: str = ""
    seconds: float = 0.0
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One kind of what the next request is made of."""

    kind: ContextKind
    tokens: int
    name: str = ""
    """Of a server."""
    count: int = 0
    """How many definitions, messages, images."""


@dataclass(frozen=True, slots=True)
class ContextPicture:
    """What the next request would be made of: an estimate that is scaled to the provider's last count."""

    model: str
    """Empty without one."""
    parts: tuple[ContextPart, ...]
    """In the order they stand in a request; together `used`."""
    used: int
    window: int = 0
    """0 when unknown."""
    learned: bool = False
    """The window is what the provider said when it refused a request."""
    reserve: int = 0
    """Tokens of the window that are kept free for an answer."""
    start: int = 0
    """Tokens at which the conversation is shortened; 0 when only the provider can say."""
    reported: int = 0
    """Tokens of the last request, as the provider counted them; 0 when it did not."""
    cached: int = 0
    """Of those, read from its cache."""
    compactions: int = 0
    """How often this conversation was shortened."""

    @property
    def free(self) -> int:
        """Tokens left before the reserve; 0 when there are none or the window is unknown."""
        return max(self.window - self.reserve - self.used, 0)


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens as the provider counted them, and what they cost."""

    requests: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    """Of the input, read from the provider's cache."""
    written_tokens: int = 0
    """Of the input, written to it."""
    output_tokens: int = 0
    reasoning_tokens: int = 0
    """Of the output."""
    cost: float | None = None
    """US dollars; None where no price is known."""
    unpriced: int = 0
    """Requests whose price is unknown: `cost` is without them."""
    uncounted: int = 0
    """Requests whose tokens no provider counted, such as those that were cut off: they are estimated."""


@dataclass(frozen=True, slots=True)
class TurnSpent:
    """What one turn took."""

    turn: int
    model: str
    """The last one that answered in it."""
    spent: Spent
    compact: bool = False
    """It was nothing but a summary that the person wanted."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What the session took, in all and by its newest turns."""

    session: Spent
    turns: tuple[TurnSpent, ...] = ()
    """Oldest first."""
    dropped: int = 0
    """Older turns that are not listed; they are counted in `session`."""
    summaries: Spent = Spent()
    """Of the session: what summaries took."""
