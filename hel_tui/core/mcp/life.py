"""One life of one server: from its entry to a running process and back to nothing.

Not here: whether there is another life after this one (supervisor), the protocol (connection).
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hel_tui.core.guard import Guard
from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.entries import Launch, ServerEntry, Unset
from hel_tui.core.mcp.faults import CallFault, ServerFault
from hel_tui.core.mcp.launching import child_environment, find_command
from hel_tui.core.mcp.leftovers import RunRecord
from hel_tui.core.mcp.logs import LogIntake, LogStore, Mirror
from hel_tui.core.mcp.process import EXIT_FOLLOWS, GRACE, ServerProcess, spawn
from hel_tui.core.mcp.verdicts import Verdicts
from hel_tui.core.protocol import ServerFailure
from hel_tui.core.store.redact import command_line, secret_words, secrets_in
from hel_tui.core.store.secrets import keyring_value
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json, ProgressFn

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import Connection, ConnectionHooks
    from hel_tui.core.mcp.handshake import Hello

FAILED_GRACE = 1.0
"""Seconds a server whose start failed gets between the steps of its end."""
PARTIAL_LINE = 0.15
"""Seconds after which the beginning of a stderr line is shown."""
NOISE_KEPT = 1000
"""Lines of noise that go to the log; more are counted only."""
STDERR_TOLD = 20
_CONNECTION = "hel_tui.core.mcp.connection"
_sdk_loaded = threading.Event()


@dataclass(slots=True)
class Ground:
    """What the lives of all servers stand on."""

    project: Path
    environ: Mapping[str, str]
    guard: Guard
    record: RunRecord
    verdicts: Verdicts
    clock: Clock
    mask: Callable[[str], str]
    hide: Callable[..., None]
    """Hears the credentials a server is given, before it starts."""
    mirror_folder: Callable[[], Path | None]
    """Where the session keeps what servers print on stderr."""
    probe_timeout: float
    grace: float = GRACE


@dataclass(slots=True)
class LifeHooks:
    """What the supervisor wants to know of a life."""

    connection: Callable[[], ConnectionHooks]
    on_started: Callable[[int], None]
    """The process runs; its pid."""
    on_lost: Callable[[], None]
    """The connection is over; ending what is left of the process may take a while."""
    on_noise: Callable[[str], None]
    on_latency: Callable[[float], None]


@dataclass(slots=True)
class Life:
    """One process of a server, its stderr and its connection. `run` once."""

    entry: ServerEntry
    ground: Ground
    log: LogStore
    hooks: LifeHooks
    process: ServerProcess | None = None
    resolved: str = ""
    left: str = ""
    """How the process ended by itself; empty when hel ended it."""
    stderr_bytes: int = 0
    """How much it has written to stderr: a sign of life."""
    first_line: int = 0
    """Where in the log this life begins."""
    noise: list[str] = field(default_factory=list)
    _launch: Launch | None = None
    _env_names: tuple[str, ...] = ()
    _connection: Connection | None = None
    _unwanted: str | None = None
    """Why it is to end; None while it is wanted, "" when that is no failure."""

    async def run(self) -> ServerFault:
        """Live until the end and say what it was; never raises for anything a server does."""
        try:
            await self._live()
        except ServerFault as fault:
            return self._judged(fault)
        except Exception as error:
            for line in traceback.format_exception(error):
                self.log.remark(line.rstrip())
            return ServerFault("run", f"a fault of hel ended the connection: {type(error).__name__}: {error}")
        return self._judged(ServerFault("run", self.left or "it closed its stdout or stdin"))

    def _judged(self, fault: ServerFault) -> ServerFault:
        return ServerFault("handshake", self._unwanted) if self._unwanted else fault

    async def _live(self) -> None:
        beginning = in_thread(self.ground.record.begin, "hel-record")
        (launch, env), _ = await asyncio.gather(self._prepare(), beginning)
        self.resolved = find_command(launch, env)
        if self._unwanted is not None:
            return
        self.first_line = self.log.end
        env[self.ground.guard.variable] = self.ground.guard.mark(self.entry.name)
        process = self.process = spawn(self.resolved, launch.args, env, launch.cwd)
        draining = asyncio.create_task(self._drain(process), name=f"mcp-stderr-{self.entry.name}")
        line = self.ground.mask(command_line(launch.command, launch.args))
        self.ground.guard.watch(process.pid)
        noting = asyncio.create_task(self._note(process.pid, line))
        self.log.remark(f"started, pid {process.pid}: {line}")
        self.hooks.on_started(process.pid)
        grace = FAILED_GRACE
        try:
            self._connection = await self._connect(process)
            skip = self.ground.verdicts.ignores_probe(self.entry.definition)
            await self._connection.live(skip_probe=skip)
            grace = self.ground.grace
        finally:
            self._connection = None
            self.hooks.on_lost()
            await self._end(process, grace)
            await noting
            await in_thread(lambda: self.ground.record.remove(process.pid), "hel-record")
            await draining
            self.log.remark(f"ended: {process.exit or 'it does not react to SIGKILL'}")

    async def _note(self, pid: int, line: str) -> None:
        record, server = self.ground.record, self.entry.name
        await in_thread(lambda: record.add(server, pid, line), "hel-record")

    async def _prepare(self) -> tuple[Launch, dict[str, str]]:
        # In a thread: an entry may ask the keyring, which may ask the person.
        launch = await in_thread(self._expanded, "hel-expand")
        if isinstance(launch, Unset):
            names = " and ".join(launch.names)
            verb = "is" if len(launch.names) == 1 else "are"
            raise ServerFault("find", f"not started: {names} {verb} not set", lasting=True)
        self.ground.hide(*secrets_in(dict(launch.env)), *secret_words(launch.args))
        env = child_environment(launch, self.ground.environ)
        self._launch, self._env_names = launch, tuple(sorted(env))
        return launch, env

    def _expanded(self) -> Launch | Unset:
        from hel_tui.core.mcp.expand import expand_launch

        def secret(name: str) -> str | None:
            value = keyring_value(name)
            self.ground.hide(*filter(None, [value]))
            return value

        return expand_launch(self.entry, self.ground.environ, secret)

    async def _connect(self, process: ServerProcess) -> Connection:
        await self._load_sdk(process)
        from hel_tui.core.mcp.connection import Connection
        from hel_tui.core.mcp.wire import WireHooks

        wire_hooks = WireHooks(
            on_noise=self._take_noise,
            on_note=lambda _method, _params: None,
            on_stray=self.log.remark,
            on_latency=self.hooks.on_latency,
        )
        return Connection(
            self.entry,
            process,
            self.ground.project,
            self.hooks.connection(),
            wire_hooks,
            probe_timeout=self.ground.probe_timeout,
        )

    async def _load_sdk(self, process: ServerProcess) -> None:
        """Import the SDK; a server that is gone before is not waited for."""
        loading = asyncio.create_task(load_sdk())
        gone = asyncio.create_task(process.exited.wait())
        await asyncio.wait({loading, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if not loading.done():
            loading.cancel()
            raise ServerFault("handshake", f"it ended ({process.exit}) before it answered initialize")
        loading.result()

    async def _end(self, process: ServerProcess, grace: float) -> None:
        for pid in await process.look_for_helpers():
            self.ground.guard.watch_helper(pid)
        if not process.stopping:
            await process.wait(EXIT_FOLLOWS)
        await process.stop(grace)
        self.left = "" if process.stopping else str(process.exit or "")
        for pid in (process.pid, *await process.look_for_helpers()):
            self.ground.guard.forget(pid)
        process.close()

    # ------------------------------------------------------------------- streams

    async def _drain(self, process: ServerProcess) -> None:
        folder = self.ground.mirror_folder()
        mirror = Mirror(folder / f"{self.entry.name}.stderr.log") if folder is not None else None
        intake = LogIntake(self.log, "stderr", mask=self.ground.mask, mirror=mirror)
        while True:
            data = await self._next_stderr(process, intake)
            if not data:
                intake.close()
                return
            self.stderr_bytes += len(data)
            intake.feed(data)
            await asyncio.sleep(0)

    async def _next_stderr(self, process: ServerProcess, intake: LogIntake) -> bytes:
        if intake.unfinished:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PARTIAL_LINE):
                    return await process.stderr.read()
            intake.flush()
        return await process.stderr.read()

    def _take_noise(self, text: str) -> None:
        if len(self.noise) < NOISE_KEPT:
            self.noise.append(self.ground.mask(text))
            self.log.append([self.noise[-1]], "stdout")
        self.hooks.on_noise(text)

    # ---------------------------------------------------------------------- use

    async def call(self, raw: str, arguments: Json, on_progress: ProgressFn) -> Json:
        """Call a tool; see `Connection.call`."""
        if self._connection is None:
            raise CallFault("unavailable", f'The server "{self.entry.name}" is not connected.')
        return await self._connection.call(raw, arguments, on_progress)

    async def look_for_helpers(self) -> None:
        """Note what the server has started, so that it goes too, even if hel is killed."""
        if self.process is not None:
            for pid in await self.process.look_for_helpers():
                self.ground.guard.watch_helper(pid)

    async def remember(self, hello: Hello) -> None:
        """Note for later starts whether the server ignores the probe."""
        verdicts, definition = self.ground.verdicts, self.entry.definition
        if hello.ignored_probe:
            await in_thread(lambda: verdicts.note_silence(definition), "hel-verdict")
        elif hello.era == "stateless" and verdicts.ignores_probe(definition):
            await in_thread(lambda: verdicts.forget(definition), "hel-verdict")

    @property
    def is_wanted(self) -> bool:
        """False once it is to end."""
        return self._unwanted is None

    async def stop(self, why: str = "") -> None:
        """End it. `why` makes it a failure with that sentence."""
        self.give_up(why)
        if self.process is not None:
            await self.process.stop(self.ground.grace)

    def give_up(self, why: str = "") -> None:
        """It is to end: nothing it still tells matters. `stop` then ends it."""
        self._unwanted = why

    def failure(self, fault: ServerFault) -> ServerFailure:
        """Everything known about how it failed."""
        mask, launch = self.ground.mask, self._launch
        return ServerFailure(
            server=self.entry.name,
            stage=fault.stage,
            sentence=mask(fault.sentence),
            command_line=mask(command_line(launch.command, launch.args)) if launch is not None else "",
            resolved=self.resolved or fault.resolved,
            cwd=str(launch.cwd) if launch is not None else "",
            env_names=self._env_names,
            exit=self.left,
            stderr=tuple(self.log.tail(STDERR_TOLD, "stderr", self.first_line))
            if self.process is not None
            else (),
            noise=tuple(self.noise[:5]),
        )


async def load_sdk() -> None:
    """Import the SDK in a thread of its own: it takes a second or more, and the loop must go on.

    A module stands in `sys.modules` before it can be used, so only a finished import counts; who comes
    meanwhile waits in a thread too.
    """
    if _sdk_loaded.is_set():
        return
    for name in ("client", "mcp", "httpx2"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False  # what the SDK logs would land on the terminal
    await in_thread(_import_sdk, "hel-import-mcp")


def _import_sdk() -> None:
    importlib.import_module(_CONNECTION)
    _sdk_loaded.set()
