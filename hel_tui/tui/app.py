"""The Textual app: wires the screen to the core and looks after beginning and end. No logic of its own.

Not here: drawing (widgets), deciding (dialogs), commands (screens/commands).
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path, PurePath
from types import FrameType

from textual import events
from textual.app import App
from textual.command import CommandPalette

from hel_tui.core import protocol as p
from hel_tui.tui import crash, keymap, looks, strings, themes
from hel_tui.tui.bridge import Bridge, Core
from hel_tui.tui.dialogs.base import Dialog
from hel_tui.tui.dialogs.desk import Desk
from hel_tui.tui.guard import end_by, quiet_terminal
from hel_tui.tui.history import History
from hel_tui.tui.places import Places
from hel_tui.tui.safe import clean
from hel_tui.tui.screens.closing import ClosingScreen
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.screens.main import MainScreen
from hel_tui.tui.screens.sheets import report_lines
from hel_tui.tui.screens.text import TextScreen
from hel_tui.tui.screens.toasts import place_toasts
from hel_tui.tui.strings import t

FRAME = 1 / 30
CLOSE_WITHIN = 12.0
"""Seconds the core may take to close its servers before it is killed."""
SIGNAL_TIME = 12.0
"""Seconds after a signal at which the process ends in any case; an orderly end takes up to ten."""
FEW_MODULES = 20
COLLECT = (2_000, 10, 30)
"""Objects before a collection, and how many of those before a larger one: rarer than Python's own, since a
full one is felt by the hands."""
_STYLE_SHEETS: list[str | PurePath] = [
    Path(__file__).parent / "styles" / name for name in ("main.tcss", "dialogs.tcss", "server.tcss")
]


class HelApp(App[int]):
    """The full-screen app over a core that is not started yet."""

    TITLE = "hel"
    ENABLE_COMMAND_PALETTE = False
    PAUSE_GC_ON_SCROLL = True
    CSS_PATH = _STYLE_SHEETS

    def __init__(
        self,
        core: Core,
        *,
        theme: str | None = None,
        places: Places | None = None,
        clock: Callable[[], float] = time.monotonic,
        opens: str = "",
        held: Callable[[bool], None] = lambda _held: None,
    ) -> None:
        """`opens` names a server whose screen is opened as soon as it is there; `held` hears when the app
        gives the terminal to another program and when it has it again.
        """
        strings.use(strings.preferred())
        self.places = places or Places()
        overrides, self._problems = keymap.load(self.places.keymap) if self.places.keymap else ({}, [])
        keymap.use(overrides)
        super().__init__()
        self.set_keymap(overrides)
        self.core, self.bridge, self.clock = core, Bridge(core), clock
        self.looks = looks.read(self.places.looks)
        self.history = History(self.places.history, self.places.mask)
        self._load_themes(theme)
        self.desk = Desk(self._push_dialog, self.send, clock, self.bridge.state.logins)
        self.main = MainScreen(self)
        self._farewell: ClosingScreen | None = None
        self._opens, self._held = opens, held
        self._modules = 0

    def _load_themes(self, wish: str | None) -> None:
        loaded = themes.load(self.places.themes)
        self._problems += loaded.problems
        for theme in loaded.themes.values():
            self.register_theme(theme)
        self.theme_names = list(loaded.themes)
        remembered = self.looks.theme if self.looks.theme in loaded.themes else None
        name, problem = themes.choose(loaded, wish or remembered)
        self._problems += [problem] if problem else []
        self.theme = name

    def refresh_css(self, animate: bool = True) -> None:
        """Before there is a screen the style sheet needs the theme's colours only: it is not parsed yet."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    # --------------------------------------------------------------- beginning

    def get_default_screen(self) -> MainScreen:
        return self.main

    def on_mount(self) -> None:
        self._install_signals()
        self.app_suspend_signal.subscribe(self, lambda _app: self._held(False))
        self.app_resume_signal.subscribe(self, lambda _app: self._held(True))
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """The first frame is on the screen: now the core may start."""
        self.bridge.start()
        self.set_interval(FRAME, self._frame)
        self.set_interval(1.0, self._second)
        for problem in self._problems:
            self.say(problem, "warning")
        gc.enable()
        gc.set_threshold(*COLLECT)

    def _second(self) -> None:
        """Once a second: what counts seconds; and modules loaded since are no more looked at as garbage.

        With the core's modules a full collection would hold up the keys for 0.2 s.
        """
        self.main.second()
        for screen in self._live():
            if screen.is_active:
                screen.second()
        if len(sys.modules) - self._modules > FEW_MODULES and not self.is_headless:
            self._modules = len(sys.modules)
            gc.freeze()

    def _install_signals(self) -> None:
        """End in order on SIGTERM, SIGHUP and SIGINT, so that the terminal and the servers are left clean.

        Ctrl+C at the terminal is a key, no signal.
        """
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        # A handler interrupts whatever runs, the loop's own steps included, which are in no app's context.

        def hear(number: int, _frame: FrameType | None) -> None:
            # Not by way of the loop alone: it may be stuck at a terminal that is gone.
            end_by(SIGNAL_TIME, 128 + number, self.core.kill)
            with contextlib.suppress(RuntimeError):  # the app is over, and on its way out
                loop.call_soon_threadsafe(self._on_signal, 128 + number, context=context)

        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with contextlib.suppress(ValueError):  # not the main thread
                signal.signal(number, hear)

    def _on_signal(self, code: int) -> None:
        self._return_code = code
        self.action_quit_soon()

    # ------------------------------------------------------------------ frames

    def _frame(self) -> None:
        """Thirty times a second: take what came, draw it, and see to waiting decisions."""
        if self._exit or not self.screen_stack:
            return
        changes = self.bridge.pull()
        if changes is not None:
            with self.batch_update():
                self.main.sync(changes)
                for screen in self._live():
                    screen.sync(changes)
            for notice in [] if self._shows_news else [*changes.toasts, *changes.news]:
                self.say(clean(notice.text), notice.severity, clean(notice.source, newlines=False))
            if self._opens and self._opens in self.bridge.state.servers:
                opens, self._opens = self._opens, ""
                self.open_server(opens)
            if changes.ended:
                self._ended()
            if changes.questions and not self.app_focus:
                self.bell()
        self.main.frame()
        for screen in self._live():
            if screen.is_active:
                screen.frame()
        self._ask()

    def _live(self) -> list[LiveScreen]:
        """The screens that stand over the main one and hear of what comes in."""
        return [screen for screen in self.screen_stack if isinstance(screen, LiveScreen)]

    @property
    def _shows_news(self) -> bool:
        """Whether what is added to the conversation is seen."""
        return self.main.shows_news and not self._live()

    def _ask(self, wanted: bool = False) -> None:
        questions = self.bridge.state.questions
        if not questions and not self.desk.is_open:
            self._show_waiting(False)
            return
        free = self._farewell is None and (self.screen is self.main or isinstance(self.screen, LiveScreen))
        self.desk.tick(questions, free, wanted)
        asked = self.desk.is_open
        waits = not asked and bool(self.desk.waiting(questions))
        self._show_waiting(waits, asked, self.desk.escape_word())

    def _show_waiting(self, on: bool, asked: bool = False, escape: str = "") -> None:
        self.main.show_waiting(on, asked, escape)
        for screen in self._live():
            screen.show_waiting(on)

    def open_waiting(self) -> None:
        """F3: ask now what waits."""
        self._ask(wanted=True)

    def _push_dialog(self, dialog: Dialog, done: Callable[[p.Answer | None], None]) -> None:
        self.push_screen(dialog, done)

    async def on_event(self, event: events.Event) -> None:
        """Keys that are not meant for an open dialog end here, before any widget sees them."""
        if isinstance(event, events.InputEvent) and not event.is_forwarded:
            if isinstance(event, events.Key | events.Paste):
                self.desk.hands.key(event.time)
            listens = isinstance(event, events.Key | events.Paste | events.MouseDown | events.MouseUp)
            if listens and isinstance(self.screen, Dialog) and not self.screen.takes(event):
                return
        await super().on_event(event)

    # --------------------------------------------------------------- for parts

    def send(self, command: p.Command) -> None:
        self.bridge.send(command)

    def say(self, text: str, severity: p.Severity = "info", title: str = "") -> None:
        """A toast; the text is never markup."""
        if len(self.screen_stack) > 1:
            place_toasts(self.screen)
        kind = {"info": "information", "warning": "warning", "error": "error"}[severity]
        self.notify(text[:600], title=title[:60], severity=kind, markup=False)  # type: ignore[arg-type]

    def open_server(self, server: str, tab: str = "", call: str = "") -> None:
        """The server screen at a server, and at a tab of it; `call` picks what one call caused."""
        self.main.commands.open_server(server, tab, call)

    def show_card(self, call_id: str) -> None:
        """Back to the conversation, at the card of a call."""
        self.back_to_conversation()
        self.main.show_card(call_id)

    def back_to_conversation(self) -> None:
        """Close what stands over the main screen, but for a decision that is asked."""
        while len(self.screen_stack) > 1 and not isinstance(self.screen, Dialog):
            self.pop_screen()

    def copy(self, text: str, said: str = "") -> None:
        """To the clipboard through the terminal (OSC 52); then `said`, or how many characters it was.

        tmux and screen pass it on only when they are told to, and do not say whether they did.
        """
        if text:
            self.copy_to_clipboard(clean(text))
            self.clear_notifications()
            said = said or t("copied", n=len(text))
            unsure = os.environ.get("TERM", "").startswith(("tmux", "screen"))
            self.say(t("copied.unsure", said=said) if unsure else said)

    def browse(self, url: str, copy: str) -> bool:
        """Open a web address in the person's browser; say why not where that cannot be.

        Only called for a key or a click. `copy` is the action that copies the address instead.
        """
        from hel_tui.browsers import opens_in_view
        from hel_tui.tui import browse

        if not browse.is_web(url):
            self.say(t("browse.scheme"), "warning")
        elif not (self.is_web or opens_in_view(os.environ)):
            self.say(t("browse.no_browser", key=keymap.label(copy)), "warning")
        else:
            self.open_url(url)
            return True
        return False

    def use_theme(self, name: str) -> str:
        """Switch; a sentence when there is no such theme, else empty."""
        if name not in self.theme_names:
            return t("theme.no_such", name=name[:40], names=", ".join(self.theme_names))
        self.theme = self.looks.theme = name
        return ""

    def redraw(self) -> None:
        """Draw everything anew, entering the terminal's modes again."""
        if self._driver is not None and not self.is_headless:
            self._driver.write("\x1b[?1049h\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?25l")
        self.refresh(repaint=True, layout=True)
        self.screen.refresh(layout=True)

    async def open_palette(self) -> None:
        from hel_tui.tui.palette import HelProvider

        self.push_screen(CommandPalette(providers=[HelProvider], placeholder=t("palette.placeholder")))

    # --------------------------------------------------------------------- end

    async def action_quit(self) -> None:
        self.main.commands.leave()

    def action_quit_soon(self) -> None:
        """Close the servers in order, then leave; asked a second time, kill."""
        if self._farewell is not None:
            self._kill()
            return
        looks.write(self.places.looks, self.looks)
        state = self.bridge.state
        if not self.bridge.started or state.stopped or state.failed:
            self.exit(self._return_code or 0)
            return
        on = tuple(s.name for s in state.servers.values() if s.phase not in ("off", "untrusted", "stopped"))
        self._farewell = ClosingScreen(on)
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.push_screen(self._farewell)
        self.main.drafting.tell()
        self.send(p.Shutdown())
        self.set_timer(CLOSE_WITHIN, self._kill)

    def on_closing_screen_impatient(self) -> None:
        self._kill()

    def _kill(self) -> None:
        self.core.kill()
        self.exit(self._return_code or 0)

    def _ended(self) -> None:
        """The core said something about its end."""
        state = self.bridge.state
        if self._farewell is not None and state.closing is not None:
            self._farewell.update(state.closing)
        if state.failed and not isinstance(self.screen, TextScreen):
            report = TextScreen(t("report.title"), report_lines(state.failed))
            self.push_screen(report, lambda _: self.exit(1))
        elif state.stopped and not state.failed:
            self.exit(self._return_code or 0)

    def _fatal_error(self) -> None:
        """A bug in the screen: Textual would print the values of variables; we print where it was."""
        self._close_messages_no_wait()


def run(
    core: Core,
    *,
    theme: str | None = None,
    places: Places | None = None,
    opens: str = "",
    held: Callable[[bool], None] = lambda _held: None,
) -> int:
    """Open the app, and when it has ended leave no server and a clean terminal. Returns the exit status.

    `held` hears when the app takes the terminal and when it has given it back.
    """
    app = HelApp(core, theme=theme, places=places, opens=opens, held=held)
    held(True)
    try:
        with quiet_terminal():
            status = app.run()
    finally:
        held(False)
        if app.bridge.started and not core.stop(2.0):
            core.kill()
    if app._exception is not None:
        sys.stderr.write(crash.report(app._exception) + "\n")
        return 1
    if app.bridge.state.failed:
        sys.stderr.write(clean(app.bridge.state.failed) + "\n")
        return 1
    return status if status is not None else (app.return_code or 0)
