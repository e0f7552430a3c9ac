"""The saved checks of the project: all of them, how they went, run by key.

Not here: what the lines say (texts), running (core), saving a call as a check (the call's own screen).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.screens.authoring import texts
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.screens.picker import SheetKeys
from hel_tui.tui.screens.sheets import keys_lines
from hel_tui.tui.screens.text import KeysScreen
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.bars import WaitingBar
from hel_tui.tui.widgets.lines import Caption
from hel_tui.tui.widgets.sheet import SheetView

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

FOOT = ("checks.all", "checks.this", "checks.server", "checks.copy", "checks.keys", "checks.close")


class ChecksScreen(LiveScreen):
    """A list of checks, and the one under the cursor in full."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("checks")
    AUTO_FOCUS = "#checks-list"

    def __init__(self, hel: HelApp, server: str = "") -> None:
        """`server` limits it to the checks of one; empty for all."""
        super().__init__(id="checks")
        self.hel, self.server = hel, server
        self.head = Caption()
        self.list = SheetView(id="checks-list")
        self.detail = SheetView(id="checks-detail")
        self.waits = WaitingBar(hel.bridge.state)
        self._drawn: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="authoring"):
            yield self.head
            yield self.list
            yield self.detail
            self.waits.display = False
            yield self.waits
            yield SheetKeys([(action, f"short.{action}") for action in FOOT])

    def on_mount(self) -> None:
        self.draw()

    # ----------------------------------------------------------------- drawing

    @property
    def rows(self) -> tuple[p.CheckRow, ...]:
        """The checks that are shown."""
        return tuple(row for row in self.hel.core.checks() if self.server in ("", row.server))

    @property
    def results(self) -> dict[str, p.CheckResult]:
        """How they went, by name."""
        return {result.check.name: result for result in self.hel.core.check_results()}

    @property
    def current(self) -> p.CheckRow | None:
        """The check under the cursor."""
        return next((row for row in self.rows if row.name == self.list.current), None)

    def draw(self) -> None:
        rows, results = self.rows, self.results
        shown = [result for result in results.values() if result.check.name in {row.name for row in rows}]
        where = f"{t('checks.title')}{f' · {self.server}' if self.server else ''}"
        self.head.say([(f" {where}", "strong"), (f" · {texts.summary(rows, shown)}", "muted")])
        self.list.show(texts.checks_lines(rows, shown))
        self._draw_detail()

    def _draw_detail(self) -> None:
        row = self.current
        self.detail.show(texts.check_lines(row, self.results.get(row.name) if row is not None else None))
        self._drawn = (self.list.current,)

    def sync(self, changes: Changes) -> None:
        if changes.checks:
            self.draw()

    def frame(self) -> None:
        if self._drawn != (self.list.current,):
            self._draw_detail()

    def show_waiting(self, on: bool) -> None:
        if self.waits.display != on:
            self.waits.display = on
        if on:
            self.waits.refresh()

    # -------------------------------------------------------------------- keys

    def action_all(self) -> None:
        """Run all that are shown."""
        self.hel.send(p.RunChecks(self.server))

    def action_this(self) -> None:
        """Run the one under the cursor."""
        if (row := self.current) is not None:
            self.hel.send(p.RunChecks(row.server, row.name))

    def action_server(self) -> None:
        """Run those of the server of the one under the cursor."""
        if (row := self.current) is not None:
            self.hel.send(p.RunChecks(row.server))

    def action_copy(self) -> None:
        """Copy how the one under the cursor went."""
        row = self.current
        result = self.results.get(row.name) if row is not None else None
        if result is not None:
            self.hel.copy(f"{result.check.name}: {result.message}\n{result.diff}".strip())

    def on_sheet_view_chosen(self, event: SheetView.Chosen) -> None:
        """Enter runs it."""
        event.stop()
        self.action_this()

    def action_other(self) -> None:
        """Between the list and the details."""
        self.set_focus(self.detail if self.focused is self.list else self.list)

    def action_waiting(self) -> None:
        """Open the decision that waits."""
        self.hel.open_waiting()

    def action_keys(self) -> None:
        """The keys of this screen."""
        self.hel.push_screen(KeysScreen(keys_lines(("checks", "list"))))

    def action_close(self) -> None:
        self.dismiss(None)
