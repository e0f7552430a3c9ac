"""Puts a kept session, or a fork of one, in the place of the one that is open.

Nothing but the conversation comes back: trust is asked again, servers connect as always, and of the tools
only those are loaded that the conversation used and that are what they were. Not here: the files
(store.sessions), opening one (kept), looking through all of them (archive).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.counts import counted
from hel_tui.core.permissions.approvals import fingerprint
from hel_tui.core.session.archive import Archive
from hel_tui.core.session.kept import (
    EarlierCalls,
    EarlierCompactions,
    EarlierTurns,
    Opened,
    open_session,
)
from hel_tui.core.session.opening import opened_in_thread
from hel_tui.core.session.parts import Parts
from hel_tui.core.session.saving import Saving
from hel_tui.core.store.atomic import why
from hel_tui.core.store.sessions.folders import find_session
from hel_tui.core.store.sessions.forking import fork_session
from hel_tui.core.store.sessions.masking import without_known
from hel_tui.core.store.sessions.mending import forget_cut_off
from hel_tui.core.store.sessions.naming import told
from hel_tui.core.store.sessions.reading import UsedTool

MOST_NAMED = 8
"""Tools that a remark names; of more it says how many."""


class Resuming:
    """Opens kept sessions in one run. Lives in the core's loop; reading methods are safe from any thread."""

    def __init__(
        self,
        parts: Parts,
        saving: Saving,
        project: Path,
        *,
        out: Callable[[p.Event], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        settled: Callable[[], Awaitable[None]],
    ) -> None:
        """`out` tells a screen what is not to be kept again; `settled` waits for servers that still start."""
        self._parts = parts
        self._saving = saving
        self._project = project
        self._out = out
        self._spawn = spawn
        self._settled = settled
        self._turns = EarlierTurns(saving.folder, ())
        self._used: dict[str, UsedTool] = {}
        """Tools of servers the conversation used, until they are loaded again."""
        self.archive = Archive(parts.places, parts.redactor, saving, project, out=out, spawn=spawn)

    # ----------------------------------------------------------------- opening

    async def opened(self, wanted: str) -> Opened | str:
        """The kept session `wanted`, read and locked; a sentence when it cannot be had."""

        def look() -> Opened | str:
            found = find_session(self._parts.places, self._project, wanted)
            if found == self._saving.folder:
                return f"Session {found.name} is the one that is open."
            return open_session(found) if isinstance(found, Path) else found

        return await self._in_thread(look, wanted)

    async def forked(self, session_id: str, turn: int) -> Opened | str:
        """A fork of a session up to the end of `turn` (0: of the last one that ended), read and locked."""

        def make() -> Opened | str:
            wanted = session_id or self._saving.folder.name
            found = find_session(self._parts.places, self._project, wanted)
            if not isinstance(found, Path):
                return found
            fork = fork_session(found, turn or None)
            if isinstance(fork, str):
                return fork
            opened = open_session(fork.folder)
            if isinstance(opened, Opened):
                opened.news.append(f"This is a fork of {told(found)}, with its turns up to {fork.turn}.")
                if fork.damaged:
                    lines = counted(fork.damaged, "damaged line")
                    opened.remarks.append(f"Not in the fork: {lines} of it.")
            return opened

        return await self._in_thread(make, session_id)

    async def _in_thread(self, work: Callable[[], Opened | str], wanted: str) -> Opened | str:
        redactor = self._parts.redactor

        def opened() -> Opened | str:
            opened = work()
            if isinstance(opened, Opened):
                for messages in (opened.kept.messages, opened.messages, opened.untold):
                    messages[:] = [without_known(message, redactor) for message in messages]
            return opened

        try:
            return await opened_in_thread(opened)
        except OSError as error:
            return f"Session {wanted[:100]} cannot be opened: {why(error)}."

    def restore(self, opened: Opened) -> int:
        """Put an opened session in the place of the one that was open, which is over. Returns the number of
        its last turn.
        """
        kept, agent = opened.kept, self._parts.agent
        agent.go_on(kept.messages, kept.usage, items=kept.size, compactions=max(kept.compactions, default=0))
        agent.context.accounts.tell_apart(kept.spent)
        agent.context.compactor.earlier = EarlierCompactions(kept.folder, kept.compactions).detail
        self._parts.todos.go_on(kept.todos)
        self._parts.ledger.go_on(EarlierCalls(kept.folder, kept.calls))
        self._turns = EarlierTurns(kept.folder, tuple(kept.turns), kept.size)
        for event in opened.events:
            self._out(event)
        if kept.todos:
            self._out(p.TodosChanged(kept.todos))
        self._finish(opened)
        turns = len(kept.turns)
        parent = kept.head.get("parent")
        of = str(parent.get("id", "")) if isinstance(parent, dict) else ""
        self._out(p.SessionRestored(kept.folder.name, kept.name, turns, opened.first_shown, of))
        self._out(p.SessionTitled(kept.name, given=bool(kept.title)))
        for text in opened.news:
            self._out(p.Notice("info", text))
        for remark in opened.remarks:
            self._out(p.Notice("warning", remark))
        self._used = dict(kept.tools)
        if self._used:
            self._spawn(self.load_again())
        return kept.turns[-1][0] if kept.turns else 0

    def _finish(self, opened: Opened) -> None:
        """Write and tell what was unfinished when the session ended."""
        for text in opened.texts:
            self._saving.add(text)
            turn, item = int(text.get("turn", 0)), str(text["item"])
            kind = p.ReasoningDelta if text.get("reasoning") else p.TextDelta
            self._out(kind(turn, item, str(text["text"])))
            self._out(p.TextDone(turn, item))
        if opened.texts and not self._saving.is_behind:
            forget_cut_off(opened.kept.folder)
        for record in opened.calls:
            if (at := self._saving.add(record)) >= 0:
                opened.kept.calls[str(record["call_id"])] = at
        history, held = self._parts.agent.history, opened.held
        if held.unsent:
            history.withdraw(history[-held.unsent : -1])
        for message in opened.messages:
            history.append(message)
        for record in held.lines:
            self._saving.add(record)
        for event in opened.ending:
            self._saving.emit(event)
        for message in opened.untold:
            history.append(message)

    async def load_again(self) -> None:
        """Load the tools that the conversation used, once, where they are still what they were."""
        await self._settled()
        used, self._used = self._used, {}
        catalogue = self._parts.host.catalogue
        gone: list[str] = []
        changed: list[str] = []
        wanted: list[str] = []
        loaded = {tool.definition.name for tool in catalogue.loaded()}
        for name, tool in used.items():
            now = catalogue.get(name)
            if now is None:
                gone.append(f"{tool.server}.{tool.raw}")
            elif fingerprint(now) != tool.fingerprint:
                changed.append(f"{tool.server}.{tool.raw}")
            elif name not in loaded:
                wanted.append(name)
        not_loaded = [
            one.name for one in catalogue.load(wanted) if one.state not in ("loaded", "already loaded")
        ]
        parts = [
            f"{what}: {_some(names)}"
            for what, names in (("not there", gone), ("changed", changed), ("not to be loaded", not_loaded))
            if names
        ]
        if parts:
            self._out(
                p.Notice("warning", f"Tools that this session used are not as they were: {'; '.join(parts)}.")
            )

    # ------------------------------------------------------------------ reading

    def earlier(self, before_turn: int, count: int) -> tuple[p.Event, ...]:
        """The events of turns before `before_turn` of the session that is open, as it was when opened."""
        return self._turns.events(before_turn, count)

    def forget(self) -> None:
        """A new, empty session is open."""
        self._turns = EarlierTurns(self._saving.folder, ())
        self._used = {}

    # ----------------------------------------------------------------- commands

    def obey(self, command: p.Command) -> bool:
        """Carry out a command about sessions beside the turns; False for any other."""
        return self.archive.obey(command)


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
