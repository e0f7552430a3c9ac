"""`hel mcp logs`: what servers printed on stderr, from the folders of the project's sessions.

Works beside a running hel and starts nothing. Not here: keeping the lines (core.mcp.logs).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.ground import Ground, note
from hel_tui.core.store.places import PROJECT_MARK
from hel_tui.foreign import printable

ENDING = ".stderr.log"
PAUSE = 0.2
"""Seconds between two looks with --follow."""


@dataclass(slots=True)
class Log:
    """The log of one server in one session."""

    path: Path
    at: int = 0
    """Bytes that were shown."""
    rest: bytes = field(default=b"", repr=False)

    @property
    def server(self) -> str:
        return self.path.name.removesuffix(ENDING)

    @property
    def session(self) -> str:
        return self.path.parent.name

    def new_lines(self) -> list[str]:
        """Whole lines that came since the last look; with the end of the process the rest is one, too."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.at)
                data = file.read()
        except OSError:
            return []
        self.at += len(data)
        *lines, self.rest = (self.rest + data).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp logs`; returns the exit status."""
    if args.lines < 0:
        return ground.sorry(f"--lines wants a number from 0 on, not {args.lines}", Exit.USAGE)
    logs = _logs(args, ground)
    if args.session and not logs:
        return ground.sorry(f"no session of this project that begins with {args.session} has a log")
    if not logs and args.server and args.server not in ground.names:
        return ground.sorry(ground.unknown(args.server))
    if not logs:
        whose = f"{args.server} has" if args.server else "No server of this project has"
        note(f"{whose} {'not ' if args.server else ''}printed anything on stderr yet.")
    several = args.server is None
    for log in logs:
        _show(log, deque(log.new_lines(), args.lines), args, several=several)
        if not args.follow and log.rest:
            _show(log, [log.rest.decode("utf-8", "replace")], args, several=several)
    if args.follow:
        _follow(logs, args, ground, several=several)
    return Exit.DONE


def _follow(logs: list[Log], args: argparse.Namespace, ground: Ground, *, several: bool) -> None:
    """Go on until Ctrl+C; a server that starts anew, or a new session, is noticed."""
    known = {log.path: log for log in logs}
    while True:
        sys.stdout.flush()
        time.sleep(PAUSE)
        for log in _logs(args, ground):
            known.setdefault(log.path, log)
        for log in known.values():
            _show(log, log.new_lines(), args, several=several)


def _show(log: Log, lines: deque[str] | list[str], args: argparse.Namespace, *, several: bool) -> None:
    for line in lines:
        if args.json:
            facts = {"server": log.server, "session": log.session, "text": line}
            sys.stdout.write(json.dumps(facts) + "\n")
        else:
            before = f"{log.server} | " if several else ""
            sys.stdout.write(f"{before}{printable(line)}\n")


def _logs(args: argparse.Namespace, ground: Ground) -> list[Log]:
    """The newest log of each server, by name; of one session or one server when that is asked for."""
    newest: dict[str, tuple[float, Path]] = {}
    for folder in _sessions(ground):
        if args.session and not folder.name.startswith(args.session):
            continue
        for path in folder.glob(f"*{ENDING}"):
            server = path.name.removesuffix(ENDING)
            if args.server not in (None, server):
                continue
            changed = path.stat().st_mtime
            if server not in newest or changed > newest[server][0]:
                newest[server] = changed, path
    return [Log(newest[server][1]) for server in sorted(newest)]


def _sessions(ground: Ground) -> Iterator[Path]:
    """The folders of this project's sessions."""
    mine = os.path.realpath(ground.project)
    try:
        folders = list(ground.places.sessions.iterdir())
    except OSError:
        return
    for folder in folders:
        try:
            whose = (folder / PROJECT_MARK).read_text("utf-8", "surrogateescape").removesuffix("\n")
        except OSError:
            continue
        if whose == mine:
            yield folder
