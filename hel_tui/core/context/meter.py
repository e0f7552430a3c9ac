"""How many tokens the next request will have: the provider's last word plus an estimate of the rest.

What was measured once is not measured again: the cost of an estimate goes by what is new. Not here: what a
request is made of, as a person sees it (picture), shortening what is too long (limits, tails).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Message,
    ToolDefinition,
    ToolMessage,
    UserMessage,
    estimate_tokens,
)

SCALES = (0.25, 6.0)
"""How far the provider's count may be from the estimate, as factors, before it is taken for a slip of theirs.
Text in Korean or Chinese has up to four times as many tokens as characters / 4."""

BELIEVED = 500
"""Estimated tokens of a request below which any count is believed: templates add to small ones."""


def image_tokens(image: Image) -> int:
    """Estimated tokens of an image: 85 and 170 for each tile of 512 pixels, once it was made to fit 2048 by
    2048 and its shorter side 768 (OpenAI, "Images and vision", cost of high detail). Others count likewise.
    """
    longer, shorter = max(image.width, image.height), min(image.width, image.height)
    scale = min(1.0, 2048 / max(longer, 1))
    scale = min(scale, 768 / max(shorter, 1))
    tiles = math.ceil(longer * scale / 512) * math.ceil(shorter * scale / 512)
    return 85 + 170 * max(tiles, 1)


def message_tokens(message: Message, *, sees: bool = False, thinks: bool = False) -> int:
    """Estimated tokens of one message with its calls; with its images for a model that sees, and with its
    reasoning where that goes back to the model (`thinks`).
    """
    cost = cost_of(message)
    return cost.text + cost.images * sees + cost.reasoning * thinks


def definition_tokens(definition: ToolDefinition) -> int:
    """Estimated tokens a definition costs in every request that carries it."""
    schema = json.dumps(definition.parameters, separators=(",", ":"), ensure_ascii=False)
    return estimate_tokens(definition.name + definition.description + schema)


class Cost(NamedTuple):
    """Estimated tokens of one message, or of several together."""

    text: int = 0
    """With its calls."""
    images: int = 0
    reasoning: int = 0
    """With what a provider wants back of it unread, such as signatures."""


def cost_of(message: Message) -> Cost:
    """What one message costs."""
    text = estimate_tokens(message.text)
    if isinstance(message, UserMessage | ToolMessage):
        return Cost(text, sum(map(image_tokens, message.images)))
    if isinstance(message, AssistantMessage):
        text += sum(estimate_tokens(call.name + call.arguments) for call in message.calls)
        kept = json.dumps(message.extra, default=str, ensure_ascii=False) if message.extra else ""
        return Cost(text, 0, estimate_tokens(message.reasoning + kept))
    return Cost(text)


class Estimate(NamedTuple):
    """Estimated tokens of the next request."""

    whole: int
    messages: int
    """All but the tool definitions."""
    definitions: int


class _Costs:
    """The costs of the messages of a history that mostly grows, and their sums from its beginning."""

    def __init__(self) -> None:
        self._seen: list[Message] = []
        self._sums: list[Cost] = [Cost()]
        self.each: list[Cost] = []

    def clear(self) -> None:
        self._seen.clear()
        self.each.clear()
        del self._sums[1:]

    def follow(self, history: Sequence[Message]) -> None:
        """Take in what is new at the end. Changes further up are told by `clear`."""
        seen = self._seen
        while seen and (len(seen) > len(history) or history[len(seen) - 1] is not seen[-1]):
            seen.pop()
            self.each.pop()
            self._sums.pop()
        for at in range(len(seen), len(history)):
            cost = cost_of(history[at])
            seen.append(history[at])
            self.each.append(cost)
            self._sums.append(Cost(*(a + b for a, b in zip(self._sums[-1], cost, strict=True))))

    def until(self, count: int) -> Cost:
        """The first `count` messages together."""
        return self._sums[min(count, len(self.each))]


@dataclass(slots=True)
class Meter:
    """Estimate of the next request: last reported prompt tokens + new characters / 4.

    Before a first report it is characters / 4 of all, times `scale`.
    """

    reported: int = 0
    """Prompt tokens of the last request, as the provider counted them; 0 before the first."""
    counted: int = 0
    """How many messages that request held."""
    scale: float = 1.0
    """How the provider's count compared to characters / 4, at the last request that was counted."""
    defined: int = 0
    """Estimated tokens of the tool definitions of that request."""
    _costs: _Costs = field(default_factory=_Costs)
    _definitions: dict[int, tuple[ToolDefinition, int]] = field(default_factory=dict)

    def report(
        self,
        prompt_tokens: int,
        messages: int,
        *,
        system: str = "",
        history: Sequence[Message] = (),
        tools: Sequence[ToolDefinition] = (),
        sees: bool = False,
        thinks: bool = False,
    ) -> None:
        """The provider's count for a request of so many messages of `history`, the system message aside."""
        if prompt_tokens <= 0:
            return
        self._costs.follow(history)
        defined = self.definitions(tools)
        raw = estimate_tokens(system) + defined + _sum(self._costs.until(messages), sees, thinks)
        low, high = SCALES
        if raw >= BELIEVED and not low <= prompt_tokens / raw <= high:
            self.reported = 0
            return
        self.reported, self.counted, self.defined = prompt_tokens, messages, defined
        if raw:
            self.scale = min(max(prompt_tokens / raw, low), high)

    def reset(self) -> None:
        """A new conversation."""
        self.forget()
        self.scale = 1.0

    def forget(self) -> None:
        """Earlier messages became other ones: what was reported says nothing of the next request."""
        self.reported = self.counted = self.defined = 0
        self._costs.clear()

    def at_least(self, tokens: int, estimated: int) -> None:
        """A request was refused as longer than `tokens`, which was `estimated`: count higher from now on."""
        if 0 < estimated < tokens:
            self.forget()
            self.scale = min(self.scale * tokens / estimated, SCALES[1])

    def definitions(self, tools: Sequence[ToolDefinition]) -> int:
        """Estimated tokens of these definitions together."""
        known = self._definitions
        total = 0
        for tool in tools:
            kept = known.get(id(tool))
            if kept is None or kept[0] is not tool:
                kept = known[id(tool)] = (tool, definition_tokens(tool))
            total += kept[1]
        if len(known) > 2 * len(tools) + 64:
            self._definitions = {id(tool): known[id(tool)] for tool in tools}
        return total

    def fixed(self, system: str, tools: Sequence[ToolDefinition]) -> int:
        """Estimated tokens of what no shortening changes: the system prompt and the tool definitions."""
        return round((estimate_tokens(system) + self.definitions(tools)) * self.scale)

    def costs(self, history: Sequence[Message]) -> list[Cost]:
        """What each message costs, not scaled."""
        self._costs.follow(history)
        return self._costs.each

    def estimate(
        self,
        system: str,
        history: Sequence[Message],
        tools: Sequence[ToolDefinition],
        *,
        sees: bool = False,
        thinks: bool = False,
    ) -> Estimate:
        """What the next request would have."""
        definitions = self.definitions(tools)
        self._costs.follow(history)
        whole_history = self._costs.until(len(history))
        if self.reported and self.counted <= len(history):
            sent = self._costs.until(self.counted)
            new = Cost(*(now - before for now, before in zip(whole_history, sent, strict=True)))
            whole = max(self.reported + _sum(new, sees, thinks) + definitions - self.defined, 0)
        else:
            raw = estimate_tokens(system) + _sum(whole_history, sees, thinks) + definitions
            whole = round(raw * self.scale)
            definitions = round(definitions * self.scale)
        return Estimate(whole, max(whole - definitions, 0), definitions)


def _sum(cost: Cost, sees: bool, thinks: bool) -> int:
    return cost.text + cost.images * sees + cost.reasoning * thinks
