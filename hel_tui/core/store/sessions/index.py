"""An index of all sessions, for lists and for search: SQLite, made from the files.

It is brought up to date before it is read: files that grew are read on from where they were read last, the
newest first. One
that is missing, damaged or of another version is made anew; where none can be kept it is made in memory.
Not here: the files (reading), what a person sees (a command, a screen).
"""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from hel_tui.core.protocol import SessionHit, SessionRow
from hel_tui.core.store.atomic import PRIVATE_FILE, why
from hel_tui.core.store.places import Places, make_private
from hel_tui.core.store.sessions.activity import sound_time
from hel_tui.core.store.sessions.excerpts import excerpt
from hel_tui.core.store.sessions.folders import project_of, session_states
from hel_tui.core.store.sessions.indexing import COLUMNS, Indexed, goes_on, read_on, storable
from hel_tui.core.store.sessions.locking import is_open

NAME = "sessions.sqlite3"
VERSION = 4
"""Of the tables; another one is thrown away."""
PATIENCE = 10.0
"""Seconds another process that writes the index is waited for."""
BATCH = 50
"""Sessions that are brought up to date in one transaction: others can read in between."""

_TABLES = """
CREATE TABLE session (
    id TEXT PRIMARY KEY, project TEXT, title TEXT, first TEXT, model TEXT, parent TEXT,
    created REAL, updated REAL, turns INTEGER, size INTEGER, mtime INTEGER,
    known INTEGER, turn INTEGER, cost REAL, damaged INTEGER, damaged_before INTEGER
);
CREATE TABLE turn (row INTEGER PRIMARY KEY, session TEXT, turn INTEGER);
CREATE INDEX turn_session ON turn (session);
CREATE VIRTUAL TABLE text USING fts5 (body, tokenize = 'trigram', detail = 'none');
"""

_ACTIVE = "active(session.updated, session.mtime, session.created)"
"""When a session was active last, whatever its clock said."""

Row = TypeVar("Row")


class Index:
    """The index of one person's sessions. For one thread."""

    def __init__(self, places: Places, patience: float = math.inf) -> None:
        """After `patience` seconds of reading files it answers from those that were read, the newest."""
        self._places = places
        self._patience = patience
        self._path = places.cache / NAME
        self._connection: sqlite3.Connection | None = None
        self.problem = ""
        """Why the index is not kept; a sentence, empty when it is."""
        self.behind = 0
        """Sessions that are still to be read; reading goes on when it is asked again."""
        self.closed: dict[str, str] = {}
        """Sessions that cannot be read, and why."""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # ------------------------------------------------------------------ reading

    def sessions(self, project: Path | None = None) -> list[SessionRow]:
        """All sessions of a project (None: of all), the one that was active last first. Raises OSError when
        the folder of all sessions cannot be read.
        """
        return self._sound(lambda: self._sessions(project))

    def search(
        self, text: str, project: Path | None = None, most: int = 100, each: int = 0
    ) -> list[SessionHit]:
        """Turns that have all the words of `text`, those of the newest sessions first; at most `most`, and
        the newest `each` of a session (0: all). Words are looked for anywhere in the text, whatever the
        script; capital letters do not count. Raises OSError as `sessions`.
        """
        words = storable(text).split()
        return self._sound(lambda: self._search(words, project, most, each or most)) if words else []

    def _sessions(self, project: Path | None) -> list[SessionRow]:
        where, given = _of_project(project)
        rows = self._open().execute(
            f"SELECT id, title, first, project, created, {_ACTIVE} AS active, turns, size, model, parent,"
            f" cost, damaged FROM session WHERE {where} ORDER BY active DESC, id DESC",
            given,
        )
        return [
            SessionRow(
                session_id=row[0],
                title=row[1] or row[2],
                project=row[3],
                created=row[4],
                updated=row[5],
                turns=row[6],
                size=row[7],
                model=row[8],
                parent=row[9],
                is_open=is_open(self._places.sessions / row[0]),
                cost=row[10],
                damaged=row[11],
            )
            for row in rows
        ]

    def _search(self, words: list[str], project: Path | None, most: int, each: int) -> list[SessionHit]:
        where, given = _of_project(project)
        likes = " AND ".join(["text.body LIKE ? ESCAPE '\\'"] * len(words))
        found = self._open().execute(
            f"WITH found AS (SELECT turn.row, session.id, session.title, session.first, turn.turn,"
            f" {_ACTIVE} AS active,"
            f" row_number() OVER (PARTITION BY session.id ORDER BY turn.turn DESC) AS place,"
            f" count(*) OVER (PARTITION BY session.id) AS count"
            f" FROM text JOIN turn ON turn.row = text.rowid JOIN session ON session.id = turn.session"
            f" WHERE {likes} AND {where})"
            f" SELECT row, id, title, first, turn, active, count FROM found WHERE place <= ?"
            f" ORDER BY active DESC, id DESC, turn DESC LIMIT ?",
            (*map(_pattern, words), *given, each, most),
        )
        hits = []
        for row, session_id, title, first, turn, updated, count in found.fetchall():
            body = self._open().execute("SELECT body FROM text WHERE rowid = ?", (row,)).fetchone()
            part, marks = excerpt(body[0] if body is not None else "", words)
            hits.append(SessionHit(session_id, title or first, turn, part, marks, updated, count))
        return hits

    def _sound(self, read: Callable[[], list[Row]]) -> list[Row]:
        """What `read` gives once the index is up to date; a damaged index is made anew, once."""
        try:
            self._update()
            return read()
        except sqlite3.OperationalError as error:
            self.problem = f"The index of sessions is not kept: {error}."
            self._in_memory()
        except sqlite3.DatabaseError:
            self._throw_away()
        self._update()
        return read()

    # ----------------------------------------------------------------- the file

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                make_private(self._path.parent)
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE))
            except OSError as error:
                self.problem = f"The index of sessions is not kept: {why(error)}."
                self._in_memory()
            else:
                self._connection = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)
                self._prepare(self._connection)
        assert self._connection is not None
        return self._connection

    def _in_memory(self) -> None:
        self.close()
        self._patience = math.inf  # what is read is gone at the end: there is no going on
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._prepare(self._connection)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = OFF")  # it can always be made anew
        connection.create_function("active", 3, _active)
        with _writing(connection):
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == VERSION:
                return
            names = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('session', 'turn', 'text')"
            ).fetchall()
            for (name,) in names:
                connection.execute(f"DROP TABLE {name}")
            for statement in _TABLES.split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def _throw_away(self) -> None:
        self.close()
        for name in (NAME, f"{NAME}-journal"):
            with suppress(OSError):
                (self._path.parent / name).unlink()

    # ------------------------------------------------------------------- update

    def _update(self) -> None:
        """Read what is new in the files."""
        connection = self._open()
        known = {row[0]: row[1:] for row in connection.execute("SELECT id, size, mtime FROM session")}
        found: list[tuple[Path, os.stat_result]] = []
        there: set[str] = set()
        closed: dict[str, OSError] = {}
        for name, state in session_states(self._places, closed.__setitem__):
            there.add(name)
            if known.get(name) != (state.st_size, state.st_mtime_ns):
                found.append((self._places.sessions / name, state))
        gone = known.keys() - there
        if gone:
            with _writing(connection):
                for session_id in gone:
                    _remove(connection, session_id, 0)
                    connection.execute("DELETE FROM session WHERE id = ?", (session_id,))
        found.sort(key=lambda one: one[1].st_mtime_ns, reverse=True)
        self.closed = dict(sorted((name, why(error)) for name, error in closed.items()))
        end, self.behind = time.monotonic() + self._patience, 0
        for at in range(0, len(found), BATCH):
            if at and time.monotonic() > end:
                self.behind = len(found) - at
                return
            with _writing(connection):
                for folder, state in found[at : at + BATCH]:
                    self._read_on(connection, folder, state)

    def _read_on(self, connection: sqlite3.Connection, folder: Path, state: os.stat_result) -> None:
        """Bring one session up to date; another process may have done it since."""
        row = connection.execute(
            f"SELECT {', '.join(COLUMNS)} FROM session WHERE id = ?",
            (folder.name,),
        ).fetchone()
        one = Indexed(*row) if row is not None else None
        if one is not None and (one.size, one.mtime) == (state.st_size, state.st_mtime_ns):
            return
        if one is None or one.size >= state.st_size or not goes_on(one, folder):
            one = Indexed(folder.name, project=project_of(folder))
        first = one.turn if one.known else 0
        one.turns = one.turns if one.known else 0
        try:
            read_on(one, folder)
        except FileNotFoundError:  # deleted by now
            return
        except OSError as error:
            self.closed[folder.name] = why(error)
            return
        one.size, one.mtime = state.st_size, state.st_mtime_ns
        _remove(connection, one.id, first)
        for turn, text in one.texts:
            cursor = connection.execute("INSERT INTO turn (session, turn) VALUES (?, ?)", (one.id, turn))
            body = storable(text)
            connection.execute("INSERT INTO text (rowid, body) VALUES (?, ?)", (cursor.lastrowid, body))
        marks = ", ".join("?" * len(COLUMNS))
        connection.execute(
            f"INSERT OR REPLACE INTO session ({', '.join(COLUMNS)}) VALUES ({marks})",
            tuple(storable(getattr(one, name)) for name in COLUMNS),
        )


def _active(updated: float | None, mtime: int, created: float | None) -> float:
    """SQLite has no word for a time that is no number, and gives none."""
    updated, created = (math.inf if one is None else one for one in (updated, created))
    return sound_time(updated, mtime / 1e9, created, time.time())


@contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _remove(connection: sqlite3.Connection, session_id: str, first: int) -> None:
    """Take the turns from `first` on out of the index."""
    given = (session_id, first)
    connection.execute(
        "DELETE FROM text WHERE rowid IN (SELECT row FROM turn WHERE session = ? AND turn >= ?)", given
    )
    connection.execute("DELETE FROM turn WHERE session = ? AND turn >= ?", given)


def _of_project(project: Path | None) -> tuple[str, tuple[str, ...]]:
    if project is None:
        return "1", ()
    return "session.project = ?", (storable(os.path.realpath(project)),)


def _pattern(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
