"""Options that every front end takes, and how they become the core's.

Not here: what they mean (core), the words of each command's own options.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import NoReturn

from hel_tui.core.options import Options
from hel_tui.core.protocol import ACCESS_LEVELS
from hel_tui.core.store.places import find_places
from hel_tui.foreign import printable

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Those of `core.models.types`, which no help needs to load."""
LINE = 200
"""Characters of a call's line."""


class Exit(IntEnum):
    """Exit statuses of `hel`."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    LIMIT = 3
    REFUSED = 4
    INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """argparse whose errors are one sentence and a pointer to the help."""

    def error(self, message: str) -> NoReturn:
        self.exit(Exit.USAGE, f"{self.prog}: {message}\nTry `{self.prog} --help`.\n")


def _tool_names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("expected tool names separated by commas")
    return names


def positive(text: str) -> int:
    """A whole number above 0."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, not {text!r}")
    return number


def amount(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"expected a number above 0, not {text!r}")
    return number


def provider_and_name(text: str) -> str:
    """A model as it is named on the command line."""
    provider, slash, name = text.partition("/")
    if not (slash and provider and name):
        raise argparse.ArgumentTypeError(f"expected PROVIDER/NAME, not {text!r}")
    return text


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the common options to a parser."""
    parser.add_argument(
        "--model", type=provider_and_name, metavar="PROVIDER/NAME", help="the model that answers"
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="an OpenAI-compatible endpoint; the key comes from HEL_API_KEY"
    )
    parser.add_argument(
        "--fallback-model",
        type=provider_and_name,
        metavar="PROVIDER/NAME",
        help="answers the rest of a turn when the model cannot be reached",
    )
    parser.add_argument(
        "--effort", choices=EFFORTS, metavar="LEVEL", help=f"how hard it thinks: {', '.join(EFFORTS)}"
    )
    parser.add_argument("--access", choices=ACCESS_LEVELS, metavar="LEVEL", help=", ".join(ACCESS_LEVELS))
    parser.add_argument("--tools", type=_tool_names, metavar="a,b", help="built-in tools to offer")
    parser.add_argument(
        "--max-steps", type=positive, metavar="N", help="model requests in one turn (default 50)"
    )
    parser.add_argument("--no-mcp", action="store_true", help="start no servers")
    parser.add_argument(
        "--mcp-config",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="servers of this file too; they are not asked about",
    )


def add_resume(parser: argparse.ArgumentParser) -> None:
    """Add the options that go on with a kept session."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-c",
        "--continue",
        dest="go_on",
        action="store_true",
        help="go on with the newest session of the project",
    )
    which.add_argument(
        "-r",
        "--resume",
        nargs="?",
        const="",
        metavar="ID",
        help="go on with this session of the project (an id or its beginning); without ID, choose one",
    )


def resumed(
    parser: argparse.ArgumentParser, args: argparse.Namespace, project: Path, choose: Callable[[Path], str]
) -> str:
    """The id of the session to go on with; empty for a new one. `choose` gives one where none is named."""
    if not args.go_on and args.resume is None:
        return ""
    from hel_tui.core.store.sessions.folders import LAST, find_session

    def tell(sentence: str) -> None:
        sys.stderr.write(f"{parser.prog}: {printable(sentence)}\n")

    wanted = LAST if args.go_on else args.resume or choose(project)
    found = find_session(find_places(os.environ), project, wanted, tell)
    if not isinstance(found, Path):
        parser.error(printable(found))
    return found.name


def project_folder(parser: argparse.ArgumentParser, given: Path | None) -> Path:
    """The project: the folder named, else the current one."""
    check_home(parser)
    try:
        folder = (given or Path.cwd()).expanduser()
        if not folder.is_dir():
            parser.error(f"{folder} is not a folder")
        return folder.resolve()
    except RuntimeError:
        parser.error(f"{given}: there is no such person's home folder")
    except OSError:
        parser.error("the current folder is gone; change to another one, or name one in full")


def check_home(parser: argparse.ArgumentParser) -> None:
    """End with a sentence when hel's own folders cannot even be named."""
    try:
        find_places(os.environ)
    except RuntimeError:
        home = os.environ.get("HEL_HOME")
        parser.error(f"HEL_HOME={home}: there is no such home folder" if home else "there is no home folder")
    except OSError:
        parser.error("HEL_HOME is a relative path, and the current folder is gone")


def one_line(text: str) -> str:
    """At most LINE characters of `text`."""
    return text if len(text) <= LINE else text[: LINE - 1] + "…"


def options(
    parser: argparse.ArgumentParser, args: argparse.Namespace, project: Path, *, answerable: bool
) -> Options:
    """The core's options from parsed arguments."""
    missing: Sequence[Path] = [path for path in args.mcp_config if not path.is_file()]
    if missing:
        parser.error(f"--mcp-config: {missing[0]} is not a file")
    if args.tools is not None:
        from hel_tui.core.tools.builtins import BUILTIN_NAMES

        unknown = [name for name in args.tools if name not in BUILTIN_NAMES]
        if unknown:
            parser.error(f"--tools: there is no {unknown[0]}; there are {', '.join(BUILTIN_NAMES)}")
    return Options(
        project=project,
        environ=dict(os.environ),
        model=args.model,
        base_url=args.base_url,
        fallback_model=args.fallback_model,
        effort=args.effort,
        access=args.access,
        tools=args.tools,
        max_steps=args.max_steps,
        mcp=not args.no_mcp,
        mcp_config=tuple(path.resolve() for path in args.mcp_config),
        answerable=answerable,
    )
