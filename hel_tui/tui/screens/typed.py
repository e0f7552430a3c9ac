"""What a line typed into the prompt does: a message, a slash command, a line for the shell.

Not here: reading it (slash), what the larger keys do (commands).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from hel_tui.core import protocol as p
from hel_tui.tui import slash
from hel_tui.tui.safe import clean
from hel_tui.tui.screens import sheets
from hel_tui.tui.screens.sessions.typed import SessionCommands
from hel_tui.tui.state import AnswerItem, ServerItem
from hel_tui.tui.strings import t

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.commands import Commands
    from hel_tui.tui.screens.main import MainScreen

LOG_LEVELS: tuple[p.LogLevel, ...] = get_args(p.LogLevel)


class Typed(SessionCommands):
    """Bound to the app and its main screen."""

    def __init__(self, hel: HelApp, screen: MainScreen, commands: Commands) -> None:
        self.hel, self.screen, self.commands = hel, screen, commands

    def run(self, text: str, *, later: bool = False) -> None:
        """Do what a sent line says; a message goes to the model, with `later` when the turn is over. Nothing
        sends on what is held.
        """
        self.hel.clear_notifications()  # what they said is answered by what is sent now
        match slash.parse(text, self.screen.offers.prompts):
            case None:
                self._show_end()
                self.hel.send(p.Submit(text, later) if text else p.SendQueue())
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
        self.commands.sheet(t("help.title"), sheets.help_lines())

    def _do_keys(self, _: str) -> None:
        self.commands.show_keys()

    def _do_model(self, rest: str) -> None:
        if not rest:
            self.commands.open_models()
            return
        name, _, url = rest.partition(" ")
        self.hel.send(p.SetModel(name, url.replace("--base-url", "").strip() or None))

    def _do_effort(self, rest: str) -> None:
        if rest:
            self.hel.send(p.SetEffort("" if rest.lower() in ("off", "default") else rest))
            return
        model = self.screen.view.model
        known = ", ".join(model.efforts)
        effort = model.effort or t("models.effort_own")
        self.hel.say(t("effort.now", effort=effort, all=known) if known else t("effort.no_choice"))

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
            self.commands.open_server(rest)

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
            self.commands.open_tool(row)

    def _do_search(self, rest: str) -> None:
        self.hel.send(p.SearchTools(rest))

    def _do_searches(self, _: str) -> None:
        from hel_tui.tui.screens import tool_view  # not needed for the first paint

        self.commands.sheet(t("search.title"), tool_view.searches_lines(self.hel.core.searches()))

    def _do_reload(self, _: str) -> None:
        self.hel.send(p.ApplyConfig())

    def _do_call(self, rest: str) -> None:
        match slash.parse_call(rest):
            case slash.Mistake(sentence=sentence):
                self.refuse(f"/call {rest}", sentence)
            case (target, "") if (tool := self._listed(target)) is not None:
                self.commands.calls.open(tool.server, tool.raw)
            case (target, arguments):
                self._show_end()
                self.hel.send(p.CallTool(target, arguments))

    def _listed(self, target: str) -> p.ToolRow | None:
        """The tool of a server that is called so."""
        rows = self.hel.core.tools()
        return next((row for row in rows if target in (row.public, f"{row.server}.{row.raw}")), None)

    def _do_attach(self, rest: str) -> None:
        self.hel.send(p.Attach("", rest.strip().strip('"')))

    def _do_paste(self, _: str) -> None:
        self.hel.send(p.PasteClipboard(self.hel.clipboard))

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
            self.commands.open_server(rest, "health")

    def _do_checks(self, rest: str) -> None:
        from hel_tui.tui.screens.authoring.checks import ChecksScreen  # not needed for the first paint

        if not rest or self._is_server(rest, f"/checks {rest}"):
            self.hel.push_screen(ChecksScreen(self.hel, rest))

    def _do_saves(self, _: str) -> None:
        items = [
            one for one in self.screen.view.items if isinstance(one, ServerItem) and one.kind == "renewal"
        ]
        if items:
            self.commands.open_renewal(items[-1].number)
        else:
            self.hel.say(t("renewal.none"))

    def _do_context(self, _: str) -> None:
        self.screen.action_context()

    def _do_compact(self, rest: str) -> None:
        self._show_end()
        self.hel.send(p.Compact(rest))

    def _do_cost(self, _: str) -> None:
        from hel_tui.tui.text.context import cost_lines  # not needed for the first paint

        self.commands.sheet(t("cost.title"), cost_lines(self.hel.core.spending()))

    def _do_rewind(self, _: str) -> None:
        self.screen.action_rewind()

    def _do_undo(self, _: str) -> None:
        if self.screen.view.busy:
            self.refuse("/undo", t("rewind.busy"))
        else:
            self.hel.send(p.Rewind())

    def _do_trust(self, _: str) -> None:
        self.hel.send(p.ReviewTrust())

    def _do_clear(self, _: str) -> None:
        self.commands.sessions.new()

    _do_new = _do_clear

    def _do_copy(self, _: str) -> None:
        answers = [i for i in self.screen.view.items if isinstance(i, AnswerItem) and not i.reasoning]
        self.hel.copy(answers[-1].text if answers else "")

    def _do_theme(self, rest: str) -> None:
        if not rest:
            self.commands.next_theme()
        elif why := self.hel.use_theme(rest):
            self.refuse(f"/theme {rest}", why)

    def _do_quit(self, _: str) -> None:
        self.commands.leave()

    def known(self, takes: slash.Takes) -> Sequence[tuple[str, str]]:
        """Words that complete an argument, with what they mean."""
        match takes:
            case "level":
                return [(level, t(f"access.{level}_is")) for level in p.ACCESS_LEVELS]
            case "model":
                return [(one.label, one.base_url) for one in self.hel.core.models().models]
            case "effort":
                return [(word, "") for word in (*self.screen.view.model.efforts, "off")]
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
