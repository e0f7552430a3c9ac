"""The conversation: messages, answers and the cards of calls, with a cursor over the cards and a search.

What a card's keys ask for goes to the app as messages. Not here: scrolling and painting (transcript_view),
what rows say (text).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, Literal

from textual import events
from textual.binding import BindingType
from textual.message import Message

from hel_tui.tui import keymap
from hel_tui.tui.safe import one_line
from hel_tui.tui.state import CallItem, CompactionItem, Item, ServerItem, UserItem
from hel_tui.tui.strings import t
from hel_tui.tui.text import cards, compaction, incidents
from hel_tui.tui.text.lines import Ink
from hel_tui.tui.text.messages import sent_text
from hel_tui.tui.text.search import Search
from hel_tui.tui.text.transcript import DetailFn, is_foldable
from hel_tui.tui.widgets.transcript_view import TranscriptView

FOUND, FOUND_HERE = Ink("found"), Ink("found-here")
ServerWant = Literal["restart", "edit", "off", "log", "wire", "open"]
MISSED_CELLS = 24
"""How far from the right edge a click counts as one on the number of new lines."""


class Conversation(TranscriptView):
    """All items of the session. The app calls `sync` once a frame with what changed."""

    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings("conversation")]

    class CardMessage(Message):
        """Something about one call."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    class LogRequested(CardMessage):
        """Show the stderr lines written while this call ran."""

    class WireRequested(CardMessage):
        """Show the frames on the wire that this call caused."""

    class ServerWish(Message):
        """Something is wanted of the server a card tells of."""

        def __init__(self, what: ServerWant, server: str) -> None:
            super().__init__()
            self.what, self.server = what, server

    class RerunRequested(CardMessage):
        """Run this call again, its arguments edited first."""

    class RenewalRequested(Message):
        """Look at what came of a save: the old and the new results."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class TaskRequested(CardMessage):
        """Open the conversation of the task that this call is."""

    class CopyRequested(Message):
        """Put `text` on the clipboard. It is clean."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, detail: DetailFn, *, id: str | None = None) -> None:
        """`detail` gives everything about a call by its id, or None."""
        super().__init__(detail, id=id)
        self._detail = detail
        self._search = Search(self.transcript)

    def sync(self, items: Sequence[Item], dirty: Collection[str], cleared: bool = False) -> None:
        if dirty or cleared:
            self._search.stale = True
        super().sync(items, dirty, cleared)

    def on_resize(self) -> None:
        self._search.stale = True
        super().on_resize()

    # ----------------------------------------------------------------- cards

    def _marked_call(self) -> CallItem | None:
        index = self.transcript.marked
        item = self.transcript.entries[index].item if index >= 0 else None
        return item if isinstance(item, CallItem) else None

    def on_focus(self) -> None:
        """Show where the focus is: the card cursor, if there was none, on the last card in view."""
        transcript = self.transcript
        if transcript.marked >= 0:
            return
        index = self._last_card_above_bottom()
        if index >= 0 and transcript.heights.top(index) >= self.scroll_offset.y:
            transcript.mark(index)
            self._arrange()

    def _in_view(self, index: int) -> bool:
        """Whether a row of an item is seen."""
        heights, top = self.transcript.heights, self.scroll_offset.y
        first = heights.top(index)
        return first + heights[index] > top and first < top + self._page

    def _last_card_above_bottom(self) -> int:
        """The last card that begins above the lower edge of the view, -1 for none."""
        transcript = self.transcript
        bottom = transcript.heights.at(self.scroll_offset.y + self._page - 1)[0]
        return transcript.next_foldable(min(bottom + 1, len(transcript.entries)), -1)

    def action_card(self, step: int) -> None:
        """Move the card cursor; where it is not in view, begin with the first or the last card that is."""
        transcript = self.transcript
        at = transcript.marked
        if at < 0 or not self._in_view(at):
            top = transcript.heights.at(self.scroll_offset.y)[0]
            down = at >= 0 and step > 0
            index = transcript.next_foldable(top - 1, 1) if down else self._last_card_above_bottom()
        else:
            index = transcript.next_foldable(at, step)
        if index >= 0:
            transcript.mark(index)
            self.bring(index, transcript.entries[index].margin)

    def show_card(self, key: str) -> bool:
        """Put the card cursor on an item and bring it into view; False when there is none."""
        index = self.transcript.index_of(key)
        if index < 0:
            return False
        self.transcript.mark(index)
        self.bring(index, self.transcript.entries[index].margin)
        return True

    def action_open(self) -> None:
        """Open or close the card under the cursor; that of a task opens its conversation."""
        item = self._marked_call()
        if item is not None and item.is_task:
            self.post_message(self.TaskRequested(item.key))
        elif self.transcript.marked >= 0:
            self._toggle(self.transcript.marked)

    def _toggle(self, index: int, in_place: bool = False) -> None:
        """Open or close a card; one that opens is scrolled into view, but for `in_place`."""
        transcript = self.transcript
        opened = transcript.toggle(index)
        transcript.lay_out(index)
        if opened and not in_place:
            self.reveal(index)
        elif self.following and transcript.heights.total > self.scroll_offset.y + self._page:
            self.keep_place()
        self._search.stale = True
        self._arrange()

    def action_expand_all(self) -> None:
        """Open all cards, those to come too, or close them."""
        self.transcript.expand_all(not self.transcript.all_expanded)
        self._search.stale = True
        self._arrange()

    def action_copy(self) -> None:
        """Copy the card under the cursor, or what a prompt became."""
        marked = self.transcript.marked
        item = self.transcript.entries[marked].item if marked >= 0 else None
        if isinstance(item, UserItem):
            self.post_message(self.CopyRequested(sent_text(item)))
        elif isinstance(item, ServerItem):
            self.post_message(self.CopyRequested(incidents.as_text(item)))
        elif isinstance(item, CompactionItem):
            detail = self.transcript.reads.compaction(item.number)
            self.post_message(self.CopyRequested(compaction.as_text(item, detail)))
        elif isinstance(item, CallItem):
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

    def _of_server(self, what: ServerWant) -> bool:
        """Ask for something of the server of the marked card; False when it is no card of a server."""
        index = self.transcript.marked
        item = self.transcript.entries[index].item if index >= 0 else None
        if isinstance(item, ServerItem):
            self.post_message(self.ServerWish(what, item.server))
        return isinstance(item, ServerItem)

    def action_look(self) -> None:
        """What came of a save, in full; what a task does."""
        index = self.transcript.marked
        item = self.transcript.entries[index].item if index >= 0 else None
        if isinstance(item, ServerItem) and item.kind == "renewal":
            self.post_message(self.RenewalRequested(item.number))
        elif isinstance(item, CallItem) and item.is_task:
            self.post_message(self.TaskRequested(item.key))

    def action_restart(self) -> None:
        self._of_server("restart")

    def action_edit(self) -> None:
        self._of_server("edit")

    def action_off(self) -> None:
        self._of_server("off")

    def action_log(self) -> None:
        if not self._of_server("log"):
            self._post_about_card(self.LogRequested)

    def action_wire(self) -> None:
        """The frames of the call; one of a built-in tool has none, and says so."""
        if self._of_server("wire"):
            return
        if (item := self._marked_call()) is None:
            return
        if item.server:
            self.post_message(self.WireRequested(item.key))
        else:
            self.app.notify(t("wire.built_in", tool=one_line(item.tool, 40)), markup=False)

    def action_rerun(self) -> None:
        self._post_about_card(self.RerunRequested)

    def on_click(self, event: events.Click) -> None:
        """The first row of a card opens or closes it; the count of new lines goes to the end."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None:
            return
        transcript = self.transcript
        if self.missed and offset.y == self._page - 1 and offset.x >= transcript.width - MISSED_CELLS:
            self.action_end()
            return
        index, row = transcript.heights.at(self.scroll_offset.y + offset.y)
        if index < len(transcript.entries):
            entry = transcript.entries[index]
            if is_foldable(entry.item) and row == entry.margin:
                transcript.mark(index)
                self._toggle(index, in_place=True)  # the mouse is on its first row

    # ---------------------------------------------------------------- search

    def search(self, text: str) -> int:
        """Find `text` (any case) and go to the last match not below the view; return how many there are.

        An empty text ends the search.
        """
        count = self._search.look(text)
        if count:
            last = self.transcript.heights.at(self.scroll_offset.y + self._page - 1)[0]
            self._go_to_match(self._search.last_before(last))
        else:
            self.refresh()
        return count

    def _go_to_match(self, number: int) -> None:
        match = self._search.go(number)
        self.bring(match.index, match.pieces[0][0])

    def action_match(self, step: int) -> None:
        """To the next or the previous match, around the ends."""
        if self._search.stale:
            self._search.renew()
        if self._search.matches:
            self._go_to_match((self._search.at + step) % len(self._search.matches))

    def emphasis(self, index: int, row: int) -> Sequence[tuple[int, int, Ink]]:
        pieces = self._search.in_row(index, row)
        return [(start, end, FOUND_HERE if here else FOUND) for start, end, here in pieces]
