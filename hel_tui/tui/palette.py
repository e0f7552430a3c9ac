"""The command palette: the key table's actions, slash commands, themes, access levels, servers and tools.

Not here: what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui import keymap, slash
from hel_tui.tui.safe import clean
from hel_tui.tui.strings import t

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

Entry = tuple[str, str, Callable[[], object]]
"""(name, help, what to do)."""


def part_of(hel: HelApp, action: keymap.Action) -> HelApp | Widget:
    """What an action of the palette runs in: the prompt, the main screen, or the app itself."""
    if action.where == "prompt":
        return hel.main.prompt
    return hel.main if hasattr(hel.main, f"action_{action.run.partition('(')[0]}") else hel


class HelProvider(Provider):
    """Finds entries by fuzzy match; names of servers and tools come cleaned and are never markup."""

    @property
    def hel(self) -> HelApp:
        return cast("HelApp", self.app)

    def entries(self) -> Iterator[Entry]:
        screen = self.hel.main
        for action in keymap.ACTIONS:
            if action.palette:
                run = partial(part_of(self.hel, action).run_action, action.run)
                yield action.title, keymap.label(action.id), run
        for spec in slash.SPECS:
            yield f"/{spec.name} {spec.usage}".strip(), spec.help, partial(self._begin, spec)
        for level in p.ACCESS_LEVELS:
            text = t("palette.access", level=t(f"access.{level}"))
            yield text, t(f"access.{level}_is"), partial(self.hel.send, p.SetAccess(level))
        for name in self.hel.theme_names:
            yield t("palette.theme", name=name), "", partial(self.hel.use_theme, name)
        for server in screen.view.servers.values():
            name, word = clean(server.name, newlines=False), t(f"phase.{server.phase}")
            yield (
                t("palette.restart", server=name),
                word,
                partial(self.hel.send, p.RestartServer(server.name)),
            )
            on = server.phase == "off"
            key = "palette.switch_on" if on else "palette.switch_off"
            yield t(key, server=name), word, partial(self.hel.send, p.SwitchServer(server.name, on))
            if server.transport != "stdio" or server.phase == "needs login":
                login, logout = p.Login(server.name), p.Logout(server.name)
                yield t("palette.login", server=name), word, partial(self.hel.send, login)
                yield t("palette.logout", server=name), word, partial(self.hel.send, logout)

    def offered(self) -> Iterator[Entry]:
        """Prompts, resources and attachments: what servers list."""
        offers = self.hel.main.offers
        for prompt in offers.prompts:
            candidate = slash.prompt_candidate(prompt)
            about = clean(candidate.about, newlines=False)[:200]
            yield clean(candidate.shown, newlines=False)[:200], about, partial(offers.use, prompt)
        for one in self.hel.main.view.attachments:
            name = clean(f"{one.server}: {one.name}", newlines=False)[:120]
            yield (
                t("palette.detach", resource=name),
                "",
                partial(self.hel.send, p.Detach(one.server, one.uri)),
            )
        for row in offers.resources():
            name = clean(f"{row.server}: {row.name or row.uri}", newlines=False)[:120]
            about = clean(row.description or row.uri, newlines=False)[:200]
            attach = partial(offers.attach, row.server)
            yield t("palette.attach", resource=name), about, partial(offers.with_uri, row, attach)

    def tools(self) -> Iterator[Entry]:
        """One entry for each tool that can be loaded or unloaded: too many to be listed unasked."""
        for tool in self.hel.core.tools():
            if tool.reason:
                continue
            key = "palette.unload" if tool.loaded else "palette.load"
            name = clean(f"{tool.server}.{tool.raw}", newlines=False)
            about = clean(tool.description, newlines=False)[:200]
            yield t(key, tool=name), about, partial(self.hel.main.commands.tool_wish, "load", tool)

    def _begin(self, spec: slash.Spec) -> None:
        """Run a command; one that takes words is put into the prompt, to be completed there."""
        screen = self.hel.main
        if not spec.takes:
            screen.commands.typed.run(f"/{spec.name}")
            return
        screen.prompt.write(f"/{spec.name} ")
        screen.set_focus(screen.prompt)

    async def discover(self) -> Hits:
        for name, about, run in self.entries():
            yield DiscoveryHit(Content(name), run, text=name, help=about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, about, run in chain(self.entries(), self.offered(), self.tools()):
            if (score := matcher.match(name)) > 0:
                yield Hit(score, Content(name), run, text=name, help=about)
