"""`hel sessions export`, `fork`, `rename` and `delete`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from hel_tui.cli.common import Exit
from hel_tui.core.counts import counted
from hel_tui.core.store.atomic import why, write_atomic, write_new
from hel_tui.core.store.places import Places, find_places
from hel_tui.core.store.redact import Redactor, secrets_in
from hel_tui.core.store.sessions.exporting import as_json, as_markdown
from hel_tui.core.store.sessions.folders import LAST, delete_session, find_session
from hel_tui.core.store.sessions.forking import fork_session
from hel_tui.core.store.sessions.naming import rename_session, told
from hel_tui.foreign import printable


def run(args: argparse.Namespace, project: Path) -> int:
    """Run one of them; returns the exit status."""
    places = find_places(os.environ)
    if args.command == "delete":
        problems = [_deleted(places, project, wanted) for wanted in args.ids]
        return _said("\n".join(problem for problem in problems if problem))
    found = _found(places, project, args.id)
    if not isinstance(found, Path):
        return _said(found)
    try:
        match args.command:
            case "export":
                return _said(_export(args, found))
            case "fork":
                return _fork(args, found)
            case _:
                return _said(_renamed(found, args.title))
    except OSError as error:
        return _said(f"{found.name}: {why(error)}.")


def _found(places: Places, project: Path, wanted: str) -> Path | str:
    """`last` is of the project; an id may be of any."""
    return find_session(places, project if wanted == LAST else None, wanted)


def _said(problem: str) -> int:
    if problem:
        sys.stderr.writelines(f"hel sessions: {printable(line)}\n" for line in problem.splitlines())
    return Exit.FAILED if problem else Exit.DONE


def _deleted(places: Places, project: Path, wanted: str) -> str:
    found = _found(places, project, wanted)
    if not isinstance(found, Path):
        return found
    name = told(found)
    problem = delete_session(found)
    if not problem:
        sys.stdout.write(f"Deleted {found.name} {printable(name)}\n")
    return problem


def _renamed(folder: Path, title: str) -> str:
    problem = rename_session(folder, title, Redactor(secrets_in(os.environ)))
    if not problem:
        sys.stdout.write(f"{folder.name} is now {printable(told(folder))}\n")
    return problem


def _export(args: argparse.Namespace, folder: Path) -> str:
    text = as_json(folder) if args.json else as_markdown(folder)
    if args.output is None:
        sys.stdout.write(text.encode("utf-8", "replace").decode())
        return ""
    data = text.encode("utf-8", "replace")
    failed = write_atomic(args.output, data, follow=False) if args.force else write_new(args.output, data)
    if failed is None:
        return ""
    more = " --force overwrites it." if args.output.exists() and not args.force else ""
    return failed.sentence + more


def _fork(args: argparse.Namespace, folder: Path) -> int:
    fork = fork_session(folder, args.turn)
    if isinstance(fork, str):
        return _said(fork)
    if args.json:
        facts = {"session_id": fork.folder.name, "turn": fork.turn, "damaged_lines": fork.damaged}
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        sys.stdout.write(f"{fork.folder.name}\n")
        if fork.damaged:
            lines = counted(fork.damaged, "damaged line")
            sys.stderr.write(f"hel sessions: not in the fork: {lines}\n")
    return Exit.DONE
