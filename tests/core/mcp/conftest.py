"""A host with real servers: what the tests of this folder share."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.protocol import Event, Notice, ServerChanged
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.vocabulary import Invocation, Outcome

SERVERS = Path(__file__).parents[2] / "fixtures" / "servers"
LIMIT = 30.0
"""Seconds a condition may take on a busy machine before a test fails."""


async def until(condition: Callable[[], Any], what: str = "") -> Any:
    """Wait for a condition and return what made it true."""
    async with asyncio.timeout(LIMIT):
        while not (found := condition()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found


@dataclass
class Bench:
    """A host, the events it told, and entries that run a fixture server's mode."""

    folder: Path
    events: list[Event] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    hosts: list[Host] = field(default_factory=list)
    environ: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    @property
    def host(self) -> Host:
        """The host, made when first needed, so that a test can set options before."""
        if not self.hosts:
            self.another_host()
        return self.hosts[-1]

    def another_host(self) -> Host:
        """A further host over the same folders."""
        files = SessionFiles(self.folder / "files")
        options = {"grace": 0.3, **self.options}
        host = Host(
            self.folder, self.environ, lambda: files, self.folder / "state", self.events.append, **options
        )
        self.hosts.append(host)
        return host

    def entry(self, mode: str, name: str = "fix", **more: Any) -> ServerEntry:
        """An entry for `file:mode`, such as `wire:ok`."""
        file, _, word = mode.partition(":")
        env = {"EVENTS": str(self.folder / f"{name}.events"), **more.pop("env", {})}
        args = ("-S", "-E", str(SERVERS / f"{file}.py"), word)
        given = {
            "scope": "user",
            "file": self.folder / "mcp.json",
            "transport": "stdio",
            "definition": {"mode": mode, "name": name},
            "command": sys.executable,
            "args": args,
            "env": tuple(env.items()),
            "default_cwd": self.folder,
            **more,
        }
        return ServerEntry(name=name, **given)

    async def start(self, *modes: str, name: str = "fix", **more: Any) -> Host:
        """Start servers and wait until each start came to something. Several are named a, b, c …"""
        names = [name] if len(modes) == 1 else [chr(ord("a") + n) for n in range(len(modes))]
        self.host.start([self.entry(mode, one, **more) for mode, one in zip(modes, names, strict=True)])
        async with asyncio.timeout(LIMIT):
            await self.host.settled()
        return self.host

    def status(self, name: str = "fix") -> ServerChanged:
        """The state of a server now."""
        return next(one for one in self.host.statuses() if one.name == name)

    def phases(self, name: str = "fix") -> list[str]:
        """Every phase of a server in order, repetitions left out."""
        told = [one.phase for one in self.events if isinstance(one, ServerChanged) and one.name == name]
        return [phase for n, phase in enumerate(told) if n == 0 or told[n - 1] != phase]

    def notices(self) -> list[Notice]:
        """The notices told so far."""
        return [one for one in self.events if isinstance(one, Notice)]

    def tool(self, raw: str = "echo", server: str = "fix") -> McpTool:
        """A tool that must be on offer."""
        found = self.host.catalogue.find(server, raw)
        assert found is not None, f"{server}.{raw} is not on offer"
        return found

    async def call(self, raw: str = "echo", server: str = "fix", **arguments: Any) -> Outcome:
        """Call a tool."""
        return await self.tool(raw, server).run(arguments, Invocation("id"))

    def received(self, name: str = "fix") -> list[dict[str, Any]]:
        """What a server noted: `message` for each one received, and notes of its own."""
        path = self.folder / f"{name}.events"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def methods(self, name: str = "fix") -> list[str]:
        """The methods a server was asked, in order."""
        return [one["message"].get("method", "") for one in self.received(name) if "message" in one]

    def noted(self, key: str, name: str = "fix") -> Any:
        """The newest note of a server with this key, if there is one."""
        return next((one[key] for one in reversed(self.received(name)) if key in one), None)

    def log(self, name: str = "fix") -> str:
        """The whole log of a server as text."""
        log = self.host.log(name)
        assert log is not None
        return "\n".join(f"{line.stream}: {line.text}" for line in log.lines(log.first, log.end))


def runs(pid: int) -> bool:
    """True if this process is alive."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    for host in bench.hosts:
        await host.aclose()
