"""`hel mcp import`: servers of another agent's files, shown, asked about, written into hel's.

Approvals are never taken over, and no secret is printed. Not here: translating (core.mcp.importing).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.approving import confirmed, shown
from hel_tui.cli.mcp.ground import Ground, did_you_mean, note, print_json, say
from hel_tui.cli.mcp.keeping import keep, set_apart
from hel_tui.core.mcp.editing import NotEdited, files_of, names_in, put_entries
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.importing.gather import Found, Gathered, gather
from hel_tui.core.permissions.claims import claim, masked_definition
from hel_tui.core.store.redact import MARK, command_line, masked_words, redact_shapes

State = Literal["new", "replaces", "exists", "unusable"]


@dataclass(slots=True)
class Row:
    """One server, and what is to become of it."""

    found: Found
    state: State
    reason: str = ""
    is_written: bool = False

    @property
    def is_wanted(self) -> bool:
        return self.state in ("new", "replaces")


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp import`; returns the exit status."""
    if args.file is not None and not args.file.expanduser().is_file():
        return ground.sorry(f"{args.file} is not a file", Exit.USAGE)
    file = args.file.expanduser() if args.file is not None else None
    gathered = gather(args.source, ground.project, ground.places, os.environ, file=file, scope=args.scope)
    rows = [_row(found, ground, force=args.force) for found in gathered.found]
    only = [name.strip() for name in args.only.split(",") if name.strip()]
    if unknown := [name for name in only if not any(name in _names(row) for row in rows)]:
        names = [row.found.name for row in rows]
        return ground.sorry(f"it has no server named {unknown[0]}{did_you_mean(unknown[0], names, '')}")
    rows = [row for row in rows if not only or _names(row) & set(only)]
    wanted = [row for row in rows if row.is_wanted]
    if not args.json:
        _show(args, gathered, rows, ground)
    if not wanted or args.dry_run:
        in_the_way = any(row.state == "unusable" and not row.found.problem for row in rows)
        return _end(args, gathered, rows, ground, failed=not gathered.files or in_the_way)
    if not args.yes and not _agreed(args, len(wanted)):
        _end(args, gathered, rows, ground, failed=False)
        note("Nothing was written.")
        return Exit.REFUSED
    if args.keyring and (problem := _keep(wanted, ground, force=args.force)):
        return ground.sorry(problem)
    failed = _write(wanted, ground, force=args.force)
    return _end(args, gathered, rows, ground, failed=failed)


def _names(row: Row) -> set[str]:
    return {row.found.name, row.found.original}


def _row(found: Found, ground: Ground, *, force: bool) -> Row:
    if found.problem:
        return Row(found, "unusable", found.problem)
    target = files_of(found.scope, ground.project, ground.places)[0]
    there = names_in(target)
    if isinstance(there, NotEdited):
        return Row(found, "unusable", there.sentence)
    if found.name not in there:
        return Row(found, "new")
    if force:
        return Row(found, "replaces", f"the one in {target.path}")
    return Row(found, "exists", f"{target.path} has that name already; --force replaces it")


# ------------------------------------------------------------------- showing


def _show(args: argparse.Namespace, gathered: Gathered, rows: list[Row], ground: Ground) -> None:
    for problem in gathered.problems:
        note(problem)
    if not gathered.files:
        places = ", ".join(str(path) for path in gathered.looked)
        note(f"No file of {args.source} was found. Looked for: {places}.")
        return
    if not rows:
        if not gathered.problems:
            say(f"No servers are in {', '.join(map(str, gathered.files))}.")
        return
    width = max(len(row.found.name) for row in rows)
    for row in rows:
        for line in _lines(row, width, ground):
            say(line)


def _lines(row: Row, width: int, ground: Ground) -> Iterator[str]:
    found = row.found
    where = f"→ {found.scope}" if row.is_wanted else "skipped"
    yield f"{found.name:<{width}}  {where:<9}  {_what(found)}"
    indent = " " * (width + 2)
    yield f"{indent}from {found.file}"
    if row.reason:
        yield f"{indent}{row.state}: {row.reason}"
    if not row.is_wanted:
        return
    for remark in found.notes:
        yield f"{indent}! {remark}"
    if found.from_project and found.scope != "project" and found.entry is not None:
        yield f"{indent}It comes from the project and would not be asked about any more. All of it:"
        claimed, _ = claim(found.entry, ground.project, os.environ)
        claimed = replace(claimed, command_line=_what(found))
        yield from (f"{indent}  {line}" for line in shown(claimed).splitlines()[1:])


def _what(found: Found) -> str:
    """Its command line or address, credentials masked."""
    entry = found.entry
    if entry is None:
        return ""
    return redact_shapes(entry.url) if entry.url else command_line(entry.command, entry.args)


def _agreed(args: argparse.Namespace, count: int) -> bool:
    if args.json or not sys.stdin.isatty():
        note("hel mcp import: nobody is there to ask; use --yes to write what is shown.")
        return False
    return confirmed(f"Write {'this server' if count == 1 else f'these {count} servers'}?")


# ------------------------------------------------------------------- writing


def _keep(wanted: list[Row], ground: Ground, *, force: bool) -> str:
    """Keep credentials that are written out, and refer to them. Returns a sentence when that failed."""
    for row in wanted:
        raw, secrets = set_apart(row.found.name, row.found.raw)
        kept = keep(secrets, ground.places.state, force=force)
        if isinstance(kept, str):
            return f"{row.found.name}: {kept}"
        row.found = replace(row.found, raw=raw)
        for sentence in kept:
            note(f"{row.found.name}: {sentence}")
    return ""


def _write(wanted: list[Row], ground: Ground, *, force: bool) -> bool:
    """Write each scope's servers in one edit; returns whether one failed."""
    failed = False
    for scope in dict.fromkeys(row.found.scope for row in wanted):
        rows = [row for row in wanted if row.found.scope == scope]
        target = files_of(scope, ground.project, ground.places)[0]
        entries = {row.found.name: row.found.raw for row in rows}
        problem = put_entries(target, entries, ground.places, replace=force)
        for row in rows:
            row.is_written = problem is None
        if problem is not None:
            failed = True
            ground.sorry(problem.sentence)
    return failed


def _end(
    args: argparse.Namespace, gathered: Gathered, rows: list[Row], ground: Ground, *, failed: bool
) -> int:
    written = [row.found for row in rows if row.is_written]
    if args.json:
        print_json(
            {
                "files": [str(path) for path in gathered.files],
                "problems": list(gathered.problems),
                "servers": [_facts(row, ground) for row in rows],
            }
        )
    elif written:
        names = ", ".join(found.name for found in written)
        say(f"Written: {names}.")
        for secret in dict.fromkeys(secret for found in written for secret in found.secrets):
            say(f"Before it can start: hel mcp secret set {secret}")
        if any(found.scope == "project" for found in written):
            say("hel asks about those of the project before they run; to approve them now: hel mcp trust")
    elif args.dry_run and any(row.is_wanted for row in rows):
        say("Nothing was written (--dry-run).")
    return Exit.FAILED if failed else Exit.DONE


def _masked(entry: ServerEntry) -> dict[str, Any]:
    """What would be written, credentials masked: also among the words, which nobody is asked about here."""
    shown: dict[str, Any] = json.loads(masked_definition(entry))
    if entry.env:
        shown["env"] = {name: value if value.startswith("${") else MARK for name, value in entry.env}
    if entry.args:
        shown["args"] = masked_words((entry.command, *entry.args))[1:]
    return shown


def _facts(row: Row, ground: Ground) -> dict[str, Any]:
    found = row.found
    return {
        "name": found.name,
        "original_name": found.original,
        "from": str(found.file),
        "scope": found.scope,
        "file": str(files_of(found.scope, ground.project, ground.places)[0].path),
        "state": row.state,
        "reason": row.reason,
        "written": row.is_written,
        "notes": list(found.notes),
        "secrets": list(found.secrets),
        "entry": _masked(found.entry) if found.entry is not None else None,
    }
