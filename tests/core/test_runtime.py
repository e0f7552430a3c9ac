"""The core's thread: commands in, events out, and an end within a bound whatever happens."""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

from hel_tui.core.options import Options
from hel_tui.core.protocol import Command, CoreFailed, Event, Notice, RestartServer, Shutdown, Stopped
from hel_tui.core.runtime import Runtime

LIMIT = 60


class Echo:
    """A body that tells each command back and ends when asked."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self.emit = emit
        self.over = asyncio.Event()
        self.killed = threading.Event()

    async def run(self) -> None:
        await self.over.wait()

    def post(self, command: Command) -> None:
        if isinstance(command, Shutdown):
            self.over.set()
        elif isinstance(command, RestartServer):
            self.emit(Notice("info", command.server))

    def kill(self) -> None:
        self.killed.set()

    def redact(self, text: str) -> str:
        return text.replace("hunter2hunter2", "[hidden]")

    log = tools = call = failure = None  # type: ignore[assignment]


class Hanging(Echo):
    """Never ends."""

    def post(self, command: Command) -> None:
        pass


class Broken(Echo):
    async def run(self) -> None:
        password = "hunter2" * 2
        raise RuntimeError(f"no way on with {password}")


def runtime(body: type[Echo]) -> tuple[Runtime, list[Echo]]:
    bodies: list[Echo] = []

    def build(_options: Options, emit: Callable[[Event], None]) -> Echo:
        bodies.append(body(emit))
        return bodies[-1]

    return Runtime(Options(Path.cwd()), build), bodies


def events_until(core: Runtime, kind: type[Event]) -> list[Event]:  # type: ignore[valid-type]
    events: list[Event] = []
    end = time.monotonic() + LIMIT
    while not any(isinstance(event, kind) for event in events):
        assert time.monotonic() < end, events
        core.wait(0.5)
        events += core.drain()
    return events


def test_commands_sent_before_the_core_is_up_are_not_lost_and_keep_their_order() -> None:
    core, _ = runtime(Echo)
    for name in ("a", "b", "c"):
        core.send(RestartServer(name))
    core.start()
    core.send(RestartServer("d"))
    assert core.stop(LIMIT)
    events = events_until(core, Stopped)
    assert [event.text for event in events if isinstance(event, Notice)] == ["a", "b", "c", "d"]


def test_a_core_that_hangs_is_left_and_its_servers_are_killed() -> None:
    core, bodies = runtime(Hanging)
    core.start()
    while not bodies:
        time.sleep(0.001)
    assert core.stop(0.2) is False
    assert bodies[0].killed.is_set()


def test_a_crash_reaches_the_screen_as_a_report_without_values_and_then_the_end() -> None:
    core, bodies = runtime(Broken)
    core.start()
    events = events_until(core, Stopped)
    failure = next(event for event in events if isinstance(event, CoreFailed))
    assert "RuntimeError: no way on with [hidden]" in failure.report
    assert "test_runtime.py" in failure.report
    assert "hunter2" not in failure.report
    assert bodies[0].killed.is_set()


def test_a_crash_before_there_is_a_body_hides_what_the_environment_holds() -> None:
    def build(options: Options, _emit: Callable[[Event], None]) -> Echo:
        raise RuntimeError(f"no way in with {options.environ['APP_TOKEN']}")

    core = Runtime(Options(Path.cwd(), environ={"APP_TOKEN": "plain words 77"}), build)
    core.start()
    failure = next(event for event in events_until(core, Stopped) if isinstance(event, CoreFailed))
    assert "no way in" in failure.report and "plain words" not in failure.report


def test_commands_after_the_end_are_dropped() -> None:
    core, _ = runtime(Echo)
    core.start()
    assert core.stop(LIMIT)
    core.send(RestartServer("late"))
