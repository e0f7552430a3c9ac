"""The command palette: every action of the key table, themes, access levels, servers and tools.

Not here: what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean
from hel_tui.tui.strings import t

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

Entry = tuple[str, str, Callable[[], object]]
"""(name, help, what to do)."""


class HelProvider(Provider):
    """Finds entries by fuzzy match; names of servers and tools come cleaned and are never markup."""

    @property
    def hel(self) -> HelApp:
        return cast("HelApp", self.app)

    def entries(self) -> Iterator[Entry]:
        screen = self.hel.main
        for action in keymap.ACTIONS:
            if action.palette:
                run = partial(screen.run_action, f"screen.{action.run}")
                yield action.title, keymap.label(action.id), run
        yield t("help.title"), "/help", partial(screen.commands.run, "/help")
        yield t("slash.trust"), "/trust", partial(screen.commands.run, "/trust")
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

    async def discover(self) -> Hits:
        for name, about, run in self.entries():
            yield DiscoveryHit(Content(name), run, text=name, help=about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, about, run in self.entries():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, Content(name), run, text=name, help=about)
