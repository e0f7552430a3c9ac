"""What comes out of the core while a turn runs: text, calls and what became of them, its cost.

Not here: all other events (events), full results (reading).
"""

from __future__ import annotations

from hel_tui.core.protocol.words import CallState, TurnEnd
from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Queued:
    """All that waits while a turn runs, and what is held since one was stopped, in the order it goes."""

    texts: tuple[str, ...]
    held: int = 0
    """So many of them, the first ones, go only when the person says so."""
    joins: int = 0
    """So many behind those go into the turn that runs, before its next request; the others after it."""


@dataclass(frozen=True, slots=True)
class Unqueued:
    """What waited is taken back: it will not be sent."""

    text: str


@dataclass(frozen=True, slots=True)
class Joined:
    """A message of the person went into the turn that runs, before its next request."""

    turn: int
    text: str
    attachments: tuple[str, ...] = ()
    """What was attached, as `server:uri`."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: int
    text: str
    """What the person wrote; empty for a call by hand."""
    attachments: tuple[str, ...] = ()
    """What was attached, as `server:uri`."""


@dataclass(frozen=True, slots=True)
class PromptSent:
    """What a prompt of a server became: (user or assistant, text), long texts cut."""

    turn: int
    messages: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A request went to the model: step `step` of the turn (from 1)."""

    turn: int
    step: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Answer text that arrived. All deltas of one `item` make one block of Markdown."""

    turn: int
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    turn: int
    item: str
    text: str


@dataclass(frozen=True, slots=True)
class TextDone:
    """No more deltas for this item."""

    turn: int
    item: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool call appeared. Its state follows in `CallChanged`."""

    turn: int
    call_id: str
    server: str
    """Empty for a built-in."""
    tool: str
    """Raw name: what a person sees and what goes on the wire."""
    summary: str
    """The arguments that matter, one line, at most 200 characters."""
    by_hand: bool = False
    limit: float = 0.0
    """Seconds it may take without a sign of life; 0 where none are known."""


@dataclass(frozen=True, slots=True)
class CallChanged:
    """State and short result of a call; the full ones are in `Runtime.call`."""

    call_id: str
    state: CallState
    seconds: float = 0.0
    """How long it ran; 0 until it ended."""
    preview: str = ""
    """The first lines of the result, at most 400 characters."""
    lines: int = 0
    """How many lines the whole result has."""
    at: float = 0.0
    """Unix time at which it began to run, or ended; 0 where the state is neither."""


@dataclass(frozen=True, slots=True)
class CallProgress:
    call_id: str
    progress: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    turn: int
    reason: TurnEnd
    message: str = ""
    """A sentence for every reason but `done`."""
    seconds: float = 0.0
    give_back: bool = False
    """Nothing of an answer came, and the message is no part of the conversation: it can be written again."""


@dataclass(frozen=True, slots=True)
class Retrying:
    """The model's endpoint failed in a way that may pass; trying again after `delay` seconds."""

    turn: int
    attempt: int
    of: int
    delay: float
    why: str


@dataclass(frozen=True, slots=True)
class UsageChanged:
    context_tokens: int
    """Estimate of the next request."""
    messages_tokens: int
    tools_tokens: int
    window: int
    input_tokens: int
    """Sum over the session, as reported by the provider where it did."""
    output_tokens: int
    cached_tokens: int = 0
    cost: float | None = None
    """US dollars over the session; None when the price is unknown."""
    written_tokens: int = 0
    """Of the input, written to the provider's cache."""
    reasoning_tokens: int = 0
    """Of the output."""
    unpriced: int = 0
    """Requests whose price is unknown: `cost` is without them."""
    requests: int = 0
    uncounted: int = 0
    """Requests whose tokens no provider counted, such as those that were cut off: they are hel's estimate."""
