"""Sessions as a person deals with them: go on with one, fork, name, list, search, export and delete them.

Nothing but the conversation comes back: trust is asked again, servers connect as always, and of the tools
only those are loaded that the conversation used and that are what they were. Not here: the files
(store.sessions), opening one (kept).
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.permissions.approvals import fingerprint
from hel_tui.core.session.kept import (
    EarlierCalls,
    EarlierCompactions,
    EarlierTurns,
    Opened,
    open_session,
)
from hel_tui.core.session.parts import Parts
from hel_tui.core.session.saving import Saving
from hel_tui.core.store.atomic import why, write_atomic
from hel_tui.core.store.sessions.folders import delete_session, find_session
from hel_tui.core.store.sessions.forking import fork_session
from hel_tui.core.store.sessions.mending import forget_cut_off
from hel_tui.core.store.sessions.naming import rename_session
from hel_tui.core.store.sessions.reading import UsedTool
from hel_tui.core.threads import in_thread

MOST_NAMED = 8
"""Tools that a remark names; of more it says how many."""


class Resuming:
    """The kept sessions of one run. Lives in the core's loop; reading methods are safe from any thread."""

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
        self.rows: tuple[p.SessionRow, ...] = ()
        """The sessions that were listed last."""
        self.hits: tuple[p.SessionHit, ...] = ()

    # ----------------------------------------------------------------- opening

    async def opened(self, wanted: str) -> Opened | str:
        """The kept session `wanted`, read and locked; a sentence when it cannot be had."""

        def look() -> Opened | str:
            found = find_session(self._parts.places, self._project, wanted)
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
                opened.remarks.append(f"This is a fork of {found.name}, with its turns up to {fork.turn}.")
                if fork.damaged:
                    opened.remarks.append(f"{fork.damaged} damaged lines of it are not in the fork.")
            return opened

        return await self._in_thread(make, session_id)

    async def _in_thread(self, work: Callable[[], Opened | str], wanted: str) -> Opened | str:
        try:
            return await in_thread(work, "hel-session")
        except OSError as error:
            return f"Session {wanted[:100]} cannot be opened: {why(error)}."

    def restore(self, opened: Opened) -> int:
        """Put an opened session in the place of the one that was open, which is over. Returns the number of
        its last turn.
        """
        kept, agent = opened.kept, self._parts.agent
        agent.go_on(kept.messages, kept.usage, items=kept.size, compactions=max(kept.compactions, default=0))
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
        for message in opened.messages:
            self._parts.agent.history.append(message)
        for event in opened.ending:
            self._saving.emit(event)

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
        match command:
            case p.ListSessions():
                self._spawn(self._list(command))
            case p.RenameSession(title, session_id):
                if session_id in ("", self._saving.folder.name):
                    self._saving.rename(title)
                else:
                    self._tell(lambda: self._rename(session_id, title))
            case p.DeleteSession(session_id):
                self._tell(lambda: self._delete(session_id))
            case p.ExportSession(path, form, session_id):
                self._tell(lambda: self._export(Path(path), form, session_id))
            case _:
                return False
        return True

    async def _list(self, command: p.ListSessions) -> None:
        project = None if command.everywhere else self._project

        def look() -> tuple[list[p.SessionRow], list[p.SessionHit], str]:
            from hel_tui.core.store.sessions.index import Index  # brings SQLite

            with contextlib.closing(Index(self._parts.places)) as index:
                hits = index.search(command.text, project) if command.text.strip() else []
                return index.sessions(project), hits, index.problem

        rows, hits, problem = await in_thread(look, "hel-sessions")
        self.rows, self.hits = tuple(rows), tuple(hits)
        self._out(p.SessionsListed(command.text, len(rows), len(hits), problem))

    def _tell(self, work: Callable[[], tuple[p.Severity, str]]) -> None:
        """Do `work` in a thread and say what came of it."""

        async def told() -> None:
            severity, sentence = await in_thread(work, "hel-session")
            self._out(p.Notice(severity, sentence))

        self._spawn(told())

    def _delete(self, session_id: str) -> tuple[p.Severity, str]:
        found = find_session(self._parts.places, None, session_id)
        problem = delete_session(found) if isinstance(found, Path) else found
        return ("warning", problem) if problem else ("info", f"Session {session_id} was deleted.")

    def _rename(self, session_id: str, title: str) -> tuple[p.Severity, str]:
        found = find_session(self._parts.places, None, session_id)
        problem = rename_session(found, title, self._parts.redactor) if isinstance(found, Path) else found
        return ("warning", problem) if problem else ("info", f"Session {session_id} has another title.")

    def _export(self, path: Path, form: p.ExportForm, session_id: str) -> tuple[p.Severity, str]:
        found = find_session(self._parts.places, None, session_id or self._saving.folder.name)
        if not isinstance(found, Path):
            return "warning", found
        from hel_tui.core.store.sessions.exporting import as_json, as_markdown

        target = self._project / path.expanduser()
        try:
            text = as_json(found) if form == "json" else as_markdown(found)
        except OSError as error:
            return "warning", f"{found.name} cannot be read: {why(error)}."
        failed = write_atomic(target, text.encode("utf-8", "replace"))
        return ("info", f"The session is in {target}.") if failed is None else ("warning", failed.sentence)


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
