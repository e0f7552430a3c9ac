"""What a session is called in sentences; gives one that is not open another title.

Not here: the session that is open (its own writer does it).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hel_tui.core.store.atomic import why
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions.journal import FILE, Journal
from hel_tui.core.store.sessions.jsonl import kind_of, lines_of, parsed
from hel_tui.core.store.sessions.locking import Lock
from hel_tui.core.store.sessions.mending import mend_end

MOST_TITLE = 200
MOST_TOLD = 60
"""Characters of a title in a sentence."""


def told(folder: Path) -> str:
    """What the session in `folder` is called in a sentence: its title, or its first message, else its id."""
    title = first = ""
    with suppress(OSError), (folder / FILE).open("rb") as file:
        for _, _, line in lines_of(file):
            kind = kind_of(line)
            if kind == "title" and (record := parsed(line)) is not None:
                title = str(record.get("title", ""))
            elif kind == "TurnStarted" and not first and (record := parsed(line)) is not None:
                first = str(record.get("text", ""))
    name = " ".join((title or first).split())
    short = name if len(name) <= MOST_TOLD else f"{name[: MOST_TOLD - 1]}…"
    return f'"{short}"' if short else folder.name


def rename_session(folder: Path, title: str, redactor: Redactor) -> str:
    """Title the session in `folder`; empty: its first message is the title. A sentence when it cannot be."""
    lock = Lock(folder)
    troubles: list[str] = []
    try:
        lock.take()
        with suppress(OSError):
            mend_end(folder)
        journal = Journal(folder, redactor, lock, lambda _since, reason: troubles.append(reason))
        journal.write({"k": "title", "title": " ".join(title.split())[:MOST_TITLE]})
        journal.close()
    except BlockingIOError:
        return f"{folder.name} is open elsewhere; name it there."
    except OSError as error:
        return f"{folder.name} cannot be written: {why(error)}."
    finally:
        lock.release()
    return f"{folder.name} cannot be written: {troubles[0]}." if troubles else ""
