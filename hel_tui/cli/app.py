"""`hel [DIR]`: the full-screen app.

Opens the screen over the core. Not here: what the screen shows (tui).
"""

from __future__ import annotations

import argparse
import gc
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hel_tui.cli.common import Exit, Parser, add_common, add_resume, options, project_folder, resumed
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime
from hel_tui.core.tools.processes import command_guard


def _parser() -> Parser:
    from hel_tui.cli import usage

    parser = Parser(prog="hel", add_help=False)
    parser.format_help = usage  # type: ignore[method-assign]
    parser.add_argument("-h", "--help", action="help")
    parser.add_argument("dir", nargs="?", type=Path, metavar="DIR")
    parser.add_argument("--theme", metavar="NAME")
    add_common(parser)
    add_resume(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Open the app; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    project = project_folder(parser, args.dir)
    chosen = options(parser, args, project, answerable=True)
    session = resumed(parser, args, project, _choice) if args.go_on or args.resume is not None else ""
    return open_app(replace(chosen, resume=session), args)


def _choice(project: Path) -> str:
    from hel_tui.cli.sessions.choosing import choose

    return choose(project)


def _watch(held: bool) -> None:
    """The screen has the terminal, or gave it back: should hel be killed, the terminal is put right."""
    if held:
        command_guard().watch_terminal(sys.stdin.fileno())
    else:
        command_guard().forget_terminal()


def open_app(chosen: Options, args: argparse.Namespace, *, opens: str = "") -> int:
    """Run the screen until the person leaves it; it begins at the server `opens`, when one is named."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write("hel: the full-screen app needs a terminal; without one use `hel run PROMPT`.\n")
        return Exit.USAGE
    sys.setswitchinterval(0.001)  # a busy core must not keep the screen's thread from a key for long
    gc.disable()  # the app turns it on after its first frame: until then there is nothing to collect
    from hel_tui.core.store.places import find_places
    from hel_tui.core.store.settings import load_settings
    from hel_tui.tui.app import run
    from hel_tui.tui.places import Places

    places = find_places(chosen.environ)
    theme = args.theme or load_settings(chosen.project, places).settings.theme or None
    core = Runtime(chosen)
    seen_by_screen = Places(
        themes=places.config / "themes",
        keymap=places.config / "keymap.toml",
        history=places.state / "history.jsonl",
        looks=places.state / "looks.toml",
        mask=core.redact,
    )
    status = run(core, theme=theme, places=seen_by_screen, opens=opens, held=_watch)
    if session := core.kept():
        where = "" if chosen.project == Path.cwd().resolve() else f"{shlex.quote(str(chosen.project))} "
        sys.stdout.write(f"Go on with this session: hel {where}-r {session}\n")
    return status
