"""The parts of the main screen, conversation, right column and prompt: how they share space and focus.

Not here: what changes bring, what keys and messages do (main).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from hel_tui.tui.looks import MAX_SIDE, MIN_SIDE
from hel_tui.tui.text.incidents import Reads
from hel_tui.tui.widgets.bars import AttachmentBar, ConfigBar, QueueBar, StatusBar, WaitingBar
from hel_tui.tui.widgets.completion import Completion
from hel_tui.tui.widgets.conversation import Conversation
from hel_tui.tui.widgets.finder import Finder
from hel_tui.tui.widgets.foot import Foot
from hel_tui.tui.widgets.footer import FooterBar
from hel_tui.tui.widgets.header import HeaderBar
from hel_tui.tui.widgets.lines import Bar, Line
from hel_tui.tui.widgets.prompt import Prompt
from hel_tui.tui.widgets.rows import RowList
from hel_tui.tui.widgets.side import Side, side_mode
from hel_tui.tui.widgets.splitter import Splitter
from hel_tui.tui.widgets.todos import TodoBar, TodoTitle

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp


class Mark(Bar):
    """The sign in front of the prompt: `>`, or `$` for a line that goes to the shell."""

    DEFAULT_CSS = """
    Mark { width: 3; }
    """
    sign = ">"

    def lines(self) -> list[Line]:
        return [[(f" {self.sign} ", "key")]]

    def show(self, text: str) -> None:
        sign = "$" if text.startswith("!") else ">"
        if sign != self.sign:
            self.sign = sign
            self.refresh()


SCROLL_BAR = 2
"""Cells at the right of the conversation that a toast leaves free."""
TOAST, LEAST_TOAST = 62, 42
"""Cells that are room enough for one, and for a narrow one."""


class MainLayout(Screen[None]):
    """The parts of the main screen, without what they do."""

    AUTO_FOCUS = "#prompt"
    DEFAULT_CSS = """
    MainLayout.-narrow Toast { width: 40; }
    """

    def __init__(self, hel: HelApp) -> None:
        super().__init__(id="main")
        self.hel = hel
        self.view = hel.bridge.state
        self.header = HeaderBar(self.view)
        self.conversation = Conversation(detail=hel.core.call, id="conversation")
        core = hel.core
        self.conversation.transcript.reads = Reads(
            core.failed, core.list_change, core.renewal, core.compaction
        )
        self.side = Side(hel.bridge, hel.clock)
        self.completion = Completion()
        self.prompt = Prompt(hel.history, self.completion)
        self.mark = Mark()
        self.finder = Finder()
        self.status, self.queue, self.waits = StatusBar(self.view), QueueBar(self.view), WaitingBar(self.view)
        self.attachments, self.config = AttachmentBar(self.view), ConfigBar(self.view)
        self.todo_bar = TodoBar(self.view)
        bars = (
            self.config,
            self.todo_bar,
            self.status,
            self.queue,
            self.waits,
            self.finder,
            self.attachments,
        )
        row = Horizontal(self.mark, self.prompt, id="prompt-row")
        self.foot = Foot((*bars, self.completion), row)
        self.footer = FooterBar()
        self.hidden, self.overlay, self.large_log = False, False, False

    def compose(self) -> ComposeResult:
        yield self.header
        with Horizontal(id="body"):
            yield self.conversation
            yield Splitter()
            yield self.side
        yield self.foot
        yield self.footer

    # -------------------------------------------------------------- layout

    def on_resize(self, event: events.Resize) -> None:
        self.lay_out(event.size.width)

    def lay_out(self, width: int | None = None) -> None:
        """Fold or show the right column for the screen's width."""
        width = width or self.size.width
        mode = side_mode(width, self.hidden, self.overlay)
        side = min(self.hel.looks.side, max(width - 50, MIN_SIDE))
        self.side.set_mode(mode, side)
        if self.large_log:
            self.side.styles.width = width
        self.query_one(Splitter).display = mode in ("wide", "icons")
        self.set_class(self.large_log, "-large-log")
        self.call_after_refresh(self._place_toasts)
        self.show_todos()
        if mode in ("icons", "none") and self.focused in self.side.panes:
            self.set_focus(self.prompt)

    def _place_toasts(self) -> None:
        """Keep them left of the line between the columns: the compositor cuts what is drawn over an edge,
        and a wide character that stands across one is lost.
        """
        room = self.conversation.region.right - SCROLL_BAR
        for rack in self.query("#textual-toastrack"):
            rack.styles.width = room if room >= LEAST_TOAST else "1fr"
        self.set_class(room < TOAST, "-narrow")

    def panes(self) -> list[Widget]:
        """What Tab goes through now."""
        side: list[Widget] = list(self.side.panes)
        if self.side.mode == "icons":
            side = side[:1]
        elif self.side.mode == "none":
            side = []
        return [self.prompt, self.conversation, *side]

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        name = event.widget.id or ""
        self.footer.show(name)
        self.side.mark_focus(name)
        if self.overlay and event.widget in (self.prompt, self.conversation):
            self.overlay = False
            self.lay_out()
        elif event.widget in self.side.panes:
            self.reveal_side()

    def on_splitter_dragged(self, event: Splitter.Dragged) -> None:
        self.set_side(event.from_right)

    def set_side(self, width: int) -> None:
        """Give the right column so many cells."""
        self.hel.looks.side = min(max(width, MIN_SIDE), MAX_SIDE)
        self.lay_out()

    def show_todos(self) -> None:
        """Show what is to do in the column, or in a line where that is folded."""
        self.side.show_todos()
        self.todo_bar.update(self.side.mode in ("wide", "overlay"), self.side.todos_folded)
        self.foot.settle()

    @on(TodoTitle.Folded)
    def action_todos(self) -> None:
        self.side.todos_folded = not self.side.todos_folded
        self.show_todos()

    def reveal_side(self) -> None:
        """Open the right column if it is folded."""
        if self.side.mode in ("none", "icons"):
            self.hidden, self.overlay = False, True
            self.lay_out()

    def open_log(self, server: str) -> None:
        """Go to the log of a server."""
        self.side.servers.select(server)
        self.side.choose_log(server)
        self.reveal_side()
        self.set_focus(self.side.log_view)

    @on(RowList.Moved, "#servers")
    def _server_moved(self, event: RowList.Moved) -> None:
        if event.by_hand:
            self.side.choose_log(event.key)

    # --------------------------------------------------------------- focus

    def action_next_pane(self) -> None:
        self._cycle(1)

    def action_previous_pane(self) -> None:
        self._cycle(-1)

    def _cycle(self, step: int) -> None:
        panes = self.panes()
        at = panes.index(self.focused) if self.focused in panes else 0
        self.set_focus(panes[(at + step) % len(panes)])

    def action_side(self) -> None:
        if self.size.width >= 100:
            self.hidden = not self.hidden
        else:
            self.overlay = not self.overlay
        self.lay_out()
        if self.overlay:
            self.set_focus(self.side.servers)
        elif self.focused not in self.panes():
            self.set_focus(self.prompt)

    def action_resize(self, by: int) -> None:
        self.set_side(self.hel.looks.side + by)

    def action_large_log(self) -> None:
        self.large_log = not self.large_log
        self.reveal_side()
        self.lay_out()

    # ------------------------------------------------------------- finding

    def find(self, hint: str, back: Widget, target: Callable[[str], object]) -> None:
        """Open the line to look for something in a pane."""
        self.finder.display = True
        self.foot.settle()
        self.finder.open(hint, back, target)

    @on(Input.Changed, "#finder")
    def _finding(self, event: Input.Changed) -> None:
        self.finder.apply(event.value)

    @on(Finder.Closed)
    def _found(self, event: Finder.Closed) -> None:
        self.set_focus(event.back)
