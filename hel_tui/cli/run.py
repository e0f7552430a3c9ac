"""`hel run`: one prompt, no screen, the same core.

Nobody is there, so what would ask is refused and says what would allow it. Not here: what is printed
(telling), what a turn does (core).
"""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from hel_tui.cli import streams
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
    prompt = _prompt(parser, args.prompt)
    if not prompt.text.strip():
        parser.error("the prompt is empty")
    shape = _shape(parser, args.output_schema)
    project = project_folder(parser, args.dir)
    chosen = options(parser, args, project, answerable=False)
    if args.resume == "":
        parser.error("--resume needs the ID of a session; `hel sessions list` has them")
    session = resumed(parser, args, project, lambda _project: "")
    schema = shape.schema if shape is not None else None
    bounds = replace(chosen, server_wait=SERVER_WAIT, max_cost=args.max_cost, shape=schema)
    runtime = Runtime(replace(bounds, resume=session))
    printer = Json(runtime, shape=shape) if args.json else Text(runtime, shape=shape)
    return _drive(runtime, printer, _shaped(prompt, shape), args.timeout)


def _prompt(parser: Parser, given: str | None) -> p.Submit:
    """The words of the command line with what is piped in behind them, or that alone."""
    if given is None or given == "-":
        piped = streams.read_all() if given == "-" or not sys.stdin.isatty() else ""
        return p.Submit(_readable(parser, piped))
    prompt = streams.as_text(given)
    data = _readable(parser, streams.read_piped())
    if not prompt.strip() or not data.strip():
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


def _drive(runtime: Runtime, printer: Printer, prompt: p.Submit, timeout: float | None) -> int:
    """Run it to its end, or to that of its time; returns the exit status."""
    presses = 0

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal presses
        presses += 1
        printer.interrupted = True
        if presses == 1:
            runtime.send(p.Interrupt())
            runtime.send(p.Shutdown())
        else:
            runtime.kill()

    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, stop)
    end = math.inf if timeout is None else time.monotonic() + timeout
    runtime.start()
    runtime.send(prompt)
    try:
        while not printer.over:
            left = end - time.monotonic()
            if left <= 0 and printer.timed_out is None:
                printer.timed_out = timeout
                runtime.send(p.Interrupt(whole=True))
            runtime.wait(min(0.5, left) if left > 0 else 0.5)
            for event in runtime.drain():
                printer.take(event)
        runtime.stop()
        return printer.finish()
    except OSError:  # whoever read our output is gone, or there is no room for it
        runtime.stop()
        raise
