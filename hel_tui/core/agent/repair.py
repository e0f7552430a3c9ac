"""The steps every request's history passes through: repair, and letting go of old images.

Providers refuse calls without results, results without calls and messages with nothing in them; an
interrupt or a crash leaves all three. Pure steps. Not here: the messages (history), shortening (context).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hel_tui.core.vocabulary import AssistantMessage, Image, Message, ToolMessage, UserMessage

MOST_IMAGES = 10
MOST_IMAGE_BYTES = 20 * 1024 * 1024
"""Of all images in a request together; requests have limits, too."""
INTERRUPTED = "Interrupted before it finished; whether it took effect is unknown."


def repaired(history: Sequence[Message]) -> list[Message]:
    """`history` with one result right behind each call, in call order, and nothing without a partner.

    A call without a result gets one that says it was interrupted; a result without a call and an
    assistant message with neither text nor calls are left out; a second result for a call is too.
    """
    out: list[Message] = []
    position = 0
    while position < len(history):
        message = history[position]
        position += 1
        if isinstance(message, ToolMessage):
            continue
        if not isinstance(message, AssistantMessage):
            out.append(message)
            continue
        results: dict[str, ToolMessage] = {}
        while position < len(history) and isinstance(after := history[position], ToolMessage):
            results.setdefault(after.call_id, after)
            position += 1
        if not message.calls:
            if message.text.strip():
                out.append(message)
            continue
        out.append(message)
        out.extend(
            results.get(call.id) or ToolMessage(call.id, call.name, INTERRUPTED, failed=True)
            for call in message.calls
        )
    return _merged_users(out)


def _merged_users(messages: list[Message]) -> list[Message]:
    """Neighbouring user messages as one: some chat templates insist that roles alternate."""
    out: list[Message] = []
    for message in messages:
        if isinstance(message, UserMessage) and out and isinstance(last := out[-1], UserMessage):
            images = last.images + message.images
            out[-1] = replace(last, text=f"{last.text}\n\n{message.text}", images=images)
        else:
            out.append(message)
    return out


def without_old_images(history: Sequence[Message]) -> list[Message]:
    """`history` with its newest images, within MOST_IMAGES and MOST_IMAGE_BYTES. Markers in texts stay."""
    left, room = MOST_IMAGES, MOST_IMAGE_BYTES
    out: list[Message] = []
    for message in reversed(history):
        if isinstance(message, UserMessage | ToolMessage) and message.images:
            kept: list[Image] = []
            for image in reversed(message.images):
                if left == 0 or len(image.data) > room:
                    left = 0
                    break
                left, room = left - 1, room - len(image.data)
                kept.append(image)
            out.append(replace(message, images=tuple(reversed(kept))))
        else:
            out.append(message)
    return out[::-1]
