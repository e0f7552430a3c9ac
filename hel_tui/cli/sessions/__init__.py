"""`hel sessions`: the kept sessions from a shell: list, show, search, export, fork, rename, delete.

Not here: going on with one (`hel -r`, `hel run -r`), the files (core.store.sessions).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from hel_tui.cli.common import Exit, Parser, project_folder

_PROJECT = "the project (default: this folder)"
_ALL = "of all projects, not only this one"


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, by its name."""
    return {name: parser for name, (_, parser) in _built()[1].items()}


def helps() -> dict[str, str]:
    """What each command does, by its name."""
    return {name: what for name, (what, _) in _built()[1].items()}


def _built() -> tuple[Parser, dict[str, tuple[str, argparse.ArgumentParser]]]:
    made: dict[str, tuple[str, argparse.ArgumentParser]] = {}
    parser = Parser(
        prog="hel sessions",
        description="Conversations that were kept. `hel -r ID` goes on with one, `hel -c` with the newest.",
        epilog="`hel help sessions` tells more. ID is an id or its beginning, or `last`.",
    )
    parser.add_argument("-C", "--dir", type=Path, metavar="DIR", help=_PROJECT)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)

    def add(name: str, what: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
        one.add_argument("-C", "--dir", type=Path, metavar="DIR", default=argparse.SUPPRESS, help=_PROJECT)
        made[name] = what, one
        return one

    one = add("list", "the sessions of the project, the newest first")
    one.add_argument("-a", "--all", action="store_true", help=_ALL)
    one.add_argument("--json", action="store_true", help="one JSON array")
    one = add("show", "one session as text")
    one.add_argument("id", metavar="ID")
    one.add_argument("--json", action="store_true", help="as one JSON object")
    one = add("search", "the turns that have all of these words")
    one.add_argument("words", nargs="+", metavar="WORD")
    one.add_argument("-a", "--all", action="store_true", help=_ALL)
    one.add_argument("-n", type=int, default=50, metavar="N", dest="most", help="at most N (default 50)")
    one.add_argument("--json", action="store_true", help="one JSON array")
    one = add("export", "write a session as Markdown or JSON")
    one.add_argument("id", metavar="ID")
    one.add_argument("-o", "--output", type=Path, metavar="FILE", help="the file (default: stdout)")
    one.add_argument("-f", "--force", action="store_true", help="overwrite FILE where it is there already")
    one.add_argument("--json", action="store_true", help="JSON instead of Markdown")
    one = add("fork", "a copy up to a turn, to go on with differently")
    one.add_argument("id", metavar="ID")
    one.add_argument("--turn", type=int, metavar="N", help="its last turn (default: the last that ended)")
    one.add_argument("--json", action="store_true", help="one JSON object")
    one = add("rename", "give a session a title")
    one.add_argument("id", metavar="ID")
    one.add_argument("title", metavar="TITLE", help="empty: the first message is the title again")
    one = add("delete", "take sessions away with all their files")
    one.add_argument("ids", nargs="+", metavar="ID")
    return parser, made


def main(argv: Sequence[str]) -> int:
    """Run `hel sessions`; returns the exit status."""
    parser, _ = _built()
    args = parser.parse_args(argv)
    project = project_folder(parser, args.dir)
    module = "looking" if args.command in ("list", "show", "search") else "changing"
    command = import_module(f"hel_tui.cli.sessions.{module}")
    status: int = command.run(args, project)
    return Exit(status)
