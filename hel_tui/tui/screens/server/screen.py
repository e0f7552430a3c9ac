"""The server screen: the servers at the left, the tabs of the one that is picked at the right.

It stands over the conversation and lives on like it: dialogs open over it. Not here: what tabs show (their
modules), what the core does (commands).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.screens.server.figures import ago
from hel_tui.tui.screens.server.listed import ListedTab, Prompts, Resources, Tools
from hel_tui.tui.screens.server.streams import Log, Wire
from hel_tui.tui.screens.server.tab import Tab, TabsBar
from hel_tui.tui.screens.server.told import Config, Health, Overview, Process
from hel_tui.tui.screens.sheets import keys_lines
from hel_tui.tui.screens.text import KeysScreen
from hel_tui.tui.state import Changes
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.bars import ConfigBar, WaitingBar
from hel_tui.tui.widgets.footer import FooterBar
from hel_tui.tui.widgets.header import HeaderBar
from hel_tui.tui.widgets.lines import Caption, Line, Part
from hel_tui.tui.widgets.rows import RowList
from hel_tui.tui.widgets.servers import GLYPHS, ServersPane

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

TABS: tuple[type[Tab], ...] = (
    Overview,
    Tools,
    Resources,
    Prompts,
    Log,
    Wire,
    Process,
    Config,
    Health,
)
NAMES = tuple(tab.name_of for tab in TABS)
NARROW = 100
"""Cells below which the list of servers is shown only while it has the focus."""


class ServerList(ServersPane):
    """The servers; the one under the cursor is the one that is shown."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__(id="server-list")


class ServerScreen(LiveScreen):
    """All that is known of the servers, one at a time."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("server")
    AUTO_FOCUS = ""

    def __init__(self, hel: HelApp, server: str, tab: str = "overview", call: str = "") -> None:
        super().__init__(id="server")
        self.hel = hel
        self.view = hel.bridge.state
        self.server = server
        self.header = HeaderBar(self.view)
        self.list = ServerList()
        self.head = Caption()
        self.tabs = TabsBar(NAMES)
        self.body = Vertical(id="server-tab")
        self.config = ConfigBar(self.view)
        self.waits = WaitingBar(self.view)
        self.footer = FooterBar()
        self._made: dict[str, Tab] = {}
        self.active = tab if tab in NAMES else "overview"
        self._call = call
        """What is picked once the tab is there."""

    def compose(self) -> ComposeResult:
        yield self.header
        with Horizontal(id="server-body"):
            yield self.list
            with Vertical(id="server-main"):
                yield self.head
                yield self.tabs
                yield self.body
        self.config.display = self.view.config is not None
        self.waits.display = False
        yield self.config
        yield self.waits
        yield self.footer

    async def on_mount(self) -> None:
        self.list.empty = [(f" {t('servers.none')}", "muted")]
        self.list.update(self.view.servers)
        self.list.select(self.server)
        self._tell()
        tab = await self.show_tab(self.active)
        if self._call and isinstance(tab, Log | Wire):
            tab.show_call(self._call)

    # ------------------------------------------------------------------- tabs

    @property
    def tab(self) -> Tab | None:
        """The tab that is shown."""
        return self._made.get(self.active)

    async def show_tab(self, name: str, *, focus: bool = True) -> Tab:
        """Bring a tab to the front, made when it is first wanted."""
        if (before := self.tab) is not None and name != self.active:
            before.hidden()
            before.display = False
        self.active = name
        tab = self._made.get(name)
        if tab is None:
            tab = self._made[name] = TABS[NAMES.index(name)](self.hel)
            await self.body.mount(tab)
        tab.display = True
        tab.show_server(self.server)
        tab.shown()
        if focus:
            self.set_focus(tab.target())
        self._tell()
        return tab

    def open(self, server: str, tab: str = "", call: str = "") -> None:
        """Go to a server and a tab; `call` picks what one call caused."""
        self.pick(server)
        self.list.select(server)

        async def go() -> None:
            shown = await self.show_tab(tab or self.active)
            if call and isinstance(shown, Log | Wire):
                shown.show_call(call)

        self.run_worker(go(), exclusive=True, group="tab")

    def pick(self, server: str) -> None:
        """Show this server from now on."""
        if server == self.server:
            return
        self.server = server
        if self.tab is not None:
            self.tab.show_server(server)
        self._tell()

    @on(RowList.Moved, "#server-list")
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        if event.by_hand:
            self.pick(event.key)

    @on(RowList.Opened, "#server-list")
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        self.pick(event.key)
        if self.tab is not None:
            self.set_focus(self.tab.target())

    @on(Wire.LogWanted)
    async def _log_wanted(self, event: Wire.LogWanted) -> None:
        event.stop()
        tab = await self.show_tab("log")
        if isinstance(tab, Log):
            tab.show_span(event.began, event.ended)

    @on(TabsBar.Picked)
    async def _picked(self, event: TabsBar.Picked) -> None:
        await self.show_tab(event.name)

    # ---------------------------------------------------------------- drawing

    def sync(self, changes: Changes) -> None:
        if changes.header or changes.servers:
            self.header.refresh()
        if changes.servers:
            self.list.update(self.view.servers)
            if self.server not in self.view.servers and self.list.current:
                self.pick(self.list.current)
        if changes.config:
            self.config.update()
        if self.tab is not None:
            self.tab.sync(changes)
        if changes.servers or changes.tools or changes.resources or changes.prompts:
            self._tell()

    def frame(self) -> None:
        if self.tab is not None:
            self.tab.frame()

    def second(self) -> None:
        self.list.tick()
        if self.tab is not None:
            self.tab.second()
        self._tell()

    def show_waiting(self, on: bool) -> None:
        if self.waits.display != on:
            self.waits.display = on
        if on:
            self.waits.refresh()

    def _tell(self) -> None:
        """The line about the server, and the counts of its tabs."""
        state = self.view.servers.get(self.server)
        self.head.say(head_line(state) if state is not None else [])
        self.tabs.say(self.active, self._counts(state))

    def _counts(self, state: p.ServerChanged | None) -> dict[str, str]:
        if state is None:
            return {}
        resources = sum(row.server == self.server for row in self.hel.core.resources())
        prompts = sum(row.server == self.server for row in self.hel.core.prompts())
        counts = {"tools": state.tools, "resources": resources, "prompts": prompts}
        return {name: str(count) for name, count in counts.items() if count}

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.set_class(event.widget is self.list, "-picking")
        where = "server-list" if event.widget is self.list else f"server-{self.active}"
        self.footer.show(where)

    # ------------------------------------------------------------------- keys

    async def action_tab(self, name: str) -> None:
        await self.show_tab(name)

    async def action_step(self, by: int) -> None:
        """To the next tab, or the one before."""
        at = (NAMES.index(self.active) + by) % len(NAMES)
        await self.show_tab(NAMES[at])

    def action_next_pane(self) -> None:
        """Between the list, the tab, and the parts of the tab."""
        panes: list[Widget] = [self.list]
        if self.tab is not None:
            panes.append(self.tab.target())
            if isinstance(self.tab, ListedTab):
                panes.append(self.tab.sheet)
        at = panes.index(self.focused) if self.focused in panes else -1
        self.set_focus(panes[(at + 1) % len(panes)])

    def action_server(self, by: int) -> None:
        """Show the next server of the list, or the one before."""
        names = [one.name for one in self.list.servers]
        if names:
            at = names.index(self.server) if self.server in names else 0
            self.list.select(names[(at + by) % len(names)])
            self.pick(names[(at + by) % len(names)])

    def action_close(self) -> None:
        """Back to the list of the tab, then to the conversation."""
        if isinstance(self.tab, ListedTab) and self.focused is self.tab.sheet:
            self.set_focus(self.tab.target())
            return
        if self.tab is not None:
            self.tab.hidden()
        self.dismiss(None)

    def action_restart(self) -> None:
        self.hel.send(p.RestartServer(self.server))

    def action_switch(self) -> None:
        state = self.view.servers.get(self.server)
        self.hel.send(p.SwitchServer(self.server, on=state is None or state.phase == "off"))

    def action_login(self) -> None:
        self.hel.send(p.Login(self.server))

    def action_trust(self) -> None:
        self.hel.send(p.ReviewTrust())

    def action_edit(self) -> None:
        self.hel.main.commands.editing.entry(self.server)

    async def action_call(self) -> None:
        """Call the marked tool, or the only one; else go and mark one."""
        tab = self.tab
        tools = [row for row in self.hel.core.tools() if row.server == self.server]
        if isinstance(tab, Tools) and (row := tab.marked) is not None:
            self.hel.main.commands.calls.open(row.server, row.raw)
        elif len(tools) == 1:
            self.hel.main.commands.calls.open(self.server, tools[0].raw)
        else:
            await self.show_tab("tools")
            self.hel.say(t("call.choose" if tools else "tools.none", key=keymap.label("tools.call")))

    async def action_all_logs(self) -> None:
        """The log of all servers together, or again of this one."""
        tab = await self.show_tab("log")
        if isinstance(tab, Log):
            tab.show_all()

    def action_ping(self) -> None:
        self.hel.send(p.PingServer(self.server))

    def action_servers(self) -> None:
        """To the server that most needs a look."""
        if attention := self.list.attention():
            self.list.select(attention)
            self.pick(attention)

    def action_diagnose(self) -> None:
        self.hel.send(p.Diagnose(self.server))
        self.run_worker(self.show_tab("health"), exclusive=True, group="tab")

    def action_apply(self) -> None:
        self.hel.send(p.ApplyConfig())

    def action_waiting(self) -> None:
        self.hel.open_waiting()

    async def action_palette(self) -> None:
        await self.hel.open_palette()

    def action_redraw(self) -> None:
        self.hel.redraw()

    def action_quit(self) -> None:
        self.hel.main.commands.leave()

    def action_keys(self) -> None:
        parts = ["server", "list", *KEYS_OF.get(self.active, ())]
        self.hel.push_screen(KeysScreen(keys_lines(parts)))

    def on_unmount(self) -> None:
        with contextlib.suppress(Exception):
            for tab in self._made.values():
                tab.hidden()


KEYS_OF: dict[str, tuple[str, ...]] = {
    "tools": ("tools",),
    "resources": ("picker",),
    "prompts": ("picker",),
    "log": ("log", "logs"),
    "wire": ("wire", "wires", "json"),
}
"""Parts of the key table whose keys are live in a tab, besides those of lists."""


def head_line(state: p.ServerChanged) -> Line:
    """`✗ weather ─ stdio ─ failed: exit 1 ─ 3 restarts ─ pid –`."""
    glyph, style = GLYPHS[state.phase]
    phase = t(f"phase.{state.phase}")
    reason = clean(state.reason, newlines=False).strip()
    parts: list[Part] = [
        (f" {glyph} ", style),
        (clean(state.name, newlines=False), "strong"),
        (f" ─ {state.transport} ─ ", "frame"),
        (f"{phase}: {reason}" if reason else phase, style),
    ]
    if state.since and state.phase in ("ready", "degraded"):
        parts.append((f" {ago(state.since)}", "muted"))
    if state.restarts:
        parts.append((f" ─ {t('inside.restarts', n=state.restarts)}", "muted"))
    if state.transport == "stdio":
        parts.append((f" ─ pid {state.pid or '–'}", "muted"))
    return parts
