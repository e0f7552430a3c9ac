"""Which rows of a JSON tree stand in which lines: what is folded away, which strings are open.

Not here: reading the tree (text/json_tree), cursor and drawing (json_view).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

from hel_tui.tui.text.json_tree import JsonTree, Kind
from hel_tui.tui.widgets.json_view_rows import string_rows

OPEN_TEXT = 20_000
"""Characters of text that is no JSON which are shown wrapped at once."""


class Folds:
    """The lines of a text. Until it is read whole nothing is folded."""

    def __init__(self, text: str, width: int) -> None:
        self.tree = JsonTree(text)
        self.width = width
        self.tall: dict[int, list[str]] = {}
        """By row: the lines of the strings that are open."""
        self._folded: set[int] = set()
        self._visible = array("q")
        """The row in each line; one that takes several lines stands there as often."""
        self._taken = 0

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self._visible)

    def __getitem__(self, line: int) -> int:
        """The row in a line."""
        return self._visible[line]

    def line(self, row: int) -> int:
        """The first line of a row that is shown, or of the next that is."""
        return bisect_left(self._visible, row)

    def is_shown(self, row: int) -> bool:
        at = self.line(row)
        return at < len(self._visible) and self._visible[at] == row

    def is_folded(self, row: int) -> bool:
        return row in self._folded

    def read(self, seconds: float) -> None:
        """Read on for so long."""
        tree = self.tree
        tree.read(seconds)
        self._visible.extend(range(self._taken, len(tree)))
        self._taken = len(tree)
        if tree.done and tree.broken_at >= 0 and len(tree.text) - tree.broken_at <= OPEN_TEXT:
            for row in range(tree.row_at(tree.broken_at), len(tree)):
                if tree.kind(row) is Kind.TEXT:
                    self.open_tall(row)

    # ---------------------------------------------------------------- one row

    def toggle(self, row: int) -> int:
        """Fold or open a row, or the container whose bracket it is; return the row that is meant."""
        if self.tree.kind(row) is Kind.CLOSE:
            row = self.tree.mates[row]
        if self.tree.is_container(row):
            (self.unfold if row in self._folded else self.fold)(row)
        elif row in self.tall:
            self.close_tall(row)
        else:
            self.open_tall(row)
        return row

    def is_open(self, row: int) -> bool:
        """Whether there is something about a row to fold."""
        return row in self.tall if not self.tree.is_container(row) else row not in self._folded

    def fold(self, row: int) -> None:
        """Hide what is in a container; one that is not read whole stays open."""
        mate = self.tree.mates[row]
        if not self.tree.done or mate < 0 or row in self._folded:
            return
        self._folded.add(row)
        del self._visible[bisect_right(self._visible, row) : bisect_right(self._visible, mate)]

    def unfold(self, row: int) -> None:
        """Show what is in a container again, folded within as it was."""
        if row not in self._folded:
            return
        self._folded.discard(row)
        at = bisect_right(self._visible, row)
        self._visible[at:at] = self._inside(row + 1, self.tree.mates[row] + 1)

    def open_tall(self, row: int) -> None:
        """Show a string or a line of text as the lines it says; a short one stays."""
        rows = string_rows(self.tree, row, max(self.width, 2))
        if len(rows) < 2 or row in self.tall:
            return
        self.tall[row] = rows
        if self.is_shown(row):
            at = self.line(row)
            self._visible[at : at + 1] = array("q", [row] * len(rows))

    def close_tall(self, row: int) -> None:
        if self.tall.pop(row, None) is not None and self.is_shown(row):
            at, stop = self.line(row), bisect_right(self._visible, row)
            self._visible[at:stop] = array("q", [row])

    def _inside(self, start: int, stop: int) -> array[int]:
        """The rows start..stop-1 that are not folded away, each as often as it has lines."""
        shown: array[int] = array("q")
        row = start
        for one in sorted(one for one in {*self._folded, *self.tall} if start <= one < stop):
            if one < row:
                continue
            shown.extend(range(row, one))
            shown.extend([one] * len(self.tall.get(one, " ")))
            row = self.tree.mates[one] + 1 if one in self._folded else one + 1
        shown.extend(range(row, stop))
        return shown

    # --------------------------------------------------------------- all rows

    def reveal(self, row: int) -> None:
        """Open every container that hides a row."""
        above = self.tree.parent(row)
        folded = len(self._folded)
        while above >= 0:
            self._folded.discard(above)
            above = self.tree.parent(above)
        if len(self._folded) < folded:
            self._visible = self._inside(0, self._taken)

    def fold_all(self) -> None:
        """Fold every container but the outermost."""
        tree = self.tree
        if tree.done:
            self.tall.clear()
            rows = range(len(tree))
            self._folded = {one for one in rows if tree.depths[one] > 0 and tree.mates[one] > one}
            self._visible = self._inside(0, len(tree))

    def open_all(self) -> None:
        """Open every container."""
        self._folded.clear()
        self._visible = self._inside(0, self._taken)

    def shown_above(self, row: int) -> int:
        """A row that is shown: this one, or the container that hides it."""
        while row > 0 and not self.is_shown(row):
            row = max(self.tree.parent(row), 0)
        return row

    def resize(self, width: int) -> None:
        """Lines of open strings are as long as the view is wide."""
        self.width = width
        for row in list(self.tall):
            self.close_tall(row)
            self.open_tall(row)
