"""What two texts differ in, by lines, within bounds: foreign texts may be made to keep a comparison busy.

Nothing of hel is used here: core and screens both use it. Not here: values (whoever compares them).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import accumulate

STEPS = 4_000_000
"""Places looked at for one comparison, about half a second; what is unlike then stays one block."""
MAX_LINE = 2_000
"""Characters of a line that are shown, around what is different."""
_BEFORE = 200
"""Of these, before the first difference."""
_CONTEXT = 3


class Matcher(difflib.SequenceMatcher[str]):
    """Lines that two texts share, found within `STEPS`: beyond, what was not looked at counts as unlike."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        self._before, self._after = before, after
        self._blocks: list[difflib.Match] = []

    def get_matching_blocks(self) -> list[difflib.Match]:
        """As difflib has it: blocks in order, the last one empty."""
        if self._blocks:
            return self._blocks
        before, after = self._before, self._after
        shorter = min(len(before), len(after))
        head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
        most = shorter - head
        tail = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
        ends = len(before) - tail, len(after) - tail
        found = [*self._found(head, *ends), (0, 0, head), (*ends, tail)]
        joined: list[difflib.Match] = []
        for i, j, size in sorted(one for one in found if one[2]):
            last = joined[-1] if joined else None
            if last is not None and last.a + last.size == i and last.b + last.size == j:
                joined[-1] = difflib.Match(last.a, last.b, last.size + size)
            else:
                joined.append(difflib.Match(i, j, size))
        self._blocks = [*joined, difflib.Match(len(before), len(after), 0)]
        return self._blocks

    def _found(self, head: int, end: int, other_end: int) -> Iterator[tuple[int, int, int]]:
        """The longest block, and so on before and behind it, as long as steps are left."""
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined]  # difflib's own index
        sums = [0, *accumulate(1 + len(places.get(line, ())) for line in self._before)]
        left = STEPS
        parts = [(head, end, head, other_end)]
        while parts:
            alo, ahi, blo, bhi = parts.pop()
            cost = sums[ahi] - sums[alo]
            if alo >= ahi or blo >= bhi or cost > left:
                continue
            left -= cost
            i, j, size = self.find_longest_match(alo, ahi, blo, bhi)
            if size:
                yield i, j, size
                parts += [(alo, i, blo, j), (i + size, ahi, j + size, bhi)]


def unified(before: str, after: str, names: tuple[str, str], most: int) -> str:
    """A unified diff, at most `most` lines, the rest counted; empty when they say the same."""
    old, new = before.splitlines(), after.splitlines()
    lines: list[str] = []
    left_out = 0
    for group in Matcher(old, new).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        lines += [] if lines else [f"--- {names[0]}", f"+++ {names[1]}"]
        lines.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@")
        for tag, i1, i2, j1, j2 in group:
            room = max(most - len(lines), 0)
            if tag == "equal":
                lines += [f" {_cut(line)}" for line in old[i1 : min(i2, i1 + room)]]
                left_out += max(i2 - i1 - room, 0)
                continue
            gone = min(i2 - i1, max(room // 2, room - (j2 - j1)))
            come = min(j2 - j1, room - gone)
            starts = [_start(old[i1 + at], new[j1 + at]) for at in range(min(i2 - i1, j2 - j1, room))]
            lines += _signed("-", old[i1 : i1 + gone], starts)
            lines += _signed("+", new[j1 : j1 + come], starts)
            left_out += i2 - i1 - gone + j2 - j1 - come
    return "\n".join([*lines, f"… {left_out:,} more lines"] if left_out else lines)


def _signed(sign: str, lines: Sequence[str], starts: Sequence[int]) -> list[str]:
    return [sign + _cut(line, starts[at] if at < len(starts) else 0) for at, line in enumerate(lines)]


def _start(old: str, new: str) -> int:
    """From where on two lines are shown, so that what is different of them is seen."""
    if max(len(old), len(new)) <= MAX_LINE:
        return 0
    shorter = min(len(old), len(new))
    at = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    return at - _BEFORE if at > MAX_LINE // 2 else 0


def _cut(line: str, start: int = 0) -> str:
    if not start and len(line) <= MAX_LINE:
        return line
    shown = line[start : start + MAX_LINE]
    return f"{'…' if start else ''}{shown}{'…' if start + MAX_LINE < len(line) else ''}"


def _range(start: int, end: int) -> str:
    """A range of lines as unified diffs have it."""
    size = end - start
    return f"{start + 1}" if size == 1 else f"{start + 1 if size else start},{size}"
