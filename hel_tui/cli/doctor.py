"""`hel doctor`: what works here and what does not, with what helps: this machine, the files, each server.

Not here: what is looked at (core.doctor), one server in full (mcp.linting).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hel_tui.cli.common import Exit, Parser, project_folder

if TYPE_CHECKING:
    from hel_tui.cli.mcp.ground import Ground
    from hel_tui.core.protocol import Finding


def _parser() -> Parser:
    parser = Parser(
        prog="hel doctor",
        description="Say what works here and what does not, with what helps. Approved servers are started "
        "for a look and ended again; `hel mcp lint SERVER` tells all about one.",
        epilog="Exit status: 0 all is well, or well enough; 1 something is wrong.",
    )
    parser.add_argument("dir", nargs="?", type=Path, metavar="DIR", help="the project (default: here)")
    parser.add_argument("--no-servers", action="store_true", help="start no server")
    parser.add_argument(
        "--mcp-config",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="servers of this file too",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def main(argv: Sequence[str]) -> int:
    """Run `hel doctor`; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(list(argv))
    project = project_folder(parser, args.dir)
    from hel_tui.cli.mcp.ground import Ground

    return _run(args, Ground("doctor", project, tuple(args.mcp_config)))


def _run(args: argparse.Namespace, ground: Ground) -> int:
    from hel_tui.cli.mcp.findings import as_json, lines
    from hel_tui.cli.mcp.ground import print_json, say
    from hel_tui.core.doctor.examine import worst
    from hel_tui.core.doctor.machine import files, machine
    from hel_tui.core.protocol import Diagnosis

    began = time.monotonic()
    found = list(machine(os.environ, ground.places, ground.project))
    found += files(ground.configuration, tuple(entry.name for entry in ground.review.pending))
    if not args.no_servers:
        status = _look_at_servers(ground, found)
        if status != Exit.DONE:
            return status
    diagnosis = Diagnosis("", tuple(found), seconds=time.monotonic() - began)
    if args.json:
        print_json(as_json(diagnosis))
    else:
        for line in lines(diagnosis):
            say(line)
    return Exit.FAILED if worst(found) == "error" else Exit.DONE


def _look_at_servers(ground: Ground, found: list[Finding]) -> int:
    """Add a line for each approved server; all are looked at together. Returns the exit status."""
    from hel_tui.cli.mcp.linting import ward_of
    from hel_tui.cli.orderly import run_in_order
    from hel_tui.core.doctor.examine import examine, summary

    entries = [entry for entry in ground.review.trusted if entry.enabled]
    ward = ward_of(ground)

    async def work() -> int:
        looks = (examine(entry, ward, lambda _diagnosis: None) for entry in entries)
        diagnoses = await asyncio.gather(*looks)
        found.extend(summary(entry, one) for entry, one in zip(entries, diagnoses, strict=True))
        return Exit.DONE

    return run_in_order(work()) if entries else Exit.DONE
