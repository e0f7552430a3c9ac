"""One soak: storms and calm, what a person does meanwhile, and what is looked at in hel all along.

Not here: the command line (soak), the model and the servers (soak_parts, fixtures/servers/shaky).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import random
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime
from tests.bench.program import environment
from tests.bench.soak_parts import SHAKY, Model, Site
from tests.bench.soaked import KEPT, Sample, Soaked

OVER = ("ok", "failed", "refused", "cancelled")
TIMEOUT = 1.0
"""Seconds a call may wait."""
TURNS = 6
"""Turns of a session before the next one begins."""
PATIENCE = 60.0
"""Seconds in which nothing is heard of what is waited for, nor of any call."""
FALSE_FOR = 8.0
"""Seconds after which what is shown of a server and is not so is a fault."""
WARM = 0.15
"""Share of the time after which the first calm moment comes."""
CALM = "calm"
"""The message of a turn in which every call must work."""


class Soak:
    """One soak. `run` once."""

    def __init__(self, folder: Path, servers: int, seed: int, every: float, rest: float) -> None:
        self.found = Soaked()
        self._rest_time = rest
        self._names = [f"s{number}" for number in range(servers)]
        self._chance = random.Random(seed)
        self._calm = folder / "calm"
        self._token = f"soak-{os.getpid()}-{time.time_ns()}"
        self._mishaps = folder / "mishaps"
        env = {
            "SEED": str(seed),
            "EVERY": str(every),
            "CALM": str(self._calm),
            "MISHAPS": str(self._mishaps),
            "SOAK": self._token,
        }
        self._sites = [Site({**env, "EVENTS": os.devnull}) for _ in self._names[1::2]]
        self._model = Model(self._names, seed, self.found)
        self._mcp = folder / "servers.json"
        self._mcp.write_text(json.dumps({"servers": dict(self._entries(env))}))
        project = folder / "project"
        project.mkdir()
        self._options = Options(
            project=project,
            environ=environment(folder, HEL_API_KEY="none"),
            model="scripted/scripted",
            access="auto",
            max_steps=10_000,
            server_wait=0.2,
            mcp_config=(self._mcp,),
        )
        self._core: Runtime | None = None
        self._states: dict[str, p.ServerChanged] = {}
        self._open: dict[str, str] = {}
        """Calls that were started and have not ended: id -> state."""
        self._failed: deque[str] = deque(maxlen=KEPT)
        """What the last failed calls said."""
        self._turns = 0
        self._news = 0.0
        """When a call last began or ended."""
        self._false: dict[str, float] = {}
        """What is shown and is not so: since when."""

    def _entries(self, env: dict[str, str]) -> Any:
        for number, name in enumerate(self._names):
            more: dict[str, Any] = {"timeout": TIMEOUT, "always_load": True, "parallel": number % 3 == 0}
            if number % 2:
                more["url"] = f"http://127.0.0.1:{self._sites[number // 2].port}/mcp"
            else:
                args = ["-S", "-E", str(SHAKY), "stdio"]
                more |= {"command": sys.executable, "args": args, "env": {**env, "NAME": name}}
            yield name, more

    def __enter__(self) -> Soak:
        self._model.endpoint.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._model.endpoint.__exit__()
        for site in self._sites:
            site.close()

    # ---------------------------------------------------------------------- run

    def run(self, seconds: float) -> Soaked:
        """Soak for so long."""
        self._core = core = Runtime(replace(self._options, base_url=self._model.endpoint.url))
        core.start()
        began = time.monotonic()
        try:
            self._storm(began + seconds * WARM)
            self._rest()
            self._storm(began + seconds)
            self._rest()
        except TimeoutError:
            pass  # it is among the problems
        finally:
            self.found.seconds = time.monotonic() - began
            if not core.stop(30.0):
                self.found.wrong("hel did not end by itself within 30 s")
            self._take()
        self._count_orphans()
        if self._mishaps.exists():
            happened = Counter(self._mishaps.read_text().split())
            self.found.counts.update({f"mishaps: {name}": number for name, number in happened.items()})
        for identity, state in self._open.items():
            self.found.wrong(f"call {identity} never ended: {state}")
        return self.found

    def _storm(self, end: float) -> None:
        """Turn after turn, whatever happens."""
        self._calm.unlink(missing_ok=True)
        looked = 0.0
        while time.monotonic() < end and len(self.found.problems) < KEPT:
            self._turn("go on", self._meddle)
            if self._turns % TURNS == 0:
                self._send(p.NewSession())
            if time.monotonic() - looked > 1.0:
                looked = time.monotonic()
                self._sample()
                self._look()

    def _rest(self) -> None:
        """Without mishaps every server works, and so does every call; then see what hel holds."""
        self._calm.touch()
        self._send(p.NewSession())
        self._take()
        self._states.clear()  # only what is told from now on counts
        for name in self._names:
            self._send(p.RestartServer(name))
        self._until(self._all_ready, "all servers ready")
        for name in self._names:  # a mishap that was under way may cost one call
            self._model.plan = [[name], []]
            self._turn(CALM)
        before = Counter(self.found.counts)
        self._model.plan = [list(self._names), []]
        self._turn(CALM)
        good = self.found.counts["calls ok"] - before["calls ok"]
        if good != len(self._names):
            self.found.wrong(
                f"only {good} of {len(self._names)} calls worked in calm: {list(self._failed)[good - len(self._names) :]}"
            )
        self._send(p.NewSession())
        self.found.calm.append(self._steady())

    def _turn(self, text: str, meddle: Callable[[], None] = lambda: None) -> None:
        before = self._turns
        self._send(p.Submit(text))
        interrupts = text != CALM and self._chance.random() < 0.03
        self._until(lambda: self._turns > before, "the end of a turn", meddle, interrupts=interrupts)

    def _meddle(self) -> None:
        """What a person does meanwhile, once in a while."""
        for name, state in self._states.items():
            if state.phase in ("failed", "off") and self._chance.random() < 0.02:
                self._send(p.SwitchServer(name, True))
        if self._chance.random() < 0.004:
            self._send(p.RestartServer(self._chance.choice(self._names)))
        if self._chance.random() < 0.002:
            self._send(p.SwitchServer(self._chance.choice(self._names), False))

    def _until(
        self,
        true: Callable[[], bool],
        what: str,
        meddle: Callable[[], None] = lambda: None,
        *,
        interrupts: bool = False,
    ) -> None:
        self._news = time.monotonic()
        assert self._core is not None
        while not true():
            if time.monotonic() - self._news > PATIENCE:
                self.found.wrong(f"waited in vain for {what}: {self._open} {self._shown()}\n{self._waits()}")
                raise TimeoutError(what)
            self._core.wait(0.05)
            self._take()
            meddle()
            if interrupts and self._open:
                self._send(p.Interrupt())
                self.found.counts["interrupts"] += 1
                interrupts = False

    def _send(self, command: p.Command) -> None:
        assert self._core is not None
        self._core.send(command)

    # ------------------------------------------------------------------- events

    def _take(self) -> None:
        """Every event: calls that begin and end, states, ends of turns."""
        assert self._core is not None
        count = self.found.counts
        for event in self._core.drain():
            match event:
                case p.ServerChanged():
                    before = self._states.get(event.name)
                    if before is None or before.phase != event.phase:
                        count[f"phases: {event.phase}"] += 1
                    self._states[event.name] = event
                case p.CallStarted():
                    self._news = time.monotonic()
                    count["calls"] += 1
                    self._open[event.call_id] = f"{event.server}.{event.tool} started"
                case p.CallChanged() if event.state in OVER:
                    self._news = time.monotonic()
                    count[f"calls {event.state}"] += 1
                    if event.state != "ok":
                        self._failed.append(event.preview)
                    if self._open.pop(event.call_id, None) is None:
                        self.found.wrong(f"call {event.call_id} ended twice or never began")
                    if not event.preview.strip():
                        self.found.wrong(f"call {event.call_id} ended {event.state} without a word")
                case p.CallChanged():
                    self._open[event.call_id] = f"{self._open.get(event.call_id)}, {event.state}"
                case p.TurnEnded():
                    self._turns += 1
                    count[f"turns {event.reason}"] += 1
                    if event.reason not in ("done", "interrupted"):
                        self.found.wrong(f"a turn ended: {event.reason} {event.message}")
                case p.Asked():
                    count["questions"] += 1
                    is_form = isinstance(event.question, p.FormQuestion)
                    answer = p.FormAnswer("decline") if is_form else p.NotAnswered("nobody is there")
                    self._send(p.Reply(event.question.id, answer))
                case p.CoreFailed():
                    self.found.wrong(f"the core failed: {event}")
                case _:
                    pass

    # ------------------------------------------------------------------ looking

    def _shown(self) -> str:
        return ", ".join(f"{name} {one.phase} ({one.reason})" for name, one in sorted(self._states.items()))

    def _waits(self) -> str:
        """Where every task of the core waits."""
        loop = self._core._loop if self._core is not None else None
        lines = []
        for task in asyncio.all_tasks(loop) if loop is not None else ():
            frames: list[str] = []
            inner: Any = task.get_coro()
            while inner is not None:
                frame = getattr(inner, "cr_frame", None) or getattr(inner, "ag_frame", None)
                if frame is not None:
                    frames.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
                inner = getattr(inner, "cr_await", None) or getattr(inner, "ag_await", None)
            lines.append(f"{task.get_name()}: {' > '.join(frames)}")
        return "\n".join(sorted(lines))

    def _all_ready(self) -> bool:
        states = self._states.values()
        return len(states) == len(self._names) and all(one.phase == "ready" for one in states)

    def _look(self) -> None:
        """Is what is shown of the servers so? A process may take a moment to end or to be noticed."""
        now, alive = time.monotonic(), self._processes()
        false: set[str] = set()
        for name, state in self._states.items():
            if state.transport != "stdio":
                continue
            if state.phase in ("ready", "degraded") and state.pid not in alive.get(name, ()):
                false.add(f"{name} is shown as {state.phase} and process {state.pid} does not run")
            if state.phase in ("failed", "stopped") and alive.get(name):
                false.add(f"{name} is shown as {state.phase} and runs: {alive[name]}")
        self._false = {what: self._false.get(what, now) for what in false}
        for what, since in self._false.items():
            if now - since > FALSE_FOR:
                self.found.wrong(what)

    def _processes(self) -> dict[str, list[int]]:
        """Processes of the stdio servers and of all they started, by server."""
        found: dict[str, list[int]] = {}
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                env = process.environ()
                is_ours = env.get("SOAK") == self._token and "NAME" in env
                if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.setdefault(env["NAME"], []).append(process.pid)
        return found

    def _count_orphans(self) -> None:
        end = time.monotonic() + 5.0  # SIGKILL is sent; the end follows
        while (left := self._processes()) and time.monotonic() < end:
            time.sleep(0.1)
        self.found.orphans = sum(map(len, left.values()))
        if left:
            self.found.wrong(f"processes are left: {left}")

    def _sample(self) -> Sample:
        assert self._core is not None
        loop = self._core._loop
        process = psutil.Process()
        sample = Sample(
            at=time.monotonic(),
            memory=round(process.memory_info().rss / 2**20, 1),
            descriptors=process.num_fds(),
            threads=threading.active_count(),
            tasks=len(asyncio.all_tasks(loop)) if loop is not None else 0,
        )
        self.found.samples.append(sample)
        return sample

    def _steady(self) -> Sample:
        """The least hel holds while nothing happens: what is on its way out takes some seconds."""
        end, best = time.monotonic() + self._rest_time, None
        while time.monotonic() < end:
            gc.collect()
            assert self._core is not None
            self._core.wait(0.5)
            self._take()
            now = self._sample()
            if best is None or (now.descriptors, now.threads, now.tasks) <= (
                best.descriptors,
                best.threads,
                best.tasks,
            ):
                best = now
        assert best is not None
        return best
