"""The steps every request's history passes through: repair, and letting go of old images.

Providers refuse calls without results, results without calls and messages with nothing in them; an
interrupt or a crash leaves all three. Pure steps. Not here: the messages (history), shortening (context).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)

MOST_IMAGES = 10
MOST_IMAGE_BYTES = 20 * 1024 * 1024
"""Of all images in a request together; requests have limits, too."""
GO_ON = "Go on."
"""Stands where the model's words answer nothing, and behind them where there is nothing to answer."""
INTERRUPTED = "Interrupted before it finished; whether it took effect is unknown."


def repaired(history: Sequence[Message]) -> list[Message]:
    """`history` with one result right behind each call, in call order, and nothing without a partner.

    A call without a result gets one that says it was interrupted; a result without a call and an
    assistant message with neither text nor calls are left out; a second result for a call is too. Before an
    assistant message stands the person's or a result, and one of those is last: prompts of servers, and
    answers that broke off, have it otherwise.
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
    return _merged_users(_in_turns(out))


def _in_turns(messages: Sequence[Message]) -> list[Message]:
    """The messages, each answer behind something it answers, and something to answer at the end."""
    out: list[Message] = []
    for message in messages:
        is_answer = isinstance(message, AssistantMessage)
        if is_answer and (not out or isinstance(out[-1], AssistantMessage | SystemMessage)):
            out.append(UserMessage(GO_ON))
        out.append(message)
    if out and isinstance(out[-1], AssistantMessage):
        out.append(UserMessage(GO_ON))
    return out


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


def without_old_images(history: Sequence[Message]) -> Sequence[Message]:
    """`history` itself while its images are within MOST_IMAGES and MOST_IMAGE_BYTES; else with the newest of
    them, about half of that. Markers in texts stay.

    Letting go changes what earlier requests said, and with it what a provider's cache holds: so it is done
    for several at a time, and rarely.
    """
    sizes = [len(image.data) for message in history for image in _images(message)]
    gone = max(_too_many(len(sizes)), _too_large(sizes))
    if not gone:
        return history
    out: list[Message] = []
    for message in history:
        if gone > 0 and isinstance(message, UserMessage | ToolMessage) and message.images:
            out.append(replace(message, images=message.images[gone:]))
            gone -= len(message.images)
        else:
            out.append(message)
    return out


def _images(message: Message) -> tuple[Image, ...]:
    return message.images if isinstance(message, UserMessage | ToolMessage) else ()


def images_kept(count: int) -> int:
    """How many of so many images stay, the newest ones."""
    return count - _too_many(count)


def _too_many(count: int) -> int:
    """How many of so many images go, oldest first."""
    half = MOST_IMAGES // 2
    return -((MOST_IMAGES - count) // half) * half if count > MOST_IMAGES else 0


def _too_large(sizes: Sequence[int]) -> int:
    """How many images go because of the bytes of all together."""
    room, half = sum(sizes) - MOST_IMAGE_BYTES, MOST_IMAGE_BYTES // 2
    if room <= 0:
        return 0
    goal, seen = -(-room // half) * half, 0
    for at, size in enumerate(sizes, 1):
        seen += size
        if seen >= goal:
            return at
    return len(sizes)
