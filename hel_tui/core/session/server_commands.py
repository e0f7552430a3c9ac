"""What a person commands about servers and what they offer.

Not here: conversation and turns (conversation, turns), the servers themselves (mcp).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.session.offerings import sentence
from hel_tui.core.session.parts import Emit, Parts
from hel_tui.core.threads import in_thread


class ServerCommands:
    """Carries them out in the core's loop, beside the turns."""

    def __init__(
        self,
        parts: Parts,
        project: Path,
        emit: Emit,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """`spawn` runs work that takes a while; its failures are told."""
        self._parts = parts
        self._project = project
        self._emit = emit
        self._spawn = spawn

    def obey(self, command: p.Command) -> None:
        """Carry out a command. Raises ValueError for one that nobody knows."""
        parts = self._parts
        others = (parts.inside, parts.authoring, parts.doctor, parts.attaching)
        if any(one.obey(command) for one in others):
            return
        match command:
            case p.RestartServer(server):
                self._expect(self._parts.host.restart(server), server)
            case p.SwitchServer(server, on):
                self._expect(self._parts.host.switch(server, on), server)
            case p.LoadTools(names):
                self._parts.tools.load(names)
            case p.UnloadTools(names):
                self._parts.tools.unload(names)
            case p.PinTools(names, on):
                self._parts.tools.pin(names, on)
            case p.SwitchTool(server, tool, on):
                self._parts.tools.switch(server, tool, on)
            case p.SeenTool(server, tool):
                self._parts.tools.seen(server, tool)
            case p.SearchTools(query):
                self._spawn(self._parts.searches.search(query))
            case p.ReviewTrust():
                self._spawn(self._parts.servers.look_again())
            case p.ApplyConfig():
                self._spawn(self._parts.servers.look_again(quiet=True))
            case p.Login(server):
                self._spawn(self._log_in(server))
            case p.Logout(server):
                self._spawn(self._log_out(server))
            case p.PingServer(server):
                self._spawn(self._ping(server))
            case p.LookAtPrompt():
                self._spawn(self._parts.offerings.look_at_prompt(command))
            case p.SetLogLevel(server, level):
                self._spawn(self._set_log_level(server, level))
            case p.ChangeRoots(add, remove):
                self._spawn(self._change_roots(add, remove))
            case _:
                self._obey_about_offerings(command)

    def _obey_about_offerings(self, command: p.Command) -> None:
        offerings = self._parts.offerings
        match command:
            case p.ListResources(server):
                self._spawn(offerings.list_resources(server))
            case p.ReadResource(server, uri):
                self._spawn(offerings.look(server, uri))
            case p.WatchResource(server, uri, on):
                self._spawn(offerings.watch(server, uri, on))
            case p.Attach(server, uri):
                self._spawn(self._attach(server, uri))
            case p.Detach(server, uri):
                offerings.detach(server, uri)
            case p.CompleteArgument():
                self._spawn(offerings.complete(command))
            case _:
                raise ValueError("hel does not know this command")

    def _expect(self, done: bool, server: str) -> None:
        if not done:
            self._warn(f"{server} cannot be started: there is no such trusted server.")

    async def _log_in(self, server: str) -> None:
        if problem := await self._parts.host.login(server):
            self._emit(p.Notice("warning", sentence(f"No login: {problem}"), server))

    async def _log_out(self, server: str) -> None:
        problem = await self._parts.host.logout(server)
        self._emit(p.Notice("info", problem or "Logged out; its tokens are forgotten.", server))

    async def _ping(self, server: str) -> None:
        supervisor = self._parts.host.server(server)
        if supervisor is None:
            self._warn(f"There is no server named {server}.")
            return
        began = time.monotonic()
        try:
            await supervisor.through(lambda connection: connection.ping())
        except CallFault as fault:
            self._emit(p.Notice("warning", str(fault), server))
        else:
            taken = (time.monotonic() - began) * 1000
            self._emit(p.Notice("info", f"It answered a ping in {taken:.1f} ms.", server))

    async def _set_log_level(self, server: str, level: p.LogLevel) -> None:
        supervisor = self._parts.host.server(server)
        if supervisor is None:
            self._warn(f"There is no server named {server}.")
            return
        try:
            await supervisor.through(lambda connection: connection.set_log_level(level))
        except CallFault as fault:
            self._emit(p.Notice("warning", str(fault), server))
        else:
            self._emit(p.Notice("info", f"Log level: {level}.", server))

    async def _change_roots(self, add: tuple[str, ...], remove: tuple[str, ...]) -> None:
        host, project = self._parts.host, self._project
        roots, strange = await in_thread(lambda: _roots(host.roots, project, add, remove), "hel-roots")
        for path in strange:
            self._warn(f"{path} is not a folder: it was not added to the roots.")
        await host.change_roots(tuple(roots))
        self._emit(p.Notice("info", "Servers are told these roots: " + ", ".join(map(str, roots)) + "."))

    async def _attach(self, server: str, uri: str) -> None:
        if problem := await self._parts.offerings.attach(server, uri):
            self._emit(p.Notice("warning", problem, server))

    def _warn(self, text: str) -> None:
        self._emit(p.Notice("warning", text))


def _roots(
    now: tuple[Path, ...], project: Path, add: tuple[str, ...], remove: tuple[str, ...]
) -> tuple[list[Path], list[Path]]:
    """Return the roots from now on, the project among them, and what was to be added but is no folder."""

    def whole(path: str) -> Path:
        return (project / Path(path).expanduser()).resolve()

    gone = set(map(whole, remove))
    roots = [root for root in now if root == project or root not in gone]
    added = list(map(whole, add))
    roots += [path for path in dict.fromkeys(added) if path.is_dir() and path not in roots]
    return roots, [path for path in added if not path.is_dir()]
