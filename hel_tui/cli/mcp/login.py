"""`hel mcp login` and `hel mcp logout`: authorize hel at a server that wants it, and give that up again.

Each step is told on stderr. Not here: the person's part (person), OAuth itself (core.mcp.auth).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.person import Person
from hel_tui.core.mcp.config import Configuration
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.permissions.trust import Review
from hel_tui.core.protocol import Event, LoginStep, ServerChanged
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import Redactor, secrets_in
from hel_tui.foreign import printable

ON_ITS_WAY = ("starting", "restarting")
UP = ("ready", "degraded")


def use(
    args: argparse.Namespace,
    configuration: Configuration,
    review: Review[ServerEntry],
    project: Path,
    places: Places,
) -> int:
    """Run `hel mcp login` or `hel mcp logout`; returns the exit status."""
    entry = next((one for one in configuration.entries if one.name == args.server), None)
    if entry is None:
        return _sorry(f"there is no server named {args.server}: see `hel mcp list`")
    if entry not in review.trusted:
        _sorry(f"{entry.name} is not approved for this project: hel mcp trust")
        return Exit.REFUSED
    try:
        if args.command == "logout":
            return asyncio.run(_logout(entry, project, places))
        return asyncio.run(_login(entry, project, places, browser=args.browser))
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return Exit.INTERRUPTED


async def _login(entry: ServerEntry, project: Path, places: Places, *, browser: bool) -> int:
    """Let the server refuse first, as it then says what it wants; log in; see whether it lets hel in."""
    moved = asyncio.Event()

    def hear(event: Event) -> None:
        if isinstance(event, ServerChanged):
            moved.set()
        _tell(event)

    async def phase() -> ServerChanged:
        while (status := host.statuses()[0]).phase in ON_ITS_WAY:
            moved.clear()
            await moved.wait()
        return status

    with tempfile.TemporaryDirectory(prefix="hel-") as folder:
        files = SessionFiles(Path(folder))
        hide = Redactor(secrets_in(os.environ))
        person = Person(os.environ, browser=browser)
        host = Host(
            project, os.environ, lambda: files, places.state, hear, mask=hide, hide=hide.add, ask=person
        )
        try:
            host.start([replace(entry, reconnect=False, enabled=True)])
            await phase()
            if problem := await host.login(entry.name):
                return _sorry(f"no login at {entry.name}: {problem}")
            status = await phase()
            if status.phase not in UP:
                return _sorry(f"logged in, but {entry.name} is {status.phase}: {status.reason}")
            sys.stdout.write(f"Logged in at {printable(entry.name)}: {status.phase}, {status.tools} tools.\n")
            return Exit.DONE
        finally:
            await host.aclose()


async def _logout(entry: ServerEntry, project: Path, places: Places) -> int:
    with tempfile.TemporaryDirectory(prefix="hel-") as folder:
        files = SessionFiles(Path(folder))
        hide = Redactor(secrets_in(os.environ))
        host = Host(project, os.environ, lambda: files, places.state, _tell, mask=hide, hide=hide.add)
        try:
            host.start([replace(entry, enabled=False)])  # nothing is to be asked of it any more
            if problem := await host.logout(entry.name):
                return _sorry(f"{entry.name}: {problem}")
        finally:
            await host.aclose()
    sys.stdout.write(f"Logged out at {printable(entry.name)}.\n")
    return Exit.DONE


def _tell(event: Event) -> None:
    if isinstance(event, LoginStep) and not event.end:
        sys.stderr.write(f"  {printable(event.text)}\n")


def _sorry(sentence: str) -> int:
    sys.stderr.write(f"hel mcp: {printable(sentence)}\n")
    return Exit.FAILED
