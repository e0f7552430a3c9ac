"""What the agent and a model adapter say to each other.

A request goes in, a stream of parts comes out and ends with `Finish`; what can go wrong is a
`ModelFault`. Not here: how any provider spells this on the wire (adapters), prices (prices).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from hel_tui.core.vocabulary import AssistantMessage, Message, ToolDefinition

if TYPE_CHECKING:
    from hel_tui.core.models.schemas.profile import SchemaProfile

FinishReason = Literal["stop", "tool_calls", "length", "filter", "refusal", "unknown"]
FaultKind = Literal[
    "auth", "rate", "server", "connect", "timeout", "context", "request", "schema", "stream", "missing"
]


@dataclass(frozen=True, slots=True)
class Request:
    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = ()
    max_output: int | None = None
    """Most tokens the answer may have; None leaves it to the provider."""


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


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
    prices: tuple[float, float, float] | None = None
    """US dollars for a million input, cached input and output tokens; None when unknown."""
    notes: tuple[str, ...] = field(default=())
    sees: bool | None = None
    """Whether it takes images; None while nobody knows: it is looked up when there is one to send."""

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

    async def accepts(self, tools: Sequence[ToolDefinition]) -> bool:
        """Whether a tiny request with these tools is taken. Raises `ModelFault` when that cannot be told."""

    async def aclose(self) -> None: ...
