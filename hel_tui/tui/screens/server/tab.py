"""What all tabs of the server screen have in common, and the line that names them.

Not here: any one tab (its own module), which is shown (screen).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Bar, Line, Part

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp


class Tab(Vertical):
    """One side of a server. It is mounted when first shown and stays."""

    name_of: ClassVar[str] = ""
    """Its name, as in the key table and the strings."""

    def __init__(self, hel: HelApp) -> None:
        super().__init__(id=f"tab-{self.name_of}", classes="tab")
        self.hel = hel
        self.server = ""

    def show_server(self, server: str) -> None:
        """Show this server from now on."""
        self.server = server
        self.draw()

    def draw(self) -> None:
        """Read what there is now and show it."""
        raise NotImplementedError

    def sync(self, changes: Changes) -> None:
        """What came in, while this tab is shown."""
        if self.server in changes.moved or changes.tools:
            self.draw()

    def frame(self) -> None:
        """Once a frame, while it is shown."""

    def second(self) -> None:
        """Once a second, while it is shown."""

    def shown(self) -> None:
        """It comes to the front."""

    def hidden(self) -> None:
        """Another comes to the front."""

    def target(self) -> Widget:
        """What gets the focus."""
        raise NotImplementedError

    @property
    def state(self) -> p.ServerChanged | None:
        """The server's state."""
        return self.hel.bridge.state.servers.get(self.server)


class TabsBar(Bar):
    """The names of the tabs, with their keys and counts; a click picks one."""

    DEFAULT_CSS = """
    TabsBar { background: $panel; }
    """

    class Picked(Message):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(id="server-tabs")
        self.names = names
        self.active = names[0]
        self.counts: dict[str, str] = {}
        self._places: list[tuple[int, int, str]] = []

    def say(self, active: str, counts: dict[str, str]) -> None:
        if (active, counts) != (self.active, self.counts):
            self.active, self.counts = active, counts
            self.refresh()

    def lines(self) -> list[Line]:
        """All names where they fit; without counts, then only those near the one shown, where they do not."""
        for with_keys, with_counts in ((True, True), (False, True), (False, False)):
            groups = [self._group(name, with_keys, with_counts) for name in self.names]
            if sum(cell_len(text) for group in groups for text, _ in group) <= self.columns:
                break
        at = self.names.index(self.active)
        first = 0
        while first < at and sum(cell_len(s) for g in groups[first : at + 2] for s, _ in g) > self.columns:
            first += 1
        parts: list[Part] = []
        self._places = []
        column = 0
        for name, group in zip(self.names[first:], groups[first:], strict=True):
            width = sum(cell_len(text) for text, _ in group)
            if column + width > self.columns:
                break
            self._places.append((column, column + width, name))
            parts += group
            column += width
        return [parts]

    def _group(self, name: str, with_keys: bool, with_counts: bool) -> list[Part]:
        count = self.counts.get(name, "") if with_counts else ""
        text = t(f"tab.{name}") + (f" {count}" if count else "")
        key = f"{keymap.label(f'server.{name}')} " if with_keys else ""
        if name == self.active:
            return [(f" {key}{text} ", "cursor")]
        return [(f" {key}", "key"), (f"{text} ", "muted")]

    def on_click(self, event: events.Click) -> None:
        event.stop()
        for start, stop, name in self._places:
            if start <= event.x < stop:
                self.post_message(self.Picked(name))
