"""JSON as a tree that folds: members, long strings as the lines they say, a search, values and paths to copy.

Only the rows that are seen are drawn; a body of a megabyte is read in slices, its beginning is there at once.
Not here: reading JSON (text/json_tree), the line to type a search into (json_view_pane).
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left, bisect_right
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from hel_tui.tui import keymap
from hel_tui.tui.safe import clean
from hel_tui.tui.strings import t
from hel_tui.tui.text.json_tree import JsonTree, Kind
from hel_tui.tui.widgets.components import component_style
from hel_tui.tui.widgets.json_view_rows import LONG, head_of, string_rows
from hel_tui.tui.widgets.lines import Line, LineView, Part
from hel_tui.tui.widgets.log_layout import Wanted, emphasised, fitted

FIRST_SLICE, SLICE = 0.02, 0.012
"""Seconds of reading when a text is shown, and in each frame after."""
MOST_MATCHES = 10_000
OPEN_TEXT = 20_000
"""Characters of text that is no JSON which are shown wrapped at once."""
_GROUNDED = frozenset({"found", "found-here"})


class JsonView(LineView, can_focus=True):
    """A JSON text. `show` it; call `poll` once a frame while it is there."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("json")
    DEFAULT_CSS = """
    JsonView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        & > .line--magenta { color: $secondary; }
        & > .line--found { background: $warning 40%; color: $foreground; }
        & > .line--found-here { background: $warning; color: $background; text-style: bold; }
        &:nocolor > .line--found { text-style: underline; }
        &:nocolor > .line--found-here { text-style: reverse; }
        &:ansi > .line--found { color: ansi_default; background: ansi_default; text-style: underline; }
        &:ansi > .line--found-here { color: ansi_default; background: ansi_default; text-style: reverse; }
    }
    """

    class CopyRequested(Message):
        """Put `text` on the clipboard and say `said`. Both are clean."""

        def __init__(self, text: str, said: str) -> None:
            super().__init__()
            self.text, self.said = text, said

    class SearchRequested(Message):
        """Open a line to type a search of `view` into."""

        def __init__(self, view: JsonView) -> None:
            super().__init__()
            self.view = view

    def __init__(self, text: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.source = JsonTree("")
        self.cursor = 0
        """The line of the view the cursor is in."""
        self.empty = ""
        """What to say when there is no text."""
        self.matches: list[int] = []
        """Where what is searched for begins in the text."""
        self.match = -1
        """The number of the match stood at, -1 for none."""
        self._sought: Wanted | None = None
        self._search_text = ""
        self._visible = array("q")
        """The tree's row in each line; one that takes several lines stands there as often."""
        self._taken = 0
        """How many rows of the tree were looked at for `_visible`."""
        self._folded: set[int] = set()
        self._tall: dict[int, list[str]] = {}
        """Lines of the strings that are open."""
        self._width = 0
        self._pending = text

    def on_mount(self) -> None:
        if self._pending:
            self.show(self._pending)

    # --------------------------------------------------------------- the text

    @property
    def text(self) -> str:
        return self.source.text

    def show(self, text: str) -> None:
        """Show another text, from its top, all open. Foreign text."""
        self._pending = ""
        self.source = JsonTree(text)
        self._visible, self._taken = array("q"), 0
        self._folded, self._tall = set(), {}
        self.cursor = 0
        self.matches, self.match = [], -1
        self._read(FIRST_SLICE)
        if self._search_text:
            self.search(self._search_text, go=False)
        self.scroll_home(animate=False, immediate=True, force=True)
        self.refresh()

    def poll(self) -> bool:
        """Once a frame: read on. Say whether there was something to read."""
        if self.source.done:
            return False
        self._read(SLICE)
        if self._search_text:
            self.search(self._search_text, go=False)
        self.refresh()
        return True

    def _read(self, seconds: float) -> None:
        tree = self.source
        tree.read(seconds)
        self._visible.extend(range(self._taken, len(tree)))  # while it is read nothing is folded
        self._taken = len(tree)
        if tree.done and tree.broken_at >= 0 and len(tree.text) - tree.broken_at <= OPEN_TEXT:
            for row in range(tree.row_at(tree.broken_at), len(tree)):
                if tree.kind(row) is Kind.TEXT:
                    self._open_tall(row)
        self.set_height(len(self._visible))

    # -------------------------------------------------------------- folding

    def _index(self, row: int) -> int:
        """The first line of a row that is shown, or of the next that is."""
        return bisect_left(self._visible, row)

    @property
    def row(self) -> int:
        """The tree's row under the cursor, -1 for none."""
        return self._visible[self.cursor] if self.cursor < len(self._visible) else -1

    def _fold(self, row: int) -> None:
        """Hide what is in a container; one that is not read whole stays open."""
        mate = self.source.mates[row]
        if not self.source.done or mate < 0 or row in self._folded:
            return
        self._folded.add(row)
        del self._visible[bisect_right(self._visible, row) : bisect_right(self._visible, mate)]

    def _unfold(self, row: int) -> None:
        if row not in self._folded:
            return
        self._folded.discard(row)
        at = bisect_right(self._visible, row)
        self._visible[at:at] = self._inside(row + 1, self.source.mates[row] + 1)

    def _inside(self, start: int, stop: int) -> array[int]:
        """The rows start..stop-1 that are not folded away, each as often as it has lines."""
        shown: array[int] = array("q")
        row = start
        special = sorted(one for one in {*self._folded, *self._tall} if start <= one < stop)
        for one in special:
            if one < row:
                continue
            shown.extend(range(row, one))
            shown.extend([one] * len(self._tall.get(one, " ")))
            row = self.source.mates[one] + 1 if one in self._folded else one + 1
        shown.extend(range(row, stop))
        return shown

    def _open_tall(self, row: int) -> None:
        """Show a string or a line of text as the lines it says."""
        rows = string_rows(self.source, row, max(self.columns, 2))
        if len(rows) < 2 or row in self._tall:
            return
        self._tall[row] = rows
        at = self._index(row)
        if at < len(self._visible) and self._visible[at] == row:
            self._visible[at : at + 1] = array("q", [row] * len(rows))

    def _close_tall(self, row: int) -> None:
        if self._tall.pop(row, None) is None:
            return
        at, stop = self._index(row), bisect_right(self._visible, row)
        self._visible[at:stop] = array("q", [row])

    def _changed(self, row: int) -> None:
        """Lines came or went: keep the cursor on `row` and in view."""
        self.set_height(len(self._visible))
        self._go_to(min(self._index(row), max(len(self._visible) - 1, 0)))

    def on_resize(self) -> None:
        """Lines of open strings are as long as the view is wide."""
        if self._width == self.columns:
            return
        self._width = self.columns
        row = self.row
        for one in list(self._tall):
            self._close_tall(one)
            self._open_tall(one)
        if self._visible:
            self._changed(max(row, 0))

    # --------------------------------------------------------------- drawing

    def line_at(self, y: int) -> Line:
        if y >= len(self._visible):
            return [(f" {clean(self.empty, newlines=False)}", "muted")] if y == 0 and self.empty else ()
        row = self._visible[y]
        part = y - self._index(row)
        if (rows := self._tall.get(row)) is not None:
            line = self._tall_line(row, rows, part)
        else:
            line = head_of(self.source, row, self.columns, row in self._folded)
        if self._sought is not None:
            here = 0 <= self.match < len(self.matches) and self.source.row_at(self.matches[self.match]) == row
            line = emphasised(line, self._sought, "found-here" if here else "found")
        return fitted(line, self.columns)

    def _tall_line(self, row: int, rows: list[str], part: int) -> list[Part]:
        """A line of a string that is open: the first with its key."""
        line = head_of(self.source, row, self.columns, False, rows[part])
        if part == 0:
            return line
        style = "ok" if self.source.kind(row) is Kind.STRING else ""
        return [line[0], ("┊ ", "frame"), (rows[part], style)]

    def style_of(self, name: str) -> Style:
        if name in _GROUNDED and name not in self._styles_of:
            self._styles_of[name] = super().style_of("") + component_style(self, f"line--{name}")
        return super().style_of(name)

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if y + self.scroll_offset.y == self.cursor and self.has_focus and self._visible:
            cursor = self.style_of("cursor")
            return Strip([Segment(text, (style or cursor) + cursor) for text, style, _ in strip])
        return strip

    # ------------------------------------------------------------------ keys

    def _go_to(self, line: int) -> None:
        """Put the cursor on a line and bring it into view."""
        if not self._visible:
            return
        self.cursor = min(max(line, 0), len(self._visible) - 1)
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        if not top <= self.cursor < top + height:
            goal = self.cursor if self.cursor < top else self.cursor - height + 1
            self.scroll_to(y=goal, animate=False, immediate=True, force=True)
        self.refresh()

    def action_move(self, by: int) -> None:
        self._go_to(self.cursor + by)

    def action_pages(self, pages: int) -> None:
        self.action_move(pages * max(self.size.height - 1, 1))

    def action_first(self) -> None:
        self._go_to(0)

    def action_last(self) -> None:
        self._go_to(len(self._visible) - 1)

    def action_fold(self) -> None:
        """Fold or open what the cursor is on; on a bracket, what it closes."""
        row = self.row
        if row < 0:
            return
        if self.source.kind(row) is Kind.CLOSE:
            row = self.source.mates[row]
        if self.source.is_container(row):
            (self._unfold if row in self._folded else self._fold)(row)
        elif row in self._tall:
            self._close_tall(row)
        else:
            self._open_tall(row)
        self._changed(row)

    def action_open(self) -> None:
        """Open what is folded; what is open, go into."""
        row = self.row
        if row < 0:
            return
        if row in self._folded or (not self.source.is_container(row) and row not in self._tall):
            self.action_fold()
        else:
            self.action_move(1)

    def action_close(self) -> None:
        """Fold what is open; what is not, go out of."""
        row = self.row
        if row < 0:
            return
        if (self.source.is_container(row) and row not in self._folded) or row in self._tall:
            self.action_fold()
        elif (parent := self.source.parent(row)) >= 0:
            self._go_to(self._index(parent))

    def action_fold_all(self) -> None:
        """Fold all but the outermost."""
        if not self.source.done or self.row < 0:
            return
        row = self.row
        self._tall.clear()
        self._folded = {
            one
            for one in range(len(self.source))
            if self.source.depths[one] > 0 and self.source.is_container(one)
        }
        self._visible = self._inside(0, len(self.source))
        while self._index(row) >= len(self._visible) or self._visible[self._index(row)] != row:
            row = max(self.source.parent(row), 0)
        self._changed(row)

    def action_open_all(self) -> None:
        """Open all containers."""
        row = max(self.row, 0)
        self._folded.clear()
        self._visible = self._inside(0, self._taken)
        self._changed(row)

    def action_copy(self) -> None:
        if self.row >= 0:
            self.post_message(self.CopyRequested(clean(self.source.value(self.row)), t("copied.value")))

    def action_path(self) -> None:
        if self.row >= 0:
            path = clean(self.source.path(self.row), newlines=False)
            self.post_message(self.CopyRequested(path, t("copied.path", path=path[:80])))

    def action_whole(self) -> None:
        if self.text:
            said = t("copied.whole", n=f"{len(self.text):,}")
            self.post_message(self.CopyRequested(clean(self.text), said))

    def on_click(self, event: events.Click) -> None:
        """A click goes there; on the sign before a container, or a second one, folds."""
        line = event.y + self.scroll_offset.y
        if line >= len(self._visible):
            return
        self._go_to(line)
        drawn = head_of(self.source, self.row, self.columns, self.row in self._folded)
        if event.chain > 1 or event.x < len(drawn[0][0]) + 2:
            self.action_fold()

    # ---------------------------------------------------------------- search

    def action_search(self) -> None:
        self.post_message(self.SearchRequested(self))

    def search(self, text: str, *, go: bool = True) -> int:
        """Find `text` in any case, in keys and values; return how often. Empty ends the search."""
        self._search_text = text
        if not text:
            self._sought, self.matches, self.match = None, [], -1
            self.refresh()
            return 0
        self._sought = Wanted(re.compile(re.escape(text), re.IGNORECASE), LONG)
        # A body may have written it with escapes.
        forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
        pattern = re.compile("|".join(re.escape(form) for form in sorted(forms)), re.IGNORECASE)
        self.matches = []
        for match in pattern.finditer(self.text):
            self.matches.append(match.start())
            if len(self.matches) >= MOST_MATCHES:
                break
        self.match = -1
        if go and self.matches:
            place = self.source.places[self.row] if self.row >= 0 else 0
            self._go_to_match(bisect_left(self.matches, place) % len(self.matches))
        self.refresh()
        return len(self.matches)

    def _go_to_match(self, number: int) -> None:
        self.match = number
        row = self.source.row_at(self.matches[number])
        above = self.source.parent(row)
        folded: list[int] = []
        while above >= 0:
            if above in self._folded:
                folded.append(above)
            above = self.source.parent(above)
        for one in reversed(folded):
            self._unfold(one)
        self._changed(row)

    def action_match(self, step: int) -> None:
        """To the next or the previous match, around the ends."""
        if not self._search_text:
            raise SkipAction
        if self.matches:
            start = self.match if self.match >= 0 or step > 0 else 0
            self._go_to_match((start + step) % len(self.matches))

    def facts(self) -> list[Part]:
        """How much is read, and where the search stands."""
        facts: list[Part] = []
        if not self.source.done:
            facts.append((t("json.reading", percent=int(self.source.progress * 100)), "accent"))
        if self._search_text:
            found = t("json.count", at=self.match + 1, n=f"{len(self.matches):,}")
            facts.append((found if self.matches else t("json.no_match"), "accent"))
        return facts
