"""What slash commands and the larger keys do: each a command to the core or a look at something.

Not here: reading a command (slash), layout (main).
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from textual.app import SuspendNotSupported

from hel_tui.core import protocol as p
from hel_tui.tui import keymap, slash
from hel_tui.tui.safe import clean, is_clean
from hel_tui.tui.screens import sheets
from hel_tui.tui.screens.call.opening import Calls
from hel_tui.tui.screens.text import TextScreen
from hel_tui.tui.state import AnswerItem, CallItem, ServerItem
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.main import MainScreen
    from hel_tui.tui.widgets.tools import ToolsPane

LOG_LEVELS: tuple[p.LogLevel, ...] = get_args(p.LogLevel)
SHORT_CALL = 50
"""Characters of a call that is shown as an example."""
QUIT_WITHIN = 2.0
"""Seconds in which a second Ctrl+C quits."""


class Commands:
    """Bound to the app and its main screen."""

    def __init__(self, hel: HelApp, screen: MainScreen) -> None:
        self.hel, self.screen = hel, screen
        self.calls = Calls(hel)
        self._last_stop = float("-inf")

    # ------------------------------------------------------------- typed lines

    def run(self, text: str) -> None:
        """Do what a sent line says; a message goes to the model."""
        self.hel.clear_notifications()  # what they said is answered by what is sent now
        match slash.parse(text, self.screen.offers.prompts):
            case None:
                self._show_end()
                self.hel.send(p.Submit(text))
            case slash.UsePrompt(prompt=prompt, given=given):
                self.screen.offers.use(prompt, given)
            case slash.Shell(command=command):
                self._show_end()
                self.hel.send(p.RunShell(command))
            case slash.Mistake(sentence=sentence):
                self.refuse(text, sentence)
            case slash.Slash(name=name, rest=rest):
                getattr(self, f"_do_{name}")(rest)

    def _show_end(self) -> None:
        """What is sent now is to be seen, and what comes of it, however far back somebody has scrolled."""
        self.screen.conversation.action_end()

    def refuse(self, text: str, sentence: str) -> None:
        """Say what is wrong and give the line back to be mended."""
        self.hel.say(sentence, "warning")
        if not self.screen.prompt.text:
            self.screen.prompt.write(text)

    def _do_help(self, _: str) -> None:
        self._sheet(t("help.title"), sheets.help_lines())

    def _do_keys(self, _: str) -> None:
        self.show_keys()

    def _do_model(self, rest: str) -> None:
        if not rest:
            model = self.screen.view.model
            self.hel.say(clean(f"{model.label} {model.note}".strip(), newlines=False) or t("header.no_model"))
            return
        name, _, url = rest.partition(" ")
        self.hel.send(p.SetModel(name, url.replace("--base-url", "").strip() or None))

    def _do_access(self, rest: str) -> None:
        for level in p.ACCESS_LEVELS:
            if rest.lower() == level:
                self.hel.send(p.SetAccess(level))
                return
        if rest:
            levels = ", ".join(p.ACCESS_LEVELS)
            self.refuse(f"/access {rest}", t("slash.no_level", level=rest[:20], levels=levels))
        else:
            self.screen.action_access()

    def _do_mcp(self, rest: str) -> None:
        if not rest:
            self.screen.action_servers()
        elif self._is_server(rest, f"/mcp {rest}"):
            self.open_server(rest)

    def _do_tools(self, _: str) -> None:
        self.screen.action_tools()

    def _do_load(self, rest: str) -> None:
        self._load(rest, on=True)

    def _do_unload(self, rest: str) -> None:
        self._load(rest, on=False)

    def _do_pin(self, rest: str) -> None:
        if names := self._public(rest, f"/pin {rest}"):
            self.hel.send(p.PinTools(names))

    def _do_unpin(self, rest: str) -> None:
        if names := self._public(rest, f"/unpin {rest}"):
            self.hel.send(p.PinTools(names, on=False))

    def _load(self, rest: str, on: bool) -> None:
        if names := self._public(rest, f"/{'load' if on else 'unload'} {rest}"):
            self.hel.send(p.LoadTools(names) if on else p.UnloadTools(names))

    def _public(self, rest: str, line: str) -> tuple[str, ...]:
        """Public names of tools, given as such or as shown (server.tool); none when one of them is none."""
        rows = [row for row in self.hel.core.tools() if row.public]
        known = {row.public: row.public for row in rows}
        known |= {f"{row.server}.{row.raw}": row.public for row in rows}
        words = rest.replace(",", " ").split()
        if missing := [word for word in words if word not in known]:
            what = clean(", ".join(missing)[:80], newlines=False)
            self.refuse(line, t("slash.no_tool", names=what))
            return ()
        return tuple(known[word] for word in words)

    def _do_off(self, rest: str) -> None:
        self._switch(rest, on=False)

    def _do_on(self, rest: str) -> None:
        self._switch(rest, on=True)

    def _switch(self, rest: str, on: bool) -> None:
        """A server, or one tool of it (server.tool)."""
        if rest in self.screen.view.servers:
            self.hel.send(p.SwitchServer(rest, on))
            return
        server, _, raw = rest.partition(".")
        if any((row.server, row.raw) == (server, raw) for row in self.hel.core.tools()):
            self.hel.send(p.SwitchTool(server, raw, on))
        else:
            what = clean(rest[:80], newlines=False)
            self.refuse(f"/{'on' if on else 'off'} {rest}", t("slash.no_tool", names=what))

    def _do_tool(self, rest: str) -> None:
        row = self._listed(rest)
        if row is None:
            self.refuse(f"/tool {rest}", t("slash.no_tool", names=clean(rest[:80], newlines=False)))
        else:
            self.open_tool(row)

    def _do_search(self, rest: str) -> None:
        self.hel.send(p.SearchTools(rest))

    def _do_searches(self, _: str) -> None:
        from hel_tui.tui.screens import tool_view  # not needed for the first paint

        self._sheet(t("search.title"), tool_view.searches_lines(self.hel.core.searches()))

    def _do_reload(self, _: str) -> None:
        self.hel.send(p.ApplyConfig())

    def _do_call(self, rest: str) -> None:
        match slash.parse_call(rest):
            case slash.Mistake(sentence=sentence):
                self.refuse(f"/call {rest}", sentence)
            case (target, "") if (tool := self._listed(target)) is not None:
                self.calls.open(tool.server, tool.raw)
            case (target, arguments):
                self._show_end()
                self.hel.send(p.CallTool(target, arguments))

    def _listed(self, target: str) -> p.ToolRow | None:
        """The tool of a server that is called so."""
        rows = self.hel.core.tools()
        return next((row for row in rows if target in (row.public, f"{row.server}.{row.raw}")), None)

    def _do_resources(self, _: str) -> None:
        self.screen.offers.open_resources()

    def _do_prompts(self, _: str) -> None:
        self.screen.offers.open_prompts()

    def _do_login(self, rest: str) -> None:
        if self._is_server(rest, f"/login {rest}"):
            self.hel.send(p.Login(rest))

    def _do_logout(self, rest: str) -> None:
        if self._is_server(rest, f"/logout {rest}"):
            self.hel.send(p.Logout(rest))

    def _do_roots(self, rest: str) -> None:
        what, _, path = rest.partition(" ")
        if what not in ("add", "remove") or not path.strip():
            self.refuse(f"/roots {rest}", t("slash.needs", name="roots", usage="add|remove FOLDER"))
            return
        paths = (path.strip(),)
        self.hel.send(p.ChangeRoots(add=paths) if what == "add" else p.ChangeRoots(remove=paths))

    def _do_loglevel(self, rest: str) -> None:
        server, _, wish = rest.rpartition(" ")
        level = next((one for one in LOG_LEVELS if one == wish.lower()), None)
        if level is None or not server:
            levels = ", ".join(LOG_LEVELS)
            self.refuse(f"/loglevel {rest}", t("slash.no_log_level", level=wish[:20], levels=levels))
        elif self._is_server(server.strip(), f"/loglevel {rest}"):
            self.hel.send(p.SetLogLevel(server.strip(), level))

    def _is_server(self, name: str, line: str) -> bool:
        """Whether there is such a server; if not, say so and give the line back."""
        known = name in self.screen.view.servers
        if not known:
            self.refuse(line, t("slash.no_server", server=clean(name[:40], newlines=False)))
        return known

    def _do_doctor(self, rest: str) -> None:
        from hel_tui.tui.screens.doctor import DoctorScreen  # not needed for the first paint

        if not rest:
            self.hel.push_screen(DoctorScreen(self.hel))
        elif self._is_server(rest, f"/doctor {rest}"):
            self.hel.send(p.Diagnose(rest))
            self.open_server(rest, "health")

    def _do_checks(self, rest: str) -> None:
        from hel_tui.tui.screens.authoring.checks import ChecksScreen  # not needed for the first paint

        if not rest or self._is_server(rest, f"/checks {rest}"):
            self.hel.push_screen(ChecksScreen(self.hel, rest))

    def open_renewal(self, number: int) -> None:
        """What came of a save: the old and the new results."""
        from hel_tui.tui.screens.authoring.renewal import RenewalScreen  # not needed for the first paint

        self.hel.push_screen(RenewalScreen(self.hel, number))

    def _do_saves(self, _: str) -> None:
        items = [
            one for one in self.screen.view.items if isinstance(one, ServerItem) and one.kind == "renewal"
        ]
        if items:
            self.open_renewal(items[-1].number)
        else:
            self.hel.say(t("renewal.none"))

    def _do_trust(self, _: str) -> None:
        self.hel.send(p.ReviewTrust())

    def _do_clear(self, _: str) -> None:
        self.hel.send(p.NewSession())

    _do_new = _do_clear

    def _do_copy(self, _: str) -> None:
        answers = [i for i in self.screen.view.items if isinstance(i, AnswerItem) and not i.reasoning]
        self.hel.copy(answers[-1].text if answers else "")

    def _do_theme(self, rest: str) -> None:
        if not rest:
            self.next_theme()
        elif why := self.hel.use_theme(rest):
            self.refuse(f"/theme {rest}", why)

    def _do_quit(self, _: str) -> None:
        self.hel.action_quit_soon()

    def known(self, takes: slash.Takes) -> Sequence[tuple[str, str]]:
        """Words that complete an argument, with what they mean."""
        match takes:
            case "level":
                return [(level, t(f"access.{level}_is")) for level in p.ACCESS_LEVELS]
            case "theme":
                return [(name, "") for name in self.hel.theme_names]
            case "roots":
                return [(word, t(f"slash.roots_{word}")) for word in ("add", "remove")]
            case "log level":
                return [(level, "") for level in LOG_LEVELS]
            case "server" | "log server":
                return [(s.name, t(f"phase.{s.phase}")) for s in self.screen.view.servers.values()]
            case "target":
                servers = [(s.name, t(f"phase.{s.phase}")) for s in self.screen.view.servers.values()]
                return [*servers, *self.known("tool")]
            case "call" | "tools" | "loaded" | "tool":
                rows = [r for r in self.hel.core.tools() if takes != "loaded" or r.loaded or r.pinned]
                if takes == "tools":
                    rows = [r for r in rows if not r.loaded and not r.reason]
                return [(f"{r.server}.{r.raw}", r.description[:200]) for r in rows if " " not in r.raw]
            case _:
                return []

    # ------------------------------------------------------------------- keys

    def show_keys(self) -> None:
        self._sheet(t("keys.title"), sheets.keys_lines())

    def _sheet(self, title: str, lines: list[Line]) -> None:
        self.hel.push_screen(TextScreen(title, lines))

    def open_server(self, name: str, tab: str = "", call: str = "") -> None:
        """The server screen at a server; `call` picks what one call caused in its log or wire."""
        from hel_tui.tui.screens.server.screen import ServerScreen  # not needed for the first paint

        if name not in self.screen.view.servers:
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
        """Take the newest queued message back into the prompt."""
        queued = self.screen.view.queued
        if queued:
            self.hel.send(p.Unqueue())
            draft = self.screen.prompt.text
            self.screen.prompt.write(f"{queued[-1]}\n{draft}" if draft else queued[-1])
            self.screen.set_focus(self.screen.prompt)

    def copy_or_stop(self) -> None:
        """Ctrl+C: copy what is selected, else interrupt; twice quits."""
        selected = self.screen.prompt.selected_text or self.screen.get_selected_text()
        if selected:
            self.hel.copy(selected)
            return
        now = time.monotonic()
        if now - self._last_stop <= QUIT_WITHIN:
            self.hel.action_quit_soon()
            return
        self._last_stop = now
        if self.screen.view.busy or self.screen.view.calls_by_hand:
            self.hel.send(p.Interrupt())
        self.hel.say(t("quit.again", key=keymap.label("app.copy")))

    def edit_outside(self) -> None:
        """Write the prompt in $VISUAL or $EDITOR."""
        with tempfile.TemporaryDirectory(prefix="hel-") as folder:
            file = Path(folder) / "message.md"
            file.write_text(self.screen.prompt.text, "utf-8")
            if self.edit_file(str(file)):
                self.screen.prompt.write(file.read_text("utf-8", errors="replace").rstrip("\n"))

    def edit_entry(self, server: str) -> None:
        """Open the file of a server's entry in the person's editor; what changed is then applied by key."""
        entry = self.hel.core.entry(server)
        if entry is None or not entry.file:
            self.hel.say(t("config.none"), "warning")
        else:
            self.edit_file(entry.file)

    def edit_file(self, path: str) -> bool:
        """Open a file in $VISUAL or $EDITOR and wait for its end; say whether that worked."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            with self.hel.suspend():
                subprocess.run(
                    [*shlex.split(editor), path],
                    check=True,
                    stdin=sys.__stdin__,
                    stdout=sys.__stdout__,
                    stderr=sys.__stderr__,
                )
        except (OSError, ValueError, subprocess.SubprocessError, SuspendNotSupported) as error:
            self.hel.say(t("editor.failed", editor=editor, why=error), "warning")
            return False
        return True

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
