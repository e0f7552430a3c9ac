"""The right column: what is to do, servers, the log of one of them, tools. Folds to glyphs and to nothing.

Not here: what the keys in it do (the screen), whose log is shown (log_choice).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui.bridge import Bridge
from hel_tui.tui.safe import clean
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.log import LogView
from hel_tui.tui.widgets.log_choice import LogChoice
from hel_tui.tui.widgets.pane_title import PaneTitle
from hel_tui.tui.widgets.servers import ServersPane
from hel_tui.tui.widgets.todos import TodoPane, TodoTitle, current, fact
from hel_tui.tui.widgets.tools import ToolsPane, cost

Mode = Literal["wide", "icons", "none", "overlay"]
ICONS_BELOW, NONE_BELOW = 100, 80
NEAR = 0.8
"""Share of the provider's limit of tools from which it is shown."""
MANY = 1_000
MANY_PAUSE = 0.3
"""Seconds between two looks at the tools when they are more than `MANY`."""
RAIL = 4
"""Cells of the folded column: a glyph, and room around it."""


def side_mode(width: int, hidden: bool, overlay: bool) -> Mode:
    """How the column shows on a screen of `width` cells, given what the person asked for."""
    if width >= ICONS_BELOW:
        return "none" if hidden else "wide"
    if overlay:
        return "overlay"
    return "icons" if width >= NONE_BELOW else "none"


def is_near(tools: p.ToolsChanged) -> bool:
    """Whether the next request holds nearly as many tools as the provider takes, or as many."""
    return bool(tools.limit) and tools.listed >= tools.limit * NEAR


class Side(Vertical):
    """Three panes with their titles."""

    def __init__(self, bridge: Bridge, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(id="side", classes="-wide")
        self.bridge, self.clock = bridge, clock
        self.choice = LogChoice()
        self.servers = ServersPane()
        self.log_view = LogView()
        self.tools = ToolsPane()
        self.todos, self.todo_title = TodoPane(bridge.state), TodoTitle(t("pane.todos"), id="todos-title")
        self.todos.display = self.todo_title.display = False
        self.todos_folded = False
        self.panes: tuple[Widget, ...] = (self.servers, self.log_view, self.tools)
        self.titles = {
            "servers": PaneTitle(t("pane.servers"), id="servers-title"),
            "log": PaneTitle(t("pane.log_none"), id="log-title"),
            "tools": PaneTitle(t("pane.tools"), id="tools-title"),
        }
        self.mode: Mode = "wide"
        self._stale, self._next = False, 0.0
        """Whether the tools changed, and when they may be read again."""

    def compose(self) -> ComposeResult:
        yield self.todo_title
        yield self.todos
        yield self.titles["servers"]
        yield self.servers
        yield self.titles["log"]
        yield self.log_view
        yield self.titles["tools"]
        yield self.tools

    def set_mode(self, mode: Mode, width: int) -> None:
        """Show the column in this way; `width` is what it takes when it is whole."""
        if mode == "overlay":
            width = min(max(width, 36), max(self.screen.size.width - 4, 10))
        self.mode = mode
        for name in ("wide", "icons", "none", "overlay"):
            self.set_class(name == mode, f"-{name}")
        self.styles.width = RAIL if mode == "icons" else width
        if self.servers.icons != (mode == "icons"):
            self.servers.icons = mode == "icons"
            self.servers.refresh()

    def sync(self, changes: Changes) -> None:
        """Draw what changed."""
        state = self.bridge.state
        if changes.todos:
            self.show_todos()
        if changes.servers:
            self.servers.update(state.servers)
            on = [s for s in state.servers.values() if s.phase != "off"]
            ready = sum(s.phase in ("ready", "degraded") for s in on)
            self.titles["servers"].say(fact=f"{ready}/{len(on)}" if on else "")
        if changes.servers or changes.items:
            view = self.log_view
            stays = view.has_focus or not view.following
            self.choice.follow(state, changes, self.clock(), stays, self.servers.current)
            self.show_log(self.choice.server)
        if changes.tools and state.tools:
            self._stale = True
            title, tools = self.titles["tools"], state.tools
            title.warns = is_near(tools)
            title.say(fact=self._tools_fact(tools))

    def show_todos(self) -> None:
        """Show what is to do; all done, or folded, only how much that is."""
        items = self.bridge.state.todos
        has_room = bool(items) and self.mode in ("wide", "overlay")
        self.todo_title.display = has_room
        self.todo_title.say(fact=fact(items))
        self.todos.update(has_room and not self.todos_folded and current(items) >= 0)

    def _tools_fact(self, tools: p.ToolsChanged) -> str:
        """How many tools are loaded and what they cost; near the provider's limit, how near."""
        fact = t("tools.loaded", loaded=tools.loaded, total=tools.total)
        if is_near(tools):
            key = "tools.full" if tools.listed >= tools.limit else "tools.limit"
            return t(key, listed=tools.listed, limit=tools.limit)
        return f"{fact} · {cost(tools.loaded_tokens)}" if tools.loaded and not self.tools.filter else fact

    def _show_tools(self) -> None:
        """Read the tools again where they changed; thousands of them not with every frame."""
        now = self.clock()
        if not self._stale or now < self._next:
            return
        rows = self.bridge.core.tools()
        self._stale, self._next = False, now + (MANY_PAUSE if len(rows) > MANY else 0.0)
        self.tools.update(rows)

    def choose_log(self, server: str) -> None:
        """A person wants this server's log: it stays for a while."""
        self.choice.choose(server, self.clock())
        self.show_log(server)

    def show_log(self, server: str) -> None:
        """Show the log of this server; with none, say so."""
        self.log_view.watch_log(server, self.bridge.core.log(server) if server else None)
        shown = self.bridge.state.servers.get(server)
        is_remote = shown is not None and shown.transport != "stdio"
        self.log_view.explain(shown.reason if shown else "", is_remote=is_remote)
        title = "pane.log_remote" if is_remote else "pane.log"
        name = clean(server, newlines=False)
        self.titles["log"].say(t(title, server=name) if server else t("pane.log_none"))

    def frame(self) -> None:
        """Once a frame: look at the log's version."""
        self._show_tools()
        self.log_view.poll()
        title = t("pane.tools")
        if self.tools.filter:
            title = t("pane.filtered", title=title, text=clean(self.tools.filter, newlines=False))
        if (tools := self.bridge.state.tools) is not None:
            self.titles["tools"].say(fact=self._tools_fact(tools))
        self.titles["tools"].say(title)
        view = self.log_view
        fact = "" if view.following else t("log.paused")
        if view.query_now.level:
            fact = f"≥ {view.query_now.level} · {fact}".rstrip(" ·")
        if view.filter:
            fact = t("log.filtered", text=clean(view.filter, newlines=False)[:16], rest=fact).rstrip(" ·")
        self.titles["log"].say(fact=fact)

    def mark_focus(self, name: str) -> None:
        """Light the title of the pane that has the focus."""
        for key, title in self.titles.items():
            title.say(active=key == name)
