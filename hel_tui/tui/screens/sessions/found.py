"""What the sheet of sessions lists: the sessions there are, and turns in which something was found.

Not here: reading and searching (core), lines (texts), the sheet (screen).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hel_tui.core import protocol as p
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.rows import Row


@dataclass(slots=True)
class Found:
    """A key names a session by its id, a turn of it by `ID TURN`."""

    sessions: dict[str, p.SessionRow] | None = None
    """By id, in the order of the list; None until they are listed."""
    hits: dict[str, list[p.SessionHit]] = field(default_factory=dict)
    """Of the last search, by the id of the session."""
    searching: bool = False
    """More may be found."""
    behind: int = 0
    """Older sessions that the core has not read yet."""

    @property
    def count(self) -> int:
        """How many sessions there are."""
        return len(self.sessions or ())

    @property
    def turns(self) -> int:
        """In how many turns something was found, listed or not."""
        return sum(hits[0].turns for hits in self.hits.values() if hits)

    def list_again(self, *, searching: bool) -> None:
        """Others are asked for: nothing is known of them yet."""
        self.sessions, self.hits, self.searching = None, {}, searching

    def search_again(self, *, searching: bool) -> None:
        """Something else is searched for, or nothing."""
        self.hits, self.searching = {}, searching

    def take_sessions(self, rows: Iterable[p.SessionRow]) -> None:
        """These are all there are."""
        self.sessions = {row.session_id: row for row in rows}

    def take_hits(self, hits: Iterable[p.SessionHit], *, searching: bool) -> None:
        """These are all that were found so far."""
        self.search_again(searching=searching)
        for hit in hits:
            self.hits.setdefault(hit.session_id, []).append(hit)

    def row(self, key: str) -> p.SessionRow | None:
        """The session of a key."""
        return (self.sessions or {}).get(key.partition(" ")[0])

    def hit(self, key: str) -> p.SessionHit | None:
        """The turn of a key; None for that of a session."""
        session_id, _, turn = key.partition(" ")
        return next((hit for hit in self.hits.get(session_id, ()) if str(hit.turn) == turn), None)

    def rows(self, wanted: str) -> list[Row]:
        """The list: all sessions, or those whose title or turns hold `wanted` (in small letters), each with
        its turns below it.
        """
        if not wanted:
            return [Row(one, ()) for one in self.sessions or ()]
        words = wanted.split()
        out: list[Row] = []
        for session_id, row in (self.sessions or {}).items():
            title = row.title.casefold()
            hits = self.hits.get(session_id, ())
            if not hits and not all(word in title for word in words) and wanted not in session_id:
                continue
            out.append(Row(session_id, ()))
            out += [Row(f"{session_id} {hit.turn}", ()) for hit in hits]
            if hits and (more := hits[0].turns - len(hits)) > 0:
                told = [(f"     {t('sessions.more', n=more)}", "muted")]
                out.append(Row(f"{session_id} …", told, live=False))
        return out
