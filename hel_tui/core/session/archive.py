"""The kept sessions as a person looks through them: list, search, look into, name, export and delete.

Files are read and written in threads. Of lists, and of looks, that wait for each other only the newest is
carried out: whoever types into a search is not answered letter by letter. Not here: going on with a session
(resuming), the files (store.sessions).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Generic, TypeVar

from hel_tui.core import protocol as p
from hel_tui.core.session.saving import Saving
from hel_tui.core.store.atomic import why, write_new
from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions import glancing
from hel_tui.core.store.sessions.folders import delete_session, find_session
from hel_tui.core.store.sessions.naming import MOST_TOLD, rename_session, told
from hel_tui.core.threads import in_thread

Wish = TypeVar("Wish")
PATIENCE = 1.0
"""Seconds that files are read before what is known so far is told."""
MOST_HITS = 300
"""Turns that a search gives."""
MOST_CLOSED = 3
"""Sessions that cannot be read and are told of."""
HITS_EACH = 3
"""Turns of one session that a search gives."""
UNTITLED = "This session is called by its first message now."
_ENDINGS = {"markdown": "md", "json": "json"}


class Newest(Generic[Wish]):
    """Carries out wishes one at a time; of those that wait only the newest."""

    def __init__(
        self,
        carry_out: Callable[[Wish], Coroutine[Any, Any, None]],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._carry_out, self._spawn = carry_out, spawn
        self._waiting: list[Wish] = []
        self._runs = False

    def wish(self, wish: Wish) -> None:
        """Carry this out, now or after what is being carried out."""
        self._waiting = [wish]
        if not self._runs:
            self._runs = True
            self._spawn(self._work())

    @property
    def waits(self) -> bool:
        """Whether a newer wish waits."""
        return bool(self._waiting)

    async def _work(self) -> None:
        try:
            while self._waiting:
                await self._carry_out(self._waiting.pop())
        finally:
            self._runs = False
            if self._waiting:  # the one before failed
                self.wish(self._waiting.pop())


class Archive:
    """Lives in the core's loop; what it holds may be read from any thread."""

    def __init__(
        self,
        places: Places,
        redactor: Redactor,
        saving: Saving,
        project: Path,
        *,
        out: Callable[[p.Event], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._places, self._redactor, self._saving, self._project = places, redactor, saving, project
        self._out, self._spawn = out, spawn
        self._lists = Newest(self._list, spawn)
        self._looks = Newest(self._look, spawn)
        self.rows: tuple[p.SessionRow, ...] = ()
        """The sessions that were listed last."""
        self.hits: tuple[p.SessionHit, ...] = ()
        """The turns that were found last."""
        self._behind = 0
        """Sessions that the index had not read when it was asked last."""
        self.glance: p.SessionGlance | None = None
        """What was looked at last."""

    def obey(self, command: p.Command) -> bool:
        """Carry out a command about kept sessions beside the turns; False for any other."""
        match command:
            case p.ListSessions():
                self._lists.wish(command)
            case p.LookAtSession():
                self._looks.wish(command)
            case p.RenameSession(title, session_id):
                if session_id in ("", self._saving.folder.name):
                    self._saving.rename(title)
                    name = " ".join(title.split())[:MOST_TOLD]
                    sentence = f'This session is called "{name}" now.' if name else UNTITLED
                    self._out(p.SessionDone("renamed", self._saving.folder.name, sentence))
                else:
                    self._tell("renamed", session_id, lambda folder: self._rename(folder, title))
            case p.DeleteSession(session_id):
                self._tell("deleted", session_id, self._delete)
            case p.ExportSession(path, form, session_id):
                session_id = session_id or self._saving.folder.name
                self._tell("exported", session_id, lambda folder: self._export(folder, path, form))
            case _:
                return False
        return True

    # ------------------------------------------------------------------ looking

    async def _list(self, command: p.ListSessions) -> None:
        """Tell what there is; where much has to be read first, tell of the newest and go on reading."""
        while True:
            await self._list_once(command)
            if not self._behind or self._lists.waits:
                return

    async def _list_once(self, command: p.ListSessions) -> None:
        project = None if command.everywhere else self._project
        wants_rows = command.rows or self._behind > 0

        def look() -> tuple[list[p.SessionRow] | None, list[p.SessionHit], str, int]:
            from hel_tui.core.store.sessions.index import Index  # brings SQLite

            with contextlib.closing(Index(self._places, PATIENCE)) as index:
                try:
                    rows = index.sessions(project) if wants_rows else None
                    behind = index.behind  # the search reads on: what it had to read is not among the rows
                    hits = index.search(command.text, project, MOST_HITS, HITS_EACH)
                except OSError as error:
                    return [], [], f"{self._places.sessions} cannot be read: {why(error)}.", 0
                closed = " ".join(
                    f"Session {name} cannot be read: {reason}."
                    for name, reason in [*index.closed.items()][:MOST_CLOSED]
                )
                return rows, hits, index.problem or closed, max(behind, index.behind)

        rows, hits, problem, self._behind = await in_thread(look, "hel-sessions")
        if rows is not None:
            self.rows = tuple(rows)
        self.hits = tuple(hits)
        told = p.SessionsListed(
            command.text,
            len(self.rows),
            len(hits),
            problem,
            everywhere=command.everywhere,
            rows=wants_rows,
            behind=self._behind,
        )
        self._out(told)

    async def _look(self, command: p.LookAtSession) -> None:
        wanted, turn = command.session_id, command.turn

        def look() -> p.SessionGlance | str:
            found = find_session(self._places, None, wanted)
            if not isinstance(found, Path):
                return found
            known = self.glance
            same = known is not None and known.session_id == wanted and turn
            turns = known.turns if known is not None and same else glancing.turns(found)
            said = glancing.turn(found, turn) if turn else glancing.newest(found)
            return p.SessionGlance(wanted, turn, said, turns)

        try:
            seen = await in_thread(look, "hel-session")
        except OSError as error:
            seen = f"Session {wanted[:100]} cannot be read: {why(error)}."
        if isinstance(seen, p.SessionGlance):
            self.glance = seen
        self._out(p.SessionLookedAt(wanted, turn, seen if isinstance(seen, str) else ""))

    # ----------------------------------------------------------------- changing

    def _tell(self, act: p.SessionAct, wanted: str, work: Callable[[Path], tuple[bool, str]]) -> None:
        """Do `work` to the session `wanted` in a thread and say what came of it."""

        def do() -> tuple[bool, str]:
            found = find_session(self._places, None, wanted)
            return work(found) if isinstance(found, Path) else (False, found)

        async def told() -> None:
            done, sentence = await in_thread(do, "hel-session")
            self._out(p.Notice("info" if done else "warning", sentence))
            self._out(p.SessionDone(act, wanted, sentence, done))

        self._spawn(told())

    def _delete(self, folder: Path) -> tuple[bool, str]:
        name = told(folder)
        problem = delete_session(folder)
        return not problem, problem or f"The session {name} was deleted."

    def _rename(self, folder: Path, title: str) -> tuple[bool, str]:
        before = told(folder)
        problem = rename_session(folder, title, self._redactor)
        return not problem, problem or f"The session {before} is now {told(folder)}."

    def _export(self, folder: Path, path: str, form: p.ExportForm) -> tuple[bool, str]:
        from hel_tui.core.store.sessions.exporting import as_json, as_markdown

        name = path or f"session-{folder.name}.{_ENDINGS[form]}"
        if "\0" in name:
            return False, "That is no name of a file."
        try:
            target = self._project / Path(name).expanduser()
        except RuntimeError:
            return False, f"{name.partition('/')[0]} is nobody's home on this machine."
        try:
            text = as_json(folder) if form == "json" else as_markdown(folder)
        except OSError as error:
            return False, f"{folder.name} cannot be read: {why(error)}."
        failed = write_new(target, text.encode("utf-8", "replace"))
        return failed is None, failed.sentence if failed is not None else f"The session is in {target}."
