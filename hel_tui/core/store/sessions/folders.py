"""Finds sessions, and takes them away. A folder holds one when its file of lines is there.

Not here: what is in them (reading), search (index).
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from hel_tui.core.store.atomic import PRIVATE_FILE, why
from hel_tui.core.store.places import PROJECT_MARK, Places, make_private
from hel_tui.core.store.sessions.activity import last_activity
from hel_tui.core.store.sessions.journal import FILE
from hel_tui.core.store.sessions.locking import Lock
from hel_tui.core.store.sessions.own import read_own
from hel_tui.foreign import is_clean

LAST = "last"
"""Stands for the session of the project that was active last."""
MOST_TOLD = 3
"""Sessions that cannot be read and are told of one by one."""
_SLACK = 1.0
"""Seconds by which a record may be newer than its file: the clock of the one is not that of the other."""
_LONGEST_HEAD = 1 << 16
_GONE = ".deleted-"


def new_id() -> str:
    """Sorts by time, unique by chance."""
    return time.strftime("%Y%m%d-%H%M%S-") + uuid.uuid4().hex[:8]


def mark(folder: Path, project: Path) -> None:
    """Say whose session it is, for those who look for it without reading it. They need it."""
    path = folder / PROJECT_MARK
    with suppress(OSError):
        make_private(folder)
        if not path.exists():
            path.touch(PRIVATE_FILE)
            path.write_text(os.path.realpath(project) + "\n", "utf-8", "surrogateescape")


def _is_plain(name: str) -> bool:
    """Whether a name of a folder does nothing to a terminal."""
    return is_clean(name) and "\n" not in name


def session_states(
    places: Places, closed: Callable[[str, OSError], None] = lambda _name, _error: None
) -> Iterator[tuple[str, os.stat_result]]:
    """(id, state of its file of lines) of all sessions, in no order. `closed` hears of each that may be one
    and cannot be looked into. Raises OSError when none can be; that there is no folder of them is no error.
    """
    root = str(places.sessions)
    try:
        with os.scandir(root) as entries:
            names = [one.name for one in entries if one.name[0] != "." and _is_plain(one.name)]
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        try:
            state = os.stat(f"{root}/{name}/{FILE}")  # noqa: PTH116 - there may be thousands
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            closed(name, error)
            continue
        if stat.S_ISREG(state.st_mode):
            yield name, state


def project_of(folder: Path) -> str:
    """The project a session belongs to; empty when that is not known."""
    try:
        data = read_own(folder, folder / PROJECT_MARK, _LONGEST_HEAD)
    except OSError:
        return _project_of_head(folder)
    return data.decode("utf-8", "surrogateescape").rstrip("\n")


def _project_of_head(folder: Path) -> str:
    """The project that the first line of the session names."""
    try:
        with (folder / FILE).open("rb") as file:
            head = json.loads(file.readline(_LONGEST_HEAD))
        return str(head["project"]) if isinstance(head, dict) else ""
    except (OSError, ValueError, KeyError, RecursionError):
        return ""


def newest_of(
    places: Places, project: Path | None, closed: Callable[[str, OSError], None] = lambda _name, _error: None
) -> Path | None:
    """The session of a project (None: of all) that was active last, as the index has it; None for none.
    `closed` hears of each that cannot be read. Raises OSError.

    Nothing is younger than its file: of most sessions the time of that is enough.
    """
    real = os.path.realpath(project) if project is not None else None
    found = sorted(session_states(places, closed), key=lambda one: one[1].st_mtime_ns, reverse=True)
    best: tuple[float, str] | None = None
    for name, state in found:
        if best is not None and state.st_mtime + _SLACK < best[0]:
            break
        folder = places.sessions / name
        if real is None or project_of(folder) == real:
            try:
                best = max(best or (0.0, ""), (last_activity(folder), name))
            except FileNotFoundError:  # deleted by now
                continue
            except OSError as error:
                closed(name, error)
    return places.sessions / best[1] if best is not None else None


def find_session(
    places: Places, project: Path | None, wanted: str, tell: Callable[[str], None] = lambda _sentence: None
) -> Path | str:
    """The folder of the session `wanted` (an id, the beginning of one, or `LAST`) of this project (None: of
    any); a sentence when there is none, or several. `tell` hears of sessions that were passed over, as they
    cannot be read.
    """
    closed: dict[str, str] = {}

    def passed_over(name: str, error: OSError) -> None:
        closed[name] = f"Session {name} cannot be read: {why(error)}."

    try:
        if wanted == LAST:
            newest = newest_of(places, project, passed_over)
            for sentence in [*closed.values()][:MOST_TOLD]:
                tell(sentence)
            if (more := len(closed) - MOST_TOLD) > 0:
                tell(f"Nor can {more} more.")
            return newest or f"There is no session of {project} yet."
        fitting = _named(places, wanted) or sorted(
            places.sessions / name
            for name, _ in session_states(places, passed_over)
            if wanted and name.startswith(wanted)
        )
    except OSError as error:
        return f"{places.sessions} cannot be read: {why(error)}."
    if not fitting:
        problem = next((one for name, one in closed.items() if wanted and name.startswith(wanted)), "")
        return problem or f"There is no session {wanted[:100]}."
    if len(fitting) > 1:
        return f"{wanted[:100]} is the beginning of {len(fitting)} sessions: {_some(fitting)}."
    folder = fitting[0]
    owner = project_of(folder)
    if project is not None and owner and owner != os.path.realpath(project):
        return f"{folder.name} is a session of {owner}: open it from there."
    return folder


def _named(places: Places, wanted: str) -> list[Path]:
    """The session with this very id, found without looking through all."""
    folder = places.sessions / wanted
    is_one = wanted and "/" not in wanted and os.path.isfile(folder / FILE)  # noqa: PTH113 - never raises
    return [folder] if is_one else []


def _some(folders: list[Path]) -> str:
    names = [folder.name for folder in folders[:5]]
    return ", ".join(names) + (" …" if len(folders) > 5 else "")


def delete_session(folder: Path) -> str:
    """Take a session away with all its files. A sentence when it could not be: it is open, or the system
    does not let it.

    It is moved away first: whoever looks never finds half of one. What a crash left of one that was to be
    deleted goes, too.
    """
    lock = Lock(folder)
    try:
        lock.take()
        away = folder.with_name(f"{_GONE}{folder.name}-{uuid.uuid4().hex[:6]}")
        folder.rename(away)
    except BlockingIOError:
        return f"{folder.name} is open; close it first."
    except OSError as error:
        return f"{folder.name} was not deleted: {why(error)}."
    finally:
        lock.release()
    try:
        shutil.rmtree(away)
    except FileNotFoundError:  # another process is taking it away, too
        pass
    except OSError as error:
        return f"{folder.name} was moved to {away.name}, but not all of it could be deleted: {why(error)}."
    for left in folder.parent.glob(f"{_GONE}*"):
        shutil.rmtree(left, ignore_errors=True)
    return ""
