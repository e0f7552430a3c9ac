"""`hel run`: one prompt, no screen, the same core.

Nobody is there, so what would ask is refused and says what would allow it. Not here: what is printed
(telling), what a turn does (core).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hel_tui.cli import streams
from hel_tui.cli.bounds import Bounds
from hel_tui.cli.common import Parser, add_common, add_resume, amount, options, project_folder, resumed
from hel_tui.cli.lines import Json
from hel_tui.cli.telling import Printer, Text
from hel_tui.core import protocol as p
from hel_tui.core.runtime import Runtime
from hel_tui.foreign import for_model

if TYPE_CHECKING:
    from hel_tui.api.shape import Shape

_SCHEMA = 1 << 20
"""Bytes of a schema's file."""
SERVER_WAIT = 60.0
"""Seconds the turn waits for servers that still start; nobody is there to wait for them instead."""


def _parser() -> Parser:
    parser = Parser(
        prog="hel run",
        description="Answer one prompt without a screen. Text goes to stdout, everything else to stderr; "
        "with --json one object a line to stdout.",
        epilog="exit status: 0 done, 1 failed, 2 usage, 3 stopped by a limit, 4 refused, 130 interrupted",
    )
    parser.add_argument(
        "prompt",
        nargs="?",
        help="the prompt; what is piped in joins it, or is the prompt where it is - or left out",
    )
    parser.add_argument("-C", "--dir", type=Path, metavar="DIR", help="the project (default: this folder)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument(
        "--output-schema",
        type=Path,
        metavar="FILE",
        help="the answer is JSON that fits this schema, alone on stdout; asked for again where not",
    )
    parser.add_argument(
        "--max-cost", type=amount, metavar="USD", help="make no further request once this is spent"
    )
    parser.add_argument("--timeout", type=amount, metavar="SECONDS", help="end in order after this time")
    add_common(parser)
    add_resume(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run `hel run`; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    bounds = Bounds(args.timeout)
    shape = _shape(parser, args.output_schema)
    project = project_folder(parser, args.dir)
    chosen = options(parser, args, project, answerable=False)
    if args.resume == "":
        parser.error("--resume needs the ID of a session; `hel sessions list` has them")
    session = resumed(parser, args, project, lambda _project: "")
    schema = shape.schema if shape is not None else None
    chosen = replace(chosen, server_wait=SERVER_WAIT, max_cost=args.max_cost, shape=schema)
    runtime = Runtime(replace(chosen, resume=session))
    printer = Json(runtime, shape=shape) if args.json else Text(runtime, shape=shape)
    printer.timeout = args.timeout
    try:
        prompt = _prompt(parser, args.prompt, bounds.end)
    except streams.TimeIsOver:
        return printer.unasked(timed_out=True)
    except KeyboardInterrupt:
        return printer.unasked(timed_out=False)
    if time.monotonic() >= bounds.end:
        return printer.unasked(timed_out=True)
    return _drive(runtime, printer, _shaped(prompt, shape), bounds)


def _prompt(parser: Parser, given: str | None, end: float) -> p.Submit:
    """The words of the command line with what is piped in behind them, or that alone.

    Raises `TimeIsOver` where that did not come to its end before `end`.
    """
    try:
        if given is None or given == "-":
            piped = streams.read_all(end) if given == "-" or not sys.stdin.isatty() else ""
            prompt, data = _readable(parser, piped), ""
        else:
            prompt, data = streams.as_text(given), _readable(parser, streams.read_piped(end))
    except streams.TooLong as problem:
        parser.error(str(problem))
    if not prompt.strip():
        parser.error("the prompt is empty")
    if not data.strip():
        return p.Submit(prompt)
    return p.Submit(prompt, behind=f"<stdin>\n{data}\n</stdin>", names=("stdin",))


def _readable(parser: Parser, piped: str) -> str:
    """What was piped in as a model may read it; bytes that are no text are a mistake."""
    if piped.count("\ufffd") > max(3, len(piped) // 10):
        parser.error("what is piped in is no text in UTF-8")
    return for_model(piped)


def _shaped(prompt: p.Submit, shape: Shape | None) -> p.Submit:
    """The same with what the model is told of the shape."""
    if shape is None:
        return prompt
    from hel_tui.api.shape import NAME

    behind = "\n\n".join(part for part in (prompt.behind, shape.instruction()) if part)
    return replace(prompt, behind=behind, names=(*prompt.names, NAME))


def _shape(parser: Parser, file: Path | None) -> Shape | None:
    """The schema in a file."""
    if file is None:
        return None
    from hel_tui.api.shape import BadSchema, Shape
    from hel_tui.core.store.reading import open_plain

    try:
        with open_plain(file.expanduser()) as opened:
            data = opened.read(_SCHEMA + 1)
        if len(data) > _SCHEMA:
            parser.error(f"--output-schema: {file} is larger than {_SCHEMA:,} bytes")
        return Shape(json.loads(data))
    except OSError as error:
        parser.error(f"--output-schema: {file}: {error.strerror}")
    except (ValueError, RecursionError) as error:
        parser.error(f"--output-schema: {file} is not JSON: {error}")
    except BadSchema as bad:
        parser.error(f"--output-schema: {file}: {bad}")


def _drive(runtime: Runtime, printer: Printer, prompt: p.Submit, bounds: Bounds) -> int:
    """Run it to its end, or to one of its bounds; returns the exit status."""
    runtime.send(prompt)  # before anything that may stop it
    with bounds.over(runtime):
        try:
            runtime.start()
            while not printer.over:
                runtime.wait(0.5)
                for event in runtime.drain():
                    printer.timed_out, printer.interrupted = bounds.timed_out, bounds.interrupted
                    with bounds.printing():
                        printer.take(event)
            runtime.stop()
            printer.interrupted = bounds.interrupted
            with bounds.printing():
                return printer.finish()
        except OSError:  # whoever read our output is gone, or there is no room for it
            runtime.stop()
            raise
