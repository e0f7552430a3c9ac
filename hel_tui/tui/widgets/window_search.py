"""Going from match to match in a window without hiding the rest: looked for a slice at a time.

Not here: what matches (the window), highlighting (log_layout).
"""

from __future__ import annotations

from collections.abc import Callable

from hel_tui.tui.widgets.window_sieve import SLICE, Chunks, Matches


class Seeker:
    """Looks for the next match from a number on, upwards or downwards, once around."""

    def __init__(self, matches: Matches, at: int, step: int, first: int, end: int) -> None:
        """`step` is 1 or -1; the match at `at` itself comes last."""
        self._matches = matches
        self._chunks = Chunks()
        self._step = step
        at = min(max(at, first - 1), end)
        if step > 0:
            ahead, around = (at + 1, end), (first, at + 1)
        else:
            ahead, around = (first, at), (at, end)
        self._around = around
        self._ranges = [(start, stop) for start, stop in (ahead, around) if start < stop]
        self._whole = sum(stop - start for start, stop in self._ranges)

    @property
    def is_around(self) -> bool:
        """Whether it has passed an end of the window."""
        start, stop = self._around
        return bool(self._ranges) and start <= self._ranges[0][0] and self._ranges[0][1] <= stop

    @property
    def progress(self) -> float:
        """How much has been looked at: 0 to 1."""
        left = sum(stop - start for start, stop in self._ranges)
        return 1.0 - left / self._whole if self._whole else 1.0

    def go(self, shown: Callable[[int], bool], seconds: float = SLICE) -> int | None:
        """Look on for so long: the number found, -1 when there is none, None when there is more to look at.

        Raises ValueError for a search that is none.
        """
        clock = self._chunks.clock
        until = clock() + seconds
        while self._ranges:
            start, stop = self._ranges[0]
            began = clock()
            if self._step > 0:
                cut = min(start + self._chunks.size, stop)
                found, left = self._matches(start, cut), (cut, stop)
            else:
                cut = max(stop - self._chunks.size, start)
                found, left = self._matches(cut, stop), (start, cut)
            self._chunks.learn(clock() - began)
            hits = [number for number in found if shown(number)]
            if hits:
                return hits[0] if self._step > 0 else hits[-1]
            if left[0] < left[1]:
                self._ranges[0] = left
            else:
                del self._ranges[0]
            if clock() >= until:
                break
        return None if self._ranges else -1
