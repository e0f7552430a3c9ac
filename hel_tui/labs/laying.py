"""The files of a lab's project: which there are, what they come to, and a fresh copy of them for a run.

No link is followed, nothing but plain files is read, and a name may be no UTF-8. Not here: what else a run
has (running), what is compared afterwards (checking).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path

from hel_tui.core.store.reading import open_plain
from hel_tui.labs.tables import BadLab

MOST_BYTES = 1 << 30
"""Bytes of all files of a project: it is copied for each run."""
MOST_FILES = 50_000
"""Files of a project."""
_PIECE = 1 << 20
"""Bytes that are in memory at a time."""


def laid_name(inside: Path) -> Path:
    """Where a file of a project is laid: `dot-x` stands for `.x`, which tools for packages leave out."""
    return Path(*(re.sub("^dot-", ".", part) for part in inside.parts))


def files_of(project: Path, *, odd: bool = False) -> list[Path]:
    """Every plain file and link of a project folder, sorted; with `odd` pipes, sockets and devices, too.
    Nothing Python left there.
    """
    return sorted(_walk(project, odd))


def _walk(folder: Path, odd: bool) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(at) / name).is_symlink()]
        folders[:] = [name for name in folders if name != "__pycache__" and name not in links]
        for name in (*links, *files):
            path = Path(at) / name
            try:
                mode = path.lstat().st_mode
            except OSError:  # gone by now
                continue
            if odd or stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                yield path


def named(path: Path) -> str:
    """A path as text that any file can hold: bytes that are no UTF-8 are written `\\xff`."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def laid(template: Path) -> dict[Path, Path]:
    """Where in a copy each file of a project comes to lie, and which file it is.

    Raises BadLab where two would be laid in one place, or one below another, which may be a link out of the
    copy; and for a project that is too large. Raises OSError.
    """
    places: dict[Path, Path] = {}
    size = 0
    for source in files_of(template):
        inside = source.relative_to(template)
        size += source.lstat().st_size
        if size > MOST_BYTES or len(places) >= MOST_FILES:
            raise BadLab(f"{template} is too large: at most {MOST_BYTES >> 20:,} MiB in {MOST_FILES:,} files")
        place = laid_name(inside)
        if (other := places.get(place)) is not None:
            raise BadLab(f"{template}: {_both(other, source, template)} would be laid as the same file")
        places[place] = source
    for place, source in places.items():
        for above in place.parents:
            if (other := places.get(above)) is not None:
                raise BadLab(f"{template}: {_both(other, source, template)} would be laid one in the other")
    return places


def _both(one: Path, other: Path, template: Path) -> str:
    return f"{named(one.relative_to(template))} and {named(other.relative_to(template))}"


def lay(template: Path, project: Path) -> None:
    """Copy a lab's project fresh; `dot-x` becomes `.x`, links stay links. Raises BadLab, OSError."""
    project.mkdir(parents=True)
    for place, source in laid(template).items():
        target = project / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(source.readlink())
            continue
        with open_plain(source) as file, target.open("xb") as copy:
            shutil.copyfileobj(file, copy, _PIECE)
        shutil.copystat(source, target)


def digest(data: bytes, projects: Iterable[Path]) -> str:
    """SHA-256 over the text of a lab and all of its projects. Raises BadLab, OSError."""
    whole = hashlib.sha256(data)
    for project in sorted(projects):
        for source in sorted(laid(project).values()):
            inside = os.fsencode(source.relative_to(project).as_posix())
            if source.is_symlink():
                target = os.fsencode(source.readlink())
                whole.update(b"\0%b\0link\0%b" % (inside, target))
                continue
            with open_plain(source) as file:
                size = os.fstat(file.fileno()).st_size
                whole.update(b"\0%b\0%d\0" % (inside, size))
                for piece in _pieces(file):
                    whole.update(piece)
    return whole.hexdigest()


def digest_of(path: Path) -> str:
    """SHA-256 of one plain file. Raises OSError."""
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pieces(file: BufferedReader) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece
