"""What of a conversation may be shortened: long results, and everything before the newest messages.

Pure functions of messages and their costs. Not here: doing it (agent.compaction), the limits (limits).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hel_tui.core.context.meter import Cost, cost_of
from hel_tui.core.vocabulary import Message, ToolMessage, UserMessage

LONG_RESULT = 8_192
"""Characters of a result above which it is cut, where room is needed and it is none of the newest."""
CUT_HEAD, CUT_TAIL = 4_096, 1_024
"""Characters of it that stay."""
SHORT_HEAD, SHORT_TAIL = 1_024, 256
"""Characters that stay where that is still too much."""
LEFT_OUT = "[{count} earlier messages are left out here.]"


def tail_start(history: Sequence[Message], costs: Sequence[Cost], budget: int, most: int) -> int:
    """Where the newest messages begin that stay as they are: within `budget` tokens, never at a result.

    The newest answer with its results, or the newest message, stays whole up to `most` tokens.
    """
    at, left = len(history), budget
    while at > 0 and (left := left - _size(costs[at - 1])) >= 0:
        at -= 1
    while at < len(history) and isinstance(history[at], ToolMessage):
        at += 1
    if at < len(history):
        return at
    newest = newest_step(history)
    return newest if sum(map(_size, costs[newest:])) <= most else len(history)


def newest_step(history: Sequence[Message]) -> int:
    """Where the newest answer with its results begins, or else the newest message."""
    at = len(history)
    while at > 0 and isinstance(history[at - 1], ToolMessage):
        at -= 1
    return max(at - 1, 0)


def fitting_start(history: Sequence[Message], costs: Sequence[Cost], room: int) -> int:
    """The first place at which the conversation can be cut, no answer parted from its results, so that what
    is behind it has at most `room` tokens. The newest message, or answer with results, is never cut off.
    """
    size = sum(map(_size, costs))
    newest = newest_step(history)
    for at, cost in enumerate(costs):
        if at >= newest or (size <= room and not isinstance(history[at], ToolMessage)):
            return at
        size -= _size(cost)
    return newest


def fitted(messages: Sequence[Message], room: int) -> list[Message]:
    """A copy of `messages` within `room` tokens: its longest results are cut to head and tail, then its
    oldest messages left out.
    """
    out = list(messages)
    size = sum(_size(cost_of(one)) for one in out)
    for at in long_results(out, 0, len(out), SHORT_HEAD + SHORT_TAIL + 200):
        if size <= room:
            return out
        text = out[at].text
        cut = len(text) - SHORT_HEAD - SHORT_TAIL
        short = f"{text[:SHORT_HEAD]}\n[… {cut:,} characters are left out here …]\n{text[-SHORT_TAIL:]}"
        size -= (len(text) - len(short)) // 4
        out[at] = replace(out[at], text=short)
    start = fitting_start(out, [cost_of(one) for one in out], room)
    return [UserMessage(LEFT_OUT.format(count=start)), *out[start:]] if start else out


def long_results(history: Sequence[Message], start: int, stop: int, longer_than: int) -> list[int]:
    """The results from `start` to `stop` that are longer than so many characters, the longest first."""
    found = [
        (len(message.text), at)
        for at, message in enumerate(history[start:stop], start)
        if isinstance(message, ToolMessage) and len(message.text) > longer_than
    ]
    return [at for _, at in sorted(found, key=lambda pair: (-pair[0], pair[1]))]


def _size(cost: Cost) -> int:
    return cost.text + cost.images
