"""`@server:uri` and `@file` in the prompt: finding the one that is being typed, and what completes it.

Pure functions. Not here: reading lists (screens/offers), what a sent message mentions (core).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from urllib.parse import unquote

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, is_clean
from hel_tui.tui.slash import Candidate, closeness

MOST = 50
LONGEST_PATH = 4_096
_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp)['\"]?\Z", re.I)
_TYPING = re.compile(r"(?:^|(?<=[\s(\[,;]))@(\S*)$")


def typing(before: str) -> str | None:
    """The mention that ends at the cursor, without its @; None when none does. `before`: up to the cursor."""
    found = _TYPING.search(before)
    return found[1] if found else None


def name_of(row: p.ResourceRow) -> str:
    """How a resource is written in a message, without the @."""
    return clean(f"{row.server}:{row.uri}", newlines=False)


def candidates(word: str, rows: Sequence[p.ResourceRow]) -> list[Candidate]:
    """Resources whose name, title or description contains `word`; those that begin with it first."""
    low = word.lower()
    found: list[tuple[str, p.ResourceRow]] = []
    for row in rows:
        name = name_of(row)
        if not row.template and low in f"{name} {row.name} {row.description}".lower():
            found.append((name, row))
    found.sort(key=lambda one: closeness(one[0], word))
    return [
        Candidate(f"@{name}", _about(row), f"@{name}", (row.server, row.uri)) for name, row in found[:MOST]
    ]


def file_candidates(paths: Sequence[str], about: str) -> list[Candidate]:
    """Files of the project, as found; a path with spaces is put in quotes."""
    return [
        Candidate(f"@{path}", about, f'@"{path}"' if " " in path else f"@{path}", ("", path))
        for path in paths
        if '"' not in path and "\n" not in path and is_clean(path)
    ]


def pasted_files(text: str) -> list[str]:
    """Paths of images in pasted text that is nothing else: as terminals hand on what is dropped on them.

    Nothing is looked up; quotes, backslashes and `file://` are undone.
    """
    line = text.strip()
    if "\n" in line or not 4 < len(line) <= LONGEST_PATH or not _IMAGE.search(line):
        return []
    try:
        words = shlex.split(line)
    except ValueError:
        return []
    paths = [unquote(word.removeprefix("file://")) if word.startswith("file:///") else word for word in words]
    if len(words) > 1 and not all(map(_IMAGE.search, paths)):
        paths = [line]  # a name with spaces, as it is
    is_path = all(path.startswith(("/", "~", "./", "../")) for path in paths)
    return paths if is_path and all(map(_IMAGE.search, paths)) else []


def _about(row: p.ResourceRow) -> str:
    return " · ".join(filter(None, (row.name, row.description)))
