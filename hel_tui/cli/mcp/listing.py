"""`hel mcp list`: every entry, where it comes from and whether it may start. Starts nothing."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.ground import Ground
from hel_tui.core.mcp.config import Configuration
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.permissions.trust import Review
from hel_tui.core.store.redact import command_line, redact_shapes
from hel_tui.foreign import printable


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp list`; returns the exit status."""
    configuration = ground.configuration
    if args.names:  # for completion: no hashes, no trust
        sys.stdout.writelines(f"{entry.name}\n" for entry in configuration.entries)
        return Exit.DONE
    rows = rows_of(configuration, ground.review)
    if args.json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
    elif not rows and not configuration.problems:
        sys.stdout.write("No servers are configured here. `hel help servers` says where they go.\n")
    elif rows:
        names = [printable(row["name"]) for row in rows]
        width = max(map(len, names))
        for row, name in zip(rows, names, strict=True):
            what = printable(row["command_line"] or row["url"] or "")
            sys.stdout.write(f"{name:<{width}}  {row['state']:<9}  {row['scope']:<12}  {what}\n")
            sys.stdout.write(f"{'':<{width}}  {printable(row['file'])}\n")
            if row["reason"]:
                sys.stdout.write(f"{'':<{width}}  {printable(row['reason'])}\n")
    errors = [problem for problem in configuration.problems if problem.severity == "error"]
    for problem in configuration.problems:
        if problem.server is None or problem.severity == "note":
            sys.stderr.write(f"{printable(str(problem.file))}: {printable(problem.sentence)}\n")
    return Exit.FAILED if any(problem.server is None for problem in errors) else Exit.DONE


def rows_of(configuration: Configuration, review: Review[ServerEntry]) -> list[dict[str, Any]]:
    """One row an entry, by name: winners first, then what they shadow, then what is invalid."""
    pending = {entry.name for entry in review.pending}
    rows = []
    for entry in configuration.entries:
        if not entry.enabled:
            rows.append(_row(entry, "off", "switched off in its file"))
        elif entry.name in pending:
            rows.append(_row(entry, "untrusted", "not approved for this project: hel mcp trust"))
        else:
            rows.append(_row(entry, "trusted", ""))
    for entry, winner in configuration.shadowed:
        rows.append(_row(entry, "shadowed", f"{winner.file} ({winner.scope}) has that name"))
    for problem in configuration.problems:
        if problem.server is not None and problem.severity == "error":
            rows.append(
                {
                    "name": problem.server,
                    "state": "invalid",
                    "reason": problem.sentence,
                    "scope": problem.scope,
                    "file": str(problem.file),
                    "transport": None,
                    "command_line": None,
                    "url": None,
                }
            )
    return sorted(rows, key=lambda row: row["name"])


def _row(entry: ServerEntry, state: str, reason: str) -> dict[str, Any]:
    line = command_line(entry.command, entry.args) if entry.transport == "stdio" else None
    return {
        "name": entry.name,
        "state": state,
        "reason": reason,
        "scope": entry.scope,
        "file": str(entry.file),
        "transport": entry.transport,
        "command_line": line,
        "url": redact_shapes(entry.url) if entry.url else None,
    }
