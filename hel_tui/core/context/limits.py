"""When a conversation is too long for its model, and how much of it stays then.

Pure functions of a model's window. Not here: measuring (meter), what is done about it (agent.compaction).
"""

from __future__ import annotations

from dataclasses import dataclass

FILLED = 0.8
"""Part of the window that is never gone beyond."""
MARGIN = 65_536
"""Tokens kept free for what one step may bring, in a large window."""
LEAST = 0.25
"""Part of the window that the margin must leave; else the window is too small for it."""
TAIL = 0.16
"""Part of the window whose newest messages stay as they are."""
STEP = 0.05
"""Part of the window that has to be added before something that did not help is tried again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens, for one window."""

    window: int
    """0 when unknown: then only the provider says when it is too long."""
    start: int
    """A request above this is shortened before it is sent."""
    reserve: int
    """Kept free of the window for the answer and what comes with it: window - start."""
    most: int
    """A request above this would leave no room for an answer."""
    tail: int
    """Newest messages that stay, at most."""
    step: int
    """What has to be added before another try, after one that did not help."""


def limits(window: int, max_output: int = 0) -> Limits:
    """The limits in a window of so many tokens, for a model whose answers have at most `max_output` (0: not
    known).

    Shortened at the smaller of 0.8 x window and window - output limit - 65,536. Small windows, of local
    models above all, have no room for that margin: where it would leave less than a quarter of the window, it
    is the smaller of 0.8 x window and the window without room for an answer, which is the output limit, at
    most half of the window, and a quarter of it where the limit is not known (8,192 -> 6,144).
    """
    if window <= 0:
        return Limits(0, 0, 0, 0, 0, 0)
    answer = max_output if max_output > 0 else window // 4
    room = window - max_output - MARGIN
    start = min(int(FILLED * window), room)
    if room < LEAST * window:
        start = min(int(FILLED * window), window - min(answer, window // 2))
    most = max(window - min(answer, window // 8), start)
    return Limits(window, start, window - start, most, int(TAIL * window), max(int(STEP * window), 1))
