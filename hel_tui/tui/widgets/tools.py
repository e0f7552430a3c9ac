"""The tools pane: which tools are loaded, then every server's own under its name, and what each costs.

Lines are made when they are drawn: ten thousand tools cost a frame no more than ten. Not here: loading,
pinning, switching (core); the pane only asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import ClassVar, Literal

from rich.cells import cell_len
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.message import Message

from hel_tui.core import protocol as p
from hel_tui.core.values import dataclass
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, Part, pad
from hel_tui.tui.widgets.rows import Row, RowList

OPEN_UP_TO = 12
"""Tools that a server may have for its group to be open from the beginning."""


def cost(tokens: int) -> str:
    """`84t`, `2.1kt`: estimated tokens."""
    return (
        f"{tokens}t"
        if tokens < 1000
        else f"{tokens / 1000:.1f}kt"
        if tokens < 100_000
        else f"{tokens // 1000}kt"
    )


def tool_mark(tool: p.ToolRow) -> tuple[str, str, str]:
    """(sign, style, word) for the state of a tool; the word is empty where its cost says enough."""
    if tool.off:
        return "○", "muted", t("tools.off")
    if tool.reason:
        return "–", "warn", t("tools.not_offered")
    if tool.changed:
        return "▲", "warn", t("tools.changed")
    if tool.warnings:
        return "⚠", "warn", ""
    if tool.pinned:
        return "★", "ok" if tool.loaded else "muted", ""
    return ("◆", "ok", "") if tool.loaded else ("◇", "muted", "")


def tool_row(tool: p.ToolRow, width: int, *, alone: bool = True) -> list[Part]:
    """One line: the sign of its state, its name, its cost in tokens (in brackets while it is not loaded).

    `alone`: it does not stand under the name of its server, so that its name tells it.
    """
    name = clean(f"{tool.server}.{tool.raw}" if alone else tool.raw, newlines=False)
    glyph, style, word = tool_mark(tool)
    told = word or (cost(tool.tokens) if tool.loaded else f"({cost(tool.tokens)})")
    if word and tool.loaded:
        told = f"{word} {cost(tool.tokens)}"
    indent = "" if alone else "  "
    room = max(width - 4 - len(indent), 2)
    told = cut(told, room // 2)
    return [
        (f"{indent} {glyph} ", style),
        (pad(name, max(room - cell_len(told) - 1, 1)), "" if tool.loaded else "muted"),
        (" " + told, style if word else "muted"),
    ]


def keyed(tools: Iterable[p.ToolRow]) -> dict[str, p.ToolRow]:
    """Tools by keys of their own, in the order they come in.

    A server may list a name twice, or tools without a name: each keeps its row.
    """
    found: dict[str, p.ToolRow] = {}
    seen: dict[tuple[str, str], int] = {}
    for tool in tools:
        name = (tool.server, tool.raw)
        seen[name] = seen.get(name, 0) + 1
        found[json.dumps([*name, seen[name]])] = tool
    return found


@dataclass(frozen=True, slots=True)
class Group:
    """What the heading of a server says."""

    server: str
    tools: int
    loaded: int
    loaded_tokens: int
    tokens: int


def group_row(group: Group, width: int, *, is_open: bool) -> list[Part]:
    """`▾ notes  2 of 14  209t of 1.2kt`: how many are loaded, and what they and all of them cost."""
    name = clean(group.server, newlines=False)
    told = f"{group.tools} {cost(group.tokens)}"
    if group.loaded:
        told = t(
            "tools.group",
            loaded=group.loaded,
            n=group.tools,
            cost=cost(group.loaded_tokens),
            all=cost(group.tokens),
        )
    room = max(width - 4, 2)
    told = cut(told, max(room - min(cell_len(name), room // 3) - 1, 1))
    return [
        (f" {'▾' if is_open else '▸'} ", "accent"),
        (pad(name, max(room - cell_len(told) - 1, 1)), "strong"),
        (" " + told, "muted"),
    ]


class ToolsPane(RowList):
    """Loaded tools first; then each server's, closed where they are many."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("tools")
    What = Literal["load", "pin", "off", "view", "call"]

    class Wish(Message):
        """The person wants something done with a tool."""

        def __init__(self, what: ToolsPane.What, tool: p.ToolRow) -> None:
            super().__init__()
            self.what, self.tool = what, tool

    class ServerWish(Message):
        """The person wants the server of a heading switched on or off."""

        def __init__(self, server: str) -> None:
            super().__init__()
            self.server = server

    class Unchosen(Message):
        """A call was wished for on a heading: the cursor is on the first tool below it, if there is one."""

        def __init__(self, server: str) -> None:
            super().__init__()
            self.server = server

    def __init__(self, *, id: str = "tools") -> None:
        super().__init__(id=id)
        self.tools: dict[str, p.ToolRow] = {}
        self.groups: dict[str, Group] = {}
        self.filter = ""
        self._turned: set[str] = set()
        """Servers that the person opened or closed."""
        self._next = ""
        """The row to go to when the tool under the cursor moves up among the loaded ones."""

    def update(self, tools: tuple[p.ToolRow, ...]) -> None:
        """Show these tools."""
        self.tools = keyed(sorted(tools, key=lambda tool: (tool.server, tool.raw, bool(tool.reason))))
        sums: dict[str, list[int]] = {}
        for tool in tools:
            group = sums.setdefault(tool.server, [0, 0, 0, 0])
            if not tool.reason:
                group[0] += 1
                group[3] += tool.tokens
            if tool.loaded:
                group[1] += 1
                group[2] += tool.tokens
        self.groups = {server: Group(server, *numbers) for server, numbers in sums.items()}
        self._count = dict.fromkeys(sums, 0)
        for tool in tools:
            self._count[tool.server] += 1
        self.empty = [(f" {t('tools.none')}", "muted")]
        moved = self.tools.get(self.current)
        goes = self._next if moved is not None and moved.loaded else ""
        self._draw()
        if goes:
            self.select(goes)
            self._next = ""

    def set_filter(self, text: str) -> int:
        """Show only tools whose server, name or description contains `text`; returns how many there are."""
        self.filter = text.casefold()
        self._draw()
        return sum(row.key in self.tools for row in self.rows)

    def is_open(self, server: str) -> bool:
        """Whether the tools of a server are listed."""
        by_itself = self._count[server] <= OPEN_UP_TO
        return by_itself != (server in self._turned)

    def _draw(self) -> None:
        if self.filter:
            found = (key for key, tool in self.tools.items() if self._matches(tool))
            self.show([Row(key, ()) for key in found])
            return
        rows = [Row(key, ()) for key, tool in self.tools.items() if tool.loaded]
        at = ""
        for key, tool in self.tools.items():
            if tool.server != at:
                at = tool.server
                opened = self.is_open(at)
                rows.append(Row(at, ()))
            if opened and not tool.loaded:
                rows.append(Row(key, ()))
        self.show(rows)
        self.refresh()  # a row may say another thing now

    def _matches(self, tool: p.ToolRow) -> bool:
        return self.filter in f"{tool.server}.{tool.raw} {tool.description}".casefold()

    def line_at(self, y: int) -> Line:
        if y >= len(self.rows):
            return super().line_at(y)
        key, width = self.rows[y].key, max(self.columns, 1)
        if (tool := self.tools.get(key)) is not None:
            return tool_row(tool, width, alone=tool.loaded or bool(self.filter))
        group = self.groups.get(key)
        return group_row(group, width, is_open=self.is_open(key)) if group is not None else ()

    # ------------------------------------------------------------------ keys

    def _wish(self, what: ToolsPane.What) -> None:
        if tool := self.tools.get(self.current):
            below = self.rows[self.cursor + 1].key if self.cursor + 1 < len(self.rows) else ""
            stays = what in ("load", "pin") and not tool.loaded and not self.filter
            self._next = below if stays else ""
            self.post_message(self.Wish(what, tool))
        elif what == "call" and self.current in self.groups:
            self._enter(self.current)
        elif what == "off" and self.current:
            self.post_message(self.ServerWish(self.current))
        elif self.current and what in ("load", "view"):
            self._turned ^= {self.current}
            self._draw()

    def _enter(self, server: str) -> None:
        """Go to the first tool of a heading, whose list opens."""
        if not self.is_open(server):
            self._turned ^= {server}
            self._draw()
        first = next((row.key for row in self.rows[self.cursor + 1 :]), "")
        if first in self.tools and self.tools[first].server == server:
            self.select(first)
        self.post_message(self.Unchosen(server))

    def action_load(self) -> None:
        self._wish("load")

    def action_pin(self) -> None:
        self._wish("pin")

    def action_off(self) -> None:
        self._wish("off")

    def action_open(self) -> None:
        self._wish("view")

    def action_call(self) -> None:
        self._wish("call")

    def action_clear_filter(self) -> None:
        if not self.filter:
            raise SkipAction
        self.set_filter("")

    async def action_filter(self) -> None:
        await self.run_action("screen.filter_tools")

    async def action_search(self) -> None:
        await self.run_action("screen.search_tools")
