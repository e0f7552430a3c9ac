"""`hel mcp trust`: shows what a project wants to run, and records approval beforehand; takes it back, too."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from typing import Any

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.ground import Ground, print_json
from hel_tui.core.permissions.settings_trust import NAME, SettingsTrust
from hel_tui.core.protocol import ServerClaim
from hel_tui.core.store.settings import load_settings
from hel_tui.foreign import printable

WARNING = "These programs would run with your rights, outside any sandbox. Allow only what you know."


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp trust`; returns the exit status."""
    for problem in ground.configuration.problems:
        sys.stderr.write(f"{printable(str(problem.file))}: {printable(problem.sentence)}\n")
    if args.forget:
        return _forget(args, ground)
    settings = _Settings(ground)  # read once: approved is what was shown
    waiting = (*settings.claims, *ground.review.claims)
    known = {entry.name for entry in ground.configuration.entries} | {claim.name for claim in waiting}
    unknown = [name for name in args.names if name not in known]
    if unknown and (bad := ground.trouble_with(unknown[0])):
        return ground.sorry(f"{unknown[0]} cannot be used: {bad.file}: {bad.sentence}")
    if unknown:
        return ground.sorry(ground.unknown(unknown[0]))
    claims = [claim for claim in waiting if not args.names or claim.name in args.names]
    if not claims:
        if args.json:
            print_json(_facts(ground, [], [], []))
        else:
            sys.stdout.write("Nothing waits for approval here.\n")
        return Exit.DONE
    if not args.json:
        sys.stdout.write(f"Project: {printable(str(ground.project))}\n{WARNING}\n\n")
        for claim in claims:
            sys.stdout.write(shown(claim) + "\n")
    if not args.yes and not _confirmed(claims, args):
        if args.json:
            print_json(_facts(ground, claims, [], []))
        sys.stderr.write("Not approved; nothing was changed.\n")
        return Exit.REFUSED
    names = [claim.name for claim in claims]
    if not_saved := ground.store.remember(ground.review, set(names)) or settings.remember(names):
        return ground.sorry(f"not saved: {not_saved}")
    if args.json:
        print_json(_facts(ground, claims, names, []))
    else:
        sys.stdout.write(f"Approved for this project: {', '.join(names)}. Kept in {ground.places.state}.\n")
    return Exit.DONE


def _forget(args: argparse.Namespace, ground: Ground) -> int:
    """Take approvals back; of servers that are not configured any more, too."""
    settings = _Settings(ground)
    had = (*settings.remembered, *ground.store.remembered(ground.project))
    unknown = [name for name in args.names if name not in had]
    if unknown:
        return ground.sorry(f"{unknown[0]} has no approval here; there are: {', '.join(had) or 'none'}")
    names = args.names or list(had)
    not_saved = settings.forget(names) or (ground.store.forget(ground.project, names) if names else "")
    if not_saved:
        return ground.sorry(f"not saved: {not_saved}")
    if args.json:
        print_json(_facts(ground, [], [], names))
    elif names:
        sys.stdout.write(f"Taken back for this project: {printable(', '.join(names))}.\n")
    else:
        sys.stdout.write("Nothing is approved here.\n")
    return Exit.DONE


def _facts(
    ground: Ground, claims: list[ServerClaim], approved: list[str], forgotten: list[str]
) -> dict[str, Any]:
    return {
        "project": str(ground.project),
        "waiting": [facts(claim) for claim in claims if claim.name not in approved],
        "approved": approved,
        "forgotten": forgotten,
    }


def facts(claim: ServerClaim) -> dict[str, Any]:
    """A claim for `--json`: what the dialog of the app shows."""
    return {
        "name": claim.name,
        "kind": claim.kind,
        "scope": claim.scope,
        "file": claim.file,
        "command_line": claim.command_line,
        "resolved": claim.resolved,
        "cwd": claim.cwd,
        "env": dict(claim.env),
        "risks": list(claim.risks),
        "changed": claim.changed,
        "program_changed": list(claim.program_changed),
    }


class _Settings:
    """The project's settings file, as far as it loosens what the person set: approved beside the servers."""

    def __init__(self, ground: Ground) -> None:
        self._project = ground.project
        self._trust = SettingsTrust(ground.places.state)
        self._loosening = load_settings(ground.project, ground.places).loosening

    @property
    def claims(self) -> tuple[ServerClaim, ...]:
        """What waits for the person's word."""
        if self._loosening is None or self._trust.is_trusted(self._loosening, self._project):
            return ()
        return (self._trust.claim(self._loosening, self._project),)

    @property
    def remembered(self) -> tuple[str, ...]:
        """Its name, when it has an approval that fits."""
        is_one = self._loosening is not None and self._trust.is_trusted(self._loosening, self._project)
        return (NAME,) if is_one else ()

    def remember(self, names: Collection[str]) -> str:
        """Approve it if it is among `names`; a sentence when that was not saved."""
        if self._loosening is None or NAME not in names:
            return ""
        return self._trust.remember(self._loosening, self._project)

    def forget(self, names: Collection[str]) -> str:
        """Take its approval back if it is among `names`; a sentence when that was not saved."""
        return self._trust.forget(self._project) if NAME in names else ""


def _confirmed(claims: Sequence[ServerClaim], args: argparse.Namespace) -> bool:
    if args.json or not sys.stdin.isatty():
        sys.stderr.write("hel mcp trust: nobody is there to ask; use --yes to approve what is shown.\n")
        return False
    if any(claim.kind == "settings" for claim in claims):
        return confirmed("Approve all of this?")
    count = len(claims)
    return confirmed(f"Approve {'this server' if count == 1 else f'these {count} servers'}?")


def confirmed(question: str) -> bool:
    """Ask at the terminal; no is the answer that needs no key."""
    sys.stdout.flush()
    try:
        answer = input(f"{question} [y/N] ")
    except EOFError:
        sys.stdout.write("\n")
        return False
    return answer.strip().lower() in ("y", "yes")


def _what(claim: ServerClaim) -> list[str]:
    """What would be started, or contacted; a remote one may have a program that makes its headers."""
    if claim.kind == "settings":
        return [f"  allows    {line}" for line in claim.command_line.splitlines()]
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


def shown(claim: ServerClaim) -> str:
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
