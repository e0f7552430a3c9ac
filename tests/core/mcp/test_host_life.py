"""Starting, dying, coming back, slow and stubborn servers, through the whole host."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp import life
from hel_tui.core.mcp.clock import Clock
from hel_tui.core.protocol import Closing, ServerChanged, ServerFailed
from hel_tui.core.store.redact import Redactor
from hel_tui.core.vocabulary import Invocation
from tests.core.mcp.conftest import LIMIT, runs, until


class HandClock(Clock):
    """A clock that stands still; waits end at once and are written down."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []
        self.hold = asyncio.Event()
        self.hold.set()

    def monotonic(self) -> float:
        return self.now

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        self.waits.append(seconds)
        holding = asyncio.create_task(self.hold.wait())
        waking = asyncio.create_task(event.wait())
        await asyncio.wait({holding, waking}, return_when=asyncio.FIRST_COMPLETED)
        holding.cancel()
        waking.cancel()
        return event.is_set()


# ------------------------------------------------------------------------- start


async def test_one_bad_server_among_three_does_not_matter_to_the_others(bench: Any) -> None:
    bench.host.start(
        [
            bench.entry("wire:ok", "absent", command="no-such-command-here"),
            bench.entry("life:silent", "mute", startup_timeout=0.3),
            bench.entry("wire:banner", "good"),
        ]
    )
    await bench.host.settled()
    absent, good, mute = bench.host.statuses()
    assert good.phase == "ready" and good.noise == 3
    assert (await bench.call(server="good", text="hi")).full == "hi"
    assert absent.phase == "failed" and "not found on PATH: no-such-command-here." in absent.reason
    assert os.environ["PATH"] in absent.reason
    assert mute.phase == "starting" and mute.reason.startswith("slow: ")


async def test_a_missing_command_is_not_tried_again_and_says_what_was_searched(bench: Any) -> None:
    bench.options = {"clock": HandClock()}
    bench.host.start([bench.entry("wire:ok", command="nope", env={"PATH": "/nowhere"})])
    await bench.host.settled()
    failure = bench.host.failure("fix")
    assert (failure.stage, failure.resolved) == ("find", "")
    assert "Searched: /nowhere" in failure.sentence and "absolute path" in failure.sentence
    assert "PATH" in failure.env_names
    assert bench.options["clock"].waits == []


async def test_an_unset_variable_keeps_only_that_server_from_starting(bench: Any) -> None:
    bench.host.start(
        [bench.entry("wire:ok", "a", env={"TOKEN": "${NOPE_NOT_SET}"}), bench.entry("wire:ok", "b")]
    )
    await bench.host.settled()
    a, b = bench.host.statuses()
    assert (a.phase, a.reason) == ("failed", "not started: NOPE_NOT_SET is not set")
    assert b.phase == "ready"
    assert bench.received("a") == []


async def test_a_folder_or_interpreter_that_is_missing_is_named(bench: Any) -> None:
    script = bench.folder / "srv"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    bench.host.start(
        [
            bench.entry("wire:ok", "cwd", cwd="missing-folder"),
            bench.entry("wire:ok", "srv", command="./srv"),
            bench.entry("wire:ok", "web", transport="http", url="http://127.0.0.1:9/"),
        ]
    )
    await bench.host.settled()
    reasons = [one.reason for one in bench.host.statuses()]
    assert "missing-folder to start in does not exist" in reasons[0]
    assert "interpreter" in reasons[1]
    assert "nothing listens at 127.0.0.1:9" in reasons[2]


async def test_a_reason_does_not_tell_the_secret_a_variable_held(bench: Any) -> None:
    key = "a-plain-but-secret-word-7"
    bench.environ["MY_API_KEY"] = key
    hide = Redactor([key])
    bench.options = {"mask": hide, "hide": hide.add}
    bench.host.start(
        [
            bench.entry("wire:ok", "a", cwd="${MY_API_KEY}"),
            bench.entry("wire:ok", "b", command="./${MY_API_KEY}"),
        ]
    )
    await bench.host.settled()
    reasons = [one.reason for one in bench.host.statuses()]
    assert all("‹redacted›" in reason for reason in reasons)
    failures = [bench.host.failure(name) for name in "ab"]
    assert key not in repr((reasons, failures, bench.events))


async def test_a_server_that_exits_at_once_is_explained(bench: Any) -> None:
    await bench.start("life:exit-at-once")
    failure = bench.host.failure("fix")
    assert bench.status().phase == "failed"
    assert bench.status().reason.startswith("exit 7 after ")
    assert failure.exit == bench.status().reason
    assert failure.stderr == ("fatal: missing API key",)
    assert failure.resolved == sys.executable


async def test_news_of_failed_starts_come_in_name_order(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.host.HOLD", LIMIT)
    bench.host.start(
        [
            bench.entry("lists:new-version", "a"),
            bench.entry("wire:ok", "b", command="nope"),
            bench.entry("life:exit-at-once", "c"),
        ]
    )
    await bench.host.settled()

    def told() -> list[str]:
        return [one.server for one in bench.events if isinstance(one, ServerFailed)]

    await until(lambda: len(told()) == 3)
    assert told() == ["a", "b", "c"] and bench.notices() == []


async def test_a_slow_start_is_shown_as_slow_and_still_becomes_ready(bench: Any) -> None:
    await bench.start("life:slow-start", env={"DELAY": "1.2"}, startup_timeout=0.2)
    assert bench.status().phase == "starting" and bench.status().reason.startswith("slow: ")
    await until(lambda: bench.status().phase == "ready")
    assert bench.status().restarts == 0
    assert "stderr: downloading…" in bench.log()


async def test_a_start_that_shows_no_sign_of_life_is_ended(bench: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.starting.QUIET", 0.2)
    await bench.start("life:silent", startup_timeout=0.2)
    await until(lambda: bench.status().phase == "failed")
    assert "no sign of life" in bench.status().reason


async def test_a_slow_start_can_be_switched_off(bench: Any) -> None:
    await bench.start("life:silent", startup_timeout=0.2)
    pid = bench.status().pid
    bench.host.switch("fix", False)
    assert bench.status().phase == "off"
    await until(lambda: bench.status().reason == "")
    assert not runs(pid)
    assert bench.phases() == ["starting", "off"]


async def test_a_server_that_is_off_is_not_started_until_switched_on(bench: Any) -> None:
    await bench.start("wire:ok", enabled=False)
    assert bench.status().phase == "off"
    assert bench.received() == []
    bench.host.switch("fix", True)
    await until(lambda: bench.status().phase == "ready")
    bench.host.switch("fix", False)
    await until(lambda: bench.status().phase == "off")
    assert bench.host.catalogue.rows() == ()
    bench.host.switch("fix", True)
    await until(lambda: bench.status().phase == "ready")
    assert bench.notices() == [], "tools that come back are no news"


# ------------------------------------------------------------- time limits, cancel


async def test_a_late_answer_is_dropped_and_the_process_stays(bench: Any) -> None:
    await bench.start("wire:late-answer", timeout=0.4)
    pid = bench.status().pid
    outcome = await bench.call("slow")
    assert outcome.failed and "may still be working" in outcome.text
    cancelled = await until(
        lambda: [one["message"] for one in bench.received() if "cancelled" in str(one.get("message"))]
    )
    asked = next(one["message"] for one in bench.received() if one["message"].get("method") == "tools/call")
    assert cancelled[0]["params"]["requestId"] == asked["id"]
    assert (await bench.call(text="mine")).full == "mine"
    assert f"an answer with the unknown id {asked['id']} was dropped (1 waiting)" in bench.log()
    assert bench.status().pid == pid
    assert bench.methods().count("initialize") == 1


async def test_a_cancelled_call_is_over_at_once_and_the_server_hears_it(bench: Any) -> None:
    await bench.start("life:slow")
    task = asyncio.create_task(bench.call("slow"))
    await until(lambda: "tools/call" in bench.methods())
    task.cancel()
    begin = time.monotonic()
    await asyncio.wait({task})
    assert task.cancelled()
    assert time.monotonic() - begin < 5
    await until(lambda: "notifications/cancelled" in bench.methods())
    assert (await bench.call(text="on")).full == "on"


async def test_a_server_that_stops_reading_does_not_wedge_the_host(bench: Any) -> None:
    await bench.start("life:stops-reading", timeout=0.5)
    tasks = [asyncio.create_task(bench.call(text="x" * 1_000_000)) for _ in range(2)]
    await asyncio.sleep(0.1)
    tasks[0].cancel()
    async with asyncio.timeout(10):
        await asyncio.wait({tasks[0]})
        assert (await tasks[1]).failed


async def test_three_timeouts_in_a_row_pause_the_calls_for_a_minute(bench: Any) -> None:
    clock = HandClock()
    bench.options = {"clock": clock}
    await bench.start("life:slow", timeout=0.05)
    for _ in range(3):
        await bench.call("slow")
    asked = bench.methods().count("tools/call")
    refused = await bench.call(text="x")
    assert refused.failed and "60 s more" in refused.text
    assert bench.methods().count("tools/call") == asked
    assert bench.status().phase == "degraded"
    clock.now += 61
    assert (await bench.call(text="probe")).full == "probe"
    assert bench.status().phase == "ready"


# -------------------------------------------------------------------------- death


async def test_death_in_a_call_fails_it_at_once_and_is_never_repeated(bench: Any) -> None:
    await bench.start("life:die", "wire:ok", reconnect=False)
    waiting = asyncio.create_task(bench.call("hang", "a"))
    await until(lambda: "tools/call" in bench.methods("a"))
    died, hung = await asyncio.gather(bench.call("die", "a"), waiting)
    for outcome in (died, hung):
        assert outcome.failed and "outcome is unknown" in outcome.text and "exit 3" in outcome.text
    await until(lambda: bench.status("a").reason.startswith("exit 3 after "))
    assert bench.status("a").phase == "failed"
    later = await bench.call("echo", "a", text="x")
    assert later.failed and "disconnected" in later.text and "not made" in later.text
    assert (await bench.call("echo", "b", text="other")).full == "other"
    assert bench.methods("a").count("initialize") == 1
    assert bench.host.failure("a").stderr[-1] == "about to die"
    assert any(name.startswith("mcp__a__") for name, _ in bench.host.catalogue.inventory())
    bench.host.restart("a")
    await until(lambda: bench.status("a").phase == "ready")
    assert bench.methods("a").count("initialize") == 2
    assert bench.host.failure("a") is None
    assert (await bench.call("echo", "a", text="back")).full == "back"


async def test_a_signal_is_named(bench: Any) -> None:
    await bench.start("life:die", reconnect=False)
    await bench.call("segv")
    await until(lambda: bench.status().reason.startswith("killed by SIGSEGV after "))
    assert bench.status().phase == "failed"


async def test_death_while_idle_is_noticed_and_the_server_comes_back_under_the_same_names(bench: Any) -> None:
    clock = HandClock()
    clock.hold.clear()
    bench.options = {"clock": clock}
    await bench.start("life:die")
    names = bench.host.catalogue.inventory()
    bench.host.catalogue.load([names[0][0]])
    os.kill(bench.status().pid, signal.SIGKILL)
    reason = await until(lambda: bench.status().phase == "restarting" and bench.status().reason)
    await until(lambda: "attempt 1 of 10" in bench.status().reason)
    assert reason == "disconnected" or "attempt" in reason
    assert "killed by SIGKILL" in bench.status().reason
    assert bench.host.catalogue.inventory() == names
    refused = await bench.call(text="x")
    assert refused.failed and "restarting" in refused.text
    clock.hold.set()
    await until(lambda: bench.status().phase == "ready")
    assert clock.waits == [0.5]
    assert bench.host.catalogue.inventory() == names
    assert len(bench.host.catalogue.loaded()) == 1
    assert (await bench.call(text="again")).full == "again"


async def test_a_crash_loop_is_given_up_after_ten_attempts_and_its_tools_leave(bench: Any) -> None:
    clock = HandClock()
    bench.options = {"clock": clock}
    await bench.start("life:exit-after-init")
    await until(lambda: bench.status().phase == "failed")
    assert clock.waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30]
    assert bench.methods().count("initialize") == 11
    assert bench.status().reason.startswith("gave up after 10 attempts: exit 4")
    assert bench.host.catalogue.rows() == ()


async def test_a_connection_that_lived_half_a_minute_starts_the_count_anew(bench: Any) -> None:
    clock = HandClock()
    bench.options = {"clock": clock}
    await bench.start("life:die")
    for lived in (1, 1, 31):
        pid = bench.status().pid
        clock.now += lived
        os.kill(pid, signal.SIGKILL)
        await until(lambda pid=pid: bench.status().phase == "ready" and bench.status().pid not in (0, pid))
    assert clock.waits == [0.5, 1, 0.5]


async def test_a_closed_stdout_counts_as_gone(bench: Any) -> None:
    await bench.start("life:closes-stdout", reconnect=False)
    pid = bench.status().pid
    outcome = await bench.call()
    assert outcome.failed and "closed its stdout" in outcome.text
    await until(lambda: bench.status().reason.startswith("it closed its stdout"))
    assert bench.status().phase == "failed"
    assert not runs(pid)


async def test_a_restart_by_hand_during_the_wait_does_not_wait(bench: Any) -> None:
    clock = HandClock()
    clock.hold.clear()
    bench.options = {"clock": clock}
    await bench.start("life:die")
    os.kill(bench.status().pid, signal.SIGKILL)
    await until(lambda: "attempt 1" in bench.status().reason)
    bench.host.restart("fix")
    await until(lambda: bench.status().phase == "ready")
    assert "restarting" in bench.phases()


async def test_a_lost_server_is_not_shown_as_ready_while_its_process_is_being_ended(bench: Any) -> None:
    bench.options = {"grace": 30.0}
    await bench.start("life:deaf")
    pid = bench.status().pid
    assert (await bench.call()).failed
    assert runs(pid)
    assert bench.status().phase == "restarting"
    assert (await bench.call(text="x")).text.count("The call was not made.") == 1
    bench.host.kill_all()


async def test_a_known_name_is_started_with_the_definition_given_last(bench: Any) -> None:
    await bench.start("wire:ok")
    bench.host.start([bench.entry("life:slow")])
    await until(lambda: bench.status().restarts == 1 and bench.status().phase == "ready")
    assert bench.host.catalogue.find("fix", "slow") is not None


# ------------------------------------------------------------------------- stderr


async def test_a_flood_on_stderr_before_the_handshake_blocks_nothing(bench: Any) -> None:
    await bench.start("life:stderr-flood", env={"BLOCKS": "60"})
    assert bench.status().phase == "ready"
    await until(lambda: "stderr: the last word" in bench.log())
    log = bench.host.log("fix")
    assert log.end - log.first <= 50_000


async def test_binary_stderr_is_decoded_masked_and_mirrored(bench: Any) -> None:
    bench.options = {
        "mask": lambda text: text.replace("s3cret-value", "•••"),
        "mirror_folder": lambda: bench.folder,
    }
    await bench.start("life:stderr-binary")
    await until(lambda: "no newline at the end" in bench.log())
    assert "token=•••" in bench.log() and "s3cret" not in bench.log()
    mirrored = (bench.folder / "fix.stderr.log").read_text()
    assert "token=•••" in mirrored


# ---------------------------------------------------------------------------- end


async def test_stubborn_servers_are_ended_in_parallel_with_all_they_started(bench: Any) -> None:
    await bench.start("life:stubborn", "life:stubborn", "life:stubborn", "life:stubborn", "life:stubborn")
    names = [one.name for one in bench.host.statuses()]
    children = [await until(lambda name=name: bench.noted("child", name)) for name in names]
    pids = [one.pid for one in bench.host.statuses()]
    hanging = asyncio.create_task(bench.call("echo", "a"))
    await until(lambda: "tools/call" in bench.methods("a"))
    await bench.host.aclose()
    assert (await hanging).failed
    assert not [pid for pid in (*pids, *children) if runs(pid)]
    for name in names:
        notes = [one for one in bench.received(name) if "end" in one or "signal" in one]
        assert [*notes[0]][1:] == ["end"] and notes[1]["signal"] == "SIGTERM"
    closings = [one.waiting for one in bench.events if isinstance(one, Closing)]
    assert closings[0] == tuple(names) and closings[-1] == ()


async def test_helpers_left_by_a_polite_exit_are_ended_too(bench: Any) -> None:
    await bench.start("life:grandchild")
    children = await until(lambda: bench.noted("children"))
    await bench.host.aclose()
    await until(lambda: not [pid for pid in children if runs(pid)])  # SIGKILL is sent; the end follows


async def test_a_helper_started_in_the_moment_of_a_crash_is_ended_too(bench: Any) -> None:
    await bench.start("life:leave-and-die", reconnect=False)
    assert (await bench.call()).failed
    await until(lambda: bench.status().reason.startswith("exit 5"))
    assert not runs(bench.noted("child"))


async def test_kill_all_ends_everything_at_once(bench: Any) -> None:
    bench.options = {"grace": 30.0}
    await bench.start("life:stubborn")
    closing = asyncio.create_task(bench.host.aclose())
    await until(lambda: bench.noted("end"))
    bench.host.kill_all()
    async with asyncio.timeout(10):
        await closing


async def test_closing_twice_cancelled_in_between_leaves_nothing(bench: Any) -> None:
    await bench.start("life:stubborn")
    pid = bench.status().pid
    for _ in range(2):
        task = asyncio.create_task(bench.host.aclose())
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait({task})
    await until(lambda: not runs(pid))


async def test_closing_during_a_start_leaves_nothing(bench: Any) -> None:
    bench.host.start([bench.entry("life:silent"), bench.entry("wire:ok", "b")])
    await until(lambda: bench.status().pid)
    pid = bench.status().pid
    await bench.host.aclose()
    assert not runs(pid)


async def test_a_server_is_off_at_once_however_long_it_takes_to_end(bench: Any) -> None:
    bench.options["grace"] = 1.0
    await bench.start("life:stubborn")
    tool, before = bench.tool(), len(bench.events)
    bench.host.switch("fix", False)
    assert (bench.status().phase, bench.status().reason) == ("off", "stopping")
    assert not bench.host.catalogue.rows()
    assert "is off. The call was not made" in (await tool.run({}, Invocation("id"))).text
    await until(lambda: bench.status().reason == "")
    told = [one.phase for one in bench.events[before:] if isinstance(one, ServerChanged)]
    assert set(told) == {"off"}


async def test_a_server_switched_on_while_it_ends_starts_again(bench: Any) -> None:
    bench.options["grace"] = 0.5
    await bench.start("life:stubborn")
    pid = bench.status().pid
    bench.host.switch("fix", False)
    await asyncio.sleep(0)
    bench.host.switch("fix", True)
    assert bench.status().phase == "restarting"
    await until(lambda: bench.status().phase == "ready")
    assert bench.status().pid != pid and not runs(pid)


async def test_servers_started_while_the_sdk_is_imported_wait_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_sdk.py").write_text("import threading\ngate = threading.Event()\ngate.wait(30)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(life, "_CONNECTION", "slow_sdk")
    monkeypatch.setattr(life, "_sdk_loaded", threading.Event())
    first = asyncio.create_task(life.load_sdk())
    await until(lambda: hasattr(sys.modules.get("slow_sdk"), "gate"))
    second = asyncio.create_task(life.load_sdk())
    await asyncio.sleep(0.05)
    assert not first.done() and not second.done()
    sys.modules["slow_sdk"].gate.set()
    await asyncio.gather(first, second)
