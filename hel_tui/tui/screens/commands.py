"""What slash commands and the larger keys do: each a command to the core or a look at something.

Not here: reading a command (slash), layout (main).
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean, is_clean
from hel_tui.tui.screens import sheets
from hel_tui.tui.screens.call.opening import Calls
from hel_tui.tui.screens.editing import Editing
from hel_tui.tui.screens.picker import Picker
from hel_tui.tui.screens.sessions.moves import Sessions
from hel_tui.tui.screens.text import KeysScreen, TextScreen
from hel_tui.tui.screens.typed import Typed
from hel_tui.tui.state import CallItem
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.main import MainScreen
    from hel_tui.tui.widgets.tools import ToolsPane

SHORT_CALL = 50
"""Characters of a call that is shown as an example."""
QUIT_WITHIN = 2.0
"""Seconds in which a second Ctrl+C or Ctrl+D quits."""


class Commands:
    """Bound to the app and its main screen."""

    def __init__(self, hel: HelApp, screen: MainScreen) -> None:
        self.hel, self.screen = hel, screen
        self.calls = Calls(hel)
        self.typed = Typed(hel, screen, self)
        self.editing = Editing(hel, screen)
        self.sessions = Sessions(hel)
        self._last_stop = float("-inf")

    # ------------------------------------------------------------------- keys

    def open_renewal(self, number: int) -> None:
        """What came of a save: the old and the new results."""
        from hel_tui.tui.screens.authoring.renewal import RenewalScreen  # not needed for the first paint

        self.hel.push_screen(RenewalScreen(self.hel, number))

    def open_task(self, call_id: str) -> None:
        """The conversation of the task that a call is."""
        from hel_tui.tui.screens.task import TaskScreen  # not needed for the first paint

        if isinstance(card := self.screen.view.by_key.get(call_id), CallItem):
            self.hel.push_screen(TaskScreen(self.hel, card))

    def open_models(self) -> None:
        """The sheet of models."""
        from hel_tui.tui.screens.models import ModelsScreen  # not needed for the first paint

        self.hel.push_screen(ModelsScreen(self.hel))

    def models_listed(self) -> None:
        """More models are known: the sheet of them shows them, where it is open."""
        for screen in self.hel.screen_stack:
            if screen.id == "models" and isinstance(screen, Picker):
                screen.draw()

    def show_keys(self) -> None:
        self.hel.push_screen(KeysScreen(sheets.keys_lines()))

    def sheet(self, title: str, lines: list[Line]) -> None:
        self.hel.push_screen(TextScreen(title, lines))

    def open_server(self, name: str, tab: str = "", call: str = "") -> None:
        """The server screen at a server; `call` picks what one call caused in its log or wire."""
        from hel_tui.tui.screens.server.screen import ServerScreen  # not needed for the first paint

        if name and name not in self.screen.view.servers:
            return
        opened = next((one for one in self.hel.screen_stack if isinstance(one, ServerScreen)), None)
        if opened is None:
            self.hel.push_screen(ServerScreen(self.hel, name, tab or "overview", call))
            return
        while self.hel.screen is not opened:
            self.hel.pop_screen()
        opened.open(name, tab, call)

    def log_of_call(self, call_id: str) -> None:
        """The log of the server a call went to, at what was written while the call ran."""
        call = self.screen.view.by_key.get(call_id)
        if not isinstance(call, CallItem) or not call.server:
            return
        self.screen.open_log(call.server)
        if call.started:
            self.screen.side.log_view.show_span(call.started, call.ended or time.time())

    def wire_of_call(self, call_id: str) -> None:
        """The frames that a call caused, on the wire of its server."""
        call = self.screen.view.by_key.get(call_id)
        if isinstance(call, CallItem) and call.server:
            self.hel.open_server(call.server, tab="wire", call=call_id)

    def rerun(self, call_id: str) -> None:
        """Open a call in the form of its tool, to be edited and sent again; a built-in's in the prompt."""
        detail = self.hel.core.call(call_id)
        if detail is None:
            self.hel.say(t("card.gone"), "warning")
            return
        if detail.server and self.hel.core.tool(detail.server, detail.tool) is not None:
            self.calls.open(detail.server, detail.tool, arguments=detail.arguments, before=call_id)
            return
        target = f"{detail.server}.{detail.tool}" if detail.server else detail.tool
        arguments = detail.arguments
        with contextlib.suppress(ValueError, RecursionError):
            arguments = json.dumps(json.loads(arguments), ensure_ascii=False)
        self.screen.prompt.write(f"/call {target} {arguments}")
        self.screen.set_focus(self.screen.prompt)

    def tool_wish(self, what: ToolsPane.What, tool: p.ToolRow) -> None:
        """Do what a key of the tools pane asks for; a tool that is not offered says why."""
        names = (tool.public,)
        match what:
            case "view":
                self.open_tool(tool)
            case "call":
                self.calls.open(tool.server, tool.raw)
            case "off":
                self.hel.send(p.SwitchTool(tool.server, tool.raw, on=tool.off))
            case _ if tool.reason:
                self.hel.say(clean(tool.reason, newlines=False), "warning")
            case "pin":
                self.hel.send(p.PinTools(names, on=not tool.pinned))
            case "load":
                self.hel.send(p.UnloadTools(names) if tool.loaded else p.LoadTools(names))

    def open_tool(self, tool: p.ToolRow) -> None:
        """The sheet of one tool, with keys that act on it; a change of it counts as looked at."""
        from hel_tui.tui.screens import tool_view  # not needed for the first paint

        detail = self.hel.core.tool(tool.server, tool.raw)
        if detail is None:
            return
        if tool.changed:
            self.hel.send(p.SeenTool(tool.server, tool.raw))
        keys: dict[str, tuple[str, ToolsPane.What]] = {
            "space": (t("short.tools.toggle"), "load"),
            "p": (t("short.tools.pin"), "pin"),
            "d": (t("short.tools.off"), "off"),
            "n": (t("short.tools.call"), "call"),
        }

        def done(key: str | None) -> None:
            if key == "c":
                self.hel.copy(detail.sent)
            elif key:
                self.tool_wish(keys[key][1], tool)

        title = clean(f"{tool.server}.{tool.raw}", newlines=False)
        named = {key: word for key, (word, _) in keys.items()} | {"c": t("tool.copy")}
        self.hel.push_screen(TextScreen(title, tool_view.tool_lines(detail), named), done)

    def searched(self, numbers: Sequence[int]) -> None:
        """Show what the person's own search found; those of the model are in the list of searches."""
        for trace in self.hel.core.searches():
            if trace.number in numbers and trace.by == "person":
                self._show_search(trace)

    def _show_search(self, trace: p.SearchTrace) -> None:
        from hel_tui.tui.screens import tool_view  # not needed for the first paint

        hits = {str(place % 10): hit.public for place, hit in enumerate(trace.hits[:10], 1)}
        keys = dict.fromkeys(hits, "")

        def done(key: str | None) -> None:
            if key in hits:
                self.hel.send(p.LoadTools((hits[key],)))

        lines = tool_view.search_lines(trace)
        if hits:
            lines += [[], [(t("search.load"), "muted")]]
        self.hel.push_screen(TextScreen(t("search.title"), lines, keys), done)

    def next_theme(self) -> None:
        names = self.hel.theme_names
        at = names.index(self.hel.theme) if self.hel.theme in names else -1
        name = names[(at + 1) % len(names)]
        self.hel.use_theme(name)
        self.hel.say(t("theme.now", name=name))

    def unqueue(self) -> None:
        """Ask for the newest that waits; it may have gone by now."""
        if queued := self.screen.view.queued:
            self.hel.send(p.Unqueue(queued[-1]))

    def taken_back(self, text: str) -> None:
        """Put what waited into the prompt, before what is written there."""
        self.screen.prompt.give_back(text)
        self.screen.drafting.tell()  # nothing else has it now
        self.screen.set_focus(self.screen.prompt)

    def copy_or_stop(self) -> None:
        """Ctrl+C: copy what is selected, else interrupt; twice quits."""
        selected = self.screen.prompt.selected_text or self.screen.get_selected_text()
        if selected:
            self.hel.copy(selected)
            return
        if self._is_second():
            self.hel.action_quit_soon()
            return
        if self._runs:
            self.hel.send(p.Interrupt())
        self.hel.say(t("quit.again", key=keymap.label("app.copy")))

    def leave(self) -> None:
        """Quit; while something runs only when that is said twice."""
        if not self._runs or self._is_second():
            self.hel.action_quit_soon()
            return
        self.hel.say(t("quit.running", key=keymap.label("app.leave")))

    @property
    def _runs(self) -> bool:
        return bool(self.screen.view.busy or self.screen.view.calls_by_hand)

    def _is_second(self) -> bool:
        """Whether leaving was asked for a moment ago."""
        now = time.monotonic()
        is_second = now - self._last_stop <= QUIT_WITHIN
        self._last_stop = now
        return is_second

    # ------------------------------------------------------------------ hints

    def _a_call(self) -> str:
        """A call by hand that works here, as far as it is short; else how one is written."""
        calls = (
            f"{tool.server}.{tool.raw} {tool.blank}"
            for tool in self.hel.core.tools()
            if tool.public and not tool.reason and " " not in tool.raw
        )
        return next((call for call in calls if len(call) <= SHORT_CALL and is_clean(call)), "SERVER.TOOL {}")

    def hints(self) -> list[str]:
        """What the empty conversation says: how to begin with what is there."""
        view = self.screen.view
        if not view.model.label:
            note = clean(view.model.note, newlines=False)
            how = t("hints.call", call=self._a_call()) if view.servers else t("hints.servers")
            return [t("hints.workbench"), *([note] if note else []), t("hints.no_model"), "", how]
        lines = [t("hints.ask")]
        if view.model.is_demo:
            lines.insert(0, t("hints.demo"))
        keys = {name: keymap.label(f"app.{name}") for name in ("keys", "servers", "palette")}
        return [*lines, t("hints.keys", **keys)]
