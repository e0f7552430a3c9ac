"""JSON as a tree that folds: members, long strings as the lines they say, a search, values and paths to copy.

Only the rows that are seen are drawn; a body of a megabyte is read in slices, its beginning is there at once.
Not here: reading JSON (text/json_tree), what is folded (json_view_folds), the line to type a search into
(json_view_pane).
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
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
from hel_tui.tui.text.json_tree import Kind
from hel_tui.tui.widgets.components import component_style
from hel_tui.tui.widgets.json_view_folds import Folds
from hel_tui.tui.widgets.json_view_rows import LONG, head_of
from hel_tui.tui.widgets.lines import Line, LineView, Part
from hel_tui.tui.widgets.log_layout import Wanted, emphasised, fitted

FIRST_SLICE, SLICE = 0.02, 0.012
"""Seconds of reading when a text is shown, and in each frame after."""
MOST_MATCHES = 10_000
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
        self.folds = Folds("", 0)
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
        self._from = 0
        """Where in the text a search begins."""
        self._pending = text

    def on_mount(self) -> None:
        if self._pending:
            self.show(self._pending)

    # --------------------------------------------------------------- the text

    @property
    def text(self) -> str:
        return self.folds.tree.text

    @property
    def row(self) -> int:
        """The tree's row under the cursor, -1 for none."""
        return self.folds[self.cursor] if self.cursor < len(self.folds) else -1

    def show(self, text: str) -> None:
        """Show another text, from its top, all open. Foreign text."""
        self._pending = ""
        self.folds = Folds(text, self.columns)
        self.cursor = 0
        self.matches, self.match = [], -1
        self._read(FIRST_SLICE)
        self.scroll_home(animate=False, immediate=True, force=True)

    def poll(self) -> bool:
        """Once a frame: read on. Say whether there was something to read."""
        if self.folds.tree.done:
            return False
        self._read(SLICE)
        return True

    def _read(self, seconds: float) -> None:
        self.folds.read(seconds)
        self.set_height(len(self.folds))
        if self._search_text:
            self.search(self._search_text, go=False)
        self.refresh()

    def _changed(self, row: int) -> None:
        """Lines came or went: keep the cursor on `row` and in view."""
        self.set_height(len(self.folds))
        self._go_to(self.folds.line(row))

    def on_resize(self) -> None:
        if self.folds.width != self.columns:
            row = max(self.row, 0)
            self.folds.resize(self.columns)
            self._changed(row)

    # --------------------------------------------------------------- drawing

    def line_at(self, y: int) -> Line:
        folds = self.folds
        if y >= len(folds):
            return [(f" {clean(self.empty, newlines=False)}", "muted")] if y == 0 and self.empty else ()
        row = folds[y]
        if (rows := folds.tall.get(row)) is not None:
            line = self._tall_line(row, rows, y - folds.line(row))
        else:
            line = head_of(folds.tree, row, self.columns, folds.is_folded(row))
        if self._sought is not None:
            here = self.match >= 0 and folds.tree.row_at(self.matches[self.match]) == row
            line = emphasised(line, self._sought, "found-here" if here else "found")
        return fitted(line, self.columns)

    def _tall_line(self, row: int, rows: list[str], part: int) -> list[Part]:
        """A line of a string that is open: the first with its key."""
        tree = self.folds.tree
        line = head_of(tree, row, self.columns, False, rows[part])
        if part == 0:
            return line
        return [line[0], ("┊ ", "frame"), (rows[part], "ok" if tree.kind(row) is Kind.STRING else "")]

    def style_of(self, name: str) -> Style:
        if name in _GROUNDED and name not in self._styles_of:
            self._styles_of[name] = super().style_of("") + component_style(self, f"line--{name}")
        return super().style_of(name)

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if y + self.scroll_offset.y == self.cursor and self.has_focus and self.folds:
            cursor = self.style_of("cursor")
            return Strip([Segment(text, (style or cursor) + cursor) for text, style, _ in strip])
        return strip

    # ------------------------------------------------------------------ keys

    def _go_to(self, line: int) -> None:
        """Put the cursor on a line and bring it into view."""
        if not self.folds:
            return
        self.cursor = min(max(line, 0), len(self.folds) - 1)
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
        self._go_to(len(self.folds) - 1)

    def action_fold(self) -> None:
        """Fold or open what the cursor is on; on a bracket, what it closes."""
        if self.row >= 0:
            self._changed(self.folds.toggle(self.row))

    def action_open(self) -> None:
        """Open what is folded; what is open, go into."""
        row, before = self.row, len(self.folds)
        if row >= 0 and not self.folds.is_open(row):
            self.action_fold()
        if row >= 0 and len(self.folds) == before:
            self.action_move(1)

    def action_close(self) -> None:
        """Fold what is open; what is not, go out of."""
        row = self.row
        if row < 0:
            return
        if self.folds.is_open(row):
            self.action_fold()
        elif (parent := self.folds.tree.parent(row)) >= 0:
            self._go_to(self.folds.line(parent))

    def action_fold_all(self) -> None:
        """Fold all but the outermost."""
        if self.row >= 0:
            row = self.row
            self.folds.fold_all()
            self._changed(self.folds.shown_above(row))

    def action_open_all(self) -> None:
        """Open all containers."""
        row = max(self.row, 0)
        self.folds.open_all()
        self._changed(row)

    def action_copy(self) -> None:
        if self.row >= 0:
            self.post_message(self.CopyRequested(clean(self.folds.tree.value(self.row)), t("copied.value")))

    def action_path(self) -> None:
        if self.row >= 0:
            path = clean(self.folds.tree.path(self.row), newlines=False)
            self.post_message(self.CopyRequested(path, t("copied.path", path=path[:80])))

    def action_whole(self) -> None:
        if self.text:
            said = t("copied.whole", n=f"{len(self.text):,}")
            self.post_message(self.CopyRequested(clean(self.text), said))

    def on_click(self, event: events.Click) -> None:
        """A click goes there; on the sign before a container, or a second one, folds."""
        line = event.y + self.scroll_offset.y
        if line >= len(self.folds):
            return
        self._go_to(line)
        drawn = head_of(self.folds.tree, self.row, self.columns, self.folds.is_folded(self.row))
        if event.chain > 1 or event.x < len(drawn[0][0]) + 2:
            self.action_fold()

    # ---------------------------------------------------------------- search

    def action_search(self) -> None:
        self._from = self._place
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
            self._go_to_match(bisect_left(self.matches, self._from) % len(self.matches))
        self.refresh()
        return len(self.matches)

    @property
    def _place(self) -> int:
        """Where in the text the cursor is."""
        return self.folds.tree.places[self.row] if self.row >= 0 else 0

    def _go_to_match(self, number: int) -> None:
        self.match = number
        row = self.folds.tree.row_at(self.matches[number])
        self.folds.reveal(row)
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
        if not self.folds.tree.done:
            facts.append((t("json.reading", percent=int(self.folds.tree.progress * 100)), "accent"))
        if self._search_text:
            found = t("json.count", at=self.match + 1, n=f"{len(self.matches):,}")
            facts.append((found if self.matches else t("json.no_match"), "accent"))
        return facts
