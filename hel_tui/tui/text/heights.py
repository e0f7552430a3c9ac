"""Heights of many blocks and where each begins: sums and searches in O(log n) (a Fenwick tree).

Not here: what the blocks are.
"""

from __future__ import annotations


class Heights:
    """A growing list of heights (whole numbers, 0 or more)."""

    __slots__ = ("_tree", "_values", "total")

    def __init__(self) -> None:
        self._values: list[int] = []
        self._tree: list[int] = [0]
        self.total = 0
        """Sum of all heights."""

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> int:
        return self._values[index]

    def append(self, height: int) -> None:
        """Add a block after the last one."""
        self._values.append(height)
        number = len(self._values)
        # A node covers its own value and the nodes of the ranges just below it.
        node = height
        step = 1
        while step < number & -number:
            node += self._tree[number - step]
            step <<= 1
        self._tree.append(node)
        self.total += height

    def set(self, index: int, height: int) -> None:
        """Change the height of block `index`."""
        delta = height - self._values[index]
        if not delta:
            return
        self._values[index] = height
        self.total += delta
        number = index + 1
        while number < len(self._tree):
            self._tree[number] += delta
            number += number & -number

    def top(self, index: int) -> int:
        """The sum of all heights before block `index`."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def at(self, y: int) -> tuple[int, int]:
        """(block, row in it) at row `y`; blocks of height 0 are never found.

        Past the end: (number of blocks, rows past the end).
        """
        if y < 0:
            y = 0
        index = 0
        step = 1 << (len(self._values).bit_length())
        while step:
            after = index + step
            if after < len(self._tree) and self._tree[after] <= y:
                index = after
                y -= self._tree[after]
            step >>= 1
        return index, y
