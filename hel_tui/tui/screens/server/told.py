"""Tabs that are told in lines: overview, process, configuration, health.

Not here: the lines themselves (texts).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, get_args

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui.screens.server import texts
from hel_tui.tui.screens.server.tab import Tab
from hel_tui.tui.state import Changes
from hel_tui.tui.widgets.sheet import SheetLine, SheetView

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

_FAILED = ("failed", "needs login", "restarting")
SWITCHES: tuple[p.Switch, ...] = get_args(p.Switch)
LEVELS: tuple[p.LogLevel, ...] = get_args(p.LogLevel)


class ToldTab(Tab):
    """A tab of lines."""

    def __init__(self, hel: HelApp) -> None:
        super().__init__(hel)
        self.sheet = SheetView()

    def compose(self) -> ComposeResult:
        yield self.sheet

    def lines(self, server: p.ServerChanged) -> Sequence[SheetLine]:
        """What it says of this server now."""
        raise NotImplementedError

    def draw(self) -> None:
        if (server := self.state) is not None:
            self.sheet.show(list(self.lines(server)))

    def show_server(self, server: str) -> None:
        if server != self.server:
            self.sheet.scroll_home(animate=False, immediate=True, force=True)
        super().show_server(server)

    def second(self) -> None:
        self.draw()

    def target(self) -> Widget:
        return self.sheet

    @on(SheetView.Chosen)
    def _chosen(self, event: SheetView.Chosen) -> None:
        event.stop()
        self.choose(*event.key.split(":", 1))

    def choose(self, kind: str, what: str) -> None:
        """A line was chosen."""


class Overview(ToldTab):
    """State, failure, what was negotiated, figures."""

    name_of: ClassVar[str] = "overview"

    def lines(self, server: p.ServerChanged) -> Sequence[SheetLine]:
        core = self.hel.core
        failure = core.failure(self.server) if server.phase in _FAILED else None
        steps = self.hel.bridge.state.logins.get(self.server, ())
        return texts.overview(server, core.inside(self.server), failure, steps)

    def choose(self, kind: str, what: str) -> None:
        inside = self.hel.core.inside(self.server)
        switch = next((one for one in SWITCHES if one == what), None)
        if kind == "level" and inside is not None:
            at = LEVELS.index(inside.log_level) if inside.log_level in LEVELS else -1
            self.hel.send(p.SetLogLevel(self.server, LEVELS[(at + 1) % len(LEVELS)]))
        elif kind == "switch" and inside is not None and switch is not None:
            self.hel.send(p.SetSwitch(self.server, switch, not dict(inside.switches)[switch]))


class Process(ToldTab):
    """The processes of the server, looked at while this is shown."""

    name_of: ClassVar[str] = "process"

    def __init__(self, hel: HelApp) -> None:
        super().__init__(hel)
        self._watched = ""

    def lines(self, server: p.ServerChanged) -> Sequence[SheetLine]:
        return texts.processes(server, self.hel.core.processes(self.server), server.restarts)

    def show_server(self, server: str) -> None:
        super().show_server(server)
        if self._watched:
            self.shown()

    def shown(self) -> None:
        if self._watched != self.server:
            self.hidden()
            self._watched = self.server
            self.hel.send(p.WatchProcesses(self.server, True))

    def hidden(self) -> None:
        if self._watched:
            self.hel.send(p.WatchProcesses(self._watched, False))
            self._watched = ""

    def choose(self, kind: str, what: str) -> None:
        if kind == "end":
            self.hel.send(p.EndProcess(self.server, int(what)))


class Config(ToldTab):
    """The entry and what its variables expand to."""

    name_of: ClassVar[str] = "config"

    def lines(self, server: p.ServerChanged) -> Sequence[SheetLine]:
        del server
        return texts.config(self.hel.core.entry(self.server))

    def second(self) -> None:
        """The entry changes with its file only, which is told."""

    def sync(self, changes: Changes) -> None:
        if self.server in changes.moved or changes.config:
            self.draw()


class Health(ToldTab):
    """What the doctor found about the server."""

    name_of: ClassVar[str] = "health"

    def lines(self, server: p.ServerChanged) -> Sequence[SheetLine]:
        del server
        return texts.health(self.hel.core.diagnosis(self.server))

    def sync(self, changes: Changes) -> None:
        if self.server in changes.diagnosed:
            self.draw()

    def second(self) -> None:
        """It changes when the doctor says so."""
