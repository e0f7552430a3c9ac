"""Whose log the log pane shows: of the server that is at work or in trouble, unless a person chose one.

Pure logic over changes and times (seconds of the app's clock). Not here: showing it (side, log).
"""

from __future__ import annotations

from hel_tui.core import protocol as p
from hel_tui.tui.state import CallItem, Changes, ViewState
from hel_tui.tui.widgets.servers import order

PIN = 60.0
"""Seconds for which a choice by hand stays, whatever happens elsewhere."""
_BAD: frozenset[p.Phase] = frozenset({"failed", "degraded", "needs login"})


class LogChoice:
    """`server` is the one whose log is shown, empty for none."""

    def __init__(self) -> None:
        self.server = ""
        self._until = float("-inf")
        self._phases: dict[str, p.Phase] = {}
        self._running: set[str] = set()

    def choose(self, server: str, now: float) -> None:
        """A person chose it."""
        self.server, self._until = server, now + PIN

    def follow(self, state: ViewState, changes: Changes, now: float, stays: bool, first: str) -> None:
        """Go along with what changed. `stays`: somebody reads the log; `first`: whose is shown by default."""
        begun, worse = self._begun(state, changes), self._worsened(state, changes)
        news = worse or begun
        if self.server not in state.servers:
            self.server, self._until = news or first, float("-inf")
        elif news and not stays and now >= self._until:
            self.server = news

    def _begun(self, state: ViewState, changes: Changes) -> str:
        """The server of the newest call that began to run."""
        begun = ""
        for key in changes.items:
            call = state.by_key.get(key)
            if not isinstance(call, CallItem) or call.state != "running":
                self._running.discard(key)
            elif key not in self._running:
                self._running.add(key)
                begun = call.server if call.server in state.servers else begun
        return begun

    def _worsened(self, state: ViewState, changes: Changes) -> str:
        """The server whose state turned bad; of several the one that needs most attention."""
        if not changes.servers:
            return ""
        before = self._phases
        self._phases = {name: server.phase for name, server in state.servers.items()}
        worse = [s for s in state.servers.values() if s.phase in _BAD and before.get(s.name) != s.phase]
        return min(worse, key=order).name if worse else ""
