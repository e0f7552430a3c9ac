"""Who helps hel to answer what servers ask: a person and a model. Light: no SDK.

Not here: answering (serving, sampling, elicitation), the person's screen, the model itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from hel_tui.core.protocol import Answer, NotAnswered, Question
from hel_tui.core.vocabulary import AssistantMessage, Message, ToolDefinition

Ask = Callable[[Question], Awaitable[Answer]]
"""Puts a question to the person."""


async def nobody(_question: Question) -> Answer:
    """Nobody is there."""
    return NotAnswered("nobody is there to answer")


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """What the model is to answer."""

    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...]
    max_tokens: int
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampled:
    """What it answered. `reason`: endTurn, maxTokens, toolUse or another word (specification, sampling)."""

    message: AssistantMessage
    model: str
    reason: str


class SampleFailed(Exception):
    """The model gave no answer; the text is a sentence for the server."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Asks the model. `label` names it; empty when there is none now."""

    label: Callable[[], str]
    run: Callable[[SampleRequest], Awaitable[Sampled]]
    """Raises SampleFailed."""


@dataclass(frozen=True, slots=True)
class Helpers:
    """Who helps hel to answer servers."""

    ask: Ask = nobody
    sample: Sample | None = None
    """None when servers cannot ask for a model."""
    answerable: bool = True
    """False when nobody can answer: servers are declined and the person told."""
