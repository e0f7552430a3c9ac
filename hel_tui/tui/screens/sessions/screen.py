"""The sheet of sessions: what is kept, searched while it is typed, looked into, and gone on with.

Titles are compared here and at once; turns are searched by the core, a moment after the last key, and an
answer to an older search is dropped. Not here: reading (core), what is listed (found), lines (texts), going
on (moves).
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.timer import Timer

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.confirm import ConfirmDialog, said_yes
from hel_tui.tui.dialogs.pane import TextPane
from hel_tui.tui.screens.picker import Picker, PickerList, SheetKeys
from hel_tui.tui.screens.sessions import texts
from hel_tui.tui.screens.sessions.found import Found
from hel_tui.tui.screens.sessions.title import TitleField
from hel_tui.tui.screens.sessions.turns import TurnsScreen
from hel_tui.tui.screens.text import TextScreen
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line
from hel_tui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

PAUSE = 0.15
"""Seconds without a key after which turns are searched, or a session is looked into."""


def now() -> float:
    """Unix time."""
    return time.time()


class SessionList(PickerList):
    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("sessions")

    def action_wish(self, what: str) -> None:
        self.post_message(self.Wish(what))


class SessionsScreen(Picker):
    """Enter goes on with the marked session; the other keys are in the foot."""

    parts = ("sessions", "picker", "list")
    foot = (
        ("list.open", "short.sessions.resume"),
        ("picker.filter", "short.sessions.search"),
        ("app.keys", "short.sessions.keys"),
        ("sessions.fork", "short.sessions.fork"),
        ("sessions.rename", "short.sessions.rename"),
        ("sessions.look", "short.sessions.look"),
        ("sessions.delete", "short.sessions.delete"),
        ("sessions.all", "short.sessions.all"),
        ("sessions.export", "short.sessions.export"),
        ("sessions.turns", "short.sessions.turns"),
        ("picker.close", "short.picker.close"),
    )

    def __init__(self, hel: HelApp, words: str = "") -> None:
        super().__init__(t("sessions.title"), SessionList())
        self.hel = hel
        self.words = words
        self.everywhere = False
        self.title_field = TitleField()
        self.project = os.path.realpath(hel.bridge.state.project or ".")
        self.found = Found()
        self.problem = ""
        self._pauses: dict[str, Timer] = {}
        self._seen: set[tuple[str, int]] = set()
        """(session, turn) that were looked into since the sheet is open: what was seen before may be old."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog sheet picker"):
            yield self.head
            yield self.list
            yield self.detail
            yield self.finder
            yield self.title_field
            yield SheetKeys(self.foot)

    def on_mount(self) -> None:
        super().on_mount()
        self._list()
        if self.words:
            self.call_after_refresh(self._search_words)  # the list has got the focus by then

    def _search_words(self) -> None:
        self.do("filter")
        self.finder.value = self.words

    def _list(self) -> None:
        self.hel.send(p.ListSessions(self.filter, everywhere=self.everywhere))

    # ------------------------------------------------------------------ drawing

    @property
    def open_id(self) -> str:
        """The session that is open here."""
        return self.hel.bridge.state.session_id

    def draw(self) -> None:
        where = t("sessions.title_all" if self.everywhere else "sessions.title")
        found = self.found
        more = f" · {t('sessions.searching')}" if found.searching else ""
        more += f" · {t('sessions.behind', n=found.behind)}" if found.behind else ""
        self.heading = f"{where} · {found.count}{more}" if found.sessions is not None else where
        super().draw()

    def rows(self) -> list[Row]:
        return self.found.rows(self.filter)

    def line(self, key: str, width: int) -> Line:
        row, hit = self.found.row(key), self.found.hit(key)
        if hit is not None:
            return texts.hit_line(hit, width)
        if row is None:
            return ()
        return texts.session_line(row, width, now=now(), open_id=self.open_id, everywhere=self.everywhere)

    def empty(self) -> str:
        if self.found.sessions is None:
            return t("sessions.reading")
        if self.filter:
            return t("sessions.searching" if self.found.searching else "sessions.nothing_found")
        return t("sessions.none_at_all" if self.everywhere else "sessions.none")

    def details(self, key: str) -> list[Line]:
        """What is known of the marked session, and what it ends with, as far as there is room."""
        row, hit = self.found.row(key), self.found.hit(key)
        if row is None:
            return []
        lines = texts.fact_lines(row, open_id=self.open_id, elsewhere=self._elsewhere(row))
        glance = self.hel.core.session_glance()
        turn = hit.turn if hit is not None else 0
        if glance is None or (glance.session_id, glance.turn) != (row.session_id, turn):
            return lines
        width = self.detail.size.width - 1
        rows = self.detail.size.height - sum(len(TextPane.wrapped(one, max(width, 4))) for one in lines)
        return [*lines, *texts.fitting(glance.said, width, rows, newest=not turn)]

    def _describe(self) -> None:
        super()._describe()
        self._later("look", self._look)

    def _elsewhere(self, row: p.SessionRow) -> str:
        """The command that opens a session of another project; empty for one of this."""
        if not row.project or row.project == self.project:
            return ""
        return f"hel {shlex.quote(row.project)} -r {row.session_id}"

    # ------------------------------------------------------------------ the core

    def _later(self, name: str, do: Callable[[], None]) -> None:
        """Do it when no key has come for a moment."""
        if name in self._pauses:
            self._pauses[name].stop()
        self._pauses[name] = self.set_timer(PAUSE, do)

    def _look(self) -> None:
        key = self.list.current
        if (row := self.found.row(key)) is None:
            return
        hit, glance = self.found.hit(key), self.hel.core.session_glance()
        wanted = row.session_id, hit.turn if hit is not None else 0
        if wanted not in self._seen or glance is None or (glance.session_id, glance.turn) != wanted:
            self._seen.add(wanted)
            self.hel.send(p.LookAtSession(*wanted))

    def set_filter(self, text: str) -> str:
        wanted = text.strip().casefold()
        if wanted != self.filter:
            self.found.search_again(searching=bool(wanted))
            self._later("search", self._search)
        super().set_filter(text)
        return self._found_words()

    def _found_words(self) -> str:
        """How many sessions are listed, and in how many turns of them what is searched for was found."""
        told = t("sessions.found", n=sum(row.live and " " not in row.key for row in self.list.rows))
        turns = self.found.turns
        return f"{told} · {t('sessions.turns', n=turns)}" if turns else told

    def _search(self) -> None:
        if self.filter:
            self.hel.send(p.ListSessions(self.filter, everywhere=self.everywhere, rows=False))

    def heard(self, event: p.Event) -> None:
        """Something was told of sessions."""
        match event:
            case p.SessionsListed():
                self._listed(event)
            case p.SessionLookedAt():
                row = self.found.row(self.list.current)
                if row is not None and row.session_id == event.session_id:
                    self.detail.show(self.details(self.list.current))
            case p.SessionDone():
                self.hel.say(event.sentence, "info" if event.done else "warning")
                if event.done and event.act != "exported":
                    self._list()
            case _:
                pass

    def _listed(self, event: p.SessionsListed) -> None:
        if event.everywhere != self.everywhere:
            return
        self.found.behind = event.behind
        if event.rows:
            self.found.take_sessions(self.hel.core.sessions())
        if event.text == self.filter:
            hits = self.hel.core.session_hits() if self.filter else ()
            self.found.take_hits(hits, searching=bool(event.behind and self.filter))
        if event.problem and event.problem != self.problem:
            self.problem = event.problem
            self.hel.say(event.problem, "warning")
        self.draw()
        if self.filter and self.finder.display:
            self.finder.found = self._found_words()
            self.finder.refresh()

    # --------------------------------------------------------------------- keys

    def pick(self, key: str) -> None:
        row, hit = self.found.row(key), self.found.hit(key)
        if row is None:
            return
        if row.session_id == self.open_id:
            self.dismiss("")
            if hit is not None:
                self.hel.main.show_card(f"user-{hit.turn}")
        elif elsewhere := self._elsewhere(row):
            self.hel.say(t("sessions.elsewhere", command=elsewhere), "warning")
        else:
            self.hel.main.commands.sessions.resume(row.session_id, hit.turn if hit is not None else 0)

    def on_key(self, event: events.Key) -> None:
        if self.title_field.display:
            event.prevent_default()  # of the base's own handler
            self.title_field.take(event)  # it has not got the focus yet

    def do(self, what: str) -> None:
        key = self.list.current
        row, hit = self.found.row(key), self.found.hit(key)
        match what:
            case "filter":
                self.finder.open(t("sessions.search"), self.list, self.set_filter)
            case "all":
                self.everywhere = not self.everywhere
                self.found.list_again(searching=bool(self.filter))
                self.draw()
                self._list()
            case "close":
                super().do(what)
            case _ if row is None:
                pass
            case "fork" if elsewhere := self._elsewhere(row):
                self.hel.say(t("sessions.elsewhere", command=elsewhere), "warning")
            case "turns" if elsewhere := self._elsewhere(row):
                self.hel.say(t("sessions.elsewhere", command=elsewhere), "warning")
            case "fork":
                self.hel.main.commands.sessions.fork(row.session_id, hit.turn if hit is not None else 0)
            case "turns":
                self.hel.push_screen(TurnsScreen(self.hel, row.session_id, texts.title_of(row)))
            case "rename":
                self.title_field.open(row.session_id, texts.title_of(row))
            case "delete":
                self._delete(row)
            case "export":
                self.hel.send(p.ExportSession("", "markdown", row.session_id))
            case "export_json":
                self.hel.send(p.ExportSession("", "json", row.session_id))
            case "command":
                self.hel.copy(f"hel {shlex.quote(row.project or self.project)} -r {row.session_id}")
            case "look":
                self._show_glance(row)
            case _:
                super().do(what)

    def _show_glance(self, row: p.SessionRow) -> None:
        glance = self.hel.core.session_glance()
        if glance is not None and glance.session_id == row.session_id:

            def done(key: str | None) -> None:
                if key == "enter":
                    self.pick(row.session_id)

            keys = {"enter": t("short.sessions.resume")}
            lines = texts.glance_lines(glance.said)
            self.hel.push_screen(TextScreen(texts.title_of(row), lines, keys), done)

    def _delete(self, row: p.SessionRow) -> None:
        if row.session_id == self.open_id or row.is_open:
            self.hel.say(t("sessions.delete_open"), "warning")
            return
        lines: list[Line] = [
            *texts.fact_lines(row, open_id=self.open_id, elsewhere=""),
            [],
            [(t("sessions.delete_sure"), "warn")],
        ]

        def done(answer: p.Answer | None) -> None:
            if said_yes(answer):
                self.hel.send(p.DeleteSession(row.session_id))

        yes, no = t("sessions.delete_yes"), t("sessions.delete_no")
        self.hel.push_screen(ConfirmDialog(t("sessions.delete_title"), lines, yes, no, self.hel.clock), done)

    @on(TitleField.Given)
    def _given(self, event: TitleField.Given) -> None:
        event.stop()
        self.set_focus(self.list)
        if event.session_id:
            self.hel.send(p.RenameSession(event.title, event.session_id))
