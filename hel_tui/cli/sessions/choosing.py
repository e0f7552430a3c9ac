"""`hel -r` without an id: a list to choose from, before the app opens."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import closing
from pathlib import Path

from hel_tui.cli.common import Exit
from hel_tui.cli.sessions.looking import line_of
from hel_tui.core.store.atomic import why
from hel_tui.core.store.places import find_places
from hel_tui.core.store.sessions.index import Index
from hel_tui.foreign import printable

NUMBER = 5
"""Cells before each line."""
MOST = 20
"""Sessions that are offered; `hel sessions list` has all."""


def choose(project: Path) -> str:
    """Let the person choose a session of `project` by its number. Raises SystemExit where none is chosen."""
    places = find_places(os.environ)
    with closing(Index(places)) as index:
        try:
            rows = index.sessions(project)
        except OSError as error:
            sys.stderr.write(f"hel: {printable(str(places.sessions))} cannot be read: {why(error)}\n")
            raise SystemExit(Exit.FAILED) from None
        for name, reason in index.closed.items():
            sys.stderr.write(f"hel: session {printable(name)} cannot be read: {reason}\n")
    if not rows:
        sys.stderr.write("hel: no session is kept of this project yet\n")
        raise SystemExit(Exit.FAILED)
    width = shutil.get_terminal_size().columns - NUMBER
    for number, row in enumerate(rows[:MOST], 1):
        sys.stderr.write(f"{number:>3}  {line_of(row, width)}\n")
    if len(rows) > MOST:
        sys.stderr.write(f"     {len(rows) - MOST} more: hel sessions list\n")
    if not sys.stdin.isatty():
        sys.stderr.write("hel: name one with -r ID\n")
        raise SystemExit(Exit.USAGE)
    while True:
        sys.stderr.write(f"Which one (1 to {min(len(rows), MOST)}, Enter for none)? ")
        sys.stderr.flush()
        try:
            line = sys.stdin.readline().strip()
        except KeyboardInterrupt:
            raise SystemExit(Exit.INTERRUPTED) from None
        if not line:
            raise SystemExit(Exit.DONE)
        if line.isascii() and line.isdigit() and 1 <= int(line) <= min(len(rows), MOST):
            return rows[int(line) - 1].session_id
