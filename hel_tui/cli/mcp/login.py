"""`hel mcp login` and `hel mcp logout`: authorize hel at a server that wants it, and give that up again.

Each step is told on stderr. Not here: the person's part (person), OAuth itself (core.mcp.auth).
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.alone import UP, alone, approved, sorry
from hel_tui.cli.mcp.ground import Ground
from hel_tui.cli.mcp.person import Person
from hel_tui.cli.orderly import run_in_order
from hel_tui.core.counts import counted
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.protocol import Event, LoginStep
from hel_tui.core.store.places import Places
from hel_tui.foreign import printable


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp login` or `hel mcp logout`; returns the exit status."""
    entry = approved(args.server, ground)
    if isinstance(entry, int):
        return entry
    if ground.command == "logout":
        return run_in_order(_logout(entry, ground.project, ground.places))
    return run_in_order(_login(entry, ground.project, ground.places, browser=args.browser))


async def _login(entry: ServerEntry, project: Path, places: Places, *, browser: bool) -> int:
    """Let the server refuse first, as it then says what it wants; log in; see whether it lets hel in."""
    person = Person(os.environ, browser=browser)
    entry = replace(entry, reconnect=False, enabled=True)
    async with alone(entry, project, places, _tell, person) as server:
        await server.come_to_rest()
        if problem := await server.host.login(entry.name):
            return sorry(f"no login at {entry.name}: {problem}")
        status = await server.come_to_rest()
        if status.phase not in UP:
            return sorry(f"logged in, but {entry.name} is {status.phase}: {status.reason}")
        tools = counted(status.tools, "tool")
        sys.stdout.write(f"Logged in at {printable(entry.name)}: {status.phase}, {tools}.\n")
        return Exit.DONE


async def _logout(entry: ServerEntry, project: Path, places: Places) -> int:
    """Nothing is asked of the server any more: it is not started."""
    async with alone(replace(entry, enabled=False), project, places, _tell) as server:
        if problem := await server.host.logout(entry.name):
            return sorry(f"{entry.name}: {problem}")
    sys.stdout.write(f"Logged out at {printable(entry.name)}.\n")
    return Exit.DONE


def _tell(event: Event) -> None:
    if isinstance(event, LoginStep) and not event.end:
        sys.stderr.write(f"  {printable(event.text)}\n")
