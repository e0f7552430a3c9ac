"""`hel mcp trust`: shows what a project wants to run, and records approval beforehand."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hel_tui.cli.common import Exit
from hel_tui.core.mcp.config import Configuration
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.permissions.trust import Review, TrustStore
from hel_tui.core.protocol import ServerClaim
from hel_tui.core.store.places import Places
from hel_tui.foreign import printable

WARNING = "These programs would run with your rights, outside any sandbox. Allow only what you know."


def approve(
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


def _what(claim: ServerClaim) -> list[str]:
    """What would be started, or contacted; a remote one may have a program that makes its headers."""
    url, _, helper = claim.command_line.partition("\n")
    if not url.startswith(("http://", "https://", "$")) or (claim.cwd and not helper):
        url, helper = "", claim.command_line
    helper = helper.removeprefix("headersHelper: ")
    lines = [f"  contacts  {url}"] if url else []
    if not helper:
        return lines
    return [
        *lines,
        f"  runs      {helper}",
        f"  resolves  {claim.resolved or 'nothing on PATH'}",
        f"  in        {claim.cwd}",
    ]


def _shown(claim: ServerClaim) -> str:
    """A claim as text: everything the dialog of the app shows."""
    lines = [
        f"{claim.name}  ({claim.scope}: {claim.file})",
        *_what(claim),
    ]
    lines += [f"  env       {name}={value}" for name, value in claim.env]
    lines += [f"  ! {risk}" for risk in claim.risks]
    lines += [f"  ! changed program: {file}" for file in claim.program_changed]
    if claim.changed:
        lines.append("  changed since it was approved:")
        lines += [f"    {line}" for line in claim.changed.splitlines()]
    return "\n".join(printable(line) for line in lines) + "\n"
