"""`hel demo [DIR]`: a fresh copy of the sample project, opened with the scripted model.

Not here: the script (core.models), the sample's files (samples).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hel_tui.cli.app import open_app
from hel_tui.cli.common import Exit, Parser, add_common, check_home, options
from hel_tui.samples import lay

DEMO_MODEL = "demo/walk-through"


def _parser() -> Parser:
    parser = Parser(
        prog="hel demo",
        description="Lay a fresh copy of the sample project into DIR (or a temporary folder) and open it "
        "with a scripted model: no key, no network. Name a model of your own with --model.",
    )
    parser.add_argument("dir", nargs="?", type=Path, metavar="DIR")
    parser.add_argument("--theme", metavar="NAME", help="colours of the screen")
    parser.add_argument(
        "--lay-only", action="store_true", help="make the project, print its folder, open nothing"
    )
    add_common(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run `hel demo`; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    check_home(parser)
    folder = args.dir or Path(tempfile.mkdtemp(prefix="hel-demo-"))
    try:
        project = lay(folder.expanduser(), sys.executable)
    except (OSError, ValueError, RuntimeError) as error:
        sys.stderr.write(f"hel demo: {error}\n")
        return Exit.FAILED
    if args.lay_only:
        sys.stdout.write(f"{project}\n")
        return Exit.DONE
    chosen = options(parser, args, project.resolve(), answerable=True)
    if chosen.model is None:
        chosen = replace(chosen, model=DEMO_MODEL)
    return open_app(chosen, args)
