"""How many tokens the next request will have: the provider's last word plus an estimate of the rest.

Not here: shortening what is too long.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Message,
    ToolDefinition,
    ToolMessage,
    UserMessage,
    estimate_tokens,
)


def image_tokens(image: Image) -> int:
    """Estimated tokens of an image: 85 and 170 for each tile of 512 pixels, once it was made to fit 2048 by
    2048 and its shorter side 768 (OpenAI, "Images and vision", cost of high detail). Others count likewise.
    """
    longer, shorter = max(image.width, image.height), min(image.width, image.height)
    scale = min(1.0, 2048 / max(longer, 1))
    scale = min(scale, 768 / max(shorter, 1))
    tiles = math.ceil(longer * scale / 512) * math.ceil(shorter * scale / 512)
    return 85 + 170 * max(tiles, 1)


def message_tokens(message: Message, *, sees: bool = False) -> int:
    """Estimated tokens of one message with its calls, and with its images for a model that sees."""
    tokens = estimate_tokens(message.text)
    if sees and isinstance(message, UserMessage | ToolMessage):
        tokens += sum(map(image_tokens, message.images))
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
        self,
        system: str,
        history: Sequence[Message],
        tools: Sequence[ToolDefinition],
        *,
        sees: bool = False,
    ) -> tuple[int, int, int]:
        """(whole next request, its messages, its tool definitions), in tokens."""
        definitions = sum(definition_tokens(tool) for tool in tools)
        if self.reported and self.counted <= len(history):
            new = sum(message_tokens(message, sees=sees) for message in history[self.counted :])
            whole = self.reported + new
        else:
            messages = sum(message_tokens(message, sees=sees) for message in history)
            whole = estimate_tokens(system) + messages + definitions
        return whole, max(whole - definitions, 0), definitions
