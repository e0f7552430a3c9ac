"""One server on its own, for the time of one command: found, approved, hosted, ended.

Not here: what the command does with it (live, login).
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.ground import Ground
from hel_tui.core.mcp.asking import Ask, nobody
from hel_tui.core.mcp.entries import Scope, ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.protocol import Event, ServerChanged
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import Redactor, secrets_in
from hel_tui.core.store.settings import load_settings
from hel_tui.foreign import printable

UP = ("ready", "degraded")
_RANKS = get_args(Scope)
ON_ITS_WAY = ("starting", "restarting")


@dataclass(slots=True)
class Alone:
    """A host with one server."""

    host: Host
    hide: Callable[[str], str]
    """Takes the secrets that are known out of what is printed."""
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def come_to_rest(self) -> ServerChanged:
        """Wait until the server is up, or is known not to be."""
        while (status := self.host.statuses()[0]).phase in ON_ITS_WAY:
            self.moved.clear()
            await self.moved.wait()
        return status


@asynccontextmanager
async def alone(
    entry: ServerEntry,
    project: Path,
    places: Places,
    hear: Callable[[Event], None],
    ask: Ask = nobody,
    *,
    answerable: bool = False,
) -> AsyncIterator[Alone]:
    """Start the server of `entry`, once, and end it afterwards. `hear` gets every event.

    With `answerable` what the server asks during a call goes to `ask`.
    """
    with tempfile.TemporaryDirectory(prefix="hel-") as folder:
        files = SessionFiles(Path(folder))
        hide = Redactor(secrets_in(os.environ))
        settings = load_settings(project, places).settings

        def heard(event: Event) -> None:
            if isinstance(event, ServerChanged):
                one.moved.set()
            hear(event)

        host = Host(
            project,
            os.environ,
            lambda: files,
            places.state,
            heard,
            mask=hide,
            known=hide.known,
            hide=hide.add,
            ask=ask,
            answerable=answerable,
            naming=settings.naming,
        )
        one = Alone(host, hide.known)
        try:
            host.start([entry])
            yield one
        finally:
            await host.aclose()


def approved(name: str, ground: Ground) -> ServerEntry | int:
    """The entry of this name, or the exit status after it was said why it cannot be used."""
    entry = next((one for one in ground.configuration.entries if one.name == name), None)
    for problem in ground.configuration.problems:
        is_named_file = problem.server is None and problem.scope == "command line"
        stands_before = problem.server == name and (
            entry is None or _RANKS.index(problem.scope) <= _RANKS.index(entry.scope)
        )
        if problem.severity == "error" and (is_named_file or stands_before):  # another is not what was meant
            return sorry(f"{name} cannot be used: {problem.file}: {problem.sentence}")
    if entry is None:
        return sorry(ground.unknown(name))
    if entry not in ground.review.trusted:
        sorry(f"{entry.name} is not approved for this project: hel mcp trust")
        return Exit.REFUSED
    for changed, files in ground.review.program_changes:
        if changed == name:
            sorry(f"{name} runs files that changed since you last looked: {', '.join(files)}")
    return entry


def sorry(sentence: str) -> int:
    """Say on stderr what went wrong; returns the exit status."""
    sys.stderr.write(f"hel mcp: {printable(sentence)}\n")
    return Exit.FAILED
