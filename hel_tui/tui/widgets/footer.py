"""The keys at the foot of the screen: those that matter where the focus is.

Not here: what they do (actions, screens), the keys of a sheet (picker).
"""

from __future__ import annotations

from hel_tui.tui import keymap
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Bar, Line, Part, width_of

FOOTERS: dict[str, tuple[str, ...]] = {
    "prompt": (
        "prompt.send",
        "prompt.newline",
        "app.next",
        "app.servers",
        "app.palette",
        "app.access",
        "app.keys",
    ),
    "running": (
        "app.interrupt",
        "prompt.newline",
        "app.next",
        "app.servers",
        "app.palette",
        "app.access",
        "app.keys",
    ),
    "typing": (
        "prompt.send",
        "prompt.later",
        "prompt.newline",
        "prompt.clear",
        "app.palette",
        "app.keys",
    ),
    "conversation": (
        "conversation.next_card",
        "conversation.open",
        "conversation.copy",
        "conversation.command",
        "conversation.rerun",
        "app.search",
        "app.next",
        "app.keys",
    ),
    "finder": ("finder.keep", "finder.clear"),
    "tools": (
        "list.open",
        "tools.toggle",
        "tools.pin",
        "tools.off",
        "tools.call",
        "tools.filter",
        "tools.search",
        "app.next",
        "app.keys",
    ),
    "servers": (
        "list.open",
        "servers.restart",
        "servers.switch",
        "servers.log",
        "servers.login",
        "servers.trust",
        "app.next",
        "app.keys",
    ),
    "server-list": (
        "list.open",
        "server.restart",
        "server.switch",
        "server.log",
        "server.wire",
        "server.login",
        "server.diagnose",
        "server.close",
        "server.keys",
    ),
    "server-tools": (
        "list.open",
        "tools.toggle",
        "tools.pin",
        "tools.off",
        "tools.call",
        "tools.filter",
        "server.next_pane",
        "server.close",
        "server.keys",
    ),
    "server-resources": ("list.open", "picker.filter", "server.next_pane", "server.close", "server.keys"),
    "server-prompts": (
        "list.open",
        "prompts.try",
        "picker.filter",
        "server.next_pane",
        "server.close",
        "server.keys",
    ),
    "server-overview": (
        "server.restart",
        "server.log",
        "server.wire",
        "server.call",
        "server.edit",
        "server.switch",
        "server.diagnose",
        "server.next",
        "server.close",
        "server.keys",
    ),
    "log": ("log.filter", "log.pause", "log.end", "log.large", "log.copy", "app.next", "app.keys"),
}
"""Which keys the footer names for the part that has the focus; `typing`: the prompt, with text in it, while a
turn runs; `running`: the same without, where there is nothing to send."""
_TYPING = {"prompt.send": "short.prompt.join"}
"""Words that differ there."""


class FooterBar(Bar):
    """The keys that matter where the focus is; what does not fit is left out whole."""

    DEFAULT_CSS = """
    FooterBar { dock: bottom; }
    """

    def __init__(self) -> None:
        super().__init__(id="footer")
        self.where = "prompt"
        self.turn = ""
        """While a turn runs `running`, `typing` when something is written meanwhile; else empty."""

    def lines(self) -> list[Line]:
        other = "server-overview" if self.where.startswith("server-") else "prompt"
        actions = list(FOOTERS.get(self.where, FOOTERS[other]))
        if self.turn and self.where == "prompt":
            actions = list(FOOTERS[self.turn])
        parts = self._named(actions)
        while len(actions) > 1 and width_of(parts) > self.columns - 1:
            del actions[-2]  # the last one, which leads to all the others, stays
            parts = self._named(actions)
        return [parts]

    @property
    def _types(self) -> bool:
        return self.turn == "typing" and self.where == "prompt"

    def _named(self, actions: list[str]) -> list[Part]:
        parts: list[Part] = [(" ", "")]
        for action in actions:
            gap: list[Part] = [(" · ", "frame")] if len(parts) > 1 else []
            own = _TYPING.get(action) if self._types else None
            parts += [*gap, (keymap.label(action), "key"), (f" {t(own or f'short.{action}')}", "muted")]
        return parts

    def type(self, runs: bool, written: bool) -> None:
        """Say what keys do while a turn runs, with what is written or without, or no longer."""
        turn = "typing" if runs and written else "running" if runs else ""
        if turn != self.turn:
            self.turn = turn
            self.refresh()

    def show(self, where: str) -> None:
        if where != self.where:
            self.where = where
            self.refresh()
