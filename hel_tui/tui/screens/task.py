"""The conversation of a task, opened from its card: as it goes while it runs, afterwards what is kept of it.

Read in pieces, each frame what is new. Not here: running tasks (core), drawing (the conversation).
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.reducing import reduce
from hel_tui.tui.safe import one_line
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.screens.picker import SheetKeys
from hel_tui.tui.screens.sheets import keys_lines
from hel_tui.tui.screens.text import KeysScreen
from hel_tui.tui.state import AnswerItem, CallItem, Changes, NoticeItem, UserItem, ViewState
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import GLYPHS, state_word
from hel_tui.tui.widgets.bars import WaitingBar
from hel_tui.tui.widgets.conversation import Conversation
from hel_tui.tui.widgets.finder import Finder
from hel_tui.tui.widgets.lines import Bar, Line, Part, spread

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

_STYLES = {"ok": "ok", "running": "accent", "queued": "muted", "waiting": "warn"}


class TaskHead(Bar):
    """Which task it is, and how it stands."""

    def __init__(self, screen: TaskScreen) -> None:
        super().__init__()
        self.of = screen

    def lines(self) -> list[Line]:
        card = self.of.card
        style = _STYLES.get(card.state, "bad")
        step = f"{t('status.step', step=self.of.view.step)} · " if self.of.view.step else ""
        right: list[Part] = [(f" {step}{state_word(card, time.monotonic())} ", style)]
        if self.of.is_cut:
            right.insert(0, (f" {t('task.cut')} ·", "warn"))
        left: list[Part] = [(f" {GLYPHS[card.state][0]} ", style), (f"{t('task.title')}  ", "strong")]
        return [spread([*left, (one_line(card.summary, 400), "muted")], right, self.columns)]


class TaskScreen(LiveScreen):
    """Its cards open like those of the session's own conversation."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("task")
    AUTO_FOCUS = "#task-conversation"
    DEFAULT_CSS = """
    TaskScreen #task-conversation { height: 1fr; padding: 0 1; margin: 1 0; }
    """

    def __init__(self, hel: HelApp, card: CallItem) -> None:
        super().__init__(id="task")
        self.hel, self.card = hel, card
        self.view = ViewState()
        self.is_cut = False
        """Whether some of it was left out, since it became too long."""
        self._next = 0
        self._kept: str | None = None
        """The state of the card when what is kept of it was shown; None where the conversation itself is."""
        self.head = TaskHead(self)
        self.conversation = Conversation(hel.core.call, id="task-conversation")
        self.finder = Finder()
        self.waits = WaitingBar(hel.bridge.state)
        self.keys = SheetKeys(
            [(f"conversation.{name}", f"short.conversation.{name}") for name in ("next_card", "open", "copy")]
            + [(f"task.{name}", f"short.task.{name}") for name in ("search", "close", "expand", "keys")]
        )

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.conversation
        yield self.waits
        yield self.finder
        yield self.keys

    def on_mount(self) -> None:
        self.finder.display = self.waits.display = False
        self._read()

    # ----------------------------------------------------------------- reading

    def frame(self) -> None:
        self._read()
        self.conversation.frame()
        if self.conversation.has_focus:
            self.conversation.on_focus()  # there may be a card for the cursor now

    def second(self) -> None:
        self.head.refresh()

    def sync(self, changes: Changes) -> None:
        if self.card.key in changes.items:
            self.head.refresh()

    def _read(self) -> None:
        """Show what came since the last time; where nothing of it is kept, what its card has."""
        window = self.hel.core.task(self.card.key, self._next)
        if window is None:
            if not self._next and self._kept != self.card.state:
                self._show_card()
            return
        if self._kept is not None:
            self.view, self._kept = ViewState(), None
        self._next = window.next
        if not window.events:
            return
        self.is_cut = window.is_cut
        changes = reduce(self.view, window.events)
        self.conversation.sync(self.view.items, changes.items)
        self.head.refresh()

    def _show_card(self) -> None:
        """What it was to do, and its answer if there is one."""
        self._kept = self.card.state
        self.view = ViewState()
        detail = self.hel.core.call(self.card.key)
        if detail is None:
            self.view.items.append(NoticeItem("gone", "info", t("card.gone")))
        else:
            self.view.items.append(UserItem("user-0", _prompt(detail)))
            if detail.result:
                kept = t("task.kept" if self.card.ran else "task.never_ran")
                self.view.items.append(NoticeItem("kept", "info", kept))
                self.view.items.append(AnswerItem("answer", detail.result, done=True))
        self.conversation.sync(self.view.items, (), cleared=True)

    # -------------------------------------------------------------------- keys

    def show_waiting(self, on: bool) -> None:
        self.waits.display = on
        if on:
            self.waits.refresh()

    def action_waiting(self) -> None:
        self.hel.open_waiting()

    def action_search(self) -> None:
        self.finder.open(t("find.conversation"), self.conversation, self.conversation.search)

    @on(Input.Changed, "#finder")
    def _finding(self, event: Input.Changed) -> None:
        event.stop()
        self.finder.apply(event.value)

    @on(Finder.Closed)
    def _found(self, event: Finder.Closed) -> None:
        event.stop()
        self.set_focus(event.back)

    def action_expand(self) -> None:
        self.conversation.action_expand_all()

    def action_keys(self) -> None:
        self.hel.push_screen(KeysScreen(keys_lines(("task", "conversation"))))

    def action_close(self) -> None:
        self.dismiss(None)

    # ------------------------------------------------------- what its cards want

    @on(Conversation.CopyRequested)
    def _copy(self, event: Conversation.CopyRequested) -> None:
        self.hel.copy(event.text)

    @on(Conversation.LogRequested)
    @on(Conversation.WireRequested)
    def _inside(self, event: Conversation.CardMessage) -> None:
        call = self.view.by_key.get(event.call_id)
        if isinstance(call, CallItem) and call.server:
            tab = "wire" if isinstance(event, Conversation.WireRequested) else "log"
            self.hel.open_server(call.server, tab, event.call_id)

    @on(Conversation.RerunRequested)
    def _rerun(self, event: Conversation.RerunRequested) -> None:
        self.hel.back_to_conversation()
        self.hel.main.commands.rerun(event.call_id)


def _prompt(detail: p.CallDetail) -> str:
    try:
        return str(json.loads(detail.arguments)["prompt"])
    except (ValueError, RecursionError, KeyError, TypeError):
        return detail.arguments
