"""A log with a line that says what is shown, one to type in, and its keys. Mount it, `show` a log, and call
`poll` once a frame; what it wants comes as messages.

Not here: the log itself (log), carrying out what is wanted (the screen).
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import one_line
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Part
from hel_tui.tui.widgets.log import CallMark, LogView
from hel_tui.tui.widgets.window_line import AskLine, FactLine, KeyLine
from hel_tui.tui.widgets.window_view import WindowView

AGAIN_WITHIN = 3.0
"""Seconds in which a second press forgets all lines."""
_KEYS = (
    "log.filter",
    "logs.search",
    "log.level",
    "log.pause",
    "log.wrap",
    "log.select",
    "log.copy",
    "logs.save",
    "logs.card",
    "logs.frames",
    "logs.go",
    "logs.forget",
)
_KEYS_SELECTING = ("log.copy", "log.select", "log.clear")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


class LogPanel(Vertical):
    """The log of a server, or of all together. Messages: `LogView.CopyRequested` and those here."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("logs")
    DEFAULT_CSS = """
    LogPanel { height: 1fr; }
    LogPanel > LogView { height: 1fr; }
    """

    class SaveRequested(Message):
        """Write the log of `server` ("" for all), as far as `query` wants it, to a file."""

        def __init__(self, server: str, path: str, query: p.LogQuery | None) -> None:
            super().__init__()
            self.server, self.path, self.query = server, path, query

    class OpenCall(Message):
        """Go to the card of a call."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    class OpenFrames(Message):
        """Go to the frames of a call."""

        def __init__(self, server: str, call_id: str) -> None:
            super().__init__()
            self.server, self.call_id = server, call_id

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = LogView(id="log-view")
        self.facts_line, self.ask, self.keys = FactLine(), AskLine(), KeyLine(_KEYS)
        self._forgets = float("-inf")

    def compose(self) -> ComposeResult:
        yield self.facts_line
        yield self.view
        yield self.ask
        yield self.keys

    # ------------------------------------------------------------------ looking

    def show(self, server: str, window: p.LogWindow | None) -> None:
        """Show the log of a server; with "" that of all, where each line says whose it is."""
        self.view.watch_log(server, window, names=not server)
        self._say()

    def mark_calls(self, calls: Sequence[CallMark]) -> None:
        """The calls that ran on these servers, in the order in which they began."""
        self.view.mark_calls(calls)

    def show_span(self, began: float, ended: float) -> bool:
        """Mark what came between two Unix times and go there; False when nothing did."""
        return self.view.show_span(began, ended)

    def poll(self) -> None:
        """Once a frame."""
        self.view.poll()
        self._say()

    def focus_view(self) -> None:
        """Put the focus where the keys are."""
        self.view.focus()

    def facts(self) -> list[Part]:
        """What is shown of how much, and how."""
        view = self.view
        facts: list[Part] = []
        if view.sieve is not None:
            facts.append((t("log.shown", n=f"{view.count:,}", of=f"{view.kept:,}"), "strong"))
            if view.sieve.behind:
                facts.append((t("log.filtering", percent=int(view.sieve.progress * 100)), "accent"))
        else:
            facts.append((t("log.lines", n=f"{view.kept:,}"), "strong"))
        query = view.query_now
        if query.level:
            facts.append((t("log.level_now", level=query.level), "accent"))
        if query.text:
            text = one_line(query.text, 30)
            facts.append((f"/{text}/" if query.is_regex else f"“{text}”", "accent"))
        if view.problem:
            facts.append((f"⚠ {one_line(view.problem, 60)}", "bad"))
        facts += self._search_facts()
        if (selected := view.selected) is not None:
            count = view.row(selected[1] + 1) - view.row(selected[0])
            facts.append((t("log.selected", n=f"{count:,}"), "accent"))
        facts.append((t("log.following") if view.following else f"▮▮ {t('log.paused')}", "muted"))
        return facts

    def _search_facts(self) -> list[Part]:
        view = self.view
        if not view.search_text:
            return []
        facts: list[Part] = [(t("log.search", text=one_line(view.search_text, 30)), "accent")]
        if view.seeker is not None:
            facts.append((t("log.searching", percent=int(view.seeker.progress * 100)), "accent"))
        elif view.search_said:
            facts.append((t(f"log.search_{view.search_said}"), "warn"))
        return facts

    def _say(self) -> None:
        self.facts_line.say(self.facts())
        self.keys.say(_KEYS_SELECTING if self.view.selected is not None else _KEYS)

    @on(WindowView.Changed)
    def _changed(self, event: WindowView.Changed) -> None:
        event.stop()
        self._say()

    # --------------------------------------------------------------------- keys

    def action_filter(self) -> None:
        """Type what lines must hold."""
        view = self.view
        hint = t("log.ask_filter_regex" if view.query_now.is_regex else "log.ask_filter")
        self.ask.open(
            hint,
            view,
            value=view.filter,
            typed=lambda text: view.set_filter(text, is_regex=view.query_now.is_regex),
        )

    def action_search(self) -> None:
        """Type what to look for; the rest is not hidden."""
        view = self.view
        self.ask.open(
            t("log.ask_search"), view, typed=lambda text: view.search(text, is_regex=view.search_is_regex)
        )

    def action_go(self) -> None:
        self.ask.open(t("log.ask_go"), self.view, done=self._go)

    def _go(self, text: str) -> None:
        """To a time of day, in the day of the newest line before now, or to a line by its number from 1."""
        view = self.view
        if text.strip().isdecimal() and len(text.strip()) < 12:
            view.go_to(int(text) - 1)
        elif (match := _TIME.fullmatch(text.strip())) is not None and view.window is not None:
            newest = view.window.lines(view.window.end - 1, view.window.end)
            day = time.localtime(newest[-1].time if newest else None)
            hour, minute, second = (int(part or 0) for part in match.groups())
            moment = time.mktime((day.tm_year, day.tm_mon, day.tm_mday, hour, minute, second, 0, 0, -1))
            view.go_to(view.number_at(moment))
        elif text.strip():
            self.app.notify(t("log.not_a_place", text=one_line(text, 40)), severity="warning", markup=False)

    def action_save(self) -> None:
        self.ask.open(t("log.ask_save"), self.view, done=self._save)

    def _save(self, path: str) -> None:
        query = self.view.query_now
        if path.strip():
            wanted = query if query != p.LogQuery() else None
            self.post_message(self.SaveRequested(self.view.server, path.strip(), wanted))

    def action_forget(self) -> None:
        """Forget all lines, when it is pressed twice."""
        window, now = self.view.window, time.monotonic()
        if window is None:
            return
        if now - self._forgets > AGAIN_WITHIN:
            self._forgets = now
            key = keymap.label("logs.forget")
            said = t("log.forget_first", key=key, n=f"{self.view.kept:,}")
            self.app.notify(said, severity="warning", timeout=AGAIN_WITHIN, markup=False)
            return
        self._forgets = float("-inf")
        window.clear()
        self.view.poll()

    def action_card(self) -> None:
        if (call := self.view.call_here()) is not None:
            self.post_message(self.OpenCall(call.call))
        else:
            self.app.notify(t("log.no_call"), markup=False)

    def action_frames(self) -> None:
        if (call := self.view.call_here()) is not None:
            self.post_message(self.OpenFrames(call.server, call.call))
        else:
            self.app.notify(t("log.no_call"), markup=False)
