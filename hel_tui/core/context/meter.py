"""How many tokens the next request will have: the provider's last word plus an estimate of the rest.

Not here: shortening what is too long.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from hel_tui.core.vocabulary import (
    AssistantMessage,
    Message,
    ToolDefinition,
    estimate_tokens,
)


def message_tokens(message: Message) -> int:
    """Estimated tokens of one message with its calls."""
    tokens = estimate_tokens(message.text)
    if isinstance(message, AssistantMessage):
        tokens += sum(estimate_tokens(call.name + call.arguments) for call in message.calls)
    return tokens


def definition_tokens(definition: ToolDefinition) -> int:
    """Estimated tokens a definition costs in every request that carries it."""
    schema = json.dumps(definition.parameters, separators=(",", ":"), ensure_ascii=False)
    return estimate_tokens(definition.name + definition.description + schema)


@dataclass(slots=True)
class Meter:
    """Estimate of the next request: last reported prompt tokens + new characters / 4."""

    reported: int = 0
    """Prompt tokens of the last request, as the provider counted them; 0 before the first."""
    counted: int = 0
    """How many messages that request held."""

    def report(self, prompt_tokens: int, messages: int) -> None:
        """The provider's count for a request of so many messages (without the system message)."""
        self.reported, self.counted = prompt_tokens, messages

    def reset(self) -> None:
        """A new conversation."""
        self.reported = self.counted = 0

    def estimate(
        self, system: str, history: Sequence[Message], tools: Sequence[ToolDefinition]
    ) -> tuple[int, int, int]:
        """(whole next request, its messages, its tool definitions), in tokens."""
        definitions = sum(definition_tokens(tool) for tool in tools)
        if self.reported and self.counted <= len(history):
            new = sum(message_tokens(message) for message in history[self.counted :])
            whole = self.reported + new
        else:
            whole = estimate_tokens(system) + sum(map(message_tokens, history)) + definitions
        return whole, max(whole - definitions, 0), definitions
