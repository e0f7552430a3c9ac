"""The tools pane: which tools the model has loaded, and what each definition costs.

Not here: loading (core); the pane only asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import ClassVar

from rich.cells import cell_len
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.message import Message

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Part, pad
from hel_tui.tui.widgets.rows import Row, RowList


def tool_row(tool: p.ToolRow, width: int) -> list[Part]:
    """One line: ◆ loaded, ◇ not, – not offered to the model; then its cost in tokens."""
    name = clean(f"{tool.server}.{tool.raw}", newlines=False)
    if tool.reason:
        cost, glyph, style = t("tools.not_offered"), "–", "warn"
    elif tool.loaded:
        cost, glyph, style = f"{tool.tokens}t", "◆", "ok"
    else:
        cost, glyph, style = f"({tool.tokens}t)", "◇", "muted"
    room = max(width - 4, 2)
    cost = cut(cost, room // 2)
    return [
        (f" {glyph} ", style),
        (pad(name, max(room - cell_len(cost) - 1, 1)), "" if tool.loaded else "muted"),
        (" " + cost, "muted"),
    ]


def keyed(tools: Iterable[p.ToolRow]) -> dict[str, p.ToolRow]:
    """Tools by keys of their own: loaded ones first, then by server and name, offered before refused ones.

    A server may list a name twice, or tools without a name: each keeps its row.
    """
    found: dict[str, p.ToolRow] = {}
    order = sorted(tools, key=lambda tool: (not tool.loaded, tool.server, tool.raw, bool(tool.reason)))
    seen: dict[tuple[str, str], int] = {}
    for tool in order:
        name = (tool.server, tool.raw)
        seen[name] = seen.get(name, 0) + 1
        found[json.dumps([*name, seen[name]])] = tool
    return found


class ToolsPane(RowList):
    """Loaded tools first, then by server and name."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("tools")

    class Toggled(Message):
        """Load or unload this tool."""

        def __init__(self, tool: p.ToolRow) -> None:
            super().__init__()
            self.tool = tool

    class CallWanted(Message):
        """The person wants to call this tool by hand."""

        def __init__(self, tool: p.ToolRow) -> None:
            super().__init__()
            self.tool = tool

    def __init__(self) -> None:
        super().__init__(id="tools")
        self.tools: dict[str, p.ToolRow] = {}
        self.filter = ""

    def update(self, tools: tuple[p.ToolRow, ...]) -> None:
        """Show these tools."""
        self.tools = keyed(tools)
        self.empty = [(f" {t('tools.none')}", "muted")]
        self._draw()

    def set_filter(self, text: str) -> int:
        """Show only tools whose server, name or description contains `text`; returns how many there are."""
        self.filter = text.casefold()
        self._draw()
        return len(self.rows)

    def _draw(self) -> None:
        width = max(self.columns, 1)
        shown = [
            Row(key, tool_row(tool, width))
            for key, tool in self.tools.items()
            if self.filter in f"{tool.server}.{tool.raw} {tool.description}".casefold()
        ]
        self.show(shown)

    def on_resize(self) -> None:
        self._draw()

    def action_load(self) -> None:
        if tool := self.tools.get(self.current):
            self.post_message(self.Toggled(tool))

    def action_open(self) -> None:
        self.action_load()

    def action_call(self) -> None:
        if tool := self.tools.get(self.current):
            self.post_message(self.CallWanted(tool))

    def action_clear_filter(self) -> None:
        if not self.filter:
            raise SkipAction
        self.set_filter("")

    async def action_filter(self) -> None:
        await self.run_action("screen.filter_tools")
