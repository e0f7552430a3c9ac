"""What one server may ask of hel in this run: its entry says, the person may say otherwise at any time.

Not here: what is done with a request (serving).
"""

from __future__ import annotations

from typing import get_args

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.protocol import Switch

SWITCHES: tuple[Switch, ...] = get_args(Switch)


class Switches:
    """Outlives the lives of a server. Safe to read from any thread."""

    def __init__(self) -> None:
        self._said: dict[Switch, bool] = {}
        self.declared: frozenset[Switch] | None = None
        """What was declared to the server when it was greeted last; None before."""
        self.asked: set[str] = set()
        """Ids of the calls (the cards) during which the server asked for the person or the model."""

    def set(self, what: Switch, on: bool) -> None:
        """The person lets it, or no longer."""
        self._said[what] = on

    def allows(self, entry: ServerEntry, what: Switch) -> bool:
        """Whether the server may ask for that now."""
        return self._said.get(what, bool(getattr(entry, what)))
