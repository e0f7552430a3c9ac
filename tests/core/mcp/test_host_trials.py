"""What befalls servers and their neighbours: launchers that ask, stopped processes, floods, giant messages."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import statistics
import sys
import time
from typing import Any

import pytest

from tests.core.mcp.conftest import SERVERS, runs, until

# ------------------------------------------------------------------- where it starts


async def test_a_server_starts_in_the_folder_its_entry_names(bench: Any) -> None:
    home, extra = bench.folder / "home", bench.folder / "home" / "deep er"
    extra.mkdir(parents=True)
    bench.environ |= {"HOME": str(home), "PART": "deep er"}
    bench.host.start(
        [
            bench.entry("life:report", "a", cwd="~"),
            bench.entry("life:report", "b", cwd="${HOME}/${PART}"),
            bench.entry("life:report", "c", cwd="home/${PART}"),
            bench.entry("life:report", "d"),
        ]
    )
    await bench.host.settled()
    folders = [json.loads((await bench.call("report", name)).full)["cwd"] for name in "abcd"]
    assert folders == [str(home), str(extra), str(extra), str(bench.folder)]


async def test_a_relative_command_is_looked_for_where_the_server_starts(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = bench.folder / "tools" / "srv"
    script.parent.mkdir()
    server = f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(SERVERS / 'life.py'))}"
    script.write_text(f'#!/bin/sh\nexec {server} "$1"\n')
    script.chmod(0o755)
    elsewhere = bench.folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    await bench.start("life:report", command="./tools/srv", args=("report",))
    assert json.loads((await bench.call("report")).full)["cwd"] == str(bench.folder)


# --------------------------------------------------------------------- slow starts


async def test_a_launcher_that_shows_life_gets_all_the_time_it_needs(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.starting.QUIET", 0.3)
    monkeypatch.setattr("hel_tui.core.mcp.starting.LOOK_EVERY", 0.1)
    server = f"{shlex.quote(sys.executable)} -S -E {shlex.quote(str(SERVERS / 'wire.py'))} ok"
    marker = bench.folder / "downloaded"
    loading = "for n in 1 2 3 4 5 6 7 8 9 10; do printf . >&2; sleep 0.15; done; echo >&2"
    script = f"echo started >> starts; test -e {marker} || {{ {loading}; touch {marker}; }}; exec {server}"
    await bench.start("wire:ok", command="/bin/sh", args=("-c", script), startup_timeout=0.2)
    assert bench.status().reason.startswith("slow: ") and not marker.exists()
    await until(lambda: bench.status().phase == "ready")
    assert (bench.folder / "starts").read_text().split() == ["started"]
    assert (await bench.call(text="worth it")).full == "worth it"


async def test_a_question_on_stderr_is_seen_although_its_line_has_no_end(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.mcp.starting.QUIET", 0.5)
    bench.options = {"probe_timeout": 0.2}
    await bench.start("life:asks-on-stdin", startup_timeout=0.2)
    await until(lambda: "stderr: Ok to proceed? (y)" in bench.log())
    await until(lambda: bench.status().phase in ("ready", "failed"))
    assert "server/discover" in bench.noted("swallowed"), "hel's first request was taken for the answer"


async def test_a_launcher_that_would_ask_is_named_with_what_to_add(bench: Any) -> None:
    npx = bench.folder / "npx"
    npx.write_text("#!/bin/sh\nprintf 'Ok to proceed? (y) ' >&2\nsleep 60\n")
    npx.chmod(0o755)
    await bench.start("wire:ok", command=str(npx), args=("thing",), startup_timeout=0.2)
    assert "add -y" in bench.status().reason
    assert bench.status().reason.startswith("slow: ")
    bench.host.start([bench.entry("wire:ok", command=str(npx), args=("-y", "thing"), startup_timeout=0.2)])
    await until(lambda: bench.status().restarts == 1 and bench.status().reason.startswith("slow: "))
    assert "add -y" not in bench.status().reason


async def test_a_server_has_no_terminal_to_ask_at(bench: Any) -> None:
    await bench.start("life:asks-the-terminal")
    assert bench.status().phase == "ready"
    assert "stderr: no terminal to ask at" in bench.log()
    assert bench.noted("password") is None


# ----------------------------------------------------------------- stopped, not reading


async def test_a_stopped_process_costs_its_calls_and_comes_back_as_it_was(bench: Any) -> None:
    await bench.start("wire:ok", timeout=0.4)
    pid = bench.status().pid
    os.kill(pid, signal.SIGSTOP)
    outcome = await bench.call(text="anybody there")
    assert outcome.failed and "may still be working" in outcome.text
    os.kill(pid, signal.SIGCONT)
    await until(lambda: "notifications/cancelled" in bench.methods())
    assert (await bench.call(text="back")).full == "back"
    assert (bench.status().pid, bench.status().restarts) == (pid, 0)


async def test_a_stopped_process_can_be_ended(bench: Any) -> None:
    await bench.start("wire:ok")
    pid = bench.status().pid
    os.kill(pid, signal.SIGSTOP)
    await bench.host.aclose()
    await until(lambda: not runs(pid))


async def test_a_request_that_is_cancelled_while_it_is_written_is_written_whole(bench: Any) -> None:
    await bench.start("life:slow-reader")
    words = "x" * 5_000_000
    task = asyncio.create_task(bench.call(text=words))
    await until(lambda: bench.noted("begun"))
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert bench.noted("whole") is None, "it was not through when the call was cancelled"
    assert (await bench.call(text="next")).full == "next"
    sizes = [one["whole"] for one in bench.received() if "whole" in one]
    assert sizes[0] > 5_000_000 and sizes[1] < 1000
    assert "notifications/cancelled" in bench.methods()
    assert bench.status().restarts == 0


# ------------------------------------------------------------------------ giants


@pytest.mark.parametrize("size", [65_400, 65_536, 70_000, 300_000])
async def test_no_size_of_a_line_is_special(bench: Any, size: int) -> None:
    await bench.start("wire:big-line", env={"BAD_SIZE": str(size)})
    assert len((await bench.call()).full) == size


async def test_fifty_megabytes_arrive_while_others_are_served(bench: Any) -> None:
    bench.host.start(
        [
            bench.entry("wire:big-line", "big", env={"BAD_SIZE": "50000000"}),
            bench.entry("wire:big-line", "small", env={"BAD_SIZE": "5000000"}),
            bench.entry("wire:ok", "other"),
        ]
    )
    await bench.host.settled()
    began = time.process_time()
    await bench.call(server="small")
    small = time.process_time() - began
    began, served = time.process_time(), 0
    big = asyncio.create_task(bench.call(server="big"))
    while not big.done():
        assert (await bench.call(server="other", text="meanwhile")).full == "meanwhile"
        served += 1
        await asyncio.sleep(0.01)
    spent = time.process_time() - began
    assert len((await big).full) == 50_000_000
    assert served > 10
    assert spent < 40 * small, "ten times the size costs about ten times the time"


# -------------------------------------------------------------------- neighbours


async def test_bad_neighbours_cost_a_good_server_nothing_it_would_notice(bench: Any) -> None:
    async def median() -> float:
        spent = []
        for number in range(80):
            began = time.perf_counter()
            assert (await bench.call(server="good", text=f"call {number}")).full == f"call {number}"
            spent.append(time.perf_counter() - began)
        return statistics.median(spent)

    bench.host.start([bench.entry("wire:ok", "good")])
    await bench.host.settled()
    alone = await median()
    bench.host.start(
        [
            bench.entry("life:nuisance", "flooding"),
            bench.entry("life:slow", "hanging"),
            bench.entry("life:silent", "mute", startup_timeout=0.2),
            bench.entry("life:die", "crashing"),
        ]
    )
    await until(lambda: all(bench.status(name).tools for name in ("flooding", "hanging", "crashing")))
    hanging = asyncio.create_task(bench.call("slow", "hanging"))

    async def crash() -> None:
        while True:
            tool = bench.host.catalogue.find("crashing", "die")
            if tool is not None and bench.status("crashing").phase == "ready":
                await bench.call("die", "crashing")
            await asyncio.sleep(0.05)

    crashing = asyncio.create_task(crash())
    await until(lambda: bench.status("crashing").restarts > 0 or bench.status("crashing").phase != "ready")
    beside = await median()
    assert not hanging.done()
    for task in (crashing, hanging):
        task.cancel()
    await asyncio.gather(crashing, hanging, return_exceptions=True)
    assert beside < 25 * max(alone, 0.001)
    assert bench.status("good").restarts == 0 and bench.status("good").noise == 0
