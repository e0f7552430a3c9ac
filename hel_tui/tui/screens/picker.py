"""A sheet with a list to pick from: a filter, the marked entry told in full below it, keys in the foot.

Base of the resources and the prompts sheets. Not here: what the entries are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from hel_tui.tui import keymap
from hel_tui.tui.dialogs.pane import TextPane
from hel_tui.tui.safe import clean
from hel_tui.tui.screens.once import OnceModal
from hel_tui.tui.screens.sheets import keys_lines
from hel_tui.tui.screens.text import KeysScreen
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.finder import Finder
from hel_tui.tui.widgets.lines import Bar, Caption, Line, Part, width_of
from hel_tui.tui.widgets.rows import Row, RowList


def foot_line(keys: Iterable[tuple[str, str]]) -> Line:
    """The keys of a sheet: (action, key of its short word) for each."""
    parts: list[Part] = [(" ", "")]
    for action, word in keys:
        gap: list[Part] = [(" · ", "frame")] if len(parts) > 1 else []
        parts += [*gap, (keymap.label(action), "key"), (f" {t(word)}", "muted")]
    return parts


class SheetKeys(Bar):
    """The keys of a sheet in one or two rows: as many as there is room for, the last one always."""

    ROWS = 2

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.keys = keys

    def lines(self) -> list[Line]:
        *keys, last = self.keys
        while keys and len(self._rows([*keys, last])) > self.ROWS:
            keys.pop()
        return [foot_line(row) for row in self._rows([*keys, last])]

    def _rows(self, keys: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
        """The keys broken into rows of this width."""
        rows: list[list[tuple[str, str]]] = [[]]
        for key in keys:
            if rows[-1] and width_of(foot_line([*rows[-1], key])) > self.columns:
                rows.append([])
            rows[-1].append(key)
        return rows

    def on_resize(self) -> None:
        if self.columns:
            self.styles.height = len(self.lines())
        self.refresh()


class PickerList(RowList):
    """Rows to pick from."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("picker")

    class Wish(Message):
        """A key of the picker: the name of what it does, such as `filter`."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    def __init__(self) -> None:
        super().__init__(id="picker")
        self.drawn: Callable[[str, int], Line] = lambda _key, _width: ()
        """The line of a row to pick, by its key and for a width: asked for what is on the screen only."""

    def line_at(self, y: int) -> Line:
        row = self.rows[y] if y < len(self.rows) else None
        return (
            self.drawn(row.key, max(self.columns, 1)) if row is not None and row.live else super().line_at(y)
        )

    def action_filter(self) -> None:
        self.post_message(self.Wish("filter"))

    def action_close(self) -> None:
        self.post_message(self.Wish("close"))


class Picker(OnceModal[str]):
    """Subclasses give `title`, `foot`, `rows`, `line`, `details` and `pick`."""

    AUTO_FOCUS = "#picker"
    foot: tuple[tuple[str, str], ...] = ()
    """(action, key of its short word) named at the bottom."""
    parts: tuple[str, ...] = ()
    """Parts of the key table whose keys are live here."""

    def __init__(self, title: str, rows: PickerList) -> None:
        super().__init__()
        self.heading = title
        self.list = rows
        rows.drawn = self.line
        self.detail = TextPane()
        self.finder = Finder()
        self.filter = ""
        self.head = Caption()

    def rows(self) -> list[Row]:
        """What the list shows now, filtered; the rows to pick without their text."""
        raise NotImplementedError

    def line(self, key: str, width: int) -> Line:
        """One row to pick, drawn."""
        raise NotImplementedError

    def details(self, key: str) -> list[Line]:
        """The marked row in full."""
        raise NotImplementedError

    def pick(self, key: str) -> None:
        """Enter on a row."""
        raise NotImplementedError

    def empty(self) -> str:
        """What to say when there is no row."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog sheet picker"):
            yield self.head
            yield self.list
            yield self.detail
            yield self.finder
            yield SheetKeys(self.foot)

    def on_mount(self) -> None:
        self.finder.display = False
        self.draw()

    def draw(self) -> None:
        """Show what there is now; the mark stays on its row."""
        title = f" {self.heading}"
        if self.filter:
            title = t("pane.filtered", title=title, text=clean(self.filter, newlines=False))
        self.head.say([(title, "strong")])
        self.list.empty = [(f" {self.empty()}", "muted")]
        self.list.show(self.rows())
        self.list.refresh()
        self._describe()

    def _describe(self) -> None:
        self.detail.show(self.details(self.list.current) if self.list.current else [])

    def set_filter(self, text: str) -> int | str:
        """Show what contains `text` only; returns how much that is, or says so."""
        self.filter = text.strip().casefold()
        self.draw()
        return sum(row.live for row in self.list.rows)

    @on(RowList.Moved, "#picker")
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        self._describe()

    @on(RowList.Opened, "#picker")
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        if self.is_active:  # it is not, when two keys were pressed at once
            self.pick(event.key)

    @on(PickerList.Wish)
    def _wish(self, event: PickerList.Wish) -> None:
        event.stop()
        if self.is_active:
            self.do(event.what)

    def do(self, what: str) -> None:
        """Do what a key of the list asks for."""
        match what:
            case "filter":
                self.finder.open(t("resources.filter"), self.list, self.set_filter)
            case "close" if self.filter:
                self.set_filter("")
            case "close":
                self.dismiss("")

    @on(Input.Changed, "#finder")
    def _finding(self, event: Input.Changed) -> None:
        event.stop()
        self.finder.apply(event.value)

    @on(Finder.Closed)
    def _found(self, event: Finder.Closed) -> None:
        event.stop()
        self.set_focus(event.back)

    def on_key(self, event: events.Key) -> None:
        if event.key == "ctrl+c":
            event.stop()
            self.dismiss("")
        elif event.key in keymap.keys("app.keys"):
            event.stop()
            self.app.push_screen(KeysScreen(keys_lines(self.parts)))
        elif self.finder.display:
            self.finder.take(event)  # it has not got the focus yet
        elif self.list.has_focus and event.key in keymap.keys("picker.filter"):
            event.stop()
            self.do("filter")  # at once: what is typed next is meant for the search
