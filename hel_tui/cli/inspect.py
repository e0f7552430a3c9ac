"""`hel inspect -- COMMAND`: the app on one server that no file names, open at its inside.

Typing the command is its approval; nothing is written into any of the person's files. Not here: the screen.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hel_tui.cli.app import open_app
from hel_tui.cli.common import Exit, Parser, add_common, options, project_folder

LONGEST_NAME = 32


def _parser() -> Parser:
    parser = Parser(
        prog="hel inspect",
        usage="hel inspect [options] -- COMMAND ARG…\n       hel inspect [options] URL",
        description="Open hel on one server that no file names: what it says, what it is told, its tools "
        "called by hand. Other servers stay off. `hel mcp add` keeps it.",
    )
    parser.add_argument("url", nargs="?", metavar="URL", help="a server over HTTP")
    parser.add_argument("-C", "--dir", type=Path, metavar="DIR", help="where it runs (default: here)")
    parser.add_argument(
        "--name", default="", metavar="NAME", help="what it is called (default: by its command)"
    )
    parser.add_argument("-e", "--env", action="append", default=[], metavar="K=V", help="a variable it gets")
    parser.add_argument("--header", action="append", default=[], metavar="K:V", help="a header it gets")
    parser.add_argument("-t", "--transport", choices=("http", "sse"), help="of a URL")
    parser.add_argument(
        "--watch", action="append", default=[], metavar="GLOB", help="start it anew when such a file is saved"
    )
    parser.add_argument(
        "--protocol", choices=("handshake", "stateless"), help="the era to speak (default: find out)"
    )
    parser.add_argument("--sampling", action="store_true", help="it may ask for the model")
    parser.add_argument("--theme", metavar="NAME", help="colours of the screen")
    add_common(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run `hel inspect`; returns the exit status."""
    parser = _parser()
    arguments, command = list(argv), []
    if "--" in arguments:  # what is behind it is the server's, whatever it looks like
        at = arguments.index("--")
        arguments, command = arguments[:at], arguments[at + 1 :]
    args = parser.parse_args(arguments)
    if bool(command) == bool(args.url):
        parser.error("either -- COMMAND ARG… or a URL is needed")
    project = project_folder(parser, args.dir)
    name = args.name or name_for(command[0] if command else args.url, command[1:])
    entry = _entry(parser, args, command, project)
    entry |= {"protocol": args.protocol} if args.protocol else {}
    entry |= {"sampling": True} if args.sampling else {}
    chosen = options(parser, args, project, answerable=True)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("hel inspect: it needs a terminal; without one use `hel mcp lint` and the like.\n")
        return Exit.USAGE
    return open_app(replace(chosen, typed=((name, entry),), only=name), args, opens=name)


def name_for(command: str, args: Sequence[str]) -> str:
    """A name for a server by its command line: the script or package it runs, else its program or host."""
    words = [word for word in args if not word.startswith("-")]
    best = (
        words[0] if words and re.search(r"python|node|npx|uvx?|bun|deno|tsx|ruby|java", command) else command
    )
    if "://" in best:
        best = best.split("://", 1)[1].split("/", 1)[0].split("@")[-1]
    best = os.path.basename(best.rstrip("/"))  # noqa: PTH119 - a package's name is no path
    best = re.sub(r"\.(py|js|mjs|cjs|ts|rb|jar|sh)$", "", best)
    cleaned = re.sub(r"[^A-Za-z0-9_-]+", "-", best).strip("-_")
    return re.sub(r"__+", "_", cleaned)[:LONGEST_NAME].rstrip("-_") or "server"


def _entry(parser: Parser, args: argparse.Namespace, command: Sequence[str], project: Path) -> dict[str, Any]:
    env = _pairs(parser, args.env, "=", "-e")
    if not command:
        entry: dict[str, Any] = {"url": args.url, "headers": _pairs(parser, args.header, ":", "--header")}
        return entry | ({"type": args.transport} if args.transport else {})
    entry = {"command": command[0], "args": list(command[1:]), "env": env, "cwd": str(project)}
    watch = [os.path.join(project, glob) for glob in args.watch]  # noqa: PTH118 - a glob is no path
    return entry | ({"watch": watch} if watch else {})


def _pairs(parser: Parser, words: Sequence[str], sign: str, option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        key, there, value = word.partition(sign)
        if not there or not key.strip():
            parser.error(f"{option}: expected NAME{sign}VALUE, not {word!r}")
        found[key.strip()] = value.strip() if sign == ":" else value
    return found
