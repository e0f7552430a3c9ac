"""The servers pane: state glyph, name and word for each server, the ones in need of attention first.

Not here: starting, stopping or describing servers (core).
"""

from __future__ import annotations

import time
from typing import ClassVar, Literal

from rich.cells import cell_len
from textual.binding import BindingType
from textual.message import Message

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, Part, pad
from hel_tui.tui.widgets.rows import Row, RowList

GLYPHS: dict[p.Phase, Part] = {
    "ready": ("●", "ok"),
    "degraded": ("◍", "warn"),
    "starting": ("◐", "accent"),
    "restarting": ("◑", "warn"),
    "needs login": ("▲", "warn"),
    "failed": ("✗", "bad"),
    "untrusted": ("?", "warn"),
    "stopped": ("□", "muted"),
    "off": ("○", "muted"),
}
_ORDER = (
    "failed",
    "needs login",
    "untrusted",
    "degraded",
    "restarting",
    "starting",
    "ready",
    "stopped",
    "off",
)


def order(server: p.ServerChanged) -> tuple[int, str]:
    """Sorting key: attention first, then at work, then off; by name within."""
    rank = _ORDER.index(server.phase)
    return (rank if rank < 4 else 4 if rank < 7 else 5), server.name


def latency(seconds: float) -> str:
    """12ms, 3.4s; empty before the first answer."""
    if seconds <= 0:
        return ""
    return f"{max(round(seconds * 1000), 1)}ms" if seconds < 1 else f"{seconds:.1f}s"


def is_slow(server: p.ServerChanged) -> bool:
    """Whether it is past its time to start and still shows life: only then a start has a reason."""
    return server.phase == "starting" and bool(server.reason)


def word(server: p.ServerChanged, now: float) -> str:
    """What the pane says beside the name."""
    if server.phase == "ready":
        return f"{t('servers.tools', n=server.tools)} {latency(server.latency):>5}".rstrip()
    if server.phase in ("starting", "restarting") and server.since:
        key = "phase.slow_for" if is_slow(server) else f"phase.{server.phase}_for"
        return t(key, seconds=max(int(now - server.since), 0))
    reason = clean(server.reason, newlines=False).strip()
    if server.phase == "failed" and reason:
        return f"{reason} ({keymap.label('servers.restart')})"
    if server.phase == "degraded" and reason:
        return reason
    if server.phase == "needs login":
        return t("servers.needs_login", key=keymap.label("servers.login"))
    return t(f"phase.{server.phase}")


def row(server: p.ServerChanged, width: int, now: float) -> list[Part]:
    """One line of the pane. The name keeps at least a third, the word gets what it needs of the rest."""
    glyph, style = GLYPHS[server.phase]
    name = clean(server.name, newlines=False)
    room = max(width - 4, 1)
    text = word(server, now)
    text = cut(text, max(room - min(cell_len(name), room // 3 + 1) - 1, 1))
    quiet = server.phase in ("ready", "off", "stopped", "starting") and not is_slow(server)
    left = pad(name, max(room - cell_len(text) - 1, 1))
    return [(f" {glyph} ", style), (left, "muted" if server.phase == "off" else ""),
            (" " + text, "muted" if quiet else "warn" if is_slow(server) else style)]  # fmt: skip


class ServersPane(RowList):
    """Attention first. Keys restart, switch off, show the log."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("servers")

    class Wish(Message):
        """The person wants something done with a server."""

        What = Literal["restart", "switch", "log", "trust", "login"]

        def __init__(self, what: What, server: str) -> None:
            super().__init__()
            self.what, self.server = what, server

    def __init__(self, *, id: str = "servers") -> None:
        super().__init__(id=id)
        self.servers: list[p.ServerChanged] = []
        self.icons = False
        """Only glyphs, for narrow screens."""

    def update(self, servers: dict[str, p.ServerChanged]) -> None:
        """Show these servers."""
        self.servers = sorted(servers.values(), key=order)
        now = time.time()
        self.show([Row(s.name, row(s, max(self.columns, 1), now)) for s in self.servers])

    def tick(self) -> None:
        """Once a second: the seconds of servers that are starting."""
        if any(s.phase in ("starting", "restarting") for s in self.servers):
            self.update({s.name: s for s in self.servers})

    def on_resize(self) -> None:
        self.update({s.name: s for s in self.servers})

    def line_at(self, y: int) -> Line:
        if self.icons:
            if y >= len(self.servers):
                return ()
            return self.rows[y].parts[:1]
        return super().line_at(y)

    def attention(self) -> str:
        """The server that most needs a look; the first one when none does."""
        return self.servers[0].name if self.servers else ""

    def _wish(self, what: ServersPane.Wish.What) -> None:
        if self.current:
            self.post_message(self.Wish(what, self.current))

    def action_restart(self) -> None:
        self._wish("restart")

    def action_switch(self) -> None:
        self._wish("switch")

    def action_log(self) -> None:
        self._wish("log")

    def action_trust(self) -> None:
        self._wish("trust")

    def action_login(self) -> None:
        self._wish("login")
