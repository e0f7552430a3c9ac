"""All MCP servers of one hel: what the session starts, asks and ends.

Importing this stays cheap: the SDK comes with the first server. All methods belong to the core's loop;
logs, rows and statuses may be read from any thread. Not here: trust, reading configuration (session).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from hel_tui.core.counts import counted
from hel_tui.core.guard import Guard
from hel_tui.core.mcp.asking import Ask, Helpers, Sample, nobody
from hel_tui.core.mcp.binary import ResultFiles
from hel_tui.core.mcp.catalogue import Catalogue, LoadingMode
from hel_tui.core.mcp.choices import Choices
from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.entries import OnListChanged, ServerEntry
from hel_tui.core.mcp.failures import Failures
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.mcp.leftovers import Leftover, RunRecord, end_leftovers, find_leftovers
from hel_tui.core.mcp.life import Ground
from hel_tui.core.mcp.listchanges import ListChanges
from hel_tui.core.mcp.loader import LoadMcpTool
from hel_tui.core.mcp.logins import Logins
from hel_tui.core.mcp.logs import LogStore
from hel_tui.core.mcp.naming import Naming
from hel_tui.core.mcp.process import GRACE
from hel_tui.core.mcp.processes import Processes, Sampler
from hel_tui.core.mcp.searcher import Searcher, SearchMcpTools
from hel_tui.core.mcp.shelf import Shelf
from hel_tui.core.mcp.stores import Stores, stores_for
from hel_tui.core.mcp.supervisor import Supervisor
from hel_tui.core.mcp.verdicts import Verdicts
from hel_tui.core.protocol import (
    Closing,
    Event,
    ListChanged,
    Notice,
    Searched,
    SearchTrace,
    ServerChanged,
    ServerFailed,
    ServerFailure,
    ServerRemoved,
    ToolsChanged,
)
from hel_tui.core.threads import in_thread

HOLD = 2.0
"""Seconds a notice of a first start waits for servers before it in name order."""
MANY = 500
PAUSE = 0.2
"""With more tools than `MANY`, seconds for which changes are gathered before their sums are told."""
PROBE_TIMEOUT = 10.0
"""Seconds a server may leave the probe of the stateless protocol unanswered."""

Told = Notice | ServerFailed | ListChanged
"""What is told of first starts in name order."""
CONCERNED = ("starting", "ready", "degraded", "restarting", "needs login")
"""Phases of a server that is, or would be, connected."""


class Host:
    """Hosts servers for one project."""

    def __init__(
        self,
        project: Path,
        environ: Mapping[str, str],
        files: Callable[[], ResultFiles],
        state_dir: Path,
        on_event: Callable[[Event], None],
        *,
        clock: Clock | None = None,
        mask: Callable[[str], str] = lambda text: text,
        known: Callable[[str], str] = lambda text: text,
        hide: Callable[..., None] = lambda *_values: None,
        mirror_folder: Callable[[], Path | None] = lambda: None,
        ask: Ask = nobody,
        sample: Callable[[], Sample | None] = lambda: None,
        answerable: bool = False,
        on_list_changed: OnListChanged = "refresh",
        naming: Naming = "hash",
        loading: LoadingMode = "deferred",
        choices: Choices | None = None,
        probe_timeout: float = PROBE_TIMEOUT,
        grace: float = GRACE,
    ) -> None:
        """`files` and `mirror_folder` are asked when needed, since sessions come and go.

        `known` takes known secrets out of what the model is told; `mask` hides known secrets in whatever
        servers print, and `hide` hears of those a server is started
        with; `environ` is the person's environment. `ask` puts what servers ask to the person, unless
        nobody is there to answer; `sample` gives the model that servers may ask.
        """
        self._state_dir = state_dir
        self._on_event = on_event
        self._ask, self._sample, self._answerable = ask, sample, answerable
        self._project = project
        self._on_list_changed = on_list_changed
        self._roots: tuple[Path, ...] = (project,)
        guard = Guard()
        self.logins = Logins(state_dir, environ, ask=ask, emit=on_event, hide=hide, mask=mask)
        self._ground = Ground(
            project=project,
            environ=environ,
            guard=guard,
            record=RunRecord(state_dir, guard.run),
            verdicts=Verdicts(state_dir),
            clock=clock or Clock(),
            mask=mask,
            known=known,
            hide=hide,
            mirror_folder=mirror_folder,
            probe_timeout=probe_timeout,
            helpers=self._helpers,
            roots=lambda: self._roots,
            logins=self.logins,
            on_list_changed=lambda: self._on_list_changed,
            switches=lambda name: self._stores_of(name).switches,
            grace=grace,
        )
        self._supervisors: dict[str, Supervisor] = {}
        self.together = LogStore()
        """The logs of all servers, in order of arrival."""
        self._stores: dict[str, Stores] = {}
        self.failures = Failures(mask)
        self.list_changes = ListChanges(lambda *tool: tool in self.catalogue.choices.pinned)
        self._retired: dict[asyncio.Future[None], Supervisor] = {}
        """Those whose names others have, on their way out."""
        self._held: dict[str, list[Event]] = {}
        """Notices of first starts that wait for the servers before them in name order."""
        self.catalogue = Catalogue(
            files, self._tools_changed, choices=choices, naming=naming, loading=loading
        )
        self.shelf = Shelf(on_event)
        self._is_telling = False
        self._left = 0
        """Tools that found no room, as told last."""
        self.request_size: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """(tools in the next request, how many the provider takes; 0 for no limit)."""
        self.loader = LoadMcpTool(self.catalogue, self.starting)
        self.others: Callable[[], Iterable[ServerChanged]] = tuple
        """Servers that are configured and not run here."""
        self.on_search: Callable[[SearchTrace], None] = lambda _trace: None
        """Hears of each search."""
        self.processes = Processes(
            lambda server: Sampler(server, guard.run, state_dir, mask),
            lambda server: one.pids if (one := self.server(server)) is not None else (),
            lambda server, why: self._stores_of(server).log.remark(
                f"its processes cannot be looked at: {why}"
            ),
        )
        self.searches = Searcher(self.catalogue, self._known, self._searched, mask=mask)
        self.searcher = SearchMcpTools(self.searches)

    # ------------------------------------------------------------------ commands

    def start(self, entries: Iterable[ServerEntry]) -> None:
        """Start servers in parallel and return at once.

        A name that is known already is started anew, with the entry given now; one that is off in its
        entry is ended.
        """
        for entry in sorted(entries, key=lambda one: one.name):
            known = self._supervisors.get(entry.name)
            if known is None or (known.entry.transport == "stdio") != (entry.transport == "stdio"):
                self._begin(entry)
                continue
            known.adopt(entry)
            if known.is_switched_off:
                continue  # only the person switches it on again
            if entry.enabled:
                known.restart()
            else:
                known.switch(False)

    def _begin(self, entry: ServerEntry) -> None:
        """A supervisor of its own for this entry, in the place of whatever had the name."""
        if (before := self._supervisors.get(entry.name)) is not None:
            self._retire(before)

        def heard(event: Event) -> None:
            if self._supervisors.get(entry.name) is supervisor:
                self._emit(entry.name, event)

        supervisor = Supervisor(
            entry,
            self._ground,
            self.catalogue,
            self.shelf,
            self._stores_of(entry.name),
            heard,
            self._release,
        )
        self._supervisors[entry.name] = supervisor
        self._held.setdefault(entry.name, [])
        supervisor.open()

    def _stores_of(self, name: str) -> Stores:
        if name not in self._stores:
            ground = self._ground
            self._stores[name] = stores_for(
                name, ground.mirror_folder, ground.mask, self.together, self.failures, self.list_changes
            )
        return self._stores[name]

    def restart(self, name: str) -> bool:
        """Start a server again; False if there is none of this name that can be."""
        supervisor = self._supervisors.get(name)
        if supervisor is not None:
            supervisor.restart()
        return supervisor is not None

    def switch(self, name: str, on: bool) -> bool:
        """Turn a server on or off for this run; False if there is none of this name that can be."""
        supervisor = self._supervisors.get(name)
        if supervisor is not None:
            supervisor.switch(on)
        return supervisor is not None

    def use(self, on_list_changed: OnListChanged, naming: Naming, loading: LoadingMode) -> None:
        """Follow these settings; naming with the next list of each server."""
        self._on_list_changed = on_list_changed
        self.catalogue.naming, self.catalogue.loading = naming, loading
        self.catalogue.choices_loaded()

    def remove(self, name: str) -> None:
        """No file names this server any more: it is ended in order and no longer listed."""
        supervisor = self._supervisors.pop(name, None)
        if supervisor is None:
            return
        self._held.pop(name, None)
        self._retire(supervisor)
        self._on_event(ServerRemoved(name))
        self._release()

    def _retire(self, supervisor: Supervisor) -> None:
        """Another has its name, or nobody has: it ends beside everything else."""
        supervisor.retire()
        closing = asyncio.ensure_future(supervisor.close())
        self._retired[closing] = supervisor
        closing.add_done_callback(self._retired.pop)

    def starting(self) -> tuple[str, ...]:
        """Servers that are on their way, in name order."""
        return tuple(
            one.entry.name for one in self.servers() if one.status.phase in ("starting", "restarting")
        )

    def server(self, name: str) -> Supervisor | None:
        """The server of this name, to ask things of it."""
        return self._supervisors.get(name)

    def servers(self) -> tuple[Supervisor, ...]:
        """All servers in name order."""
        return tuple(one for _, one in sorted(self._supervisors.items()))

    async def login(self, name: str) -> str:
        """Authorize at a server; start it if it is not connected. Returns "" or why it came to nothing."""
        supervisor = self._supervisors.get(name)
        if supervisor is None:
            return f"there is no server named {name}"
        problem = await self.logins.login(supervisor.entry, self._ground)
        if not problem:
            supervisor.authorized()
        return problem

    async def logout(self, name: str) -> str:
        """Give up the authorization at a server and end its connection. Returns "" or a sentence.

        One that was connected, or tried to, is asked again without it; one that is off is left alone.
        """
        supervisor = self._supervisors.get(name)
        if supervisor is None:
            return f"there is no server named {name}"
        problem = await self.logins.logout(supervisor.entry, self._ground)
        if supervisor.status.phase in CONCERNED:
            supervisor.restart()
        return problem

    async def change_roots(self, roots: tuple[Path, ...]) -> None:
        """Servers that ask for the roots get these from now on, and are told that there are others."""
        if roots == self._roots:
            return
        self._roots = roots
        for supervisor in self.servers():
            await supervisor.contact.roots_changed()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders servers may take for the person's work; the project first."""
        return self._roots

    def doubt(self) -> None:
        """The machine slept or the network changed: no connection is believed without an answer."""
        for supervisor in self.servers():
            supervisor.contact.doubt()

    def _helpers(self) -> Helpers:
        return Helpers(self._ask, self._sample(), self._answerable)

    async def settled(self) -> None:
        """Wait until the first start of each server came to something: ready, failed, off or slow."""
        for supervisor in list(self._supervisors.values()):
            await supervisor.settled.wait()

    async def aclose(self) -> None:
        """End all servers in parallel, telling with `Closing` events who is waited for."""
        waiting = {name for name, supervisor in self._supervisors.items() if supervisor.is_alive}
        self.processes.close()

        async def close(name: str, supervisor: Supervisor) -> None:
            await supervisor.close()
            if name in waiting:
                waiting.discard(name)
                self._on_event(Closing(tuple(sorted(waiting))))

        self._on_event(Closing(tuple(sorted(waiting))))
        await asyncio.gather(*self._retired, *(close(name, one) for name, one in self._supervisors.items()))
        for stores in self._stores.values():
            stores.frames.bodies.close()
        await self.logins.aclose()
        await self._ground.guard.close()
        await in_thread(self._ground.record.end, "hel-record")

    def kill_all(self) -> None:
        """End all processes at once; `aclose` then has nothing to wait for. Safe from any thread."""
        for supervisor in (*self._supervisors.values(), *self._retired.values()):
            supervisor.kill()

    # ------------------------------------------------------------------- reading

    def statuses(self) -> tuple[ServerChanged, ...]:
        """The state of every server, in name order."""
        return tuple(self._masked(one.status.snapshot()) for _, one in sorted(self._supervisors.items()))

    def _known(self) -> tuple[ServerChanged, ...]:
        """The state of every configured server, by name."""
        others = [one for one in self.others() if one.name not in self._supervisors]
        return tuple(sorted((*self.statuses(), *others), key=lambda one: one.name))

    def log(self, name: str) -> LogStore | None:
        """What a server printed on stderr and logged, with hel's remarks; None for an unknown name.

        Of all servers together for the empty name.
        """
        if not name:
            return self.together
        stores = self._stores.get(name)
        return stores.log if stores is not None else None

    def frames(self, name: str) -> FrameStore | None:
        """The trace of a server's wire; None for an unknown name."""
        stores = self._stores.get(name)
        return stores.frames if stores is not None else None

    def failure(self, name: str) -> ServerFailure | None:
        """What is known about the last failure of a server; None while it is well."""
        supervisor = self._supervisors.get(name)
        return supervisor.failure if supervisor is not None else None

    def runs(self, entry: ServerEntry) -> bool:
        """Whether the server of this name was last started with exactly this entry."""
        supervisor = self._supervisors.get(entry.name)
        return supervisor is not None and supervisor.entry == entry

    # ----------------------------------------------------------------- leftovers

    async def leftovers(self) -> tuple[Leftover, ...]:
        """Servers of earlier runs that still run although their hel is gone."""
        return await in_thread(lambda: find_leftovers(self._state_dir), "hel-leftovers")

    async def end_leftovers(self, leftovers: tuple[Leftover, ...]) -> None:
        """End them: SIGTERM, two seconds, SIGKILL."""
        await in_thread(lambda: end_leftovers(leftovers), "hel-end-leftovers")

    # -------------------------------------------------------------------- events

    def _masked(self, status: ServerChanged) -> ServerChanged:
        """A reason may quote what the entry's variables were filled in with."""
        return replace(status, reason=self._ground.mask(status.reason)) if status.reason else status

    def _emit(self, name: str, event: Event) -> None:
        if isinstance(event, ServerChanged):
            event = self._masked(event)
        if isinstance(event, Told) and name in self._held:
            if not any(self._held.values()):
                asyncio.get_running_loop().call_later(HOLD, self._let_out)
            self._held[name].append(event)
            self._release()
        else:
            self._on_event(event)

    def _release(self) -> None:
        """Let out notices of first starts in name order, whoever was quicker."""
        for name in sorted(self._held):
            if not self._supervisors[name].settled.is_set():
                return
            for notice in self._held.pop(name):
                self._on_event(notice)

    def _let_out(self) -> None:
        """What was held long enough is told, in name order, although others are still starting."""
        for name in sorted(name for name, notices in self._held.items() if notices):
            for notice in self._held.pop(name):
                self._on_event(notice)

    def _searched(self, trace: SearchTrace) -> None:
        self.on_search(trace)
        self._on_event(Searched(trace.number))

    def _tools_changed(self) -> None:
        """Tell the sums, once for all changes of this moment: many servers may come at once."""
        if not self._is_telling:
            self._is_telling = True
            pause = PAUSE if self.catalogue.offered > MANY else 0.0
            asyncio.get_running_loop().call_later(pause, self._tell_tools)

    def _tell_tools(self) -> None:
        self._is_telling = False
        left = self.catalogue.without_room
        if left > self._left:
            self._on_event(
                Notice(
                    "warning",
                    f"No room for {counted(left, 'tool')} that should load unasked: the provider takes no "
                    "more in a request. Switch off or unload others to make room.",
                )
            )
        self._left = left
        sums = self.catalogue.totals()
        self._on_event(
            ToolsChanged(
                self.catalogue.version,
                sums.loaded,
                sums.offered,
                sums.loaded_tokens,
                sums.offered_tokens,
                *self.request_size(),
            )
        )
