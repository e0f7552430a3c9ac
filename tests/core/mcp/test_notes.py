"""Log messages, floods of notifications, pings, limits and the sleep of the machine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.limits import Rate
from hel_tui.core.mcp.pulse import Pulse, Unreachable
from hel_tui.core.mcp.sleep import watch_sleep
from hel_tui.core.store.redact import Redactor
from tests.core.mcp.conftest import until


async def test_a_log_message_of_a_server_is_in_its_log(bench: Any) -> None:
    await bench.start("asks:logs")
    await bench.call()
    assert 'message: db: {"slow": true}' in bench.log()


async def test_log_messages_beyond_what_can_be_kept_are_counted(bench: Any) -> None:
    await bench.start("asks:logs")
    assert not (await bench.call("flood")).failed
    await until(lambda: bench.status().dropped)
    kept = bench.log().count("message: " + "x" * 40)
    await until(lambda: kept + bench.status().dropped == 20_000)
    assert "came too fast" in bench.log()


async def test_the_level_of_log_messages_is_asked_for_where_there_is_one(bench: Any) -> None:
    await bench.start("asks:logs", "wire:ok")
    await bench.host.server("a").through(lambda connection: connection.set_log_level("error"))
    assert bench.noted("level", "a") == "error"
    with pytest.raises(CallFault, match="no log level"):
        await bench.host.server("b").through(lambda connection: connection.set_log_level("error"))


async def test_the_entry_says_which_log_messages_are_wanted_from_the_start(bench: Any) -> None:
    await bench.start("asks:logs", log_level="debug")
    await until(lambda: bench.noted("level") == "debug")


async def test_a_stateless_server_hears_the_level_with_each_request(bench: Any) -> None:
    await bench.start("asks:rounds")
    await bench.host.server("fix").through(lambda connection: connection.set_log_level("error"))
    await bench.call()
    meta = bench.received()[-1]["message"]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/logLevel"] == "error"


async def test_a_tool_list_that_is_to_stay_stays_and_shows_that_it_changed(bench: Any) -> None:
    await bench.start("lists:feedback", on_list_changed="ignore")
    await until(lambda: "its tools changed" in bench.status().reason)
    assert bench.methods().count("tools/list") == 1


async def test_the_settings_say_what_becomes_of_changed_lists_where_the_entry_does_not(bench: Any) -> None:
    bench.options = {"on_list_changed": "ignore"}
    bench.host.start(
        [
            bench.entry("lists:feedback", "stays"),
            bench.entry("lists:feedback", "goes-on", on_list_changed="refresh"),
        ]
    )
    await bench.host.settled()
    await until(lambda: bench.methods("goes-on").count("tools/list") > 1)
    assert bench.methods("stays").count("tools/list") == 1


async def test_after_the_machine_slept_a_server_is_asked_before_the_next_call(bench: Any) -> None:
    await bench.start("asks:slow")
    bench.host.doubt()
    assert not (await bench.call()).failed
    assert "ping" in bench.methods()
    assert bench.methods()[-1] == "tools/call"


async def test_a_server_that_drops_pings_is_not_called_gone(bench: Any) -> None:
    await bench.start("asks:deaf", timeout=1.0)
    outcome = await bench.call(text="1.5")
    assert outcome.failed and "did not answer" in outcome.text
    await until(lambda: bench.noted("ping"))
    assert not (await bench.call(text="0")).failed
    assert bench.status().phase == "ready"


class Heart:
    """A server that answers pings, or not."""

    def __init__(self) -> None:
        self.state = "well"
        self.pings = 0
        self.told: list[str] = []
        self.given_up = ""
        self.busy = False
        self.looks = 0
        """How often it was asked whether it is busy: the last thing before a ping."""

    def is_busy(self) -> bool:
        self.looks += 1
        return self.busy

    async def ping(self) -> None:
        self.pings += 1
        if self.state == "silent":
            await asyncio.Event().wait()
        if self.state == "gone":
            raise Unreachable("nothing listens there")

    def give_up(self, why: str) -> None:
        self.given_up = why

    def pulse(self) -> Pulse:
        return Pulse(
            self.ping, self.is_busy, lambda: 0.0, self.told.append, self.give_up, silence=0.02, answer=0.02
        )


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.pulse.DELAYS", (0.0,) * 10)


async def _beats(heart: Heart, pulse: Pulse, condition: Any) -> None:
    running = asyncio.create_task(pulse.run())
    try:
        await until(condition)
    finally:
        running.cancel()


async def test_a_server_that_stopped_to_answer_pings_is_told_and_its_return_too() -> None:
    heart = Heart()
    pulse = heart.pulse()
    await _beats(heart, pulse, lambda: heart.pings >= 1)
    heart.state = "silent"
    await _beats(heart, pulse, lambda: heart.told)
    heart.state = "well"
    await _beats(heart, pulse, lambda: heart.told[-1:] == [""])
    assert "not answered a ping" in heart.told[0]


async def test_a_server_that_never_answered_a_ping_is_asked_once() -> None:
    heart = Heart()
    heart.state = "silent"
    pulse = heart.pulse()
    await _beats(heart, pulse, lambda: heart.looks >= 5)
    assert (heart.pings, heart.told) == (1, [])


async def test_a_server_that_works_is_not_pinged() -> None:
    heart = Heart()
    heart.busy = True
    await _beats(heart, heart.pulse(), lambda: heart.looks >= 5)
    assert heart.pings == 0


async def test_a_server_that_cannot_be_reached_is_given_up_after_ten_tries() -> None:
    heart = Heart()
    heart.state = "gone"
    pulse = heart.pulse()
    pulse.doubt()
    await asyncio.wait_for(pulse.run(), 20)
    assert (heart.pings, heart.given_up, heart.told) == (
        10,
        "nothing listens there",
        ["nothing listens there"],
    )


class Sleepy(Clock):
    """A clock whose wall time jumps at the third look."""

    def __init__(self) -> None:
        self.looks = 0
        self.now = 0.0

    def time(self) -> float:
        return self.now + (3600.0 if self.looks >= 3 else 0.0)

    def monotonic(self) -> float:
        return self.now

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        await asyncio.sleep(0)
        self.now += seconds
        self.looks += 1
        return False


async def test_a_jump_of_the_clock_is_a_sleep_and_told_once() -> None:
    clock, woke = Sleepy(), []
    task = asyncio.create_task(watch_sleep(clock, lambda: woke.append(clock.looks)))
    await until(lambda: clock.looks > 20)
    task.cancel()
    assert woke == [3]


def test_a_rate_lets_bursts_pass_and_no_more() -> None:
    now = [0.0]
    rate = Rate(10, lambda: now[0])
    assert sum(rate.allows() for _ in range(50)) == 10
    now[0] = 0.5
    assert sum(rate.allows() for _ in range(50)) == 5


async def test_hels_own_remarks_do_not_tell_a_secret_that_a_server_repeats(bench: Any) -> None:
    hide = Redactor(["fixture"])  # as the server calls itself
    bench.options = {"mask": hide}
    await bench.start("wire:ok")
    assert "ready: ‹redacted› 1" in bench.log()


async def test_what_asks_nothing_of_a_server_says_nothing_about_it(bench: Any) -> None:
    await bench.start("life:slow", timeout=0.1)
    server = bench.host.server("fix")
    for _ in range(3):
        await server.through(lambda one: one.complete({"type": "ref/prompt", "name": "x"}, "a", "b", {}))
        await bench.host.change_roots((bench.folder, bench.folder / str(len(bench.methods()))))
        assert (await bench.call("slow")).failed
    assert "paused" in (await bench.call("slow")).text


async def test_watching_is_refused_where_the_server_does_not_tell_of_updates(bench: Any) -> None:
    await bench.start("offers:deaf")
    supervisor = bench.host.server("fix")
    await until(lambda: bench.noted("listen"))
    await until(lambda: supervisor._life.connection._listening.is_over)
    with pytest.raises(CallFault, match="does not tell of changes"):
        await supervisor.through(lambda connection: connection.watch("mem://a", True))
