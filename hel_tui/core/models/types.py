"""What the agent and a model adapter say to each other.

A request goes in, a stream of parts comes out and ends with `Finish`; what can go wrong is a
`ModelFault`. Not here: how any provider spells this on the wire (adapters), prices (prices).
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from hel_tui.core.vocabulary import AssistantMessage, Message, ToolDefinition

if TYPE_CHECKING:
    from hel_tui.core.models.schemas.profile import SchemaProfile

FinishReason = Literal["stop", "tool_calls", "length", "filter", "refusal", "unknown"]
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""How hard a model may be asked to think, least first. Providers take some of them, by names of their own."""

FaultKind = Literal[
    "auth",
    "rate",
    "server",
    "connect",
    "offline",
    "timeout",
    "context",
    "request",
    "schema",
    "stream",
    "missing",
]


@dataclass(frozen=True, slots=True)
class Request:
    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    max_output: int | None = None
    """Most tokens the answer may have; None leaves it to the provider."""
    effort: str = ""
    """How hard the model is to think, a word of `EFFORTS`; empty leaves it to the provider."""
    shape: Mapping[str, Any] | None = None
    """A JSON schema that the provider is to hold the answer to, where it can."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as its provider counted them. Each part is counted in its whole, too."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Of the input, read from the provider's cache."""
    written_tokens: int = 0
    """Of the input, written to its cache."""
    reasoning_tokens: int = 0
    """Of the output, spent on reasoning."""


@dataclass(frozen=True, slots=True)
class Rate:
    """US dollars for a million tokens."""

    input: float
    cached: float
    output: float
    written: float | None = None
    """Of input that is written to the cache; None where that costs what other input does."""
    over: int = 0
    """It holds for the whole of a request with more input tokens than this."""

    def cost(self, usage: Usage) -> float:
        """US dollars of one request."""
        written = usage.written_tokens if self.written is not None else 0
        fresh = max(0, usage.input_tokens - usage.cached_tokens - written)
        dollars = fresh * self.input + usage.cached_tokens * self.cached + usage.output_tokens * self.output
        return (dollars + written * (self.written or 0.0)) / 1e6


@dataclass(frozen=True, slots=True)
class When:
    """When a price holds: from a day on, or at some hours of each day, all in UTC; always, when empty."""

    since: str = ""
    """ISO date."""
    minutes: tuple[int, int] | None = None
    """Minutes of the day, from and to; past midnight where the second is the smaller one."""

    def holds(self, moment: datetime) -> bool:
        """Whether it holds at a moment in UTC."""
        if self.since and moment.date().isoformat() < self.since:
            return False
        if self.minutes is None:
            return True
        start, end = self.minutes
        now = moment.hour * 60 + moment.minute
        return start <= now < end if start <= end else now >= start or now < end


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs. `rates` are sorted by `over`; of `later` the last that holds takes their place."""

    rates: tuple[Rate, ...]
    later: tuple[tuple[When, tuple[Rate, ...]], ...] = ()

    def at(self, moment: float | None = None) -> tuple[Rate, ...]:
        """The rates that hold at a Unix time, now by default."""
        seconds = time.time() if moment is None else moment
        now = datetime.fromtimestamp(seconds, UTC)
        return next((rates for when, rates in reversed(self.later) if when.holds(now)), self.rates)

    def cost(self, usage: Usage, moment: float | None = None) -> float:
        """US dollars of one request that was made at a Unix time, now by default."""
        rates = self.at(moment)
        rate = next((one for one in reversed(rates) if usage.input_tokens > one.over), rates[0])
        return rate.cost(usage)


FREE = Prices((Rate(0.0, 0.0, 0.0),))
"""Of a model on this machine."""


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    text: str


@dataclass(frozen=True, slots=True)
class CallPart:
    """A tool call began to arrive; its arguments come whole with `Finish`."""

    name: str


@dataclass(frozen=True, slots=True)
class RetryPart:
    """The request failed in a way that may pass and is sent again after `delay` seconds."""

    attempt: int
    of: int
    delay: float
    why: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The last part. `notes` are remarks for the person, such as "no finish reason"."""

    message: AssistantMessage
    reason: FinishReason
    usage: Usage | None = None
    notes: tuple[str, ...] = ()
    written_call: str = ""
    """Name of a tool whose call was written as text, and so not made; empty when there is none."""
    ended: bool = True
    """The provider said that it was over, in whatever way: else it may have been cut off anywhere."""


Part = TextPart | ReasoningPart | CallPart | RetryPart | Finish


@dataclass(slots=True)
class ModelFault(Exception):
    """The request failed for good. `sentence` is for a person and holds no secret."""

    kind: FaultKind
    sentence: str
    status: int = 0
    partial: AssistantMessage | None = None
    """What had arrived when the stream broke."""
    said: str = field(default="", repr=False)
    """The endpoint's own words, uncleaned: to find out by them what it refuses, never to show."""
    limit: int = 0
    """Tokens the model takes in all, where a fault of kind `context` names them; else 0."""

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Who answers, for header and record."""

    provider: str
    name: str
    base_url: str
    window: int = 0
    """Context window in tokens; 0 when unknown."""
    is_demo: bool = False
    prices: Prices | None = None
    """None when unknown."""
    notes: tuple[str, ...] = field(default=())
    sees: bool | None = None
    """Whether it takes images; None while nobody knows: it is looked up when there is one to send."""
    sight_unsaid: bool = False
    """It is taken for one that takes no images because neither its name nor its endpoint says."""
    thinks: bool | None = None
    """Whether it reasons before it answers; None while nobody knows."""
    efforts: tuple[str, ...] = ()
    """The efforts it takes, least first; empty when unknown or when there is no choice."""
    max_output: int = 0
    """Most tokens an answer may have; 0 when unknown."""
    tools: bool | None = None
    """Whether it takes tools; None while nobody says. It is offered none where it takes none."""
    parallel: bool | None = None
    """Whether it takes several calls in one answer; None while nobody says."""
    one_call: bool = False
    """The person wants one call at a time."""

    @property
    def label(self) -> str:
        return f"{self.provider}/{self.name}"


class ChatModel(Protocol):
    """One model at one endpoint. Leaving the iterator early (aclose) closes the HTTP stream."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def schemas(self) -> SchemaProfile:
        """The rules it has for tools, as far as known and learned."""

    def learn(self, schemas: SchemaProfile) -> None:
        """Use other rules for tools from now on: it said that it has them."""

    def stream(self, request: Request) -> AsyncIterator[Part]:
        """Send the request and yield its parts, `Finish` last. Raises `ModelFault`."""

    async def sight(self) -> bool:
        """Whether it takes images; its endpoint is asked where that is not known. Never raises."""

    async def look_up(self) -> bool:
        """Ask the endpoint what it tells of the model where its window is not known; whether it told any.

        Never raises.
        """

    async def accepts(self, tools: Sequence[ToolDefinition]) -> bool:
        """Whether a tiny request with these tools is taken. Raises `ModelFault` when that cannot be told."""

    async def aclose(self) -> None: ...
