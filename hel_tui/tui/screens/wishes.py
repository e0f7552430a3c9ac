"""What the lists beside the conversation and the cards in it ask for, carried out.

Not here: their keys (widgets), what is typed (typed), tools (commands).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hel_tui.core import protocol as p
from hel_tui.tui.state import CallItem
from hel_tui.tui.widgets.conversation import Conversation
from hel_tui.tui.widgets.header import ATTENTION
from hel_tui.tui.widgets.servers import ServersPane

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.main import MainScreen


class Wishes:
    """Bound to the app and its main screen."""

    def __init__(self, hel: HelApp, screen: MainScreen) -> None:
        self.hel, self.screen = hel, screen

    def of_server(self, wish: ServersPane.Wish) -> None:
        """A key in the list of servers."""
        match wish.what:
            case "restart":
                self.hel.send(p.RestartServer(wish.server))
            case "switch":
                self.switch(wish.server)
            case "trust":
                self.hel.send(p.ReviewTrust())
            case "login":
                self.hel.send(p.Login(wish.server))
            case "log":
                self.screen.open_log(wish.server)

    def of_card(self, wish: Conversation.ServerWish) -> None:
        """A key on the card of a server."""
        match wish.what:
            case "restart":
                self.hel.send(p.RestartServer(wish.server))
            case "off":
                self.hel.send(p.SwitchServer(wish.server, on=False))
            case "edit":
                self.screen.commands.editing.entry(wish.server)
            case "log" | "wire":
                self.hel.open_server(wish.server, wish.what)
            case "open":
                self.hel.open_server(wish.server)

    def switch(self, name: str) -> None:
        """Turn a server on if it is off, else off."""
        server = self.screen.view.servers.get(name)
        self.hel.send(p.SwitchServer(name, on=server is None or server.phase == "off"))

    def open_servers(self) -> None:
        """The server screen: at the server that needs a look, else at the one that was called last."""
        view, side = self.screen.view, self.screen.side
        attention = side.servers.attention()
        state = view.servers.get(attention)
        if state is not None and state.phase not in ATTENTION:
            calls = (item.server for item in reversed(view.items) if isinstance(item, CallItem))
            attention = next((name for name in calls if name in view.servers), attention)
        if attention:
            side.servers.select(attention)
            side.choose_log(attention)
        self.screen.commands.open_server(attention)
