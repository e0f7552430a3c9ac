"""`hel mcp`: the configured servers from a shell: what there is, and approval beforehand.

Starts no server. Not here: reading files (core.mcp.config), what trust is bound to (core.permissions).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hel_tui.cli.common import Exit, Parser, printable, project_folder
from hel_tui.core.mcp.config import Configuration, load_servers
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.permissions.trust import Review, TrustStore
from hel_tui.core.protocol import ServerClaim
from hel_tui.core.store.places import Places, find_places
from hel_tui.core.store.redact import redact_shapes

WARNING = "These programs would run with your rights, outside any sandbox. Allow only what you know."


def _parser() -> Parser:
    parser = Parser(prog="hel mcp", description="The MCP servers that are configured for a project.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="every entry, where it comes from and whether it may start")
    listing.add_argument("--json", action="store_true", help="a JSON array with stable keys")
    trust = commands.add_parser("trust", help="show what the project wants to run, and approve it beforehand")
    trust.add_argument("names", nargs="*", metavar="SERVER", help="only these (default: all that wait)")
    trust.add_argument("-y", "--yes", action="store_true", help="approve without asking (for scripts)")
    for command in (listing, trust):
        command.add_argument(
            "-C", "--dir", type=Path, metavar="DIR", help="the project (default: this folder)"
        )
        command.add_argument(
            "--mcp-config",
            action="append",
            default=[],
            type=Path,
            metavar="FILE",
            help="servers of this file too",
        )
    return parser


def main(argv: Sequence[str]) -> int:
    """Run `hel mcp`; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    project = project_folder(parser, args.dir)
    places = find_places(os.environ)
    configuration = load_servers(project, places, named_files=args.mcp_config, environ=os.environ)
    store = TrustStore(places.state)
    review = store.review(configuration, project, os.environ)
    if args.command == "list":
        return _list(configuration, review, as_json=args.json)
    return _trust(args, configuration, review, store, project, places)


# ----------------------------------------------------------------------- list


def _list(configuration: Configuration, review: Review[ServerEntry], *, as_json: bool) -> int:
    rows = _rows(configuration, review)
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
    elif not rows:
        sys.stdout.write("No servers are configured here. `hel help servers` says where they go.\n")
    else:
        names = [printable(row["name"]) for row in rows]
        width = max(map(len, names))
        for row, name in zip(rows, names, strict=True):
            what = printable(row["command_line"] or row["url"] or "")
            sys.stdout.write(f"{name:<{width}}  {row['state']:<9}  {row['scope']:<12}  {what}\n")
            if row["reason"]:
                sys.stdout.write(f"{'':<{width}}  {printable(row['reason'])}\n")
    errors = [problem for problem in configuration.problems if problem.severity == "error"]
    for problem in configuration.problems:
        if problem.server is None or problem.severity == "note":
            sys.stderr.write(f"{problem.file}: {printable(problem.sentence)}\n")
    return Exit.FAILED if any(problem.server is None for problem in errors) else Exit.DONE


def _rows(configuration: Configuration, review: Review[ServerEntry]) -> list[dict[str, Any]]:
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
    import shlex

    line = shlex.join([entry.command, *entry.args]) if entry.transport == "stdio" else None
    return {
        "name": entry.name,
        "state": state,
        "reason": reason,
        "scope": entry.scope,
        "file": str(entry.file),
        "transport": entry.transport,
        "command_line": redact_shapes(line) if line else None,
        "url": redact_shapes(entry.url) if entry.url else None,
    }


# ---------------------------------------------------------------------- trust


def _trust(
    args: argparse.Namespace,
    configuration: Configuration,
    review: Review[ServerEntry],
    store: TrustStore,
    project: Path,
    places: Places,
) -> int:
    for problem in configuration.problems:
        sys.stderr.write(f"{problem.file}: {printable(problem.sentence)}\n")
    known = {entry.name for entry in configuration.entries}
    unknown = [name for name in args.names if name not in known]
    if unknown:
        sys.stderr.write(f"hel mcp trust: no server named {printable(unknown[0])} is configured here\n")
        return Exit.FAILED
    claims = [claim for claim in review.claims if not args.names or claim.name in args.names]
    if not claims:
        sys.stdout.write("Nothing waits for approval here.\n")
        return Exit.DONE
    sys.stdout.write(f"Project: {project}\n{WARNING}\n\n")
    for claim in claims:
        sys.stdout.write(_shown(claim) + "\n")
    if not args.yes and not _confirmed(len(claims)):
        sys.stderr.write("Not approved; nothing was changed.\n")
        return Exit.REFUSED
    if not_saved := store.remember(review, {claim.name for claim in claims}):
        sys.stderr.write(f"hel mcp trust: not saved: {not_saved}\n")
        return Exit.FAILED
    names = ", ".join(claim.name for claim in claims)
    sys.stdout.write(f"Approved for this project: {names}. Kept in {places.state}.\n")
    return Exit.DONE


def _confirmed(count: int) -> bool:
    if not sys.stdin.isatty():
        sys.stderr.write("hel mcp trust: nobody is there to ask; use --yes to approve what is shown.\n")
        return False
    what = "this server" if count == 1 else f"these {count} servers"
    try:
        answer = input(f"Approve {what}? [y/N] ")
    except (EOFError, KeyboardInterrupt):
        return False
    return answer.strip().lower() in ("y", "yes")


def _shown(claim: ServerClaim) -> str:
    """A claim as text: everything the dialog of the app shows."""
    lines = [
        f"{claim.name}  ({claim.scope}: {claim.file})",
        f"  runs      {claim.command_line}",
        f"  resolves  {claim.resolved or 'nothing on PATH'}",
        f"  in        {claim.cwd}",
    ]
    lines += [f"  env       {name}={value}" for name, value in claim.env]
    lines += [f"  ! {risk}" for risk in claim.risks]
    lines += [f"  ! changed program: {file}" for file in claim.program_changed]
    if claim.changed:
        lines.append("  changed since it was approved:")
        lines += [f"    {line}" for line in claim.changed.splitlines()]
    return "\n".join(printable(line) for line in lines) + "\n"
