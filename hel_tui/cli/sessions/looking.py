"""`hel sessions list`, `show` and `search`. Changes nothing but the index."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from hel_tui.cli.common import LINE, Exit, one_line
from hel_tui.cli.streams import steer
from hel_tui.cli.widths import cells, cut
from hel_tui.core.counts import counted
from hel_tui.core.protocol import SessionHit, SessionRow
from hel_tui.core.store.atomic import why
from hel_tui.core.store.places import find_places
from hel_tui.core.store.sessions.exporting import as_json, as_markdown
from hel_tui.core.store.sessions.folders import find_session
from hel_tui.core.store.sessions.index import Index
from hel_tui.foreign import harmless, printable

UNTITLED = "(no message)"
"""Of a session in which nothing was said yet."""


def run(args: argparse.Namespace, project: Path) -> int:
    """Run one of them; returns the exit status."""
    if args.command == "show":
        return _show(args)
    places = find_places(os.environ)
    with closing(Index(places)) as index:
        where = None if args.all else project
        try:
            status = _list(args, index, where) if args.command == "list" else _search(args, index, where)
        except OSError as error:
            _sorry(f"{places.sessions} cannot be read: {why(error)}")
            return Exit.FAILED
        if index.problem:
            _sorry(index.problem)
        for name, reason in index.closed.items():
            _sorry(f"session {name} cannot be read: {reason}")
    return status


def _sorry(sentence: str) -> None:
    sys.stderr.write(f"hel sessions: {printable(sentence)}\n")


def line_of(row: SessionRow, width: int = 0) -> str:
    """One session, one line; of its title what fits into `width` cells (0: as much as any line may have)."""
    turns = counted(row.turns, "turn")
    more = " · open" if row.is_open else ""
    more += " · fork" if row.parent else ""
    more += f" · {counted(row.damaged, 'damaged line')}" if row.damaged else ""
    head = f"{row.session_id}  {clock(row.updated)}  {turns:>9}  "
    title = printable(row.title) or UNTITLED
    return head + cut(title, (width or LINE) - cells(head) - cells(more)) + more


def clock(written: float) -> str:
    """A time as lists show it."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(written))


def _list(args: argparse.Namespace, index: Index, project: Path | None) -> int:
    rows = index.sessions(project)
    if args.json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    elif not rows:
        sys.stdout.write(
            "No session is kept of this project yet.\n" if project else "No session is kept yet.\n"
        )
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        for row in rows:
            sys.stdout.write(line_of(row, width) + "\n")
            if project is None:
                sys.stdout.write(f"    {printable(row.project)}\n")
    return Exit.DONE


def _search(args: argparse.Namespace, index: Index, project: Path | None) -> int:
    hits = index.search(" ".join(args.words), project, max(1, args.most))
    if args.json:
        sys.stdout.write(json.dumps([asdict(hit) for hit in hits], indent=2) + "\n")
        return Exit.DONE if hits else Exit.FAILED
    for hit in hits:
        sys.stdout.write(f"{hit.session_id}  turn {hit.turn}  {one_line(printable(hit.title))}\n")
        steer(sys.stdout, f"    {_marked(hit)}\n")
    if not hits:
        sys.stderr.write("Nothing was found.\n")
    return Exit.DONE if hits else Exit.FAILED


def _marked(hit: SessionHit) -> str:
    """The excerpt, what was found in bold where that can be shown."""
    if not sys.stdout.isatty():
        return printable(hit.excerpt)
    out, end = "", 0
    for begin, stop in hit.marks:
        out += f"{printable(hit.excerpt[end:begin])}\x1b[1m{printable(hit.excerpt[begin:stop])}\x1b[0m"
        end = stop
    return out + printable(hit.excerpt[end:])


def _show(args: argparse.Namespace) -> int:
    found = find_session(find_places(os.environ), None, args.id)
    if not isinstance(found, Path):
        sys.stderr.write(f"hel sessions: {printable(found)}\n")
        return Exit.FAILED
    try:
        sys.stdout.write(as_json(found) if args.json else harmless(as_markdown(found)))
    except OSError as error:
        sys.stderr.write(f"hel sessions: {found.name} cannot be read: {why(error)}\n")
        return Exit.FAILED
    return Exit.DONE
