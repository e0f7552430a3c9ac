"""One life of a server that is a process of this machine: started, drained, ended with all it started.

Not here: pipes and signals (process), what is said through them (connection).
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from functools import partial

from hel_tui.core.mcp.entries import Launch, Unset
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.intake import LogIntake, Mirror
from hel_tui.core.mcp.launching import advice_for, child_environment, find_command
from hel_tui.core.mcp.life import Life, load_sdk
from hel_tui.core.mcp.process import EXIT_FOLLOWS, ServerProcess, spawn
from hel_tui.core.protocol import ServerFailure
from hel_tui.core.store.redact import command_line, secret_words, secrets_in
from hel_tui.core.threads import in_thread

FAILED_GRACE = 1.0
"""Seconds a server whose start failed gets between the steps of its end."""
PARTIAL_LINE = 0.15
"""Seconds after which the beginning of a stderr line is shown."""
STDERR_TOLD = 20


@dataclass(slots=True)
class LocalLife(Life):
    """One process of a server, its stderr and its connection. `run` once."""

    process: ServerProcess | None = None
    resolved: str = ""
    left: str = ""
    """How the process ended by itself; empty when hel ended it."""
    stderr_bytes: int = 0
    """How much it has written to stderr: a sign of life."""
    _launch: Launch | None = None
    _env_names: tuple[str, ...] = ()

    async def _live(self) -> None:
        beginning = in_thread(self.ground.record.begin, "hel-record")
        (launch, env), _ = await asyncio.gather(self._prepare(), beginning)
        self.resolved = find_command(launch, env)
        if not self.is_wanted:
            return
        self.first_line = self.log.end
        env[self.ground.guard.variable] = self.ground.guard.mark(self.entry.name)
        process = self.process = spawn(self.resolved, launch.args, env, launch.cwd)
        draining = asyncio.create_task(self._drain(process), name=f"mcp-stderr-{self.entry.name}")
        line = self.ground.mask(command_line(launch.command, launch.args))
        self.ground.guard.watch(process.pid)
        noting = asyncio.create_task(self._note(process.pid, line))
        self.log.started(f"started, pid {process.pid}: {line}")
        self.hooks.on_started(process.pid)
        grace = FAILED_GRACE
        try:
            await self._talk(process)
            grace = self.ground.grace
        finally:
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
            raise launch.fault()
        self.ground.hide(*secrets_in(dict(launch.env)), *secret_words(launch.args))
        env = child_environment(launch, self.ground.environ)
        self._launch, self._env_names = launch, tuple(sorted(env))
        self.advice = advice_for(launch)
        return launch, env

    def _expanded(self) -> Launch | Unset:
        from hel_tui.core.mcp.expand import expand_launch

        return expand_launch(self.entry, self.ground.environ, self.ground.keyring)

    async def _talk(self, process: ServerProcess) -> None:
        await self._load_sdk(process)
        from hel_tui.core.mcp.stdio import PipeLink

        try:
            await self._converse(
                PipeLink(process, self.log.remark),
                skip_probe=self.ground.verdicts.ignores_probe(self.entry.definition),
            )
        except ServerFault as fault:
            process.stopping = process.stopping or fault.was_there
            raise

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

    def _end_fault(self) -> ServerFault:
        return ServerFault("run", self.left or "it closed its stdout or stdin")

    @property
    def pid(self) -> int:
        """Its process; 0 before it runs."""
        return self.process.pid if self.process is not None else 0

    async def _cut(self) -> None:
        if self.process is not None:
            await self.process.stop(self.ground.grace)

    def kill(self) -> None:
        """End its processes at once."""
        if self.process is not None:
            self.process.kill()

    # ------------------------------------------------------------------- stderr

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

    # ------------------------------------------------------------------- looking

    async def look_for_helpers(self) -> None:
        """Note what the server has started, so that it goes too, even if hel is killed."""
        if self.process is not None:
            for pid in await self.process.look_for_helpers():
                self.ground.guard.watch_helper(pid)

    async def signs(self) -> tuple[float, ...]:
        """Bytes on stderr, processor time."""
        if self.process is None:
            return (self.stderr_bytes,)
        seconds = await in_thread(partial(_processor_seconds, self.process.pid), "hel-signs")
        return (self.stderr_bytes, round(seconds, 1))

    def failure(self, fault: ServerFault) -> ServerFailure:
        """Everything known about how it failed."""
        mask, launch = self.ground.mask, self._launch
        return ServerFailure(
            server=self.entry.name,
            stage=fault.stage,
            sentence=fault.sentence,
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


def _processor_seconds(pid: int) -> float:
    """Processor time of a process and all it started."""
    import psutil

    total = 0.0
    try:
        leader = psutil.Process(pid)
        for process in (leader, *leader.children(recursive=True)):
            times = process.cpu_times()
            total += times.user + times.system
    except psutil.Error:
        return total
    return total
