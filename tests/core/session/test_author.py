"""Which files author mode follows, by what the entries say."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.staging import Renewed
from hel_tui.core.session.author import Author
from tests.rig import LIMIT


@dataclass
class Supervisor:
    """Says when it is to be renewed; nothing is started."""

    entry: ServerEntry
    renewed: asyncio.Event = field(default_factory=asyncio.Event)

    async def renew(self) -> Renewed:
        self.renewed.set()
        return Renewed(refused="it is a test")


@dataclass
class Ground:
    """An author over servers that are only entries."""

    project: Path
    supervisors: dict[str, Supervisor] = field(default_factory=dict)
    told: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)

    def server(self, name: str) -> Supervisor | None:
        return self.supervisors.get(name)

    def servers(self) -> tuple[Supervisor, ...]:
        return tuple(self.supervisors.values())

    def add(self, **more: Any) -> Supervisor:
        entry = ServerEntry("mine", "project", self.project / "f.json", "stdio", {}, watch=("*.py",))
        made = self.supervisors["mine"] = Supervisor(replace(entry, **{"default_cwd": self.project, **more}))
        return made

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[Author]:
        spawned: list[asyncio.Task[None]] = []
        author = Author(
            project=self.project,
            host=self,  # type: ignore[arg-type]
            reruns=None,  # type: ignore[arg-type]
            emit=self.told.put_nowait,
            spawn=lambda work: spawned.append(asyncio.ensure_future(work)),
        )
        task = asyncio.ensure_future(author.watch())
        try:
            yield author
        finally:
            task.cancel()
            await asyncio.gather(task, *spawned, return_exceptions=True)


async def saved(file: Path, heard: asyncio.Event) -> None:
    """Save a file, again and again, until it is heard: nobody tells from when on a folder is watched."""
    async with asyncio.timeout(LIMIT):
        for number in itertools.count():
            await asyncio.to_thread(file.write_text, str(number))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(heard.wait(), 0.5)
                return


async def test_an_entry_that_moved_is_watched_at_its_new_place(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    supervisor = ground.add(default_cwd=old)
    async with ground.watched() as author:
        await saved(old / "a.py", supervisor.renewed)
        moved = ground.add(default_cwd=new)
        author.hear(p.ServerChanged("mine", "ready"))
        await saved(new / "a.py", moved.renewed)


async def test_watch_of_an_address_is_answered_with_a_sentence_once(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    ground.add(transport="http", url="https://x.example/mcp")
    async with ground.watched() as author:
        notice = await asyncio.wait_for(ground.told.get(), LIMIT)
        author.hear(p.ServerChanged("mine", "ready"))
        author.hear(p.ServerChanged("mine", "ready"))
        assert ground.told.empty()
        assert (notice.severity, notice.source) == ("warning", "mine")
        assert "this one is an address" in notice.text
