"""Which lines or frames of a window a filter lets through: found newest first, a slice at a time.

So the end of a million lines is right at once, and the keys wait for no slice longer than a few milliseconds.
Not here: what a filter means (the window), drawing (window_view).
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from collections.abc import Callable

SLICE, FIRST_SLICE = 0.006, 0.002
"""Seconds of looking in one frame, and at once when a filter is typed: the key is to be seen first."""
FIRST_CHUNK, LARGEST_CHUNK = 64, 16_384
"""Numbers that are looked at in one go: as many as take a fraction of a slice."""
_QUICK, _SLOW = SLICE / 6, SLICE / 2

Matches = Callable[[int, int], list[int]]
"""The numbers among start..stop-1 that are wanted. Raises ValueError for a filter that is none."""


class Chunks:
    """How many numbers to ask for at once, learnt from how long the last ones took."""

    __slots__ = ("clock", "size")

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.size = FIRST_CHUNK

    def learn(self, seconds: float) -> None:
        """The last chunk took so long."""
        if seconds < _QUICK:
            self.size = min(self.size * 2, LARGEST_CHUNK)
        elif seconds > _SLOW:
            self.size = max(self.size // 2, 1)


class Sieve:
    """The numbers that a filter lets through, of a window whose ends move on."""

    def __init__(
        self, matches: Matches, first: int, end: int, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._matches = matches
        self._old = array("q")  # found on the way back: the largest number first
        self._new = array("q")  # came since
        # The newest line may be one that still grows: it is looked at again.
        self._low = self._high = max(end - 1, first)
        self._grows = False
        self._first = first
        self._chunks = Chunks(clock)

    def __len__(self) -> int:
        return len(self._old) + len(self._new)

    def __getitem__(self, row: int) -> int:
        """The number in row `row`, the oldest found in row 0."""
        old = len(self._old)
        return self._old[old - 1 - row] if row < old else self._new[row - old]

    def row(self, number: int) -> int:
        """The first row whose number is this one or larger; their count when there is none."""
        if self._old and number <= self._old[0]:
            return len(self._old) - bisect_left(self._old, -number + 1, key=lambda one: -one)
        return len(self._old) + bisect_left(self._new, number)

    def holds(self, number: int) -> bool:
        """Whether this number was let through."""
        row = self.row(number)
        return row < len(self) and self[row] == number

    @property
    def behind(self) -> bool:
        """Whether there is more to look at in what was there when it was last asked."""
        return self._low > self._first

    @property
    def progress(self) -> float:
        """How much of what is kept was looked at: 0 to 1."""
        there = self._high - self._first
        return 1.0 if there <= 0 else (self._high - max(self._low, self._first)) / there

    def step(self, first: int, end: int, seconds: float = SLICE) -> int:
        """Look at what came, then further back, for so long. Return how many rows came in at the front.

        Negative when rows went: what the window let go of is let go of here.
        """
        self._first = first
        moved = -self._let_go(first)
        clock, until = self._chunks.clock, self._chunks.clock() + seconds
        self._high = max(self._high, first)
        self._look_again()
        while self._high < end:
            began = clock()
            stop = min(self._high + self._chunks.size, end)
            self._new.extend(self._matches(self._high, stop))
            self._high = stop
            self._chunks.learn(clock() - began)
            if clock() >= until and self._high < end:
                return moved
        self._grows = True
        while self._low > first:  # once at least: the newest line alone may take all the time
            began = clock()
            start = max(self._low - self._chunks.size, first)
            found = self._matches(start, self._low)
            self._old.extend(reversed(found))
            self._low = start
            moved += len(found)
            self._chunks.learn(clock() - began)
            if clock() >= until:
                break
        return moved

    def _look_again(self) -> None:
        """Forget what was found about the newest number."""
        if self._grows and self._high > max(self._low, self._first):
            self._high -= 1
            if self._new and self._new[-1] == self._high:
                self._new.pop()
        self._grows = False

    def _let_go(self, first: int) -> int:
        """Forget numbers below `first`; return how many."""
        keep = bisect_left(self._old, -first + 1, key=lambda one: -one)
        gone = len(self._old) - keep
        del self._old[keep:]
        if not self._old:
            below = bisect_left(self._new, first)
            del self._new[:below]
            gone += below
        return gone
