"""Tabs with a list and the marked entry in full: tools, resources, prompts.

Not here: the texts of a tool (tool_view), the dialogs that fill in arguments (offers).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Input

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.pane import framed, one_line
from hel_tui.tui.safe import ForeignText, cut
from hel_tui.tui.screens import tool_view
from hel_tui.tui.screens.picker import PickerList
from hel_tui.tui.screens.prompts import PromptList
from hel_tui.tui.screens.server.figures import size
from hel_tui.tui.screens.server.tab import Tab
from hel_tui.tui.screens.server.texts import fact
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.finder import Finder
from hel_tui.tui.widgets.lines import Line, Part, pad
from hel_tui.tui.widgets.rows import Row, RowList
from hel_tui.tui.widgets.sheet import SheetView
from hel_tui.tui.widgets.tools import ToolsPane, keyed, tool_row

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

SIDE_BY_SIDE = 96
"""Cells from which the list and the entry stand beside each other."""


class ServerTools(ToolsPane):
    """The tools of one server, flat."""

    def update(self, tools: tuple[p.ToolRow, ...]) -> None:
        self.tools = keyed(sorted(tools, key=lambda tool: (tool.raw, bool(tool.reason))))
        self.empty = [(f" {t('tools.none')}", "muted")]
        self._draw()

    def _draw(self) -> None:
        self.show([Row(key, ()) for key, tool in self.tools.items() if self._matches(tool)])
        self.refresh()

    def line_at(self, y: int) -> Line:
        tool = self.tools.get(self.rows[y].key) if y < len(self.rows) else None
        if tool is None:
            return RowList.line_at(self, y)
        return tool_row(tool, max(self.columns, 1), alone=False)[0:]


class ListedTab(Tab):
    """A list, and below or beside it what the marked entry says."""

    def __init__(self, hel: HelApp, rows: RowList) -> None:
        super().__init__(hel)
        self.list = rows
        self.sheet = SheetView()
        self.sheet.add_class("detail")
        self.finder = Finder()
        self.finder.display = False

    def compose(self) -> ComposeResult:
        yield self.list
        yield self.sheet
        yield self.finder

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= SIDE_BY_SIDE, "-beside")

    def target(self) -> Widget:
        return self.list

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        self.describe()

    def describe(self) -> None:
        """Show the marked entry."""
        self.sheet.show(self.details(self.list.current) if self.list.current else [])

    def details(self, key: str) -> list[Line]:
        """The marked entry in full."""
        raise NotImplementedError

    def find(self, text: str) -> int:
        """Show what contains `text` only; returns how much that is."""
        raise NotImplementedError

    def open_filter(self) -> None:
        """Type what the list is to contain."""
        self.finder.open(t("resources.filter"), self.list, self.find)

    @on(Input.Changed, "#finder")
    def _finding(self, event: Input.Changed) -> None:
        event.stop()
        self.finder.apply(event.value)

    @on(Finder.Closed)
    def _found(self, event: Finder.Closed) -> None:
        event.stop()
        self.screen.set_focus(event.back)


class Tools(ListedTab):
    """The tools of the server: load, pin, off, call, and everything about the marked one."""

    name_of: ClassVar[str] = "tools"

    def __init__(self, hel: HelApp) -> None:
        self.pane = ServerTools(id="server-tools")
        super().__init__(hel, self.pane)

    def draw(self) -> None:
        self.pane.update(tuple(row for row in self.hel.core.tools() if row.server == self.server))
        self.describe()

    def details(self, key: str) -> list[Line]:
        row = self.pane.tools.get(key)
        detail = self.hel.core.tool(row.server, row.raw) if row is not None else None
        return tool_view.tool_lines(detail) if detail is not None else []

    def find(self, text: str) -> int:
        return self.pane.set_filter(text)

    def pick(self, raw: str) -> None:
        """Mark the tool with this name."""
        if key := next((key for key, tool in self.pane.tools.items() if tool.raw == raw), ""):
            self.pane.select(key)

    @property
    def marked(self) -> p.ToolRow | None:
        """The tool under the cursor."""
        return self.pane.tools.get(self.pane.current)

    @on(ToolsPane.Wish)
    def _wish(self, event: ToolsPane.Wish) -> None:
        event.stop()
        if event.what == "view":
            if event.tool.changed:
                self.hel.send(p.SeenTool(event.tool.server, event.tool.raw))
            self.screen.set_focus(self.sheet)
        else:
            self.hel.main.commands.tool_wish(event.what, event.tool)


class Offered(ListedTab):
    """Rows that are picked from, by a key of JSON."""

    rows: ClassVar[type[PickerList]] = PickerList

    def __init__(self, hel: HelApp) -> None:
        self.picker = self.rows()
        super().__init__(hel, self.picker)
        self.picker.drawn = self.line
        self.filter = ""

    def line(self, key: str, width: int) -> Line:
        """One row."""
        raise NotImplementedError

    def find(self, text: str) -> int:
        self.filter = text.strip().casefold()
        self.draw()
        return len(self.picker.rows)

    @on(PickerList.Wish)
    def _wish(self, event: PickerList.Wish) -> None:
        event.stop()
        match event.what:
            case "look" | "try":
                self.look()
            case "filter":
                self.open_filter()
            case "close" if self.filter:
                self.find("")
            case "close":
                self.screen.run_worker(self.screen.run_action("screen.close"))

    def look(self) -> None:
        """Look at the marked row closer."""

    def show_rows(self, keys: list[str], empty: str) -> None:
        self.picker.empty = [(f" {empty}", "muted")]
        self.picker.show([Row(key, ()) for key in keys])
        self.picker.refresh()
        self.describe()


class Resources(Offered):
    """The server's resources and templates; Enter shows one."""

    name_of: ClassVar[str] = "resources"

    def shown(self) -> None:
        state = self.state
        if state is not None and "resources" in state.offers:
            self.hel.send(p.ListResources(self.server))

    def sync(self, changes: Changes) -> None:
        if changes.resources or changes.offerers:
            self.draw()

    def _rows(self) -> dict[str, p.ResourceRow]:
        rows = (row for row in self.hel.core.resources() if row.server == self.server)
        return {
            json.dumps([row.uri, row.template]): row
            for row in rows
            if self.filter in f"{row.uri} {row.name} {row.description}".casefold()
        }

    def draw(self) -> None:
        self._by_key = self._rows()
        self.show_rows(list(self._by_key), t("resources.none"))

    def line(self, key: str, width: int) -> Line:
        row = self._by_key[key]
        words = ", ".join(self.hel.main.offers.words(row))
        tail = cut(f" {one_line(ForeignText(words or row.mime))}", max(width // 3, 1))
        name = one_line(ForeignText(row.name or row.uri))
        return [(pad(f" {name}", max(width - cell_len(tail), 1)), ""), (tail, "muted")]

    def details(self, key: str) -> list[Line]:
        row = self._by_key.get(key)
        if row is None:
            return []
        facts = [
            ("offer.uri", row.uri),
            ("offer.mime", row.mime),
            ("offer.size", size(row.size) if row.size else ""),
            ("offer.variables", ", ".join(row.variables)),
        ]
        lines = [fact(name, value) for name, value in facts if value]
        return lines + (framed(ForeignText(row.description)) if row.description else [])

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        if (row := self._by_key.get(event.key)) is not None:
            offers = self.hel.main.offers
            offers.with_uri(row, lambda uri: offers.look(row.server, uri, row.name))


class Prompts(Offered):
    """The server's prompts; Enter sends one, after its arguments were filled in."""

    name_of: ClassVar[str] = "prompts"
    rows: ClassVar[type[PickerList]] = PromptList

    def look(self) -> None:
        """What the marked prompt becomes."""
        if (row := self._by_key.get(self.picker.current)) is not None:
            self.hel.main.offers.look_at(row)

    def sync(self, changes: Changes) -> None:
        if changes.prompts or changes.offerers:
            self.draw()

    def draw(self) -> None:
        rows = (row for row in self.hel.core.prompts() if row.server == self.server)
        self._by_key = {
            row.command: row
            for row in rows
            if self.filter in f"{row.name} {row.title} {row.description}".casefold()
        }
        self.show_rows(list(self._by_key), t("offer.no_prompts"))

    def line(self, key: str, width: int) -> Line:
        row = self._by_key[key]
        return [(pad(f" {one_line(ForeignText(row.title or row.name))}", width), "")]

    def details(self, key: str) -> list[Line]:
        row = self._by_key.get(key)
        if row is None:
            return []
        lines: list[Line] = [[(f"/{one_line(ForeignText(row.command))}", "key")]]
        lines += framed(ForeignText(row.description)) if row.description else []
        for field in row.fields:
            parts: list[Part] = [("  ", ""), (one_line(ForeignText(field.name)), "strong")]
            parts += [(" *", "warn")] if field.required else []
            if field.description:
                parts.append((f"  {one_line(ForeignText(field.description))}", "muted"))
            lines.append(parts)
        return lines

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        if (row := self._by_key.get(event.key)) is not None:
            self.hel.main.offers.use(row)
