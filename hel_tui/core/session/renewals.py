"""What came of saves: kept to be looked at, the oldest let go, and said in a sentence.

Not here: renewing (author), calling again (reruns).
"""

from __future__ import annotations

import itertools

from hel_tui.core import protocol as p

KEPT = 100
"""Renewals that can be looked at."""
MAX_KEPT = 16_000_000
"""Characters of results in all of them; beyond, the oldest are let go, but never the newest."""
MAX_SENTENCE = 200


class Renewals:
    """Of one session. `get` is safe from any thread."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._kept: dict[int, p.Renewal] = {}
        self._sizes: dict[int, int] = {}

    def next_number(self) -> int:
        """From 1, in this run."""
        return next(self._numbers)

    def get(self, number: int) -> p.Renewal | None:
        """None when it is not kept."""
        return self._kept.get(number)

    def keep(self, renewal: p.Renewal) -> None:
        """Keep a renewal, or what is known of it by now."""
        self._kept[renewal.number] = renewal
        self._sizes[renewal.number] = _size(renewal)
        while len(self._kept) > 1 and (len(self._kept) > KEPT or sum(self._sizes.values()) > MAX_KEPT):
            oldest = next(iter(self._kept))
            del self._kept[oldest], self._sizes[oldest]

    def clear(self) -> None:
        """Forget them; numbers go on."""
        self._kept.clear()
        self._sizes.clear()


def _size(renewal: p.Renewal) -> int:
    """Characters of its results."""
    return sum(
        len(one.arguments) + len(one.before) + len(one.after) + (len(one.check.diff) if one.check else 0)
        for one in renewal.reruns
    )


def sentence(renewal: p.Renewal, still_up: bool, *, left: int) -> str:
    """What came of a save, the worst first, in at most 200 characters; the files are told beside it.

    `left`: calls that are not made again yet, or were not because the next save came first.
    """
    if renewal.state == "broken":
        then = "the one before still answers" if still_up else "it is tried again with the next save"
        return f"the new one did not come up ({renewal.reason}); {then}"[:MAX_SENTENCE]
    answers = "the new one answers"
    if renewal.running:
        return f"{answers}; {left} {'is' if left == 1 else 'are'} being called again"
    told = []
    if renewal.reruns:
        differ = sum(not one.same for one in renewal.reruns)
        told.append(f"{len(renewal.reruns)} called again, {differ} with another result")
    wrong = renewal.failed
    told = [f"{wrong} failed", answers, *told] if wrong else [answers, *told]
    told += [f"{left} not called again, the next save came first"] if left else []
    told += [f"{renewal.asking} not called again, it asks you meanwhile"] if renewal.asking else []
    return "; ".join(told)[:MAX_SENTENCE]
