"""How a call by hand is opened: from a tool, from a card, from the prompt; and what was filled in last.

Arguments are kept for the run and in memory only: they may hold secrets. Not here: the screen itself.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hel_tui.forms.node import BadJson, read_json
from hel_tui.forms.spec import MISSING
from hel_tui.tui.strings import t

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

MOST_KEPT = 200
"""Tools whose last arguments are kept."""


class Calls:
    """Bound to the app."""

    def __init__(self, hel: HelApp) -> None:
        self.hel = hel
        self._last: dict[tuple[str, str], Any] = {}

    def keep(self, server: str, tool: str, value: Any) -> None:
        """What was filled in for a tool; the newest `MOST_KEPT` tools are remembered."""
        self._last.pop((server, tool), None)
        self._last[server, tool] = value
        while len(self._last) > MOST_KEPT:
            del self._last[next(iter(self._last))]

    def open(self, server: str, tool: str, *, arguments: str = "", before: str = "") -> bool:
        """Open the form of a tool: with `arguments` (JSON), else with what was filled in last.

        `before` is the call these come from: the new result is compared with its. False, and a word about
        it, when the tool is not listed.
        """
        from hel_tui.tui.screens.call.screen import CallScreen  # not needed for the first paint

        detail = self.hel.core.tool(server, tool)
        if detail is None:
            self.hel.say(t("call.no_tool"), "warning")
            return False
        try:
            schema = json.loads(detail.sent)
        except (ValueError, RecursionError):
            schema = {}
        given: Any = read_json(arguments) if arguments.strip() else self._last.get((server, tool))
        if isinstance(given, BadJson) or (given is not None and not isinstance(given, dict)):
            given = None
        given = MISSING if given is None else given
        self.hel.push_screen(CallScreen(self.hel, self, detail, schema, given, before))
        return True
