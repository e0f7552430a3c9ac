"""The conversation: one widget that draws all messages, answers and cards from rows, whatever their number.

It follows the end until someone scrolls up, keeps its place when rows above change, and lays out only what
is looked at. Not here: what rows say (text), colours (ink), and what is done about its messages (the app).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from hel_tui.tui.state import CallItem, Item
from hel_tui.tui.strings import t
from hel_tui.tui.text import cards
from hel_tui.tui.text.lines import MUTED, Ink, Line, copied_text, wrap
from hel_tui.tui.text.search import Match, find
from hel_tui.tui.text.transcript import DetailFn, Transcript, is_foldable
from hel_tui.tui.widgets.ink import CSS, PREFIX, ROLES, Inks, emphasised

FEW = 64
"""Changed items up to which all are laid out at once, so that the count of missed rows is exact."""
WALK_PAGES = 8
"""Pages up to which scrolling back measures every item in between; further is a jump."""


def _key(name: str, keys: str, action: str) -> Binding:
    return Binding(keys, action, f"conversation.{name}", show=False, id=f"conversation.{name}")


class Conversation(ScrollView, can_focus=True):
    """All items of the session. The app calls `sync` once a frame with what changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("up", "up", "scroll_lines(-1)"),
        _key("down", "down", "scroll_lines(1)"),
        _key("page_up", "pageup", "scroll_pages(-1)"),
        _key("page_down", "pagedown", "scroll_pages(1)"),
        _key("start", "home,g", "start"),
        _key("end", "end,G", "end"),
        _key("next_card", "j,right_square_bracket", "card(1)"),
        _key("previous_card", "k,left_square_bracket", "card(-1)"),
        _key("open", "enter", "open"),
        _key("expand", "ctrl+o", "expand_all"),
        _key("next_match", "n", "match(1)"),
        _key("previous_match", "N", "match(-1)"),
        _key("copy", "c", "copy"),
        _key("command", "y", "command"),
        _key("wire", "w", "wire"),
        _key("log", "l", "log"),
        _key("rerun", "e", "rerun"),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {PREFIX + role for role in ROLES}
    DEFAULT_CSS = CSS
    ALLOW_SELECT = True

    class CardMessage(Message):
        """Something about one call."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    class CardOpened(CardMessage):
        """A card was opened: its details are shown now."""

    class WireRequested(CardMessage):
        """Show the wire frames of this call."""

    class LogRequested(CardMessage):
        """Show the stderr lines written while this call ran."""

    class RerunRequested(CardMessage):
        """Run this call again, its arguments edited first."""

    class CopyRequested(Message):
        """Put `text` on the clipboard. It is clean."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class FollowChanged(Message):
        """The view follows the end, or stopped to."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    def __init__(self, detail: DetailFn, *, id: str | None = None) -> None:
        """`detail` gives everything about a call by its id, or None."""
        super().__init__(id=id)
        self._detail = detail
        self.transcript = Transcript(detail)
        self._inks = Inks(self)
        self._strips: LRUCache[tuple[Line, int], Strip] = LRUCache(1_000)
        self._following = True
        self._anchor = (0, 0)  # (item, row in it) at the top when the view does not follow
        self._mark = (0, 0)  # (last item, its height) when the view stopped to follow
        self._arranging = False
        self._painting = False
        self._running_calls: set[int] = set()
        self._clock: Timer | None = None
        self._placeholder: Sequence[str] = ()
        self._needle = ""
        self._matches: list[Match] = []
        self._match = -1
        self._ranges: dict[tuple[int, int], list[tuple[int, int, Ink]]] = {}
        self._matches_stale = False

    # ------------------------------------------------------------- contents

    @property
    def placeholder(self) -> Sequence[str]:
        """What an empty conversation says, a line each."""
        return self._placeholder

    @placeholder.setter
    def placeholder(self, lines: Sequence[str]) -> None:
        self._placeholder = [lines] if isinstance(lines, str) else list(lines)
        if not self.transcript.entries:
            self.refresh()

    def on_mount(self) -> None:
        super().on_mount()  # type: ignore[no-untyped-call]
        self._clock = self.set_interval(1, self._tick, pause=not self._running_calls)

    def sync(self, items: Sequence[Item], dirty: Collection[str], cleared: bool = False) -> None:
        """Take over the items whose keys are in `dirty` and those that are new.

        `cleared` says that the conversation began anew. The cost depends on what changed, not on how much
        there is.
        """
        if cleared:
            self._restart()
        changed = self.transcript.sync(items, dirty, cleared)
        if not changed and not cleared:
            return
        for index in changed:
            item = self.transcript.entries[index].item
            if isinstance(item, CallItem) and item.state == "running":
                self._running_calls.add(index)
            else:
                self._running_calls.discard(index)
        if self._clock is not None and self._running_calls:
            self._clock.resume()
        self._matches_stale = bool(self._needle)
        self._arrange(changed)

    def _restart(self) -> None:
        self._running_calls.clear()
        self._anchor = self._mark = (0, 0)
        self._set_following(True)
        self._matches, self._match, self._ranges = [], -1, {}

    def _tick(self) -> None:
        """Once a second: the elapsed time of running cards."""
        if not self._running_calls:
            if self._clock is not None:
                self._clock.pause()
            return
        for index in self._running_calls:
            self.transcript.restate(index)
        self._arrange(sorted(self._running_calls))

    # --------------------------------------------------------------- layout

    @property
    def following(self) -> bool:
        """Whether the view stays at the end as rows arrive."""
        return self._following

    @property
    def missed(self) -> int:
        """Rows that came below the view since it stopped to follow."""
        if self._following or not self.transcript.entries:
            return 0
        index, height = self._mark
        seen = self.transcript.heights.top(index) + height
        return max(self.transcript.heights.total - max(seen, self.scroll_offset.y + self._page), 0)

    @property
    def _page(self) -> int:
        return max(self.scrollable_content_region.height, 1)

    def _set_following(self, following: bool) -> None:
        if following == self._following:
            return
        self._following = following
        if not following:
            last = len(self.transcript.entries) - 1
            self._mark = (max(last, 0), self.transcript.heights[last] if last >= 0 else 0)
        self.post_message(self.FollowChanged(following))

    def on_resize(self) -> None:
        self._matches_stale = bool(self._needle)
        self._arrange()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks.forget()
        self._strips.clear()

    def _arrange(self, changed: Sequence[int] = ()) -> None:
        """Make exact what is in view, put the view where it belongs, and paint."""
        width, height = self.scrollable_content_region.size
        if width <= 0 or height <= 0:
            return
        transcript = self.transcript
        transcript.resize(width)
        if len(changed) <= FEW:
            for index in changed:
                transcript.lay_out(index)
        y = self._wanted(height)
        while transcript.settle(y, height):
            y = self._wanted(height)
        self._show(y, width)

    def _wanted(self, height: int) -> int:
        """The row at the top of the view by the heights known now."""
        transcript = self.transcript
        end = max(transcript.heights.total - height, 0)
        if self._following or not transcript.entries:
            return end
        index, row = self._anchor
        transcript.lay_out(index)
        row = min(row, max(transcript.heights[index] - 1, 0))
        return min(transcript.heights.top(index) + row, end)

    def _show(self, y: int, width: int) -> None:
        total = self.transcript.heights.total
        self._arranging = True
        try:
            if total != self.virtual_size.height or width != self.virtual_size.width:
                # Not through the reactive: the scrollbar is always there, so nothing has to be laid out anew.
                self.set_reactive(ScrollView.virtual_size, Size(width, total))
                self.vertical_scrollbar.window_virtual_size = total
            self.scroll_target_y = self.scroll_y = y
            self.vertical_scrollbar.position = y
        finally:
            self._arranging = False
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._arranging:
            self._moved(round(old_value), round(new_value))

    def _moved(self, old: int, new: int) -> None:
        """Someone scrolled: find what is at the top now, so that it stays there."""
        transcript = self.transcript
        if new < old and old - new <= WALK_PAGES * self._page:
            index, row = transcript.heights.at(old)
            self._anchor = transcript.above(index, row, old - new)
        else:
            self._anchor = transcript.heights.at(new)
        if self._anchor[0] >= len(transcript.entries):
            self._anchor = (max(len(transcript.entries) - 1, 0), 0)
        self._set_following(new >= transcript.heights.total - self._page)
        self._arrange()

    # -------------------------------------------------------------- scrolling

    def _go(self, y: int) -> None:
        self.scroll_to(y=min(max(y, 0), self.max_scroll_y), animate=False, force=True)

    def action_scroll_lines(self, lines: int) -> None:
        self._go(self.scroll_offset.y + lines)

    def action_scroll_pages(self, pages: int) -> None:
        self._go(self.scroll_offset.y + pages * max(self._page - 1, 1))

    def action_start(self) -> None:
        self._go(0)

    def action_end(self) -> None:
        """To the end, and follow it."""
        self._set_following(True)
        self._arrange()

    def _bring(self, index: int, row: int = 0) -> None:
        """Scroll so that a row of an item is in view, if it is not."""
        transcript = self.transcript
        transcript.lay_out(index)
        y = transcript.heights.top(index) + row
        top = self.scroll_offset.y
        if top <= y < top + self._page - 1:
            self._arrange()
            return
        self._set_following(False)
        self._anchor = transcript.above(index, row, self._page // 3)
        self._arrange()

    # ----------------------------------------------------------------- cards

    def _marked_call(self) -> CallItem | None:
        index = self.transcript.marked
        item = self.transcript.entries[index].item if index >= 0 else None
        return item if isinstance(item, CallItem) else None

    def _set_marked(self, index: int) -> None:
        transcript = self.transcript
        for changed in (transcript.marked, index):
            transcript.restate(changed)
        transcript.marked = index

    def action_card(self, step: int) -> None:
        """Move the card cursor; without one, begin at the view's end."""
        transcript = self.transcript
        start = transcript.marked
        if start < 0:
            bottom = self.scroll_offset.y + self._page - 1
            start = min(transcript.heights.at(bottom)[0], len(transcript.entries))
            step = -1
            start = start + 1 if start < len(transcript.entries) else start
        index = transcript.next_foldable(start, step)
        if index >= 0:
            self._set_marked(index)
            self._bring(index, transcript.entries[index].margin)

    def action_open(self) -> None:
        """Open or close the card under the cursor."""
        if self.transcript.marked >= 0:
            self._toggle(self.transcript.marked)

    def _toggle(self, index: int) -> None:
        top = self.scroll_offset.y
        opened = self.transcript.toggle(index)
        if opened and self._following and self.transcript.entries:
            # What was opened stays where it is instead of being pushed out by its own length.
            self._anchor = self.transcript.heights.at(top)
            self.transcript.lay_out(index)
            if self.transcript.heights.total > top + self._page:
                self._set_following(False)
        self._arrange([index])
        item = self.transcript.entries[index].item
        if opened and isinstance(item, CallItem):
            self.post_message(self.CardOpened(item.key))

    def action_expand_all(self) -> None:
        """Open all cards, or close them."""
        if not self._following:
            self._anchor = self.transcript.heights.at(self.scroll_offset.y)
        self.transcript.expand_all(not self.transcript.all_expanded)
        self._arrange()

    def action_copy(self) -> None:
        """Copy the card under the cursor."""
        if (item := self._marked_call()) is not None:
            self.post_message(self.CopyRequested(cards.as_text(item, self._detail(item.key))))

    def action_command(self) -> None:
        """Copy the card as a command for a shell; there is none for a built-in."""
        if (item := self._marked_call()) is None:
            return
        if command := cards.as_command(item, self._detail(item.key)):
            self.post_message(self.CopyRequested(command))
        else:
            self.app.bell()

    def _post_about_card(self, message: type[CardMessage]) -> None:
        if (item := self._marked_call()) is not None:
            self.post_message(message(item.key))

    def action_wire(self) -> None:
        self._post_about_card(self.WireRequested)

    def action_log(self) -> None:
        self._post_about_card(self.LogRequested)

    def action_rerun(self) -> None:
        self._post_about_card(self.RerunRequested)

    def on_click(self, event: events.Click) -> None:
        """The first row of a card opens or closes it; the count of new lines goes to the end."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None:
            return
        if self.missed and offset.y == self._page - 1 and offset.x >= self.transcript.width - 24:
            self.action_end()
            return
        index, row = self.transcript.heights.at(self.scroll_offset.y + offset.y)
        if index < len(self.transcript.entries):
            entry = self.transcript.entries[index]
            if is_foldable(entry.item) and row == entry.margin:
                self._set_marked(index)
                self._toggle(index)

    # ---------------------------------------------------------------- search

    def search(self, text: str) -> int:
        """Find `text` (any case) and go to the last match above the view's end; return how many there are.

        An empty text ends the search.
        """
        self._needle = text
        self._find()
        if self._matches:
            index = self.transcript.heights.at(self.scroll_offset.y + self._page - 1)[0]
            here = [number for number, match in enumerate(self._matches) if match.index <= index]
            self._go_to_match(here[-1] if here else 0)
        else:
            self.refresh()
        return len(self._matches)

    def _find(self) -> None:
        self._matches = find(self.transcript, self._needle)
        self._match = -1
        self._matches_stale = False
        self._note_ranges()

    def _note_ranges(self) -> None:
        self._ranges = {}
        for number, match in enumerate(self._matches):
            ink = Ink("found-here") if number == self._match else Ink("found")
            for row, start, end in match.pieces:
                self._ranges.setdefault((match.index, row), []).append((start, end, ink))

    def _go_to_match(self, number: int) -> None:
        self._match = number
        self._note_ranges()
        match = self._matches[number]
        self._bring(match.index, match.pieces[0][0])

    def action_match(self, step: int) -> None:
        """To the next or the previous match, around the ends."""
        if self._matches_stale:
            kept = self._match
            self._find()
            self._match = min(kept, len(self._matches) - 1)
        if self._matches:
            self._go_to_match((self._match + step) % len(self._matches))

    def next(self) -> None:
        """To the next match."""
        self.action_match(1)

    def prev(self) -> None:
        """To the previous match."""
        self.action_match(-1)

    # -------------------------------------------------------------- painting

    def render_lines(self, crop: Region) -> list[Strip]:
        self._painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if not self.transcript.entries:
            return self._placeholder_strip(y, width)
        index, row = self.transcript.heights.at(self.scroll_offset.y + y)
        strip = self._row_strip(index, row, y, width)
        if self._painting:
            if y == self._page - 1 and (missed := self.missed):
                return self._with_missed(strip, missed, width)
            return strip
        # Only a question about what is under the mouse needs to know offsets in the text.
        return strip.apply_offsets(0, self.scroll_offset.y + y)

    def _row_strip(self, index: int, row: int, y: int, width: int) -> Strip:
        if index >= len(self.transcript.entries):
            return Strip.blank(width, self.rich_style)
        rows = self.transcript.lines(index)
        line = rows[row] if row < len(rows) else Line()
        selection = self.text_selection
        span = selection.get_span(self.scroll_offset.y + y) if selection is not None else None
        ranges = self._ranges.get((index, row)) if self._ranges and not self._matches_stale else None
        if ranges is None and span is None:
            key = (line, width)
            strip = self._strips.get(key)
            if strip is None:
                strip = self._strips[key] = self._inks.strip(line, width)
            return strip
        marks = list(ranges or ())
        if span is not None:
            start, end = span
            size = len(line.text)
            marks.append((max(start, line.gutter), size if end == -1 else end, Ink("selected")))
        return self._inks.strip(emphasised(line, marks), width)

    def _with_missed(self, strip: Strip, missed: int, width: int) -> Strip:
        """The last row with the count of rows below over its right end."""
        key = "conversation.new_line" if missed == 1 else "conversation.new_lines"
        text = f" {t(key, count=f'{missed:,}') if missed != 1 else t(key)} "
        label = Strip([Segment(text, self._inks.style(Ink("missed")))], cell_len(text))
        return Strip.join([strip.crop(0, max(width - cell_len(text), 0)), label])

    def _placeholder_strip(self, y: int, width: int) -> Strip:
        rows = [Line()]
        for text in self._placeholder:
            rows += wrap([(text, MUTED)], width)
        return self._inks.strip(rows[y] if y < len(rows) else Line(), width)

    # ------------------------------------------------------------- selection

    def selection_updated(self, selection: Selection | None) -> None:
        """The selection changed: paint it."""
        del selection
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it was written: wrapped rows joined, ornament left out."""
        total = self.transcript.heights.total
        start = selection.start.y if selection.start is not None else 0
        end = min(selection.end.y if selection.end is not None else total - 1, total - 1)
        rows: list[Line] = []
        for y in range(start, end + 1):
            line = self.transcript.line(y) or Line()
            span = selection.get_span(y)
            if span is None:
                continue
            first, last = span
            text = line.text
            piece = text[max(first, line.gutter) : len(text) if last == -1 else last]
            rows.append(Line([(piece, MUTED)], line.join))
        return (copied_text(rows), "\n") if rows else None
