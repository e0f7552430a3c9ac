"""`@server:uri` in the prompt: finding the one that is being typed, and what completes it.

Pure functions. Not here: reading lists (screens/offers), what a sent message mentions (core).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean
from hel_tui.tui.slash import Candidate, closeness

MOST = 50
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


def _about(row: p.ResourceRow) -> str:
    return " · ".join(filter(None, (row.name, row.description)))
