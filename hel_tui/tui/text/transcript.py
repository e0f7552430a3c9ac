"""All items of the conversation as rows, laid out when they are looked at.

Heights that nobody has seen are estimates; whoever scrolls asks for exact ones where it looks. The cost
of a change does not depend on how many items there are. Not here: scrolling, keys, colours (the widget).
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, is_clean
from hel_tui.tui.state import (
    AnswerItem,
    CallItem,
    CompactionItem,
    Item,
    NoticeItem,
    ServerItem,
    UserItem,
)
from hel_tui.tui.text import cards, compaction, incidents, messages
from hel_tui.tui.text.heights import Heights
from hel_tui.tui.text.lines import Line
from hel_tui.tui.text.markdown import MarkdownView

DetailFn = Callable[[str], p.CallDetail | None]
PACE = 2_000
"""Characters of an answer that are taken in at a time, so that no frame is long: 15,000 tokens a second."""
LAST_FRAMES = 16
"""An answer that has ended while a long rest of it was not taken in follows in about so many frames."""
KEPT_LAYOUTS = 400
"""Items whose rows are kept; the others keep their height and are laid out again when seen."""


class Entry:
    """One item and its rows. `exact` says that its height is that of its rows."""

    __slots__ = ("cleaned", "exact", "expanded", "item", "lines", "margin", "taken", "view")

    def __init__(self, item: Item, margin: int) -> None:
        self.item = item
        self.margin = margin
        self.expanded = False
        self.exact = False
        self.lines: list[Line] | None = None
        self.view: MarkdownView | None = None
        self.cleaned = 0
        """Characters of a streaming answer that are known to be clean."""
        self.taken = 0
        """Characters of a streaming answer that are in its rows."""


def is_foldable(item: Item) -> bool:
    """Whether the item has more to show: a call, reasoning, or a prompt of a server."""
    match item:
        case CallItem() | ServerItem() | CompactionItem() | AnswerItem(reasoning=True):
            return True
        case UserItem():
            return bool(item.messages)
    return False


def _margin(item: Item, before: Item | None) -> int:
    """Blank rows above an item: none between cards, and none between an answer and the calls it made."""
    if before is None:
        return 0
    if isinstance(item, CallItem):
        made = isinstance(before, AnswerItem) and not item.by_hand
        return 0 if made or isinstance(before, CallItem) else 1
    if isinstance(item, NoticeItem):
        return 0 if isinstance(before, CallItem | NoticeItem | ServerItem) else 1
    return 1


class Transcript:
    """The items in order. Indexes are positions in it; rows count from the top over all items."""

    def __init__(self, detail: DetailFn, clock: Callable[[], float] = time.monotonic) -> None:
        self._detail = detail
        self._clock = clock
        self.reads = incidents.NOTHING
        """Where the cards of servers, and of shortenings, read what they say in full."""
        self.entries: list[Entry] = []
        self.heights = Heights()
        self.width = 80
        self.all_expanded = False
        self.began = False
        """Whether anybody has said or done anything; notices alone do not count."""
        self.marked = -1
        """The index of the card under the cursor, -1 for none."""
        self.behind: set[int] = set()
        """Answers that came faster than they were taken in: `catch_up` takes more of them."""
        self.laid_out = 0
        """How many layouts were made: a measure of cost."""
        self._index: dict[str, int] = {}
        self._kept: OrderedDict[int, None] = OrderedDict()

    # ------------------------------------------------------------- contents

    def clear(self) -> None:
        """Forget everything."""
        self.entries.clear()
        self.heights = Heights()
        self._index.clear()
        self._kept.clear()
        self.behind.clear()
        self.began = False
        self.marked = -1

    def is_other(self, items: Sequence[Item]) -> bool:
        """Whether `items` is no continuation of what was taken over."""
        entries = self.entries
        return len(items) < len(entries) or bool(entries and items[0] is not entries[0].item)

    def sync(self, items: Sequence[Item], dirty: Iterable[str], cleared: bool = False) -> list[int]:
        """Take over new and changed items; return the indexes that changed, in order.

        `items` only grows, but for `cleared` or when it is another list: then all is taken anew.
        """
        if cleared or self.is_other(items):
            self.clear()
        first_new = len(self.entries)
        for number in range(first_new, len(items)):
            self._add(items[number], items[number - 1] if number else None)
        changed = {index for key in dirty if (index := self._index.get(key)) is not None}
        for index in changed:
            self._stale(index)
        changed.update(range(first_new, len(items)))
        return sorted(changed)

    def _add(self, item: Item, before: Item | None) -> None:
        self.began = self.began or not isinstance(item, NoticeItem | ServerItem)
        entry = Entry(item, _margin(item, before))
        entry.expanded = self.all_expanded
        self._index[item.key] = len(self.entries)
        self.entries.append(entry)
        self.heights.append(self._estimate(entry))

    def _stale(self, index: int) -> None:
        entry = self.entries[index]
        entry.lines, entry.exact = None, False

    def catch_up(self) -> list[int]:
        """Make those that are behind stale: laid out again they take in more. Returns their indexes."""
        behind = sorted(self.behind)
        for index in behind:
            self._stale(index)
        return behind

    def index_of(self, key: str) -> int:
        """The index of the item with this key, -1 if there is none."""
        return self._index.get(key, -1)

    def resize(self, width: int) -> None:
        """Forget all rows: they are of another width. Heights become estimates again."""
        if width == self.width:
            return
        self.width = width
        self._kept.clear()
        heights = Heights()
        for entry in self.entries:
            entry.lines, entry.exact = None, False
            heights.append(self._estimate(entry))
        self.heights = heights

    def restate(self, index: int) -> None:
        """The item looks different now (cursor, open, elapsed time): lay it out again when it is seen."""
        if 0 <= index < len(self.entries):
            self._stale(index)

    # --------------------------------------------------------------- layout

    def _estimate(self, entry: Entry) -> int:
        """A guess of the height, without looking at the text but for its length and line breaks."""
        match entry.item:
            case CallItem(preview=preview):
                rows = 1 + min(preview.count("\n") + 1, cards.PREVIEW_LINES + 1) * bool(preview)
            case AnswerItem(reasoning=True):
                rows = 1 + messages.FOLDED_LINES
            case ServerItem():
                rows = 1 + incidents.LAST_WORDS
            case CompactionItem():
                rows = 1 + bool(entry.item.problem)
            case AnswerItem(text=text) | UserItem(text=text) | NoticeItem(text=text):
                rows = text.count("\n") + 1 + len(text) // (self.width + 1)
        return rows + entry.margin

    def lines(self, index: int) -> list[Line]:
        """The rows of an item, margin included, laid out if need be. Its height is not touched."""
        entry = self.entries[index]
        if entry.lines is None:
            self.laid_out += 1
            rows = self._rows(entry, index)
            entry.lines = [Line()] * (entry.margin if rows else 0) + rows
            self._keep(index)
        return entry.lines

    def lay_out(self, index: int) -> int:
        """Make the height of the item exact; return by how much it changed."""
        entry = self.entries[index]
        if entry.exact:
            return 0
        entry.exact = True
        before = self.heights[index]
        self.heights.set(index, len(self.lines(index)))
        return self.heights[index] - before

    def _keep(self, index: int) -> None:
        self._kept[index] = None
        self._kept.move_to_end(index)
        while len(self._kept) > KEPT_LAYOUTS:
            old, _ = self._kept.popitem(last=False)
            self.entries[old].lines = None

    def _rows(self, entry: Entry, index: int) -> list[Line]:
        item = entry.item
        marked = index == self.marked
        match item:
            case UserItem():
                return messages.user_message(item, self.width, expanded=entry.expanded, marked=marked)
            case NoticeItem():
                return messages.notice(item, self.width)
            case CallItem():
                detail = self._detail(item.key) if entry.expanded else None
                rows = cards.card(item, self.width, self._clock(), marked=marked, detail=detail)
                return rows + cards.gone(self.width) if entry.expanded and detail is None else rows
            case CompactionItem(number=number):
                known = self.reads.compaction(number) if entry.expanded else None
                return compaction.rows(item, self.width, known, expanded=entry.expanded, marked=marked)
            case ServerItem():
                return incidents.rows(item, self.width, self.reads, expanded=entry.expanded, marked=marked)
            case AnswerItem(reasoning=True):
                if not item.text.strip():
                    return []
                return messages.reasoning(item, self.width, expanded=entry.expanded, marked=marked)
            case AnswerItem():
                return self._answer(entry, item, index)

    def _answer(self, entry: Entry, item: AnswerItem, index: int) -> list[Line]:
        text = self._due(entry, item)
        entry.taken = len(text)
        done = item.done and entry.taken == len(item.text)
        (self.behind.discard if entry.taken == len(item.text) else self.behind.add)(index)
        if entry.cleaned >= 0:
            # Only what is new has to be looked at, until something is found.
            entry.cleaned = len(text) if is_clean(text[entry.cleaned :]) else -1
        if entry.cleaned < 0:
            text = clean(text)
        view = entry.view or MarkdownView()
        view.update(text, done=done)
        # A finished answer is parsed again if its width changes: rows are worth keeping, blocks are not.
        entry.view = None if done else view
        return view.lines(self.width)

    @staticmethod
    def _due(entry: Entry, item: AnswerItem) -> str:
        """As much of an answer as is shown now: all of one that had ended before it was first seen."""
        if item.done and entry.view is None:
            return item.text
        rest = len(item.text) - entry.taken
        return item.text[: entry.taken + max(PACE, rest // LAST_FRAMES if item.done else 0)]

    # -------------------------------------------------------------- looking

    def line(self, y: int) -> Line | None:
        """The row at `y`, None past the end."""
        index, row = self.heights.at(y)
        if index >= len(self.entries):
            return None
        rows = self.lines(index)
        return rows[row] if row < len(rows) else Line()

    def settle(self, y: int, height: int) -> bool:
        """Make exact what the rows y..y+height-1 touch; True if any height changed."""
        changed = False
        index, row = self.heights.at(y)
        left = height + row
        while left > 0 and index < len(self.entries):
            changed |= self.lay_out(index) != 0
            left -= self.heights[index]
            index += 1
        return changed

    def above(self, index: int, row: int, distance: int) -> tuple[int, int]:
        """The place `distance` rows above (index, row), by exact heights."""
        row -= distance
        while row < 0 and index > 0:
            index -= 1
            self.lay_out(index)
            row += self.heights[index]
        return index, max(row, 0)

    # ---------------------------------------------------------------- cards

    def toggle(self, index: int) -> bool:
        """Open or close the card; return whether it is open now."""
        entry = self.entries[index]
        entry.expanded = not entry.expanded
        self._stale(index)
        return entry.expanded

    def expand_all(self, expanded: bool) -> None:
        """Open or close all cards, also those to come."""
        self.all_expanded = expanded
        for index, entry in enumerate(self.entries):
            if entry.expanded != expanded:
                entry.expanded = expanded
                if is_foldable(entry.item):
                    self._stale(index)

    def mark(self, index: int) -> None:
        """Put the card cursor on an item; -1 takes it away."""
        before, self.marked = self.marked, index
        self.restate(before)
        self.restate(index)

    def next_foldable(self, index: int, step: int) -> int:
        """The next card after (step 1) or before (step -1) `index`, -1 if there is none."""
        index += step
        while 0 <= index < len(self.entries):
            if is_foldable(self.entries[index].item) and self.lines(index):
                return index
            index += step
        return -1
